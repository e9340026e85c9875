"""Parquet for trainers, a file a split: the three columns of the reference set, verl, and TRL."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ops6k.export.prompt import Prompts
from ops6k.records import Task
from ops6k.store import write_rows
from ops6k.task_rows import Splits, tolerance

VERL_SOURCE = "ops6k"
"""By this name verl picks a reward function and groups its validation metrics."""


@dataclass(frozen=True, slots=True)
class CudaAgentRow:
    """A row as in CUDA-Agent-Ops-6K."""

    ops: str
    """A JSON list, as text."""
    data_source: str
    code: str


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class RewardModel:
    style: str
    ground_truth: str
    """JSON of what the reward needs: code, atol, rtol, task_id."""


@dataclass(frozen=True, slots=True)
class ExtraInfo:
    split: str
    index: int
    """Place in the split, from 0."""
    task_id: str
    ops: tuple[str, ...]
    depth: int
    eager_ms: float
    compiled_ms: float


@dataclass(frozen=True, slots=True)
class VerlRow:
    data_source: str
    prompt: tuple[Message, ...]
    ability: str
    reward_model: RewardModel
    extra_info: ExtraInfo


@dataclass(frozen=True, slots=True)
class TrlRow:
    """TRL hands every column but the prompt to reward functions, by name."""

    prompt: tuple[Message, ...]
    task_id: str
    code: str
    atol: float
    rtol: float
    ops: tuple[str, ...]
    split: str


def write_cuda_agent(folder: Path, splits: Splits) -> list[str]:
    """Files of CudaAgentRow; a line for each."""
    return _write(folder, splits, CudaAgentRow, lambda task, *_: CudaAgentRow(json.dumps(task.ops), task.data_source, task.code))


def write_verl(folder: Path, splits: Splits, prompts: Prompts) -> list[str]:
    """Files of VerlRow; a line for each."""
    return _write(folder, splits, VerlRow, lambda task, split, index: _verl_row(task, split, index, prompts.of(task)))


def write_trl(folder: Path, splits: Splits, prompts: Prompts) -> list[str]:
    """Files of TrlRow; a line for each."""
    return _write(folder, splits, TrlRow, lambda task, split, _: _trl_row(task, split, prompts.of(task)))


def _write(folder: Path, splits: Splits, record: type, row_of: Callable[[Task, str, int], object]) -> list[str]:
    lines = []
    for split, tasks in splits.items():
        rows = [row_of(task, split, index) for index, task in enumerate(tasks)]
        path = write_rows(folder / f"{split}.parquet", rows, record)
        lines.append(f"{path.name}: {len(rows)} rows")
    return lines


def _verl_row(task: Task, split: str, index: int, prompt: str) -> VerlRow:
    atol, rtol = tolerance(task)
    truth = json.dumps({"code": task.code, "atol": atol, "rtol": rtol, "task_id": task.task_id}, ensure_ascii=False)
    told = ExtraInfo(split, index, task.task_id, task.ops, task.depth, task.timing.eager_ms, task.timing.compiled_ms)
    return VerlRow(VERL_SOURCE, (Message("user", prompt),), "kernel", RewardModel("rule", truth), told)


def _trl_row(task: Task, split: str, prompt: str) -> TrlRow:
    return TrlRow((Message("user", prompt),), task.task_id, task.code, *tolerance(task), task.ops, split)
