"""The LLM source, against a server that speaks the protocol and misbehaves on demand."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import ROOT, ask, llm_project, many, source_of, with_llm
from servers.openai_server import ModelServer, running
from servers.scripted import scripted

from ops6k import fuse, store
from ops6k.errors import EndpointError, MissingInput, ParamsError
from ops6k.fuse.llm import dry
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.params import Params
from ops6k.records import Candidate, candidate_id

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def params(tmp_path: Path) -> Params:
    return llm_project(tmp_path / "project")


def answers(params: Params) -> list[Answer]:
    return AnswerCache(params.root / "work" / "answers").journal.rows


def test_each_wanted_candidate_comes_once_in_order_with_its_labels_and_origin(server: ModelServer, params: Params) -> None:
    wanted = many(params, 24)
    candidates, rejected = ask(params, 24)
    assert not rejected
    assert len(server.received) == 24
    assert [candidate.dtype for candidate in candidates] == [one.dtype for one in wanted]
    assert [candidate.depth for candidate in candidates] == [one.depth for one in wanted]
    assert len({candidate.prompt_hash for candidate in candidates}) == 24
    for candidate in candidates:
        assert candidate.source == "scripted"
        assert candidate.candidate_id == candidate_id(candidate.ops, candidate.code)
        assert candidate.categories
        compile(candidate.code, "task.py", "exec")


def test_order_holds_although_the_first_answer_comes_last(server: ModelServer, params: Params) -> None:
    undisturbed, _ = ask(params, 8)
    server.faults.append("slow")
    server.slow_s = 0.5
    other = replace(params, root=params.root)
    shutil.rmtree(params.root / "work")
    assert ask(other, 8)[0] == undisturbed


def test_asking_again_costs_nothing_and_gives_the_same(server: ModelServer, params: Params) -> None:
    first = ask(params, 12)
    assert ask(params, 12) == first
    assert len(server.received) == 12


def test_answers_end_up_in_parquet_and_a_damaged_file_is_one_clear_line(server: ModelServer, params: Params) -> None:
    ask(params, 4)
    (part,) = (params.root / "work" / "answers").iterdir()
    assert len(store.read_rows(part, Answer)) == 4
    part.write_bytes(b"PAR1")
    with pytest.raises(MissingInput, match=r"answers/.*parquet: not a readable Parquet file"):
        ask(params, 4)
    assert len(server.received) == 4


@pytest.mark.parametrize("schema", ["ignored", "honoured"])
def test_several_tasks_in_one_answer_are_told_apart(server: ModelServer, params: Params, schema: str) -> None:
    server.schema = schema
    candidates, lacking = ask(with_llm(params, tasks_per_request=4, max_output_tokens=1000), 10)
    assert not lacking
    assert [(c.depth, c.dtype) for c in candidates] == [(w.depth, w.dtype) for w in many(params, 10)]
    assert sorted(request.body["max_completion_tokens"] for request in server.received) == [2000, 4000, 4000]
    assert len({candidate.candidate_id for candidate in candidates}) == 10


def test_tasks_that_an_answer_lacks_are_counted(server: ModelServer, params: Params) -> None:
    server.answer = lambda prompt: scripted(prompt).split("\n\n```python")[0]  # the first alone
    whole = server.answer("exactly 2 operators")
    candidates, lacking = ask(with_llm(params, tasks_per_request=3), 6)
    assert whole.count("```") == 2
    assert (len(candidates), lacking) == (2, {"answer/no_code": 4})


def test_the_budget_stops_the_asking_and_a_larger_one_goes_on(server: ModelServer, params: Params) -> None:
    source = source_of(with_llm(params, max_requests=5))
    some = list(source.propose(many(params, 12)))
    assert len(some) == len(server.received) == 5
    assert {funnel.reason: funnel.count for funnel in source.rejections()} == {"answer/budget": 7}
    assert any(
        "budget of 5 requests is spent; raise fuse.llm.max_requests to go on: 7 candidates" in note for note in source.notes()
    )
    assert len(ask(with_llm(params, max_requests=5), 12)[0]) == 5
    assert len(server.received) == 5
    assert len(ask(with_llm(params, max_requests=12), 12)[0]) == 12
    assert len(server.received) == 12


def test_requests_run_together_but_no_more_than_allowed(server: ModelServer, params: Params) -> None:
    server.always, server.slow_s = "slow", 0.1
    ask(with_llm(params, concurrency=3), 12)
    assert server.most_together == 3


def test_who_stops_listening_stops_the_asking(server: ModelServer, params: Params) -> None:
    server.always, server.slow_s = "slow", 0.05
    listening = source_of(with_llm(params, concurrency=2)).propose(many(params, 500))
    next(listening)
    listening.close()
    asked = len(server.received)
    time.sleep(0.3)
    assert len(server.received) == asked < 20


_RUN = """
import sys
from pathlib import Path
from ops6k import params
from ops6k.fuse.llm import LlmSource
from ops6k.fuse.sources import wanted
p = params.load(Path(sys.argv[1]) / "params.yaml", preset="demo", settings=["fuse.llm.model=scripted", "fuse.llm.concurrency=4"])
for candidate in LlmSource(p, p.root / "work").propose([wanted(p.mix, p.seed, i) for i in range(40)]):
    print(candidate.candidate_id, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_kill_loses_at_most_what_is_in_flight(server: ModelServer, params: Params, how: signal.Signals) -> None:
    server.always, server.slow_s = "slow", 0.1
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(params.root)], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    for _ in range(9):
        assert child.stdout.readline()
    child.send_signal(how)
    assert child.wait(timeout=20) != 0
    time.sleep(0.3)
    asked, stored = len(server.received), len(answers(params))
    assert 9 <= stored < 40
    assert asked - stored <= 4
    assert source_of(params).store.budget.requests >= asked
    candidates, _ = ask(params, 40)
    assert len(candidates) == 40
    assert len(server.received) - asked == 40 - stored


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    server: ModelServer, params: Params, capfd: pytest.CaptureFixture[str]
) -> None:
    server.faults.append("500")
    source = source_of(params)
    candidates = list(source.propose(many(params, 3)))
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    left = [path.read_bytes() for path in params.root.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in left)
    assert not any(KEY in text for text in [*capfd.readouterr(), str(candidates), *source.notes()])


