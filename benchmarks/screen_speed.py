"""Measures the screen: candidates an hour against a fresh interpreter each, the dry run, its predictions, seconds by phase.

    python benchmarks/screen_speed.py                             # on this machine: minutes, 24 composer candidates
    python benchmarks/screen_speed.py --data data --out plots     # a finished run, of a GPU too: its data or .work/screen

Both sides of the race judge the same candidates by the same functions, as many at a time, in alternating blocks, each
candidate with an empty compiler cache; nothing is resized. `forked` is the product: a warm fork server, a child a job, headers
precompiled once. `fresh` starts an interpreter for each candidate (benchmarks/screen_alone.py), unconfined. On a shared machine
the ratio of CPU seconds is the steadier one. Linux only.
"""

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from screen_numbers import PHASES, Phases, Prediction, draw, phases_of, prediction_of, quantile, read_run, seconds_of, table
from screen_race import Race, raced

from ops6k import params as parameters
from ops6k import target as targets
from ops6k.errors import Ops6kError
from ops6k.fuse.composer.stage import composed
from ops6k.params import Params
from ops6k.records import Candidate, Verdict
from ops6k.screen.shards import rules_of

PARAMS = Path(__file__).resolve().parents[1] / "params.yaml"
GOAL_RATIO, GOAL_DRY_RUN_S = 3.0, 0.05


def main() -> int:
    given = _arguments().parse_args()
    try:
        numbers = _finished(given) if given.data else _live(given)
    except Ops6kError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if given.json:
        given.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="report on the shards of this finished run instead of measuring")
    parser.add_argument("--wall-s", type=float, help="with --data: the run's wall seconds, where the files' times do not tell")
    parser.add_argument("--candidates", type=int, default=24, help="composer candidates to judge on both sides (default: 24)")
    parser.add_argument("--block", type=int, default=6, help="candidates of a side before the other has its turn (default: 6)")
    parser.add_argument("--workers", type=int, default=0, help="processes at a time on both sides (default: one per core)")
    parser.add_argument("--shared-cache", action="store_true", help="let the fresh interpreters share one compiler cache")
    parser.add_argument("--params", type=Path, default=PARAMS)
    parser.add_argument("--preset", default="demo", help="of params.yaml (default: demo, whose target is the CPU)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings", help="as for ops6k build")
    parser.add_argument("--out", type=Path, help="folder for the plot of predicted against measured time")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    return parser


def _finished(given: argparse.Namespace) -> dict:
    """Tables of a finished run; its numbers as plain values."""
    run = read_run(given.data)
    wall_s, wall_from = (given.wall_s, "--wall-s") if given.wall_s else (run.wall_s, "the times of the shard files")
    print(f"{run.folder.name}: {len(run.verdicts)} verdicts, {run.resized} of them of resized candidates\n")
    return _report(run.verdicts, phases_of(run.verdicts, wall_s, wall_from, run.resized), given.out)


def _live(given: argparse.Namespace) -> dict:
    """The race on this machine, then the tables of its forked side; all numbers as plain values."""
    settings = [*given.settings, f"fuse.candidates={given.candidates}"]
    params = parameters.load(given.params, preset=given.preset, settings=settings)
    rules = replace(rules_of(params), resize_rounds=0)
    targets.require_machine(rules.target)
    workers = given.workers or os.cpu_count() or 1
    race = raced(_candidates(params), rules, workers, given.block, shares_cache=given.shared_cache)
    print(_race_table(race, workers))
    print(_dry_run_lines(race), end="\n\n")
    verdicts = race.forked.verdicts
    report = _report(verdicts, phases_of(verdicts, race.forked.wall_s, "its own clock"), given.out)
    return {"race": _race_numbers(race), **report}


