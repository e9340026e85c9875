"""Batch endpoints (/v1/batches): many requests in one file, answered within a day for less.

A batch is noted before its answers are waited for, so a killed run picks it up again. What a batch leaves without an
answer goes into the next one or is left to the next run.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ops6k.fuse.llm.budget import Budget
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.failure import Lack, Patience, broken, fatal, not_connected, refused
from ops6k.fuse.llm.journal import Journal
from ops6k.fuse.llm.requests import Request
from ops6k.fuse.llm.wire import Dialect, Sent, answer, body

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import openai
    from openai.types import Batch as Reply

T = TypeVar("T")
_MOST_REQUESTS = 5000
"""In one file: 40 MB; OpenAI takes 50,000 and 200 MB."""
_ENDS = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True, slots=True)
class Batch:
    """The latest of an id counts."""

    batch_id: str
    hashes: tuple[str, ...]
    numbers: tuple[int, ...]
    """Of the tries, one a hash."""
    ended: bool


class Desk:
    """Hands batches in and takes answers out. Raises EndpointError where the endpoint refuses a batch as a whole."""

    def __init__(
        self, client: "openai.AsyncOpenAI", cache: AnswerCache, budget: Budget, journal: Journal[Batch], patience: Patience
    ) -> None:
        self.client, self.cache, self.budget, self.journal, self.patience = client, cache, budget, journal, patience
        self._cut = Counter(row.request_hash for row in cache.journal.rows if not row.settled)

    async def fetch(self, requests: Sequence[Request]) -> dict[str, Lack]:
        """Stores all answers that can be had; says of the other requests, by hash, why there is none."""
        known = {request.hash: request for request in requests}
        for batch in {row.batch_id: row for row in self.journal.rows}.values():
            if not batch.ended:
                await self._collect(batch, known)
        for _ in range(self.patience.nonsense_tries):
            rest = [request for request in known.values() if self.cache.get(request.hash) is None]
            while rest:
                batch, rest = await self._hand_in(rest)
                if batch is None:
                    return {request.hash: Lack.BUDGET for request in known.values() if self.cache.get(request.hash) is None}
                await self._collect(batch, known)
        return {request.hash: Lack.BUSY for request in known.values() if self.cache.get(request.hash) is None}

    async def _hand_in(self, requests: Sequence[Request]) -> tuple[Batch | None, Sequence[Request]]:
        """A batch of as many as the budget and a file hold, and the rest; no batch where the budget holds none."""
        numbers: dict[str, int] = {}
        for request in requests[:_MOST_REQUESTS]:
            number = await self.budget.reserve(request, batch=True)
            if number is None:
                break
            numbers[request.hash] = number
        if not numbers:
            return None, requests
        file = "".join(_line(request) for request in requests[: len(numbers)]).encode()
        sent = await self._patiently(lambda: self.client.files.create(file=("requests.jsonl", file), purpose="batch"))
        made = await self._patiently(
            lambda: self.client.batches.create(input_file_id=sent.id, endpoint="/v1/chat/completions", completion_window="24h")
        )
        batch = Batch(made.id, tuple(numbers), tuple(numbers.values()), ended=False)
        self.journal.append(batch)
        return batch, requests[len(numbers) :]

    async def _collect(self, batch: Batch, known: dict[str, Request]) -> None:
        """Waits for the batch's end and stores its answers. What nobody asks for now stays with the endpoint for another run."""
        wanted = {h: number for h, number in zip(batch.hashes, batch.numbers, strict=True) if h in known}
        if not wanted:
            return
        reply = await self._patiently(lambda: self.client.batches.retrieve(batch.batch_id))
        while reply.status not in _ENDS:
            await asyncio.sleep(self.patience.poll_s)
            reply = await self._patiently(lambda: self.client.batches.retrieve(batch.batch_id))
        stored = {row.number for row in self.cache.journal.rows}
        for line in await self._lines(reply):
            number = wanted.get(line["custom_id"])
            if number is None or number in stored:
                continue
            found = _answer(line, known[line["custom_id"]], number)
            if found is not None:
                stored.add(number)
                self._keep(found)
        for number in set(wanted.values()) - stored:
            self.budget.settle(number, 0, 0)
        if len(wanted) == len(batch.hashes):
            self.journal.append(replace(batch, ended=True))
        if reply.status == "failed":
            raise broken(str(self.client.base_url), f"refuses batch {batch.batch_id}: {_why(reply)}")

    def _keep(self, found: Answer) -> None:
        self._cut[found.request_hash] += found.finish == "length"
        settled = found.finish != "length" or self._cut[found.request_hash] >= self.patience.nonsense_tries
        self.cache.put(replace(found, settled=settled))
        self.budget.settle(found.number, found.prompt_tokens, found.completion_tokens)

    async def _lines(self, reply: "Reply") -> Iterable[dict]:
        lines: list[dict] = []
        for file_id in (reply.output_file_id, reply.error_file_id):
            if file_id:
                content = await self._patiently(lambda file_id=file_id: self.client.files.content(file_id))
                lines += filter(None, map(_reply_line, content.text.splitlines()))
        return lines

    async def _patiently(self, ask: "Callable[[], Awaitable[T]]") -> T:
        """The reply, after time-outs, 429s and 5xx; raises EndpointError where none comes."""
        import openai

        for tried in range(1, self.patience.tries + 1):
            try:
                return await ask()
            except openai.APIStatusError as error:
                message, failure = fatal(error), refused(error)
                if message is not None or failure.lack is Lack.DECLINED:
                    raise broken(str(self.client.base_url), message or f"takes no batch: {failure.message}") from None
            except openai.APIConnectionError as error:
                failure = not_connected(error)
            await asyncio.sleep(max(self.patience.backoff_s(tried, 0.5), min(failure.wait_s or 0, self.patience.longest_s)))
        raise broken(str(self.client.base_url), failure.message)


def _line(request: Request) -> str:
    # A batch cannot be asked again in another dialect within the hour: a schema goes along only where the parameters insist.
    fields = body(request, Dialect(with_schema=False))
    return json.dumps({"custom_id": request.hash, "method": "POST", "url": "/v1/chat/completions", "body": fields}) + "\n"


def _reply_line(text: str) -> dict | None:
    """One line of a batch's reply; None for what names no request: that one has no answer then, and goes into the next batch."""
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    return tree if isinstance(tree, dict) and isinstance(tree.get("custom_id"), str) else None


def _answer(line: dict, request: Request, number: int) -> Answer | None:
    """The answer of one line; None for an error or nonsense."""
    reply = line.get("response")
    if not isinstance(reply, dict) or reply.get("status_code") != 200:
        return None
    content = json.dumps(reply.get("body")).encode()
    return answer(content, request, Sent(number, request.structured == "on", batch=True), latency_s=None)


def _why(reply: "Reply") -> str:
    errors = reply.errors.data if reply.errors and reply.errors.data else []
    return "; ".join(str(error.message) for error in errors[:3]) or "it does not say why"
