"""Candidates from a model behind any endpoint that speaks the OpenAI protocol."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from pathlib import Path

from ops6k.fuse.llm.answers import proposal
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.client import Endpoint, Lack, Patience, model_of
from ops6k.fuse.llm.prompts import Brief, Briefs
from ops6k.fuse.llm.requests import Request
from ops6k.fuse.sources import Wanted, wanted
from ops6k.params import Params
from ops6k.records import Candidate, Funnel, candidate_id

_ASSUMED_CHARS_PER_TOKEN = 4
_AHEAD = 4
"""Requests given out beyond what is yielded, as a multiple of the concurrency: one slow answer does not stop the rest."""


class LlmSource:
    """A Source. Answers are kept in `work`; asking again for the same candidates costs nothing.

    Yields in the order of `wanted`. What a model answers is the model's: a rerun is repeatable because of the cache only.
    Raises EndpointError where the endpoint refuses or answers nothing but nonsense, MissingInput without seed_ops/ or prompts/.
    """

    def __init__(self, params: Params, work: Path, *, patience: Patience | None = None) -> None:
        self.params = params
        self.model = model_of(params.fuse.llm)
        self.cache = AnswerCache(work)
        self._patience = patience or Patience()
        self._briefs = Briefs(params)
        self._lacking: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()

    def propose(self, wanted: Sequence[Wanted]) -> Iterator[Candidate]:
        """Candidates as answers come; a Ctrl-C or a closed generator loses what is in flight, no more."""
        # A loop in a thread of its own, so that requests go on while the caller is busy with what it has.
        from anyio.from_thread import start_blocking_portal

        endpoint = Endpoint(self.params.fuse.llm, self.cache, patience=self._patience, seed=self.params.seed)
        ahead = _AHEAD * self.params.fuse.llm.concurrency
        with start_blocking_portal("asyncio") as portal, portal.wrap_async_context_manager(endpoint.opened()):
            rest = iter(wanted)
            pending: deque[tuple[Wanted, Brief, Future[Answer | Lack]]] = deque()
            try:
                while True:
                    for one in islice(rest, ahead - len(pending)):
                        brief = self._briefs.brief(one)
                        pending.append((one, brief, portal.start_task_soon(endpoint.answer, self._request(brief))))
                    if not pending:
                        break
                    one, brief, future = pending.popleft()
                    candidate = self._candidate(one, brief, future.result())
                    if candidate is not None:
                        yield candidate
            finally:
                for _, _, future in pending:
                    future.cancel()

    def rejections(self) -> tuple[Funnel, ...]:
        """Wanted candidates that did not come to be, by reason, for the stage's Report."""
        return tuple(Funnel(reason, count) for reason, count in sorted(self._lacking.items()))

    def notes(self) -> tuple[str, ...]:
        """Lines for a person: what was asked and what it took."""
        tokens = f"{self._tokens['prompt']:,} prompt and {self._tokens['completion']:,} completion tokens"
        lines = [f"{self.model}: {self.cache.sent} requests sent in all runs; the answers used here took {tokens}"]
        if self._lacking[Lack.BUDGET]:
            budget = self.params.fuse.llm.max_requests
            lines.append(
                f"the budget of {budget} requests is spent: {self._lacking[Lack.BUDGET]} candidates were not asked for; raise fuse.llm.max_requests to go on"
            )
        return tuple(lines)

    def _request(self, brief: Brief) -> Request:
        llm = self.params.fuse.llm
        return Request(self.model, llm.temperature, llm.max_output_tokens, brief.prompt)

    def _candidate(self, wanted: Wanted, brief: Brief, came: Answer | Lack) -> Candidate | None:
        if isinstance(came, Lack):
            self._lacking[came] += 1
            return None
        self._tokens.update(prompt=came.prompt_tokens or 0, completion=came.completion_tokens or 0)
        found = proposal(came.text)
        if found is None or (came.finish == "length" and not found.whole):
            self._lacking[_why_nothing(came)] += 1
            return None
        asked = tuple(operator.name for operator in brief.operators)
        ops = found.ops or asked
        return Candidate(
            candidate_id=candidate_id(ops, found.code),
            ops=ops,
            code=found.code,
            source=self.model,
            seed=wanted.seed,
            dtype=wanted.dtype,
            categories=self._briefs.categories(ops),
            prompt_hash=brief.prompt.hash,
        )


def _why_nothing(answer: Answer) -> str:
    if answer.refusal or answer.finish == "content_filter":
        return "answer/refusal"
    return "answer/cut" if answer.finish == "length" else "answer/no_code"


def dry(params: Params) -> str:
    """One rendered prompt and what a full run would cost at most; asks nothing.

    Tokens are estimated at four characters each, which is rough: the model's own tokenizer decides.
    """
    briefs, count = Briefs(params), params.fuse.candidates
    llm = params.fuse.llm
    sample = range(0, count, max(1, count // 50))
    prompts = [briefs.brief(wanted(params.mix, params.seed, index)).prompt for index in sample]
    chars = sum(len(prompt.system) + len(prompt.user) for prompt in prompts) / len(prompts)
    requests = min(count, llm.max_requests)
    return "\n".join(
        (
            "--- system",
            prompts[0].system,
            "--- user",
            prompts[0].user,
            "--- cost",
            f"{requests:,} requests (budget {llm.max_requests:,}), {llm.concurrency} at a time, more where answers are cut or the endpoint fails",
            f"about {requests * chars / _ASSUMED_CHARS_PER_TOKEN:,.0f} prompt tokens ({chars / _ASSUMED_CHARS_PER_TOKEN:,.0f} each, at 4 characters a token)",
            f"at most {requests * llm.max_output_tokens:,} completion tokens ({llm.max_output_tokens:,} each)",
        )
    )