def _candidates(params: Params) -> tuple[Candidate, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return composed(params, Path(folder)).candidates


def _race_table(race: Race, workers: int) -> str:
    forked, fresh = race.forked, race.fresh
    with_start = 3600 * len(forked.verdicts) / (forked.wall_s + race.start_s)
    rows = [
        ("candidates an hour", forked.per_hour, fresh.per_hour, forked.per_hour / fresh.per_hour),
        ("  with the start", with_start, fresh.per_hour, with_start / fresh.per_hour),
        ("CPU seconds each", forked.cpu_each_s, fresh.cpu_each_s, fresh.cpu_each_s / forked.cpu_each_s),
    ]
    return "\n".join(
        (
            f"{len(forked.verdicts)} candidates, {workers} at a time; {os.cpu_count()} cores, {race.others:.1f} of them busy with others",
            table(
                ("", "forked", "fresh", "ratio"), [(name, *(f"{number:.4g}" for number in numbers)) for name, *numbers in rows]
            ),
            f"goal: {GOAL_RATIO:g} times as many an hour. The fork server starts once, in {race.start_s:.1f} s.",
            f"Both sides end {len(forked.verdicts) - len(race.differences)} of {len(forked.verdicts)} candidates alike"
            + (", but not:" if race.differences else "."),
            *race.differences,
        )
    )


def _dry_run_lines(race: Race) -> str:
    alone, jobs = ([pair[i] for pair in race.dry_runs_s] for i in (0, 1))
    rows = [
        (name, *(f"{1e3 * quantile(found, share):.0f}" for share in (0.5, 0.9)))
        for name, found in (
            ("one at a time", alone),
            ("  from fork to answer", jobs),
            ("beside other candidates", seconds_of(race.forked.verdicts, "dry_run")),
        )
    ]
    return f"\n{table(('dry run, ms', 'median', '90 %'), rows)}\ngoal: a median of {1e3 * GOAL_DRY_RUN_S:g} ms"


def _race_numbers(race: Race) -> dict:
    sides = {
        name: {"wall_s": side.wall_s, "cpu_s": side.cpu_s, "candidates": len(side.verdicts), "per_hour": side.per_hour}
        for name, side in (("forked", race.forked), ("fresh", race.fresh))
    }
    return {
        **sides,
        "ratio": race.forked.per_hour / race.fresh.per_hour,
        "cpu_ratio": race.fresh.cpu_each_s / race.forked.cpu_each_s,
        "start_s": race.start_s,
        "other_cores": race.others,
        "differences": race.differences,
        "dry_runs_s": race.dry_runs_s,
    }


def _report(verdicts: Sequence[Verdict], phases: Phases, out: Path | None) -> dict:
    """Prints the tables that any run has; its numbers as plain values."""
    print(_phase_table(phases), _ends_table(phases), _whole(phases), sep="\n\n", end="\n\n")
    found = prediction_of(verdicts)
    print(_prediction_line(found))
    if found and out:
        print(f"plot: {draw(verdicts, found, out)}")
    return {"phases": asdict(phases), "prediction": asdict(found) if found else None}


def _phase_table(phases: Phases) -> str:
    rows = [(p.name, str(p.reached), _seconds(p.median_s), _seconds(p.p90_s), _seconds(p.each_s)) for p in phases.phases]
    return table(("phase", "reached", "median s", "90 % s", "s a candidate"), rows)


def _seconds(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def _ends_table(phases: Phases) -> str:
    rows = [
        (
            end.reason,
            str(end.count),
            f"{end.count / phases.verdicts:.0%}",
            *(_seconds(end.medians_s[phase]) for phase in PHASES),
            f"{end.seconds_share:.0%}",
        )
        for end in phases.ends
    ]
    return table(("end", "count", "share", *(f"{phase} s" for phase in PHASES), "of all seconds"), rows)


def _whole(phases: Phases) -> str:
    if phases.wall_s is None:
        return f"wall time not known ({phases.wall_from}); give --wall-s for rate and shares"
    return (
        f"{phases.wall_s:.0f} s by {phases.wall_from}: {phases.per_second:.2f} verdicts a second, {phases.children:.1f} children at work, "
        f"the device for one alone {phases.lock_share:.0%} of the time"
    )


def _prediction_line(found: Prediction | None) -> str:
    if found is None:
        return "prediction: fewer than three verdicts have a measured time"
    return (
        f"prediction: {found.pairs} verdicts, measured / predicted {found.ratio:.2f} (geometric mean), Spearman {found.spearman:.2f}, "
        f"within a factor of 2 {found.within_2:.0%}, of 3 {found.within_3:.0%}"
    )


if __name__ == "__main__":
    sys.exit(main())
