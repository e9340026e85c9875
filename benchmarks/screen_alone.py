"""Judges one candidate in this process, from text to timing: what a screen without a fork server starts for each of them.

Reads {candidate, target, limits, lock, pool, pool_gib} as JSON from standard input; the verdict is the last line of standard output.
Not for code that is not trusted: nothing is confined here.
"""

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ops6k.records import Candidate, Verdict
from ops6k.sandbox import Ended
from ops6k.screen.course import Course, Rules
from ops6k.screen.dry_run import dry_run_code
from ops6k.screen.limits import Limits
from ops6k.screen.shards import PRELOAD
from ops6k.screen.warm import TARGET, TASK
from ops6k.store import from_plain, to_plain
from ops6k.target import Target


def prepare() -> None:
    """What torch imports at its first dry run and its first compilation, which would look like a task's doing."""
    for module in (*PRELOAD.split(","), "torch._inductor.compile_fx"):
        importlib.import_module(module)
    dry_run_code(TASK, TARGET)


def judged_here(course: Course) -> Verdict:
    """The course's verdict, each of its jobs called in this process."""
    job = course.first()
    while job is not None:
        module, _, name = job.function.partition(":")
        answer = getattr(importlib.import_module(module), name)(job.payload)
        job = course.next(Ended(job.job_id, answer, "answered", "", 0.0, course.step))
    return course.verdicts[-1]


def main() -> None:
    prepare()
    given = json.load(sys.stdin)
    rules = Rules(from_plain(Target, given["target"]), from_plain(Limits, given["limits"]), resize_rounds=0)
    candidate = from_plain(Candidate, given["candidate"])
    shared = {name: given[name] for name in ("lock", "pool", "pool_gib")}
    verdict = judged_here(Course(0, candidate, rules, **shared))
    print(f"\n{json.dumps(to_plain(verdict))}")


if __name__ == "__main__":
    main()
