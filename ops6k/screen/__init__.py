"""Screen: run each candidate on the device and say what became of it.

Imports the standard library, torch, numpy, pyarrow and yaml only, so that `python -m ops6k.screen` runs on a bare GPU
machine; the shards that it leaves are taken over by the next `ops6k build` anywhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k.errors import ParamsError
from ops6k.params import Params
from ops6k.records import Candidate, Funnel, Outcome, Report, Verdict
from ops6k.rounds import CANDIDATES, FIRST, SECOND, VERDICTS, Round
from ops6k.store import read_rows, whole_folder, write_rows

WORK = Path(".work", "screen")


@dataclass(frozen=True, slots=True)
class Slice:
    """Every `of`-th shard from number `first` on, counted from 0: machines that share the work out so need not know of one another."""

    first: int = 0
    of: int = 1

    @classmethod
    def parsed(cls, text: str) -> "Slice":
        """The slice that `3/10` names; raises ParamsError."""
        first, _, of = text.partition("/")
        if not (first.isdecimal() and of.isdecimal() and int(first) < int(of)):
            raise ParamsError(f"--slice {text!r}: K/N with K from 0 to N - 1, as 3/10")
        return cls(int(first), int(of))


WHOLE = Slice()


def run(params: Params, data: Path) -> Report:
    """Fills the missing shards, then writes data/verdicts/verdicts.parquet and candidates.parquet (those it resized)."""
    return _screened(params, data, FIRST)


def rerun(params: Params, data: Path) -> Report:
    """The same for what a model wrote anew: data/resized/ into data/rescreened/."""
    return _screened(params, data, SECOND)


def _screened(params: Params, data: Path, part: Round) -> Report:
    shards = fill_shards(params, data, part)
    verdicts = [v for shard in shards for v in read_rows(shard.path, Verdict)]
    derived = [c for shard in shards for c in read_rows(shard.derived, Candidate)]
    with whole_folder(data / part.judged) as out:
        write_rows(out / VERDICTS, verdicts, Verdict)
        write_rows(out / CANDIDATES, derived, Candidate)
    return report(part.judge, verdicts, derived)


def fill_shards(params: Params, data: Path, part: Round, deadline_s: float | None = None, mine: Slice = WHOLE) -> Sequence:
    """The shards of a round's candidates that are mine, made where missing; see ops6k.screen.shards."""
    from ops6k.screen.shards import fill, rules_of, shards_of

    rules = rules_of(params)
    shards = shards_of(read_rows(data / part.proposed / CANDIDATES, Candidate), rules, params, data / WORK)[mine.first :: mine.of]
    fill(shards, rules, params.screen.workers, deadline_s, stage=part.judge)
    return shards


def report(stage: str, verdicts: Sequence[Verdict], derived: Sequence[Candidate]) -> Report:
    counts = Counter(str(v.reason or v.outcome) for v in verdicts)
    return Report(
        stage=stage,
        taken=len(verdicts),
        kept=counts[Outcome.ACCEPTED],
        reasons=tuple(Funnel(reason, count) for reason, count in counts.most_common()),
        notes=(f"{len(derived)} of them were resized from others",),
    )
