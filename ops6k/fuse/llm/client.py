"""One endpoint that speaks the OpenAI protocol: asks, waits, retries, keeps to the budget, and says when it is of no use.

What one request comes to is an Answer or a Lack, both data. EndpointError is for the endpoint as a whole: it refuses, or
has answered nothing but nonsense. The client library's own retries are off: it gives up where Retry-After is long, and a
429 should hold back every request, not one.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ops6k.errors import EndpointError, ParamsError
from ops6k.fuse.llm import batches
from ops6k.fuse.llm.budget import Budget
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.failure import Failure, Lack, Patience, broken, fatal, not_connected, refused, said_by
from ops6k.fuse.llm.journal import Journal
from ops6k.fuse.llm.pace import Pace
from ops6k.fuse.llm.requests import Request
from ops6k.fuse.llm.wire import Dialect, Sent, answer, body
from ops6k.params import LlmParams

if TYPE_CHECKING:
    from openai import APIStatusError


def named_model(llm: LlmParams) -> str | None:
    return llm.model or os.environ.get("OPS6K_MODEL") or None


def model_of(llm: LlmParams) -> str:
    """The model's name; raises ParamsError where neither params.yaml nor the environment names one."""
    model = named_model(llm)
    if model is None:
        raise ParamsError("no model is named: set fuse.llm.model in params.yaml or OPS6K_MODEL")
    return model


@dataclass(frozen=True, slots=True)
class Store:
    """What is kept over all runs."""

    cache: AnswerCache
    budget: Budget
    batches: Journal[batches.Batch]

    def fold(self) -> None:
        """Everything to Parquet."""
        for journal in (self.cache.journal, self.budget.journal, self.batches):
            journal.fold()


