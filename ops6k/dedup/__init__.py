"""Dedup: accepted tasks compared with the benchmarks and with one another. No index, no pass."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ops6k import rounds, store
from ops6k.dedup.decide import Subject, compare, rejections
from ops6k.dedup.examples import compared_with
from ops6k.errors import MissingInput
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate, Funnel, Match, Outcome, Report, Verdict

STAGE = "dedup"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster of one accepted candidate: near neighbours share it."""

    candidate_id: str
    cluster: str
    """candidate_id of its first member."""


def run(params: Params, data: Path) -> Report:
    """Writes matches/matches.parquet (Match) and matches/clusters.parquet (Cluster).

    Raises MissingInput where an index or a table is absent, unreadable or empty of references.
    """
    references = compared_with(params)
    tasks = accepted(data)
    with track(STAGE, len(tasks)) as progress:
        found = compare(tasks, references, params.dedup, progress)
    clusters = [Cluster(task.candidate_id, cluster) for task, cluster in zip(tasks, found.clusters, strict=True)]
    with store.whole_folder(data / "matches") as folder:
        store.write_rows(folder / "matches.parquet", found.matches, Match)
        store.write_rows(folder / "clusters.parquet", clusters, Cluster)
    rejected = rejections(found.matches)
    reasons = Counter(str(match.reason) for match in rejected.values())
    against = Counter(reference.benchmark for reference in references)
    return Report(
        STAGE,
        taken=len(tasks),
        kept=len(tasks) - len(rejected),
        reasons=tuple(Funnel(reason, count) for reason, count in sorted(reasons.items())),
        notes=tuple(f"compared with {count} references of {name}" for name, count in against.items()),
    )


def accepted(data: Path) -> list[Subject]:
    """Accepted tasks in the order of the candidates, round by round, those that the screen derived last.

    Raises MissingInput where a verdict has no candidate.
    """
    rounds.require(data)
    verdicts = {v.candidate_id: v for v in rounds.verdicts(data) if v.outcome is Outcome.ACCEPTED}
    candidates = rounds.candidates(data)
    unknown = set(verdicts) - {candidate.candidate_id for candidate in candidates}
    if unknown:
        raise MissingInput(f"{data / 'verdicts'}: no candidate {min(unknown)}; run `ops6k fuse` and `ops6k screen` again")
    return [
        _subject(candidate, verdicts[candidate.candidate_id]) for candidate in candidates if candidate.candidate_id in verdicts
    ]


def _subject(candidate: Candidate, verdict: Verdict) -> Subject:
    return Subject(candidate.candidate_id, candidate.ops, candidate.code, verdict.work.operators if verdict.work else None)
