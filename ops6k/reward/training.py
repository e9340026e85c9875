"""The reward as trainers call it: verl's compute_score and TRL's reward function, on the rows that `ops6k export` writes.

A sandbox a process stays open between calls. Both read the solution out of the answer's last fenced block that defines ModelNew.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ops6k.reward import Score, score, scorer_here

LONGEST_ANSWER = 1_000_000
"""Characters; of a longer answer the end is read."""


def solution_in(answer: object) -> str:
    """The last fenced block that defines ModelNew; without one the whole answer. In one pass: answers may be anything."""
    text = answer if isinstance(answer, str) else ""
    found, fence, block = None, "", []
    for line in text[-LONGEST_ANSWER:].splitlines(keepends=True):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if not fence and len(ticks) >= 3:
            fence, block = ticks, []
        elif fence and line.strip() == fence:
            found = "".join(block) if any("class ModelNew" in one for one in block) else found
            fence = ""
        elif fence:
            block.append(line)
    return text if found is None else found


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, object] | None = None
) -> dict[str, object]:
    """For verl's `custom_reward_function`: the reward as `score`, and its evidence.

    ground_truth: the JSON of the export's reward_model. data_source and extra_info are not looked at.
    """
    found = score(_task(ground_truth), solution_in(solution_str))
    return {"score": float(found.reward)} | _evidence(found)


def kernel_reward(
    completions: Sequence[str | Sequence[Mapping[str, str]]],
    code: Sequence[str],
    atol: Sequence[float],
    rtol: Sequence[float],
    **_columns: object,
) -> list[float]:
    """For TRL's `reward_funcs`: a reward for each completion (text, or messages of which the last counts), scored side by side."""
    answers = [one if isinstance(one, str) else _said(one[-1]) if one else "" for one in completions]
    tasks = [dict(zip(("code", "atol", "rtol"), row, strict=True)) for row in zip(code, atol, rtol, strict=True)]
    pairs = [(task, solution_in(answer)) for task, answer in zip(tasks, answers, strict=True)]
    return [float(found.reward) for found in scorer_here().scores(pairs)]


def _task(ground_truth: object) -> Mapping[str, object]:
    """The row, or an empty one: a broken row is a score like any other, not the end of a training run."""
    try:
        row = json.loads(ground_truth) if isinstance(ground_truth, str) else ground_truth
    except ValueError:
        return {}
    return row if isinstance(row, Mapping) else {}


def _said(message: Mapping[str, object]) -> str:
    """The text of a message, which may come in parts."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _evidence(found: Score) -> dict[str, object]:
    """What a trainer may log: the same keys for every answer, one level deep; NaN where nothing was measured."""
    evidence = {name: value for name, value in asdict(found).items() if name != "torch_calls"}
    return {name: math.nan if value is None else value for name, value in evidence.items()}