class Endpoint:
    """Answers of one endpoint, from the store where it has them. Lives in one event loop, inside `opened()`."""

    def __init__(self, llm: LlmParams, store: Store, *, patience: Patience, seed: int) -> None:
        self.llm, self.store, self.patience = llm, store, patience
        self._jitter = random.Random(seed)
        self._dialect = Dialect()
        self._slots = asyncio.Semaphore(llm.concurrency)
        self._requests = Pace(llm.requests_per_minute, patience.slowest_per_minute)
        self._tokens = Pace(llm.tokens_per_minute, patience.slowest_per_minute * llm.max_output_tokens)
        self._closed_until = 0.0
        self._in_a_row = 0
        self._broken: EndpointError | None = None
        self._without: dict[str, Lack] = {}
        self.reached = False
        """The endpoint has answered at least once."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Endpoint"]:
        """Raises EndpointError where a key is needed and none is set."""
        from openai import AsyncOpenAI

        base_url = self.llm.base_url or os.environ.get("OPENAI_BASE_URL") or None
        key = os.environ.get("OPENAI_API_KEY")
        if not key and not base_url:
            raise EndpointError(
                "OPENAI_API_KEY is not set (a server of your own needs none: set fuse.llm.base_url or OPENAI_BASE_URL)"
            )
        async with AsyncOpenAI(api_key=key or "none", base_url=base_url, timeout=self.llm.timeout_s, max_retries=0) as client:
            self._client: AsyncOpenAI = client
            yield self

    async def fetch(self, requests: Sequence[Request]) -> None:
        """Gets what is not stored through a batch; `answer` finds it. Hours, as a rule; a killed run picks its batch up again."""
        desk = batches.Desk(self._client, self.store.cache, self.store.budget, self.store.batches, self.patience)
        self._without |= await desk.fetch(requests)

    async def answer(self, request: Request) -> Answer | Lack:
        """Stored or new. Raises EndpointError once the endpoint as a whole is of no use."""
        found = self.store.cache.get(request.hash) or self._without.get(request.hash)
        if found is not None:
            return found
        async with self._slots:
            return await self._ask_patiently(request)

    async def _ask_patiently(self, request: Request) -> Answer | Lack:
        tried = 0
        while True:
            if self._broken is not None:
                raise self._broken
            came = await self._try(request)
            if came is Lack.BUDGET:
                return came
            tried += 1
            if isinstance(came, Answer):
                came = self._keep(replace(came, settled=came.finish != "length" or tried >= self.patience.nonsense_tries))
                if came.settled:
                    return came
            elif tried >= self.patience.tries_of(came.lack, reached=self.reached):
                return self._fail(came)
            await asyncio.sleep(self.patience.backoff_s(tried, self._jitter.random()))

    async def _try(self, request: Request) -> Answer | Failure | Lack:
        """One try, reserved before and charged after."""
        budget = self.store.budget
        number = await budget.reserve(request)
        if number is None:
            return Lack.BUDGET
        try:
            await self._wait_turn(request)
            if self._broken is not None:
                budget.settle(number, 0, 0)
                raise self._broken
            began = time.monotonic()
            came = await self._ask(request, number)
        finally:
            budget.leave(number)
        if isinstance(came, Failure):
            budget.settle(number, *((0, 0) if came.is_free else (None, None)))
            self._slow(came, began)
        return came

    async def _wait_turn(self, request: Request) -> None:
        now = time.monotonic()
        await asyncio.sleep(max(self._requests.take(1, now), self._tokens.take(request.likely_tokens, now)))
        while (wait_s := self._closed_until - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)

    def _slow(self, failure: Failure, began: float) -> None:
        """A 429 slows all requests, and Retry-After holds all of them back; a pause of our own holds only one."""
        now = time.monotonic()
        if failure.is_limit:
            self._requests.slow(began, now)
            self._tokens.slow(began, now)
        if failure.wait_s is not None:
            self._closed_until = max(self._closed_until, now + min(failure.wait_s, self.patience.longest_s))

    def _keep(self, answer: Answer) -> Answer:
        self.store.cache.put(answer)
        self.store.budget.settle(answer.number, answer.prompt_tokens, answer.completion_tokens)
        self._requests.quicken()
        self._tokens.quicken()
        self._in_a_row = 0
        return answer

    def _fail(self, failure: Failure) -> Lack:
        self._in_a_row += 1
        never_there = failure.lack is Lack.UNREACHABLE and not self.reached
        if never_there or self._in_a_row >= self.patience.give_up:
            raise self._break(failure.message)
        return failure.lack

    def _break(self, message: str) -> EndpointError:
        """The error that ends the run, and every request that still waits."""
        self._broken = broken(str(self._client.base_url), message)
        return self._broken

    async def _ask(self, request: Request, number: int) -> Answer | Failure:
        """One request over the wire. Raises EndpointError for what no later try mends."""
        import openai

        dialect, began = self._dialect, time.monotonic()
        sent = Sent(number, dialect.sends_schema(request))
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body(request, dialect))
        except openai.APITimeoutError:
            return Failure(Lack.BUSY, f"no answer within {self.llm.timeout_s:g} s (fuse.llm.timeout_s)")
        except openai.APIConnectionError as error:
            return not_connected(error)
        except openai.APIStatusError as error:
            self.reached = True
            return self._refused(error, dialect, request)
        self.reached = True
        latency_s = round(time.monotonic() - began, 3)
        return answer(raw.content, request, sent, latency_s) or Failure(Lack.NONSENSE, f"answers nonsense: {raw.content[:80]!r}")

    def _refused(self, error: "APIStatusError", dialect: Dialect, request: Request) -> Failure:
        hopeless, failure = fatal(error), refused(error)
        if hopeless is not None:
            raise self._break(hopeless)
        other = dialect.after(said_by(error), request.structured) if error.status_code == 400 else None
        if other is None:
            return failure
        # Requests in flight complain about the dialect that the first complaint has already changed.
        self._dialect = other if self._dialect is dialect else self._dialect
        return replace(failure, lack=Lack.BUSY)
