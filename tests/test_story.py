"""`ops6k show`: the first line says what became of a candidate, whichever stage decided it."""

from pathlib import Path

import pytest
from synthetic_build import accepted, benchmark_match, candidate, plain_build, rejected, write_build

from ops6k.records import Candidate, Reason
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
