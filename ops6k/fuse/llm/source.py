"""Candidates from a model behind any endpoint that speaks the OpenAI protocol."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ops6k.fuse.llm.answers import Proposal, proposals
from ops6k.fuse.llm.batches import Batch
from ops6k.fuse.llm.budget import Budget
from ops6k.fuse.llm.cache import Answer, AnswerCache
from ops6k.fuse.llm.client import Endpoint, Store, model_of
from ops6k.fuse.llm.failure import Lack, Patience
from ops6k.fuse.llm.journal import Journal
from ops6k.fuse.llm.prompts import Brief, Briefs
from ops6k.fuse.llm.requests import Prompt, Request
from ops6k.fuse.sources import Wanted
from ops6k.params import Params
from ops6k.records import Candidate, Funnel, Verdict, candidate_id

_AHEAD = 4
"""Requests given out beyond what is yielded, as a multiple of the concurrency: one slow answer does not stop the rest."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request and what it is to bring."""

    request: Request
    briefs: tuple[Brief, ...]
    """One a task."""
    parent: Candidate | None = None
    """The candidate that is to be repaired."""


class LlmSource:
    """A Source. Answers are kept in `work`; asking again for the same candidates costs nothing.

    Yields in the order of `wanted`. What a model answers is the model's: a rerun is repeatable because of the cache only.
    Raises EndpointError where the endpoint refuses or answers nothing but nonsense, MissingInput without seed_ops/ or
    prompts/, ParamsError without a model or its price.
    """

    def __init__(self, params: Params, work: Path, *, patience: Patience | None = None) -> None:
        self.params, self.llm = params, params.fuse.llm
        self.model = model_of(self.llm)
        self.store = Store(
            AnswerCache(work / "answers"),
            Budget(self.llm, self.model, work / "charges"),
            Journal(work / "batches", Batch),
        )
        self._patience = patience or Patience()
        self._briefs = Briefs(params)
        self._of: dict[str, Brief] = {}
        """Brief of a candidate, by its id."""
        self._lacking: Counter[str] = Counter()
        self._unasked = 0

    def propose(self, wanted: Sequence[Wanted]) -> Iterator[Candidate]:
        """Candidates as answers come; a Ctrl-C or a closed generator loses what is in flight, no more."""
        size = self.llm.tasks_per_request
        return self._asked(self._question(wanted[start : start + size]) for start in range(0, len(wanted), size))

    def repaired(self, rejected: Sequence[tuple[Candidate, Verdict]]) -> Iterator[Candidate]:
        """The model's second try at candidates of its own, with the reason quoted: `parent` is set, `round` one higher."""
        return self._asked(self._repair(candidate, verdict) for candidate, verdict in rejected)

    def resized(self, out_of_range: Sequence[tuple[Candidate, Verdict]]) -> Iterator[Candidate]:
        """As `repaired`, of any run's candidates: what it answers has another size and the same operators."""
        return self._asked(self._resize(candidate, verdict) for candidate, verdict in out_of_range)

    def rejections(self) -> tuple[Funnel, ...]:
        """Wanted candidates that did not come to be, by reason, for the stage's Report."""
        return tuple(Funnel(reason, count) for reason, count in sorted(self._lacking.items()))

    def notes(self) -> tuple[str, ...]:
        """Lines for a person: what was asked and what it took."""
        budget = self.store.budget
        usd = f", {budget.usd:,.2f} USD" if self.model in self.llm.prices else ""
        lines = [f"{self.model}: {budget.requests:,} requests sent in all runs, {budget.tokens:,} tokens{usd}"]
        if budget.reached:
            lines.append(f"the budget of {budget.reached} to go on: {self._unasked} candidates or repairs were not asked for")
        return tuple(lines)

    def _asked(self, questions: Iterator[Question]) -> Iterator[Candidate]:
        # A loop in a thread of its own, so that requests go on while the caller is busy with what it has.
        from anyio.from_thread import start_blocking_portal

        endpoint = Endpoint(self.llm, self.store, patience=self._patience, seed=self.params.seed)
        with start_blocking_portal("asyncio") as portal, portal.wrap_async_context_manager(endpoint.opened()):
            if self.llm.batch:
                listed = list(questions)
                portal.call(endpoint.fetch, [question.request for question in listed])
                questions = iter(listed)
            pending: deque[tuple[Question, Future[Answer | Lack]]] = deque()
            try:
                while True:
                    for question in islice(questions, _AHEAD * self.llm.concurrency - len(pending)):
                        pending.append((question, portal.start_task_soon(endpoint.answer, question.request)))
                    if not pending:
                        break
                    question, future = pending.popleft()
                    yield from self._candidates(question, future.result())
            finally:
                for _, future in pending:
                    future.cancel()
        self.store.fold()

    def _question(self, wanted: Sequence[Wanted]) -> Question:
        briefs = tuple(self._briefs.brief(one) for one in wanted)
        return Question(self._request(self._briefs.together(briefs), len(briefs)), briefs)

    def _repair(self, candidate: Candidate, verdict: Verdict) -> Question:
        brief = self._of[candidate.candidate_id]
        prompt = self._briefs.again(brief, candidate, verdict.reason, verdict.message)
        return Question(self._request(prompt, 1), (brief,), candidate)

    def _resize(self, candidate: Candidate, verdict: Verdict) -> Question:
        brief = self._briefs.resize(candidate, verdict.reason, verdict.message)
        return Question(self._request(brief.prompt, 1), (brief,), candidate)

    def _request(self, prompt: Prompt, tasks: int) -> Request:
        return Request(self.model, self.llm.temperature, tasks * self.llm.max_output_tokens, self.llm.structured, prompt)

    def _candidates(self, question: Question, came: Answer | Lack) -> Iterator[Candidate]:
        count = len(question.briefs)
        if isinstance(came, Lack):
            self._lacking[came] += count
            self._unasked += count if came is Lack.BUDGET else 0
            return
        found = [one for one in proposals(came.text, count) if one.whole or came.finish != "length"]
        if len(found) < count:
            self._lacking[_why_nothing(came)] += count - len(found)
        for brief, proposal in _matched(question.briefs, found):
            yield self._candidate(question, brief, proposal)

    def _candidate(self, question: Question, brief: Brief, found: Proposal) -> Candidate:
        parent = question.parent
        ops = found.ops or (parent.ops if parent else brief.labels)
        made = Candidate(
            candidate_id=candidate_id(ops, found.code),
            ops=ops,
            code=found.code,
            source=self.model,
            seed=brief.wanted.seed,
            dtype=brief.wanted.dtype,
            categories=self._briefs.categories(ops),
            prompt_hash=question.request.prompt.hash,
            parent=parent.candidate_id if parent else None,
            round=parent.round + 1 if parent else 0,
        )
        self._of.setdefault(made.candidate_id, brief)
        return made


def _matched(briefs: Sequence[Brief], found: Sequence[Proposal]) -> Iterator[tuple[Brief, Proposal]]:
    """Each proposal with the brief whose labels it bears, else with the next that is left: models skip and swap."""
    left = list(briefs)
    for proposal in found:
        brief = next((b for b in left if proposal.ops and set(b.labels) == set(proposal.ops)), left[0])
        left.remove(brief)
        yield brief, proposal


def _why_nothing(answer: Answer) -> str:
    if answer.refusal or answer.finish == "content_filter":
        return "answer/refusal"
    return "answer/cut" if answer.finish == "length" else "answer/no_code"
