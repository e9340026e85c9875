"""The funnel: one row per candidate ever made, and for each stage what it took, what it kept and why it dropped the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k.assemble.join import Story
from ops6k.errors import MissingInput
from ops6k.harvest.lines import read
from ops6k.records import Funnel, Operator, Outcome, Report
from ops6k.store import from_plain


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """One candidate and its end. Code is left out: what was rejected as a benchmark's copy or as unsafe is not spread."""

    candidate_id: str
    """16 hex digits that stand for labels and code."""
    parent: str | None
    """candidate_id that it was repaired or resized from."""
    round: int
    """0 as first proposed; repaired and resized candidates count up."""
    source: str
    """composer (built in), or the model's name."""
    seed: int
    """Seed of the proposal."""
    ops: tuple[str, ...]
    """Declared operators."""
    depth: int
    """Number of declared operators."""
    dtype: str
    """Floating-point type that the task computes in."""
    categories: tuple[str, ...]
    """Categories of the operators, in their order."""
    outcome: str | None
    """Class of its end: accepted, invalid, nondeterministic, constant, out_of_range, duplicate, contaminated, unsafe, unfinished; null if never screened."""
    reason: str | None
    """Why it was not accepted, as class/name; null when accepted."""
    message: str
    """What was seen, in one line."""
    stage: str | None
    """Stage that decided: screen or dedup."""
    phase: str | None
    """Phase of the screen that decided: text, dry_run, eager, compile, timing."""
    split: str | None
    """train, validation or test; null where it is no row of the set."""
    predicted_ms: float | None
    """Roofline estimate of eager, in ms."""
    sol_ms: float | None
    """Fused lower bound, in ms."""
    eager_ms: float | None
    """Median device time of one eager forward, in ms."""
    eager_low_ms: float | None
    """Lower end of its interval, in ms."""
    eager_high_ms: float | None
    """Upper end of its interval, in ms."""
    compiled_ms: float | None
    """Median device time of one compiled forward, in ms."""
    output_change: float | None
    """Smallest share, over the outputs, of elements that change with fresh inputs, 0-1."""
    op_effect: float | None
    """Smallest share of output elements that any operator moves, 0-1."""
    free_share: float | None
    """Largest share of elements that a free answer matches, 0-1."""
    similarity: float | None
    """Similarity to the nearest benchmark problem, 0-1."""
    nearest: str | None
    """Name of that problem."""
    benchmark: str | None
    """Name of its benchmark."""
    inner_similarity: float | None
    """Similarity to the nearest earlier candidate of this build, 0-1."""


def funnel_rows(stories: Sequence[Story], splits: Mapping[str, str]) -> list[FunnelRow]:
    """A row for each story. splits: candidate_id to split, of those that became rows."""
    return [_row(story, splits.get(story.candidate.candidate_id)) for story in stories]


def _row(story: Story, split: str | None) -> FunnelRow:
    made, verdict, near = story.candidate, story.verdict, story.nearest
    work, timing, checks = (verdict.work, verdict.timing, verdict.checks) if verdict else (None, None, None)
    return FunnelRow(
        candidate_id=made.candidate_id,
        parent=made.parent,
        round=made.round,
        source=made.source,
        seed=made.seed,
        ops=made.ops,
        depth=made.depth,
        dtype=made.dtype,
        categories=made.categories,
        outcome=story.outcome,
        reason=story.reason,
        message=story.message,
        stage=None if verdict is None else "dedup" if story.is_accepted else "screen",
        phase=verdict.phase if verdict else None,
        split=split,
        predicted_ms=work.predicted_ms if work else None,
        sol_ms=work.sol_ms if work else None,
        eager_ms=timing.eager_ms if timing else None,
        eager_low_ms=timing.eager_low_ms if timing else None,
        eager_high_ms=timing.eager_high_ms if timing else None,
        compiled_ms=timing.compiled_ms if timing else None,
        output_change=checks.output_change if checks else None,
        op_effect=checks.op_effect if checks else None,
        free_share=checks.free_share if checks else None,
        similarity=near.score if near else None,
        nearest=near.reference if near else None,
        benchmark=near.benchmark if near else None,
        inner_similarity=max((m.score for m in story.matches if not m.benchmark), default=None),
    )


def stage_counts(stories: Sequence[Story], operators: Sequence[Operator], reports: Mapping[str, Report]) -> tuple[Report, ...]:
    """What each stage took and kept, and every reason; screen and dedup are counted from the tables.

    fuse: its own report where there is one, since what it dropped leaves no other trace, else what it wrote.
    resize: its own report, where anything went back to a model; what came back is screened, and counted there.
    assemble: only where there is a report of it.
    """
    usable = sum(op.usable for op in operators)
    harvest = Report("harvest", len(operators), usable, _reasons({"unusable": len(operators) - usable}))
    first = sum(story.candidate.round == 0 for story in stories)
    fuse = reports.get("fuse", Report("fuse", first, first))
    asked_again = [reports["resize"]] if "resize" in reports and reports["resize"].taken else []
    assembled = [reports["assemble"]] if "assemble" in reports else []
    return (harvest, fuse, *asked_again, _screen(stories), _dedup(stories), *assembled)


def _screen(stories: Sequence[Story]) -> Report:
    reasons = Counter(str(s.verdict.reason or s.verdict.outcome) for s in stories if s.verdict and not s.is_accepted)
    reasons["not screened"] = sum(s.verdict is None for s in stories)
    return Report("screen", len(stories), sum(s.is_accepted for s in stories), _reasons(reasons))


def _dedup(stories: Sequence[Story]) -> Report:
    accepted = [s for s in stories if s.is_accepted]
    return Report(
        "dedup", len(accepted), sum(s.is_eligible for s in accepted), _reasons(Counter(s.reason for s in accepted if s.reason))
    )


def _reasons(counts: Mapping[str, int]) -> tuple[Funnel, ...]:
    """Most frequent first."""
    return tuple(
        Funnel(str(reason), count) for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count
    )


def reject_counts(stories: Iterable[Story]) -> dict[str, int]:
    """Candidates by final outcome or reason, accepted first, then by count."""
    counts = Counter(str(s.reason or s.outcome or "not screened") for s in stories)
    return dict(sorted(counts.items(), key=lambda item: (item[0] != Outcome.ACCEPTED, -item[1], item[0])))


def read_reports(*folders: Path) -> dict[str, Report]:
    """Reports by stage, of those folders that hold one."""
    import json

    found = {}
    for file in (folder / "report.json" for folder in folders):
        if file.exists():
            try:
                report = from_plain(Report, json.loads(file.read_text(encoding="utf-8")))
            except (ValueError, KeyError, TypeError) as error:
                raise MissingInput(f"{file}: not a stage's report ({error})") from None
            found[report.stage] = report
    return found


def read_operators(seed_ops: Path) -> list[Operator]:
    """All harvested operators, by file and line; raises MissingInput where there is none or a line is none."""
    operators = [one for file in sorted(seed_ops.glob("*.jsonl")) for one in read(file)]
    if not operators:
        raise MissingInput(f"{seed_ops}: no operators; `ops6k harvest` makes them")
    return operators