def test_a_stored_answer_says_what_it_is_the_answer_to(server: ModelServer, params: Params) -> None:
    (candidate,), _ = ask(params, 1)
    (row,) = answers(params)
    stored = store.to_plain(row)
    sent = server.received[0].body
    assert stored["prompt_hash"] == candidate.prompt_hash
    assert (stored["model"], stored["temperature"], stored["max_output_tokens"]) == (
        "scripted",
        sent["temperature"],
        sent["max_completion_tokens"],
    )
    assert stored["text"] == scripted(sent["messages"][1]["content"])
    assert stored["prompt_tokens"] == sum(len(message["content"].split()) for message in sent["messages"])
    assert stored["latency_s"] >= 0


def test_another_temperature_is_another_request(server: ModelServer, params: Params) -> None:
    ask(params, 2)
    ask(with_llm(params, temperature=0.5), 2)
    assert len(server.received) == 4


def test_without_a_model_or_a_key_there_is_one_clear_line(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPS6K_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EndpointError, match="OPENAI_API_KEY is not set"):
        ask(params, 1)
    with pytest.raises(ParamsError, match="OPS6K_MODEL"):
        ask(with_llm(params, model=None), 1)


def test_a_dry_run_shows_a_prompt_and_the_cost_and_asks_nothing(server: ModelServer, params: Params) -> None:
    text = dry(with_llm(params, max_requests=40, max_output_tokens=1000))
    assert "exactly" in text and "class Model(nn.Module)" in text
    assert "40 requests for 48 tasks, at most as many repairs and as many resizes (budget 40)" in text
    assert "at most 40,000 completion tokens" in text
    assert "fuse.llm.prices has no price of 'scripted'" in text
    assert not server.received
    assert not (params.root / "work").exists()


def test_the_fuse_stage_writes_what_the_model_proposed_and_counts_the_rest(
    server: ModelServer, params: Params, tmp_path: Path
) -> None:
    server.faults.extend(["refusal", "no_code"])
    params = replace(params, fuse=replace(params.fuse, source="llm", candidates=10))
    report = fuse.run(params, tmp_path / "data")
    written = store.read_rows(tmp_path / "data" / "candidates" / "candidates.parquet", Candidate)
    assert (report.taken, report.kept, len(written)) == (10, 8, 8)
    assert {funnel.reason: funnel.count for funnel in report.reasons} == {"answer/no_code": 1, "answer/refusal": 1}
    assert any("10 requests sent" in note for note in report.notes)


def test_an_endpoint_that_fails_leaves_no_half_written_stage(server: ModelServer, params: Params, tmp_path: Path) -> None:
    server.faults.extend(["ok", "ok"])
    server.always = "401"
    with pytest.raises(EndpointError):
        fuse.run(replace(params, fuse=replace(params.fuse, source="llm", candidates=10)), tmp_path / "data")
    assert [path.name for path in (tmp_path / "data").iterdir()] == [".work"]
