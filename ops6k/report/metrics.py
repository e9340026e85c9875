"""The numbers of a build for `dvc metrics show`, and its curves for `dvc plots show`."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from ops6k.assemble.facts import facts
from ops6k.assemble.funnel import reject_counts
from ops6k.report.gather import Gathered
from ops6k.store import whole_file

Numbers = dict[str, "int | float | Numbers | None"]


def metrics(found: Gathered) -> Numbers:
    """Counts, shares (0-1) and ratios; None (null) where there is nothing to compute them from."""
    eligible = sum(story.is_eligible for story in found.stories)
    made = len(found.stories)
    return {
        "candidates": made,
        "screened": sum(story.verdict is not None for story in found.stories),
        "accepted": sum(story.is_accepted for story in found.stories),
        "after_dedup": eligible,
        "yield": _rounded(eligible / made if made else None),
        "rows": len(found.tasks),
        "reasons": {name: count for name, count in reject_counts(found.stories).items() if name != "accepted"},
        **_of_rows(found),
        "agent": _of_agent(found),
    }


def _of_rows(found: Gathered) -> Numbers:
    if not found.tasks:
        return {"splits": {}, "depth": {}, "operators": None, "timing": {}, "similarity": {}}
    known = facts(found.tasks)
    return {
        "splits": dict(found.splits),
        "depth": {share.name: share.rows for share in known.depth},
        "operators": known.operators,
        "timing": {
            "eager_ms_median": _rounded(known.eager_ms and known.eager_ms.median),
            "compiled_speedup_geomean": _rounded(known.speedup and known.speedup.mean),
            "compiled_faster": _rounded(known.compiled_faster),
            "compiled_slower": _rounded(known.compiled_slower),
            "headroom_median": _rounded(known.headroom and known.headroom.median),
            "predicted_within_2x": _rounded(known.predicted_within_2x),
        },
        "similarity": {
            "median": _rounded(known.similarity and known.similarity.median),
            "most": _rounded(known.similarity and known.similarity.most),
        },
    }


def _of_agent(found: Gathered) -> Numbers:
    if found.agent is None:
        return {"mean_reward": None}
    names = {"mean_reward": "agent", "best_fixed_plan": "best_fixed", "always_default": "always_default", "oracle": "oracle"}
    return {name: _rounded(found.agent.reward(strategy)) for name, strategy in names.items()} | {
        "gap_closed": _rounded(found.agent.gap_closed)
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def write_funnel(path: Path, found: Gathered) -> Path:
    """stage, reason, count: of each stage first what it kept, then every reason."""
    lines = [
        (c.stage, reason, count)
        for c in found.counts
        for reason, count in (("kept", c.kept), *((r.reason, r.count) for r in c.reasons))
    ]
    return _write(path, ("stage", "reason", "count"), lines)


def write_learning(path: Path, found: Gathered) -> Path:
    """step, mean_reward over seeds; points before the first episode's end are left out."""
    steps: dict[int, list[float]] = {}
    for point in found.curve:
        if point.mean_reward is not None:
            steps.setdefault(point.step, []).append(point.mean_reward)
    return _write(path, ("step", "mean_reward"), [(step, sum(of) / len(of)) for step, of in sorted(steps.items())])


def _write(path: Path, head: Sequence[str], lines: Iterable[Sequence[object]]) -> Path:
    with whole_file(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(lines)
    return path
