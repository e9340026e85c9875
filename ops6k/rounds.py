"""The rounds of a build: what was proposed and its verdicts, then what a model was asked to write anew and its verdicts.

Beside its verdicts the screen leaves the candidates that it derived by resizing; they belong to the same round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ops6k.errors import MissingInput
from ops6k.records import Candidate, Outcome, Verdict
from ops6k.store import read_rows

CANDIDATES, VERDICTS = "candidates.parquet", "verdicts.parquet"

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Round:
    """Folders below a build's data, and the stages that write them."""

    proposed: str
    judged: str
    proposer: str
    judge: str


FIRST = Round("candidates", "verdicts", "fuse", "screen")
SECOND = Round("resized", "rescreened", "resize", "rescreen")
ROUNDS = (FIRST, SECOND)


def candidates(data: Path, rounds: Sequence[Round] = ROUNDS) -> list[Candidate]:
    """Every candidate that there is so far: of each round those proposed, then those derived from them."""
    return [
        row for part in rounds for folder in (part.proposed, part.judged) for row in _rows(data / folder / CANDIDATES, Candidate)
    ]


def verdicts(data: Path, rounds: Sequence[Round] = ROUNDS) -> list[Verdict]:
    """Every verdict that there is so far."""
    return [row for part in rounds for row in _rows(data / part.judged / VERDICTS, Verdict)]


def _rows(path: Path, record: type[R]) -> list[R]:
    return read_rows(path, record) if path.exists() else []


def require(data: Path) -> None:
    """Raises MissingInput unless each round that was proposed was judged too; the first must be there."""
    for part in ROUNDS:
        if part is FIRST or (data / part.proposed).exists():
            for folder, file, stage in ((part.proposed, CANDIDATES, part.proposer), (part.judged, VERDICTS, part.judge)):
                if not (data / folder / file).exists():
                    raise MissingInput(f"{data / folder / file}: no such file; `ops6k {stage}` makes it")


def out_of_range(data: Path) -> Iterator[tuple[Candidate, Verdict]]:
    """Candidates of the first round that are out of range and could not be resized, or not enough: the ends of their lines."""
    made = candidates(data, (FIRST,))
    parents = {one.parent for one in made}
    verdict_of = {v.candidate_id: v for v in verdicts(data, (FIRST,))}
    for one in made:
        verdict = verdict_of.get(one.candidate_id)
        if verdict is not None and verdict.outcome is Outcome.OUT_OF_RANGE and one.candidate_id not in parents:
            yield one, verdict
