"""One endpoint that speaks the OpenAI protocol: asks, waits, retries, keeps to the budget, and says when it is of no use.

What one request comes to is an Answer or a Lack, both data. EndpointError is for the endpoint as a whole: it refuses, or
has answered nothing but nonsense. The client library's own retries are off: it gives up where Retry-After is long, and a
429 should hold back every request, not one.
"""

import asyncio
import os
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ops6k.errors import EndpointError, ParamsError
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.requests import Request
from ops6k.fuse.llm.wire import Dialect, answer, body, retry_after_s
from ops6k.params import LlmParams

if TYPE_CHECKING:
    from openai import APIStatusError

_SECRET = re.compile(r"\b(sk|hf)[-_][\w-]{8,}")


class Lack(StrEnum):
    """Why a request has no answer."""

    BUDGET = "answer/budget"
    UNREACHABLE = "answer/unreachable"
    BUSY = "answer/busy"
    """Time-outs, 429 and 5xx to the end of patience."""
    NONSENSE = "answer/nonsense"
    """Not JSON, or without a choice."""
    DECLINED = "answer/declined"
    """The endpoint would not take this request (400, 413, 422)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on trying."""

    tries: int = 8
    """Of one request, on time-outs, 429, 5xx and broken connections."""
    nonsense_tries: int = 3
    """Of one request, on nonsense, cut answers, and an endpoint that was never reached."""
    give_up: int = 3
    """Requests in a row without an answer after which the endpoint is given up."""
    first_s: float = 0.5
    """First pause; doubles with every try, less up to half at random."""
    longest_s: float = 60.0
    """No pause is longer, whatever Retry-After says."""


@dataclass(frozen=True, slots=True)
class _Failure:
    lack: Lack
    message: str
    wait_s: float | None = None
    """As Retry-After asks."""


def model_of(llm: LlmParams) -> str:
    """The model's name; raises ParamsError where neither params.yaml nor the environment names one."""
    model = llm.model or os.environ.get("OPS6K_MODEL")
    if not model:
        raise ParamsError("no model is named: set fuse.llm.model in params.yaml or OPS6K_MODEL")
    return model


class Endpoint:
    """Answers of one endpoint, from the cache where it has them. Lives in one event loop, inside `opened()`."""

    def __init__(self, llm: LlmParams, cache: AnswerCache, *, patience: Patience, seed: int) -> None:
        self.llm, self.cache, self.patience = llm, cache, patience
        self._jitter = random.Random(seed)
        self._dialect = Dialect()
        self._slots = asyncio.Semaphore(llm.concurrency)
        self._closed_until = 0.0
        self._in_a_row = 0
        self._broken: EndpointError | None = None
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

    async def answer(self, request: Request) -> Answer | Lack:
        """Stored or new. Raises EndpointError once the endpoint as a whole is of no use."""
        stored = self.cache.get(request.hash)
        if stored is not None:
            return stored
        async with self._slots:
            return await self._ask_patiently(request)

    async def _ask_patiently(self, request: Request) -> Answer | Lack:
        tried = 0
        while True:
            if self._broken is not None:
                raise self._broken
            if self.cache.sent >= self.llm.max_requests:
                return Lack.BUDGET
            await self._wait_while_closed()
            self.cache.count(request.hash)
            came = await self._ask(request)
            tried += 1
            if isinstance(came, Answer) and (came.finish != "length" or tried >= self.patience.nonsense_tries):
                return self._accept(came)
            if isinstance(came, _Failure) and tried >= self._tries(came.lack):
                return self._fail(came)
            await self._pause(tried, came.wait_s if isinstance(came, _Failure) else None)

    def _tries(self, lack: Lack) -> int:
        if lack is Lack.DECLINED:
            return 1
        never_there = lack is Lack.UNREACHABLE and not self.reached
        return self.patience.nonsense_tries if never_there or lack is Lack.NONSENSE else self.patience.tries

    def _accept(self, answer: Answer) -> Answer:
        self.cache.put(answer)
        self._in_a_row = 0
        return answer

    def _fail(self, failure: _Failure) -> Lack:
        self._in_a_row += 1
        never_there = failure.lack is Lack.UNREACHABLE and not self.reached
        if never_there or self._in_a_row >= self.patience.give_up:
            raise self._break(failure.message)
        return failure.lack

    def _break(self, message: str) -> EndpointError:
        """The error that ends the run, and every request that still waits."""
        self._broken = EndpointError(f"endpoint {self._address()}: {self._one_line(message)}")
        return self._broken

    async def _wait_while_closed(self) -> None:
        while (wait_s := self._closed_until - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)

    async def _pause(self, tried: int, wait_s: float | None) -> None:
        """Retry-After holds back all requests, a pause of our own only this one."""
        backoff_s = self.patience.first_s * 2 ** (tried - 1) * self._jitter.uniform(0.5, 1)
        if wait_s is not None:
            self._closed_until = max(self._closed_until, time.monotonic() + min(wait_s, self.patience.longest_s))
        await asyncio.sleep(min(backoff_s, self.patience.longest_s))

    async def _ask(self, request: Request) -> Answer | _Failure:
        """One request over the wire. Raises EndpointError for what no later try mends."""
        import openai

        dialect, began = self._dialect, time.monotonic()
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body(request, dialect))
            self.reached = True
            latency_s = round(time.monotonic() - began, 3)
            return answer(raw.content, request, latency_s) or _Failure(Lack.NONSENSE, f"answers nonsense: {raw.content[:80]!r}")
        except openai.APITimeoutError:
            return _Failure(Lack.BUSY, f"no answer within {self.llm.timeout_s:g} s (fuse.llm.timeout_s)")
        except openai.APIConnectionError as error:
            return _Failure(Lack.UNREACHABLE, f"cannot be reached: {error.__cause__ or error}")
        except openai.APIStatusError as error:
            self.reached = True
            return self._refused(error, dialect)

    def _refused(self, error: "APIStatusError", dialect: Dialect) -> _Failure:
        code, said = error.status_code, f"{error.status_code} {error.message}"
        if code in (401, 403):
            raise self._break(f"refuses the key: {said}; set OPENAI_API_KEY")
        if code == 404:
            raise self._break(f"does not know the model or the path: {said}; see fuse.llm.model and fuse.llm.base_url")
        if code == 429 and error.code == "insufficient_quota":
            raise self._break(f"the account's quota is used up: {said}")
        if code in (408, 409, 429) or code >= 500:
            return _Failure(Lack.BUSY, said, retry_after_s(error))
        other = dialect.after(error.message)
        if code == 400 and other is not None:
            # Requests in flight complain about the dialect that the first complaint has already changed.
            self._dialect = other if self._dialect is dialect else self._dialect
            return _Failure(Lack.BUSY, said)
        return _Failure(Lack.DECLINED, said)

    def _address(self) -> str:
        """Scheme, host and path: a URL may carry a password."""
        url = urlsplit(str(self._client.base_url))
        return f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}{url.path}".rstrip("/")

    def _one_line(self, message: str) -> str:
        key = os.environ.get("OPENAI_API_KEY")
        message = message.replace(key, "***") if key else message
        return _SECRET.sub("***", " ".join(message.split()))[:300]
