"""Chosen stories as rows of the published set, and the last guard before it appears."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from ops6k.assemble.join import Story
from ops6k.errors import Ops6kError
from ops6k.records import Environment, Match, Similarity, Task, Validation, Verdict, task_id
from ops6k.store import write_rows

LICENCE = "CC-BY-4.0"
# A row group is what streaming fetches at once: a few hundred tasks are about one megabyte.
ROW_GROUP_ROWS = 512


def task_of(story: Story) -> Task:
    """The row of one accepted story; raises Ops6kError where its verdict lacks evidence that a row must carry."""
    made, verdict = story.candidate, story.verdict
    lacking = [name for name in ("timing", "work", "checks", "environment") if getattr(verdict, name, None) is None]
    if lacking:
        raise Ops6kError(
            f"assemble: accepted candidate {made.candidate_id} has no {', '.join(lacking)}; run `ops6k screen` again"
        )
    return Task(
        task_id=task_id(made.code),
        ops=made.ops,
        data_source=made.data_source,
        code=made.code,
        depth=made.depth,
        categories=made.categories,
        dtype=made.dtype,
        source=made.source,
        prompt_hash=made.prompt_hash,
        parent=made.parent,
        round=made.round,
        seed=made.seed,
        cluster=str(story.cluster),
        timing=verdict.timing,
        work=verdict.work,
        checks=verdict.checks,
        similarity=_similarity(story.nearest),
        environment=verdict.environment,
        validations=(validation_of(verdict, verdict.environment),),
        licence=LICENCE,
        attribution=_attribution(story),
    )


def validation_of(verdict: Verdict, where: Environment) -> Validation:
    """What the row says of this screening. where: a verdict without a run does not say it itself."""
    timing = verdict.timing
    return Validation(
        target=where.target,
        device=where.device,
        driver=where.driver,
        torch=where.torch,
        triton=where.triton,
        outcome=verdict.outcome,
        reason=verdict.reason,
        message=verdict.message,
        eager_ms=timing and timing.eager_ms,
        compiled_ms=timing and timing.compiled_ms,
    )


def _similarity(match: Match | None) -> Similarity | None:
    return Similarity(match.reference, match.benchmark, match.score, match.channel) if match and match.benchmark else None


def _attribution(story: Story) -> str:
    made = story.candidate
    by = "built-in composer" if made.source == "composer" else made.source
    after = [op.removeprefix("transformers.") for op in made.ops if op.startswith("transformers.")]
    credit = f"; after {', '.join(after)} of Hugging Face transformers (Apache-2.0)" if after else ""
    return f"Ops6K ({by}); operators of PyTorch (BSD-3-Clause){credit}"


def write_splits(folder: Path, parts: Mapping[str, Sequence[Story]]) -> dict[str, list[Task]]:
    """data/<split>.parquet for each split, rows in order of task_id; the rows written."""
    tasks = {name: sorted(map(task_of, stories), key=lambda task: task.task_id) for name, stories in parts.items()}
    for name, rows in tasks.items():
        write_rows(folder / "data" / f"{name}.parquet", rows, Task, row_group_rows=ROW_GROUP_ROWS)
    return tasks


def guard(folder: Path, stories: Iterable[Story]) -> None:
    """Raises Ops6kError unless the written files hold accepted, unmatched, unique tasks and no cluster in two splits.

    Reads the files back and trusts nothing of how they were chosen.
    """
    allowed = {
        task_id(s.candidate.code)
        for s in stories
        if s.verdict and s.verdict.outcome == "accepted" and not any(m.reason for m in s.matches)
    }
    seen: Counter[str] = Counter()
    split_of: dict[str, str] = {}
    for file in sorted((folder / "data").glob("*.parquet")):
        table = pq.read_table(file, columns=["task_id", "code", "cluster"]).to_pylist()
        for row in table:
            if row["task_id"] not in allowed or row["task_id"] != task_id(row["code"]):
                raise Ops6kError(
                    f"assemble: {file.stem} row {row['task_id']} is no accepted task without a rejecting match; nothing written"
                )
            if split_of.setdefault(row["cluster"], file.stem) != file.stem:
                raise Ops6kError(
                    f"assemble: cluster {row['cluster']} stands in {split_of[row['cluster']]} and {file.stem}; nothing written"
                )
            seen[row["task_id"]] += 1
    twice = [id_ for id_, count in seen.items() if count > 1]
    if twice:
        raise Ops6kError(f"assemble: task {twice[0]} stands in the set {seen[twice[0]]} times; nothing written")
