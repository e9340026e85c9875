"""The stage with its repair round: what text checks and dry run reject goes back once, with the reason quoted."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import llm_project, with_llm
from servers.openai_server import ModelServer, running

from ops6k import fuse, store
from ops6k.params import Params
from ops6k.records import Candidate, Report


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def params(tmp_path: Path) -> Params:
    params = with_llm(llm_project(tmp_path / "project"), concurrency=1)
    return replace(params, fuse=replace(params.fuse, source="llm", candidates=4))


def fused(params: Params) -> tuple[Report, list[Candidate]]:
    data = params.root / "built"
    report = fuse.run(params, data)
    return report, store.read_rows(data / "candidates" / "candidates.parquet", Candidate)


def prompts(server: ModelServer) -> list[str]:
    return [request.body["messages"][-1]["content"] for request in server.received]


def test_what_the_text_and_the_dry_run_reject_goes_back_once_with_the_reason(server: ModelServer, params: Params) -> None:
    server.faults.extend(["broken_code", "wrong_label"])
    report, candidates = fused(params)
    assert [c.round for c in candidates] == [0, 0, 0, 0, 1, 1]
    assert [c.parent for c in candidates[4:]] == [c.candidate_id for c in candidates[:2]]
    assert [c.dtype for c in candidates[4:]] == [c.dtype for c in candidates[:2]]
    first, second = prompts(server)[4:]
    assert "invalid/syntax" in first and "was never closed" in first and candidates[0].code.strip() in first
    assert "invalid/label" in second and "declares F.relu6, but forward does not call it" in second
    assert "2 candidates failed text checks or dry run and went back; 2 of 2 repairs pass them" in report.notes
    assert (report.taken, report.kept) == (6, 6)


def test_what_needs_too_much_memory_goes_back_with_the_prompt_for_sizes(server: ModelServer, params: Params) -> None:
    server.faults.append("huge")
    _, candidates = fused(params)
    assert [c.round for c in candidates] == [0, 0, 0, 0, 1]
    assert "out_of_range/memory" in prompts(server)[4] and "allowed are 2" in prompts(server)[4]
    assert "less than 2 GiB in all" in prompts(server)[4]


def test_a_repair_that_fails_is_not_repaired_again_and_a_rerun_asks_nothing(server: ModelServer, params: Params) -> None:
    server.always = "wrong_label"
    report, candidates = fused(params)
    assert [c.round for c in candidates] == [0] * 4 + [1] * 4
    assert "4 candidates failed text checks or dry run and went back; 0 of 4 repairs pass them" in report.notes
    again, same = fused(params)
    assert (same, again.notes) == (candidates, report.notes)
    assert len(server.received) == 8


def test_sound_answers_are_not_sent_back(server: ModelServer, params: Params) -> None:
    _, candidates = fused(params)
    assert (len(candidates), len(server.received)) == (4, 4)


def test_without_the_round_nothing_is_judged_or_sent_back(server: ModelServer, params: Params) -> None:
    server.faults.append("broken_code")
    report, candidates = fused(with_llm(params, repair=False))
    assert (len(candidates), len(server.received)) == (4, 4)
    assert not any("went back" in note for note in report.notes)


def test_a_budget_that_ends_among_repairs_leaves_the_stage_whole_and_goes_on_when_raised(
    server: ModelServer, params: Params
) -> None:
    server.faults.extend(["wrong_label"] * 4)
    report, candidates = fused(with_llm(params, max_requests=5))
    assert [c.round for c in candidates] == [0, 0, 0, 0, 1]
    assert any("budget of 5 requests is spent" in note for note in report.notes)
    _, candidates = fused(params)
    assert [c.round for c in candidates] == [0] * 4 + [1] * 4
    assert len(server.received) == 8
