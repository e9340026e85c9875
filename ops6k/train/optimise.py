"""One task made faster: the agent tries plans on this machine, the best right one is written out as model_new.py and scored."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ops6k import records, store
from ops6k.errors import MissingInput, Ops6kError
from ops6k.judge import from_python, rules_on
from ops6k.params import Params
from ops6k.records import Candidate, Outcome, Task, Verdict
from ops6k.reward import Score, score
from ops6k.sandbox import Job
from ops6k.screen.course import Course
from ops6k.screen.shards import judged
from ops6k.target import Target
from ops6k.train.collect import Measuring
from ops6k.train.environment import PlanEnvironment
from ops6k.train.live import Device
from ops6k.train.plans import Plan
from ops6k.train.rows import read_splits
from ops6k.train.sketch import Sketch
from ops6k.train.sketches import MEMORY_GIB, TIMEOUT_S, sketches_of, tracing
from ops6k.train.source import LiveTimes
from ops6k.train.times import PlanStatus, PlanTime

MODEL_NEW = "model_new.py"
PLANS = 400
"""So many plans of plans.plans_for are open to the agent: all of them."""


class Policy(Protocol):
    """What picks the decisions: an Agent, or a rule."""

    def act(self, seen: dict[str, np.ndarray], mask: np.ndarray) -> int: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """A task on this machine."""

    task: Task
    sketch: Sketch
    target: Target


def subject_of(named: str, params: Params, data: Path, device: str) -> Subject:
    """The task of an id of the data set (or how it begins), or of a .py file, which goes through the screen first.

    Raises MissingInput, Ops6kError where it is no task that runs here.
    """
    rules = rules_on(params, device, data / ".work")
    is_file = named.endswith(".py")
    task = _screened(Path(named), params, device) if is_file else _row(named, data / "dataset")
    sketch = sketches_of([task], rules.target, 1, data / ".work")[task.task_id]
    floating = [node.dtype for node in sketch.nodes if "float" in node.dtype]
    return Subject(replace(task, dtype=floating[0]) if is_file and floating else task, sketch, rules.target)


def _row(named: str, dataset: Path) -> Task:
    found = [task for split in read_splits(dataset) for task in split if task.task_id.startswith(named)]
    if len(found) != 1:
        raise MissingInput(f"{dataset}: {len(found) or 'no'} tasks whose id begins with {named}; a .py file may be given too")
    return found[0]


def _screened(path: Path, params: Params, device: str) -> Task:
    if not path.is_file():
        raise MissingInput(f"{path}: no such file")
    given = from_python(path, path.stem)
    rules = rules_on(params, device)
    rules = replace(rules, limits=replace(rules.limits, window_ms=None), judge_labels=given.ops is not None)
    candidate = Candidate(given.task_id, given.ops or (), given.code, "given", 0, "", ())
    (course,) = judged([Course(0, candidate, rules)], rules.target, 1)
    verdict = course.verdicts[-1]
    if verdict.outcome is not Outcome.ACCEPTED:
        raise Ops6kError(f"{path}: the screen says {verdict.reason}: {verdict.message}")
    return _task(given.code, given.ops or (), verdict)


def _task(code: str, ops: tuple[str, ...], verdict: Verdict) -> Task:
    """A row as the set would have it, of what is known of a file."""
    return Task(
        task_id=records.task_id(code), ops=ops, data_source="given", code=code, depth=len(ops) or len(verdict.work.operators),
        categories=(), dtype="float32", source="given", prompt_hash=None, parent=None, round=0, seed=0,
        cluster=records.task_id(code), timing=verdict.timing, work=verdict.work, checks=verdict.checks, similarity=None,
        environment=verdict.environment, validations=(), licence="", attribution="",
    )  # fmt: skip


def attempts(policy: Policy, subject: Subject, how: Measuring, work: Path, most: int) -> Iterator[PlanTime]:
    """What each attempt of the policy gave, as soon as it is measured."""
    task, sketches = subject.task, {subject.task.task_id: subject.sketch}
    source = LiveTimes(Device(subject.target, how, work).measure, sketches, PLANS)
    environment = PlanEnvironment([task], source, sketches, most)
    seen, _ = environment.reset(options={"task": 0})
    ended, shown = False, 0
    while not ended:
        seen, _, ended, _, _ = environment.step(np.int64(policy.act(seen, environment.action_masks())))
        yield from environment.tried[shown:]
        shown = len(environment.tried)


def ranked(tried: list[PlanTime]) -> list[PlanTime]:
    """The right ones, best first: by milestone, then by speed."""
    right = [row for row in tried if row.status is PlanStatus.CORRECT]
    return sorted(right, key=lambda row: (row.milestone, row.ratio_eager or 0.0), reverse=True)


def write(subject: Subject, plan: Plan, folder: Path) -> Path:
    """model_new.py of a task under a plan; the task's code runs in the sandbox, on fake tensors. Raises Ops6kError."""
    payload = {"code": subject.task.code, "plan": plan.name}
    with tracing(1) as sandbox:
        (ended,) = sandbox.map([Job("write", "ops6k.train.describe:write_out", payload, TIMEOUT_S, MEMORY_GIB)])
    if ended.answer is None:
        raise Ops6kError(f"{subject.task.task_id}: the plan {plan.name} cannot be written out: {ended.detail}")
    with store.whole_file(folder / MODEL_NEW) as aside:
        aside.write_text(ended.answer["text"], encoding="utf-8")
    return folder / MODEL_NEW


def verified(subject: Subject, path: Path) -> Score:
    """The reward of what was written, where torch's operators are allowed."""
    text = path.read_text(encoding="utf-8")
    return score(store.to_plain(subject.task), text, device=subject.target.device, allow_torch=True)
