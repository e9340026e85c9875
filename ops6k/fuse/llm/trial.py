"""What the text checks and the dry run say of candidates, as they come: the screen's own judge, up to where the device begins."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ops6k.records import Candidate, Outcome, Verdict
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.screen.course import Course, Rules


def rejected(candidates: Iterable[Candidate], rules: Rules) -> Iterator[tuple[Candidate, Verdict]]:
    """Candidates that the screen would reject before it runs them, with its verdict, in the order given.

    A run time out of range is no rejection here: the screen resizes such a task.
    """
    courses: list[Course] = []

    def jobs() -> Iterator[Job]:
        for number, candidate in enumerate(candidates):
            courses.append(Course(number, candidate, replace(rules, resize_rounds=0)))
            job = courses[-1].first()
            if job is not None:
                yield job

    def follow(ended: Ended) -> Job | None:
        courses[int(ended.job_id.partition("-")[0])].next(ended)  # passed: what would be next is the run on the device

    with Sandbox(
        device="cpu",
        workers=os.cpu_count() or 1,
        preload="torch,ops6k.screen.judge",
        warm_up="ops6k.screen.warm:dry_run_once",
    ) as sandbox:
        for _ in sandbox.map(jobs(), follow):
            pass
    for course in courses:
        if course.verdicts and not _is_resized(course.verdicts[-1]):
            yield course.candidate, course.verdicts[-1]


def _is_resized(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.OUT_OF_RANGE and verdict.reason.short != "memory"
