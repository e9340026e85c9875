"""What a source made, as the stage leaves it: candidates.parquet, and a Report of what was dropped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ops6k.records import Candidate, Funnel, Report
from ops6k.rounds import CANDIDATES
from ops6k.store import whole_folder, write_rows


@dataclass(frozen=True, slots=True)
class Made:
    """Candidates kept, in order, and why others were not."""

    candidates: tuple[Candidate, ...]
    taken: int
    dropped: tuple[Funnel, ...]
    notes: tuple[str, ...]

    def report(self, stage: str, seconds: float) -> Report:
        return Report(stage, self.taken, len(self.candidates), self.dropped, self.notes, round(seconds, 1))


def distinct(candidates: Iterable[Candidate]) -> tuple[list[Candidate], int]:
    """The candidates without exact repetitions, and how many those were."""
    seen: dict[str, Candidate] = {}
    count = 0
    for candidate in candidates:
        count += 1
        seen.setdefault(candidate.candidate_id, candidate)
    return list(seen.values()), count - len(seen)


def write(folder: Path, candidates: Iterable[Candidate]) -> None:
    """The stage's output, whole or not at all."""
    with whole_folder(folder) as aside:
        write_rows(aside / CANDIDATES, candidates, Candidate)


def mix_note(candidates: Iterable[Candidate]) -> str:
    """`depth 1 6, 2 25, ...; float32 44, ...; 210 operators`."""
    listed = list(candidates)
    depths = ", ".join(f"{depth}: {count}" for depth, count in sorted(Counter(c.depth for c in listed).items()))
    dtypes = ", ".join(f"{dtype} {count}" for dtype, count in Counter(c.dtype for c in listed).most_common())
    operators = len({op for c in listed for op in c.ops})
    return f"by depth {depths}; {dtypes}; {operators} operators; {sum(c.data_source == 'transformers' for c in listed)} with one of transformers"
