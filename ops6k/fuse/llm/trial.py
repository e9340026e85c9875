"""What the text checks and the dry run say of candidates, as they come: the screen's own judge, up to where the device begins."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ops6k.records import Candidate, Outcome, Verdict
from ops6k.screen.course import Course, Rules
from ops6k.screen.shards import dry_runs, judged_in


def rejected(candidates: Iterable[Candidate], rules: Rules) -> Iterator[tuple[Candidate, Verdict]]:
    """Candidates that the screen would reject before it runs them, with its verdict, in the order given.

    A run time out of range is no rejection here: the screen resizes such a task.
    """
    rules = replace(rules, resize_rounds=0, dry_run_only=True)
    courses = (Course(number, candidate, rules) for number, candidate in enumerate(candidates))
    with dry_runs(os.cpu_count() or 1) as sandbox:
        done = sorted(judged_in(sandbox, courses, rules.target), key=lambda course: course.number)
    for course in done:
        if course.verdicts and not _is_resized(course.verdicts[-1]):
            yield course.candidate, course.verdicts[-1]


def _is_resized(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.OUT_OF_RANGE and verdict.reason.short != "memory"
