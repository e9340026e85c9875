"""The path from prompt to candidates against a model server that is not ours: nothing but the protocol is assumed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import llm_project, with_llm
from servers.tiny_model import make, serving

from ops6k import fuse
from ops6k.errors import EndpointError
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.params import Params
from ops6k.records import Candidate
from ops6k.store import read_rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def endpoint(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(model, tmp_path_factory.mktemp("served") / "log") as url:
        yield url


@pytest.fixture
def params(endpoint: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint)
    params = with_llm(llm_project(tmp_path / "project"), model=str(model), concurrency=2, max_output_tokens=48)
    return replace(params, fuse=replace(params.fuse, source="llm", candidates=6))


def answers(params: Params) -> list[Answer]:
    return AnswerCache(params.root / "built" / ".work" / "llm" / "answers").journal.rows


def test_babble_makes_no_candidate_is_kept_and_is_not_asked_for_again(params: Params) -> None:
    data = params.root / "built"
    report = fuse.run(params, data)
    assert (report.taken, report.kept) == (6, 0)
    assert sum(funnel.count for funnel in report.reasons) == 6
    assert {funnel.reason for funnel in report.reasons} <= {"answer/no_code", "answer/cut"}
    assert read_rows(data / "candidates" / "candidates.parquet", Candidate) == []
    kept = answers(params)
    assert len({answer.request_hash for answer in kept}) == 6 and sum(answer.settled for answer in kept) == 6
    assert all(answer.prompt_tokens > 1000 and 0 < answer.completion_tokens <= 48 and answer.latency_s > 0 for answer in kept)
    assert {answer.finish for answer in kept} <= {"stop", "length"}
    again = fuse.run(params, data)
    assert (again.reasons, again.notes, answers(params)) == (report.reasons, report.notes, kept)


def test_a_model_that_the_server_does_not_have_is_one_clear_error(params: Params) -> None:
    with pytest.raises(EndpointError, match="no-such-model"):
        fuse.run(with_llm(params, model="no-such-model"), params.root / "built")
