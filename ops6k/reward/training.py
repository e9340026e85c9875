"""The reward as trainers call it: verl's compute_score and TRL's reward function, on the rows that `ops6k export` writes.

A sandbox a process stays open between calls. Both read the solution out of the answer's last fenced block that defines ModelNew.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ops6k.reward import Score, score, scorer_here

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)^\1`*[ \t]*$", re.DOTALL | re.MULTILINE)


def solution_in(answer: str) -> str:
    """The last fenced block that defines ModelNew; without one the whole answer."""
    blocks = [block for _, block in _FENCED.findall(answer) if "class ModelNew" in block]
    return blocks[-1] if blocks else answer


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, object] | None = None
) -> dict[str, object]:
    """For verl's `custom_reward_function`: the reward as `score`, and its evidence.

    ground_truth: the JSON of the export's reward_model. data_source and extra_info are not looked at.
    """
    found = score(json.loads(ground_truth), solution_in(solution_str))
    return {"score": float(found.reward)} | _evidence(found)


def kernel_reward(
    completions: Sequence[str | Sequence[Mapping[str, str]]],
    code: Sequence[str],
    atol: Sequence[float],
    rtol: Sequence[float],
    **_columns: object,
) -> list[float]:
    """For TRL's `reward_funcs`: a reward for each completion (text, or messages of which the last counts), scored side by side."""
    answers = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    tasks = [dict(zip(("code", "atol", "rtol"), row, strict=True)) for row in zip(code, atol, rtol, strict=True)]
    pairs = [(task, solution_in(answer)) for task, answer in zip(tasks, answers, strict=True)]
    return [float(found.reward) for found in scorer_here().scores(pairs)]


def _evidence(found: Score) -> dict[str, object]:
    """What a trainer may log: one level deep, numbers and text alone."""
    return {name: value for name, value in asdict(found).items() if isinstance(value, int | float | str)}
