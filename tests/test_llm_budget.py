"""Budgets that hold whatever happens, and the speed at which an endpoint is asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_project import QUICK, ask, llm_project, many, source_of, with_llm
from servers.openai_server import ModelServer, running

from ops6k.errors import ParamsError
from ops6k.fuse.llm.pace import Pace
from ops6k.params import Params, Price

PRICES = {"scripted": Price(input=1000.0, output=4000.0)}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def params(tmp_path: Path) -> Params:
    return llm_project(tmp_path / "project")


def used(params: Params) -> tuple[int, int]:
    """Prompt and completion tokens of all stored answers."""
    rows = source_of(params).store.cache.journal.rows
    return sum(row.prompt_tokens for row in rows), sum(row.completion_tokens for row in rows)


def test_the_token_budget_is_never_exceeded_and_a_larger_one_goes_on(server: ModelServer, params: Params) -> None:
    tight = with_llm(params, max_tokens=30_000, max_output_tokens=1000, concurrency=8)
    candidates, lacking = ask(tight, 60)
    assert 0 < len(candidates) < 60
    assert lacking == {"answer/budget": 60 - len(candidates)}
    assert 20_000 < sum(used(tight)) <= 30_000
    asked = len(server.received)
    assert ask(tight, 60) == (candidates, lacking)
    assert len(server.received) == asked
    assert len(ask(with_llm(tight, max_tokens=200_000), 60)[0]) == 60
    assert len(server.received) == 60


def test_the_budget_in_usd_is_what_the_prices_come_to(server: ModelServer, params: Params) -> None:
    tight = with_llm(params, prices=PRICES, max_usd=40.0, max_output_tokens=1000)
    source = source_of(tight)
    list(source.propose(many(tight, 60)))
    prompt, completion = used(tight)
    assert source.store.budget.usd == pytest.approx(prompt * 1e-3 + completion * 4e-3)
    assert 25 < source.store.budget.usd <= 40
    assert any("the budget of 40 USD is spent" in note and "raise fuse.llm.max_usd" in note for note in source.notes())


def test_requests_in_flight_count_as_the_most_they_can_cost(server: ModelServer, params: Params) -> None:
    server.always, server.slow_s = "slow", 0.1
    tight = with_llm(params, max_tokens=30_000, max_output_tokens=8000, concurrency=8)
    ask(tight, 8)
    assert server.most_together <= 2
    assert sum(used(tight)) <= 30_000


def test_what_surely_cost_nothing_is_given_back_and_what_may_have_is_not(server: ModelServer, params: Params) -> None:
    server.faults.extend(["500", "429"])
    server.retry_after = "0.01"
    source = source_of(params)
    list(source.propose(many(params, 1)))
    assert (source.store.budget.requests, source.store.budget.tokens) == (3, sum(used(params)))
    server.faults.append("cut")
    list(source.propose(many(params, 2)))
    assert source.store.budget.tokens > sum(used(params)) + params.fuse.llm.max_output_tokens


def test_cut_answers_are_paid_for_and_kept(server: ModelServer, params: Params) -> None:
    server.faults.append("length")
    source = source_of(params)
    list(source.propose(many(params, 1)))
    assert [row.settled for row in source.store.cache.journal.rows] == [False, True]
    assert source.store.budget.tokens == sum(used(params))


def test_a_budget_in_usd_needs_the_price_of_the_model(server: ModelServer, params: Params) -> None:
    with pytest.raises(ParamsError, match=r"max_usd is set, but fuse\.llm\.prices has no price of 'scripted'"):
        ask(with_llm(params, max_usd=1.0), 1)
    assert not server.received


def test_the_asking_adapts_to_a_limit_that_is_not_told(server: ModelServer, params: Params) -> None:
    server.per_second = 20
    candidates, lacking = ask(with_llm(params, concurrency=16), 80, replace(QUICK, slowest_per_minute=60, longest_s=2.0))
    assert len(candidates) == 80
    assert not lacking
    assert len(server.received) - 80 < 40  # without slowing down, 16 clients that back off by 10 ms run into hundreds


def test_a_known_limit_is_kept_from_the_start(server: ModelServer, params: Params) -> None:
    server.per_second = 21
    ask(with_llm(params, concurrency=16, requests_per_minute=1200), 30)
    assert len(server.received) == 30


def test_a_pace_without_a_limit_never_waits_and_one_with_a_limit_spreads() -> None:
    assert [Pace(None, 1).take(1, now) for now in (0, 0, 0)] == [0, 0, 0]
    pace = Pace(60, 1)
    assert [pace.take(1, 0.0) for _ in range(3)] == [0, 1, 2]
    tokens = Pace(6000, 1)
    assert [tokens.take(500, 0.0) for _ in range(3)] == [0, 5, 10]


def test_a_429_halves_the_measured_pace_once_and_twenty_answers_win_it_back() -> None:
    pace = Pace(None, 1)
    for step in range(101):
        pace.take(1, step * 0.1)
    for _ in range(5):
        pace.slow(sent_at=10.0, now=10.5)
    halved = pace.per_minute
    assert halved == pytest.approx(101 * 60 / 10.5 / 2)
    for _ in range(20):
        pace.quicken()
    assert pace.per_minute == pytest.approx(2 * halved)


def test_no_pace_falls_below_its_least_or_rises_above_its_most() -> None:
    pace = Pace(100, 30)
    for step in range(10):
        pace.slow(sent_at=step * 60.0, now=step * 60.0 + 1)
    assert pace.per_minute == 30
    for _ in range(1000):
        pace.quicken()
    assert pace.per_minute == 100
