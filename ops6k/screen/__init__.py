"""Screen: run each candidate on the device and say what became of it.

Imports the standard library, torch, numpy, pyarrow and yaml only, so that `python -m ops6k.screen` runs on a bare GPU
machine; the shards that it leaves are taken over by the next `ops6k build` anywhere.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ops6k.params import Params
from ops6k.records import Candidate, Funnel, Outcome, Report, Verdict
from ops6k.store import read_rows, whole_folder, write_rows

CANDIDATES = Path("candidates", "candidates.parquet")
WORK = Path(".work", "screen")


def run(params: Params, data: Path) -> Report:
    """Fills the missing shards, then writes data/verdicts/verdicts.parquet and candidates.parquet (those it resized)."""
    shards = fill_shards(params, data)
    verdicts = [v for shard in shards for v in read_rows(shard.path, Verdict)]
    derived = [c for shard in shards for c in read_rows(shard.derived, Candidate)]
    with whole_folder(data / "verdicts") as out:
        write_rows(out / "verdicts.parquet", verdicts, Verdict)
        write_rows(out / "candidates.parquet", derived, Candidate)
    return report(verdicts, derived)


def fill_shards(params: Params, data: Path, deadline_s: float | None = None) -> Sequence:
    """The shards of data/candidates, made where missing; see ops6k.screen.shards."""
    from ops6k.screen.shards import fill, rules_of, shards_of

    rules = rules_of(params)
    shards = shards_of(read_rows(data / CANDIDATES, Candidate), rules, params, data / WORK)
    fill(shards, rules, params.screen.workers, deadline_s)
    return shards


def report(verdicts: Sequence[Verdict], derived: Sequence[Candidate]) -> Report:
    counts = Counter(str(v.reason or v.outcome) for v in verdicts)
    return Report(
        stage="screen",
        taken=len(verdicts),
        kept=counts[Outcome.ACCEPTED],
        reasons=tuple(Funnel(reason, count) for reason, count in counts.most_common()),
        notes=(f"{len(derived)} of them were resized from others",),
    )
