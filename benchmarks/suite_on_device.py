"""Judges the files of tests/tasks on this machine's device and prints a line a task; needs only torch, numpy, pyarrow, yaml.

    python benchmarks/suite_on_device.py --target data/targets/h200.yaml [--workers 14]

`ops6k judge tests/tasks` does the same and compares tasks with the benchmarks besides; this runs on a bare GPU machine.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ops6k import target as targets
from ops6k.records import Candidate
from ops6k.screen.course import Course, Rules
from ops6k.screen.limits import Limits
from ops6k.screen.shards import judged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, default=Path("tests/tasks"))
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--timeout-s", type=float, default=60.0)
    given = parser.parse_args()
    target = targets.load(given.target)
    rules = Rules(target, Limits(None, 1e-2, min(24.0, target.memory_gib), given.timeout_s), resize_rounds=0)
    files = sorted(given.tasks.glob("*.py"))
    courses = [Course(i, _candidate(file), _rules(file, rules)) for i, file in enumerate(files)]
    began = time.monotonic()
    wrong = 0
    for course in judged(courses, target, given.workers):
        verdict = course.verdicts[-1]
        got = str(verdict.reason) if verdict.reason else "keep"
        fits = got in files[course.number].read_text().splitlines()[0] or "duplicate/" in files[course.number].read_text()[:40]
        wrong += not fits
        print(f"{'ok   ' if fits else 'WRONG'} {files[course.number].stem:32} {got:30} {verdict.message[:100]} {verdict.seconds}")
    print(f"{len(files) - wrong} of {len(files)} as expected in {time.monotonic() - began:.1f} s")
    return wrong > 0


def _candidate(file: Path) -> Candidate:
    code = file.read_text()
    ops = next(line.partition(":")[2] for line in code.splitlines() if line.startswith("# ops:"))
    return Candidate(file.stem, tuple(op.strip() for op in ops.split(",")), code, "file", 0, "float32", ())


def _rules(file: Path, rules: Rules) -> Rules:
    windowed = "# window: true" in file.read_text()
    return replace(rules, limits=replace(rules.limits, window_ms=(1.0, 100.0))) if windowed else rules


if __name__ == "__main__":
    sys.exit(main())
