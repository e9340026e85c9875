"""What an endpoint can do wrong, one fault at a time, and what becomes of it."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from llm_project import QUICK, ask, llm_project, with_llm
from servers.openai_server import ModelServer, running
from servers.scripted import scripted

from ops6k.errors import EndpointError
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.wire import retry_after_s
from ops6k.params import Params

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


@pytest.mark.parametrize("fault", ["429", "500", "cut", "length", "empty_choices", "html", "invalid_json", "not_a_completion"])
def test_what_may_pass_is_tried_again(server: ModelServer, params: Params, fault: str) -> None:
    server.faults.append(fault)
    server.retry_after = "0.05"
    candidates, rejected = ask(params, 1)
    assert len(candidates) == 1
    assert not rejected
    assert len(server.received) == 2


def test_a_slow_answer_times_out_and_is_tried_again(server: ModelServer, params: Params) -> None:
    server.faults.append("slow")
    server.slow_s = 3.0
    began = time.monotonic()
    candidates, _ = ask(with_llm(params, timeout_s=0.4), 1)
    assert len(candidates) == 1
    assert time.monotonic() - began < 2.5
    assert len(server.received) == 2


def test_retry_after_holds_back_every_request_for_that_long(server: ModelServer, params: Params) -> None:
    server.faults.append("429")
    server.retry_after = "0.8"
    arrivals: list[float] = []

    def answer(prompt: str) -> str:
        arrivals.append(time.monotonic())
        return scripted(prompt)

    server.answer = answer
    ask(with_llm(params, concurrency=1), 3, replace(QUICK, longest_s=5.0))
    assert arrivals[1] - arrivals[0] >= 0.8
    assert arrivals[3] - arrivals[1] < 0.8


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7, 7),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "-1"}, None, None),
        ({}, None, None),
    ],
)
def test_retry_after_may_be_seconds_or_milliseconds(headers: dict[str, str], low: float | None, high: float | None) -> None:
    wait_s = retry_after_s(SimpleNamespace(response=SimpleNamespace(headers=headers)))
    assert wait_s is None if low is None else low <= wait_s <= high


@pytest.mark.parametrize(("seconds", "low", "high"), [(40, 30, 40), (-40, 0, 0)])
def test_retry_after_as_a_date(seconds: float, low: float, high: float) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    wait_s = retry_after_s(SimpleNamespace(response=SimpleNamespace(headers={"retry-after": date})))
    assert wait_s is not None
    assert low <= wait_s <= high


def test_retry_after_of_an_hour_is_capped(server: ModelServer, params: Params) -> None:
    server.faults.append("429")
    server.retry_after = "3600"
    began = time.monotonic()
    assert len(ask(params, 1)[0]) == 1
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("fault", "reason"), [("refusal", "answer/refusal"), ("no_code", "answer/no_code")])
def test_a_refusal_or_chatter_is_counted_and_never_asked_again(
    server: ModelServer, params: Params, fault: str, reason: str
) -> None:
    server.faults.append(fault)
    for _ in range(2):
        candidates, rejected = ask(params, 5)
        assert len(candidates) == 4
        assert rejected == {reason: 1}
    assert len(server.received) == 5


def test_an_answer_that_is_always_cut_is_counted_and_kept(server: ModelServer, params: Params) -> None:
    server.always = "length"
    for _ in range(2):
        assert ask(params, 2) == ([], {"answer/cut": 2})
    assert len(server.received) == 2 * QUICK.nonsense_tries


def test_odd_fences_are_read(server: ModelServer, params: Params) -> None:
    server.always = "wrong_fences"
    candidates, _ = ask(params, 3)
    assert all("class Model" in candidate.code and "~~~" not in candidate.code for candidate in candidates)
    assert len(candidates) == 3


@pytest.mark.parametrize(
    ("schema", "structured", "sent"),
    [
        ("honoured", "auto", [True, True, True]),
        ("ignored", "auto", [True, True, True]),
        ("refused", "auto", [True, False, False, False]),
        ("honoured", "off", [False, False, False]),
        ("honoured", "on", [True, True, True]),
    ],
)
def test_a_schema_goes_along_until_the_endpoint_refuses_it(
    server: ModelServer, params: Params, schema: str, structured: str, sent: list[bool]
) -> None:
    server.schema = schema
    candidates, lacking = ask(with_llm(params, concurrency=1, structured=structured), 3)
    assert len(candidates) == 3 and not lacking
    assert ["response_format" in request.body for request in server.received] == sent
    assert [row.structured for row in answers(params)] == sent[-3:]
    assert all(compile(candidate.code, "task.py", "exec") for candidate in candidates)


def test_a_schema_that_must_be_and_is_refused_is_one_clear_line(server: ModelServer, params: Params) -> None:
    server.schema = "refused"
    with pytest.raises(EndpointError, match="json_schema is not supported"):
        ask(with_llm(params, concurrency=1, structured="on"), 10)


def test_a_server_of_the_old_dialect_is_asked_in_it(server: ModelServer, params: Params) -> None:
    server.always = "only_max_tokens"
    candidates, _ = ask(with_llm(params, concurrency=1), 3)
    assert len(candidates) == 3
    assert ["max_tokens" in request.body for request in server.received] == [False, True, True, True]


@pytest.mark.parametrize(
    ("always", "says", "most_requests"),
    [
        ("401", "refuses the key", 1),
        ("404", "model `scripted` does not exist", 1),
        ("quota", "quota is used up", 1),
        ("400", "400", QUICK.give_up + 1),
        ("500", "500", QUICK.give_up * 3),
        ("html", "answers nonsense", QUICK.give_up * QUICK.nonsense_tries),
        ("invalid_json", "answers nonsense", QUICK.give_up * QUICK.nonsense_tries),
        ("empty_choices", "answers nonsense", QUICK.give_up * QUICK.nonsense_tries),
    ],
)
def test_an_endpoint_of_no_use_is_one_clear_line_soon(
    server: ModelServer, params: Params, always: str, says: str, most_requests: int
) -> None:
    server.always = always
    with pytest.raises(EndpointError, match=says) as caught:
        ask(with_llm(params, concurrency=1), 50, replace(QUICK, tries=3))
    message = str(caught.value)
    assert message.startswith(f"endpoint {server.url}: ")
    assert "\n" not in message
    assert KEY not in message
    assert len(server.received) <= most_requests
    assert not answers(params)


def test_an_endpoint_that_is_not_there_is_one_clear_line_soon(params: Params) -> None:
    began = time.monotonic()
    with pytest.raises(EndpointError, match=r"^endpoint http://127.0.0.1:9/v1: cannot be reached: [^\n]+$"):
        ask(with_llm(params, base_url="http://somebody:password@127.0.0.1:9/v1"), 50)
    assert time.monotonic() - began < 10


def test_one_request_that_finds_no_answer_costs_only_itself(server: ModelServer, params: Params) -> None:
    server.faults.extend(["ok", "500", "500", "500"])
    candidates, rejected = ask(with_llm(params, concurrency=1), 6, replace(QUICK, tries=3))
    assert len(candidates) == 5
    assert rejected == {"answer/busy": 1}
    candidates, rejected = ask(params, 6)
    assert len(candidates) == 6
    assert not rejected


def test_failed_tries_count_towards_the_budget(server: ModelServer, params: Params) -> None:
    server.faults.extend(["500"] * 4)
    candidates, rejected = ask(with_llm(params, max_requests=6, concurrency=2), 6)
    assert len(server.received) == 6
    assert len(candidates) == 2
    assert rejected == {"answer/budget": 4}
