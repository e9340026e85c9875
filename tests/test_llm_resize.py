"""The second round: what the screen could not bring into its window goes back to the model once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import llm_project, with_llm
from servers.openai_server import ModelServer, running

from ops6k import fuse, rounds, store
from ops6k.params import Params
from ops6k.records import Candidate, Outcome, Reason, Verdict, candidate_id


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def params(tmp_path: Path) -> Params:
    params = with_llm(llm_project(tmp_path / "project"), concurrency=1)
    return replace(params, fuse=replace(params.fuse, source="llm", candidates=4))


def _child(parent: Candidate, code: str) -> Candidate:
    return replace(
        parent, candidate_id=candidate_id(parent.ops, code), code=code, parent=parent.candidate_id, round=parent.round + 1
    )


def _judge(data: Path, verdicts: dict[str, Reason | None], derived: tuple[Candidate, ...] = ()) -> None:
    """What the screen would leave: a reason a candidate."""
    rows = [
        Verdict(one, reason.outcome if reason else Outcome.ACCEPTED, reason, "median of 7 eager runs: 0.031 ms", "timing")
        for one, reason in verdicts.items()
    ]
    with store.whole_folder(data / "verdicts") as folder:
        store.write_rows(folder / "verdicts.parquet", rows, Verdict)
        store.write_rows(folder / "candidates.parquet", derived, Candidate)


def _resized(data: Path) -> list[Candidate]:
    return store.read_rows(data / "resized" / "candidates.parquet", Candidate)


def test_what_stays_out_of_range_goes_back_once_with_what_was_measured(server: ModelServer, params: Params) -> None:
    data = params.root / "built"
    fuse.run(params, data)
    first = rounds.candidates(data)
    grown = _child(first[0], first[0].code + "\n# larger\n")
    reasons = {first[0].candidate_id: Reason.TOO_FAST, grown.candidate_id: Reason.TOO_FAST, first[1].candidate_id: None}
    _judge(data, reasons | {first[2].candidate_id: Reason.TOO_SLOW, first[3].candidate_id: Reason.DEAD_INPUT}, (grown,))
    server.received.clear()
    report = fuse.resize(params, data)
    came = _resized(data)
    assert [(c.parent, c.round, c.dtype) for c in came] == [
        (first[2].candidate_id, 1, first[2].dtype),
        (grown.candidate_id, 2, first[0].dtype),
    ]
    assert (report.stage, report.taken, report.kept) == ("resize", 2, 2)
    slow, fast = (request.body["messages"][-1]["content"] for request in server.received)
    assert "out_of_range/too_slow" in slow and "out_of_range/too_fast" in fast
    assert "median of 7 eager runs: 0.031 ms" in fast and "# larger" in fast and f"in {first[0].dtype}" in fast
    assert fuse.resize(params, data).notes == report.notes and _resized(data) == came
    assert len(server.received) == 2, "a rerun asks nothing"


def test_an_answer_that_was_there_before_is_a_repetition(server: ModelServer, params: Params) -> None:
    data = params.root / "built"
    fuse.run(params, data)
    first = rounds.candidates(data)
    _judge(data, {first[0].candidate_id: Reason.TOO_FAST})
    fuse.resize(params, data)
    (answered,) = _resized(data)
    with store.whole_folder(data / "candidates") as folder:
        same = replace(answered, parent=None, round=0)
        store.write_rows(folder / "candidates.parquet", [first[0], same], Candidate)
    report = fuse.resize(params, data)
    assert (_resized(data), report.kept) == ([], 0)
    assert [(funnel.reason, funnel.count) for funnel in report.reasons] == [("duplicate/exact", 1)]


@pytest.mark.parametrize("changed", [{"source": "composer"}, {"resize": False}])
def test_nothing_of_the_composers_goes_back_and_no_endpoint_is_needed(
    server: ModelServer, params: Params, changed: dict[str, object]
) -> None:
    data = params.root / "built"
    fuse.run(params, data)
    _judge(data, {one.candidate_id: Reason.TOO_FAST for one in rounds.candidates(data)})
    server.received.clear()
    off = replace(params, fuse=replace(params.fuse, **changed)) if "source" in changed else with_llm(params, **changed)
    report = fuse.resize(off, data)
    assert (_resized(data), report.taken, server.received) == ([], 0, [])
    assert report.notes[0].startswith("nothing goes back to a model: ")


def test_a_round_that_was_proposed_must_be_judged_too(server: ModelServer, params: Params) -> None:
    data = params.root / "built"
    fuse.run(params, data)
    _judge(data, {one.candidate_id: None for one in rounds.candidates(data)})
    rounds.require(data)
    fuse.resize(params, data)
    with pytest.raises(rounds.MissingInput, match=r"rescreened/verdicts.parquet: no such file; `ops6k rescreen` makes it"):
        rounds.require(data)
