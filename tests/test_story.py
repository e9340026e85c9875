"""`ops6k show`: the first line says what became of a candidate, whichever stage decided it."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_build import H200, accepted, benchmark_match, candidate, plain_build, rejected, write_build

from ops6k.assemble.join import Story
from ops6k.assemble.tasks import task_of, validation_of
from ops6k.records import Candidate, Reason, Task
from ops6k.store import write_rows
from ops6k.story import story


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, list[Candidate]]:
    build = plain_build([(2, "float32", False)] * 3)
    build.matches[0] = benchmark_match(build.candidates[0], 0.98, Reason.BENCHMARK)
    build.verdicts[1] = rejected(build.candidates[1], Reason.TOO_FAST, "0.2 ms")
    build.candidates.append(candidate(77, 2))
    return write_build(build, tmp_path), build.candidates


@pytest.mark.parametrize(
    ("which", "says"),
    [
        (0, "contaminated/benchmark: text 0.98 with 19_ReLU of kernelbench"),
        (1, "out_of_range/too_fast: 0.2 ms"),
        (2, f"accepted: {accepted(candidate(2, 2)).message}"),
        (3, "not screened yet"),
    ],
)
def test_the_first_line_says_what_became_of_a_candidate(made: tuple[Path, list[Candidate]], which: int, says: str) -> None:
    data, candidates = made
    assert str(next(iter(story(candidates[which].candidate_id, data)))) == says


def test_each_screening_of_a_row_is_a_line_that_says_where_and_what_became_of_it(tmp_path: Path) -> None:
    made = candidate(1, 2)
    task = task_of(Story(made, accepted(made), (), "c"))
    again = validation_of(rejected(made, Reason.RUNTIME, "does not run"), H200)
    write_rows(tmp_path / "dataset" / "one.parquet", [replace(task, validations=(*task.validations, again))], Task)
    screen = Console(record=True, width=200)
    for part in story(task.task_id, tmp_path):
        screen.print(part)
    shown = screen.export_text()
    _, first, second, *_ = shown[shown.index("validations") :].splitlines()
    assert (
        first.startswith(task.environment.device)
        and "accepted, eager 2 ms, compiled 1.6 ms (torch " in first
        and "target cpu)" in first
    )
    assert second.startswith(H200.device) and "invalid/runtime, does not run (torch " in second
    assert "{'" not in shown and shown.count("validations") == 1 and "not screened" not in shown
