"""Batch endpoints: one file for all, paid half, picked up again after a kill."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import QUICK, ROOT, ask, llm_project, source_of, with_llm
from servers.openai_server import ModelServer, running

from ops6k.errors import EndpointError
from ops6k.params import Params, Price


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def params(tmp_path: Path) -> Params:
    return with_llm(llm_project(tmp_path / "project"), batch=True)


def test_a_batch_brings_what_single_requests_bring(server: ModelServer, params: Params) -> None:
    candidates, lacking = ask(params, 12)
    assert not lacking
    assert not server.received
    assert [len(lines) for lines in server.batches.lines] == [12]
    single = with_llm(llm_project(params.root.parent / "single"), batch=False)
    assert [c.code for c in ask(single, 12)[0]] == [c.code for c in candidates]
    assert ask(params, 12) == (candidates, {})
    assert len(server.batches.lines) == 1


_RUN = """
import sys
from pathlib import Path
from llm_project import source_of, with_llm, many
from ops6k import params
p = params.load(Path(sys.argv[1]) / "params.yaml", preset="demo", settings=["fuse.llm.model=scripted", "fuse.llm.batch=true"])
list(source_of(p).propose(many(p, 6)))
"""


@pytest.mark.slow
def test_a_killed_run_picks_its_batch_up_again(server: ModelServer, params: Params) -> None:
    server.batches.looks = 10_000
    env = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    child = subprocess.Popen([sys.executable, "-c", _RUN, str(params.root)], env=env)
    while not server.batches.made or server.batches.made["batch-0"]["looks"] > 9_995:
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.wait()
    assert not source_of(params).store.cache.journal.rows
    server.batches.made["batch-0"]["looks"] = 0
    assert len(ask(params, 6)[0]) == 6
    assert len(server.batches.lines) == 1


def test_lines_that_failed_go_into_the_next_batch(server: ModelServer, params: Params) -> None:
    server.batches.lose = 2
    candidates, lacking = ask(params, 6)
    assert len(candidates) == 6 and not lacking
    assert [len(lines) for lines in server.batches.lines] == [6, 2]


def test_what_a_batch_never_answers_is_counted(server: ModelServer, params: Params) -> None:
    server.batches.lose = 100
    assert ask(params, 2) == ([], {"answer/busy": 2})
    assert len(server.batches.lines) == QUICK.nonsense_tries
    assert source_of(params).store.budget.tokens == 0


def test_a_batch_holds_no_more_than_the_budget_allows(server: ModelServer, params: Params) -> None:
    prices = {"scripted": Price(input=1000.0, output=1000.0)}
    tight = with_llm(params, prices=prices, max_requests=5, max_usd=1000.0)
    candidates, lacking = ask(tight, 12)
    assert len(candidates) == 5
    assert lacking == {"answer/budget": 7}
    budget = source_of(tight).store.budget
    assert budget.usd == pytest.approx(budget.tokens * 1e-3 / 2)  # half price
    assert len(ask(with_llm(tight, max_requests=12), 12)[0]) == 12
    assert [len(lines) for lines in server.batches.lines] == [5, 7]


def test_a_refused_batch_is_one_clear_line_and_costs_nothing(server: ModelServer, params: Params) -> None:
    server.batches.ends.append("failed")
    with pytest.raises(EndpointError, match="refuses batch batch-0: line 1 is no request"):
        ask(params, 3)
    assert source_of(params).store.budget.tokens == 0
    assert len(ask(params, 3)[0]) == 3


def test_an_endpoint_that_is_not_there_ends_a_batch_soon(params: Params) -> None:
    with pytest.raises(EndpointError, match=r"^endpoint http://127.0.0.1:9/v1: cannot be reached"):
        ask(with_llm(params, base_url="http://127.0.0.1:9/v1"), 3, replace(QUICK, tries=2))
