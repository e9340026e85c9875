"""The hard budget over all runs: requests, tokens, USD. Nothing is sent that could exceed it, whatever the answer's length.

A request is charged the most it can cost before it is sent, and what it did cost when it has ended; one that never ended
(a kill, a time-out) stays at the most.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from ops6k.errors import ParamsError
from ops6k.fuse.llm.journal import Journal
from ops6k.fuse.llm.requests import Request
from ops6k.params import LlmParams


@dataclass(frozen=True, slots=True)
class Charge:
    """What one try costs. The latest of a number counts."""

    number: int
    """Counts tries over all runs, from 0."""
    request_hash: str
    model: str
    batch: bool
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Spent:
    """What all runs asked of models; a request that never ended counts as the most it can cost."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    """Of models with a price."""
    unpriced: tuple[str, ...]
    """Models whose price fuse.llm.prices does not say."""


def spent(llm: LlmParams, folder: Path) -> Spent:
    """What the charges kept in a folder come to. Not for a folder that another process writes to."""
    charges = {charge.number: charge for charge in Journal(folder, Charge).rows}.values()
    return Spent(
        len(charges),
        sum(charge.prompt_tokens for charge in charges),
        sum(charge.completion_tokens for charge in charges),
        sum(usd_of(charge, llm) for charge in charges),
        tuple(sorted({charge.model for charge in charges} - set(llm.prices))),
    )


def usd_of(charge: Charge, llm: LlmParams) -> float:
    """USD of a charge; 0 for a model without a price."""
    price = llm.prices.get(charge.model)
    if price is None:
        return 0.0
    share = llm.batch_price if charge.batch else 1.0
    return share * (charge.prompt_tokens * price.input + charge.completion_tokens * price.output) / 1e6


class Budget:
    """What is spent and what may be. Raises ParamsError where max_usd is set and a model has no price."""

    def __init__(self, llm: LlmParams, model: str, folder: Path) -> None:
        self.llm = llm
        self.journal = Journal(folder, Charge)
        self._charges = {charge.number: charge for charge in self.journal.rows}
        self._open: set[int] = set()
        self._freed = asyncio.Event()
        self.reached: str | None = None
        """The first limit that stopped a request, for a person."""
        unpriced = sorted({model, *(charge.model for charge in self._charges.values())} - set(llm.prices))
        if llm.max_usd is not None and unpriced:
            raise ParamsError(f"fuse.llm.max_usd is set, but fuse.llm.prices has no price of {unpriced[0]!r}")
        self.requests, self.tokens, self.usd = 0, 0, 0.0
        for charge in self._charges.values():
            self._add(charge, 1)

    async def reserve(self, request: Request, *, batch: bool = False) -> int | None:
        """The number of a try that may be sent; None where it could exceed the budget.

        Waits while the end of what is under way may leave room; for a part of a batch it does not.
        """
        while True:
            most = self._most(request, batch)
            limit = self._exceeded_by(most)
            if limit is None:
                self._charge(most)
                self._open.add(most.number)
                return most.number
            if not self._open or batch:
                self.reached = self.reached or limit
                return None
            await self._freed.wait()

    def settle(self, number: int, prompt_tokens: int | None, completion_tokens: int | None) -> None:
        """What a try came to; None leaves what was reserved."""
        was = self._charges[number]
        prompt = was.prompt_tokens if prompt_tokens is None else prompt_tokens
        completion = was.completion_tokens if completion_tokens is None else completion_tokens
        self._charge(Charge(number, was.request_hash, was.model, was.batch, prompt, completion))
        self.leave(number)

    def leave(self, number: int) -> None:
        """The try is no longer under way: whoever waits for room looks again."""
        self._open.discard(number)
        self._freed.set()
        self._freed = asyncio.Event()

    def _most(self, request: Request, batch: bool) -> Charge:
        return Charge(self.requests, request.hash, request.model, batch, request.most_prompt_tokens, request.max_output_tokens)

    def _exceeded_by(self, charge: Charge) -> str | None:
        """The limit that this charge could exceed, for a person."""
        llm = self.llm
        if self.requests + 1 > llm.max_requests:
            return f"{llm.max_requests:,} requests is spent; raise fuse.llm.max_requests"
        if llm.max_tokens is not None and self.tokens + charge.tokens > llm.max_tokens:
            return f"{llm.max_tokens:,} tokens is spent ({self.tokens:,}, and one more request could take {charge.tokens:,}); raise fuse.llm.max_tokens"
        if llm.max_usd is not None and self.usd + usd_of(charge, self.llm) > llm.max_usd:
            return f"{llm.max_usd:g} USD is spent ({self.usd:.4f}, and one more request could take {usd_of(charge, self.llm):.4f}); raise fuse.llm.max_usd"
        return None

    def _charge(self, charge: Charge) -> None:
        before = self._charges.get(charge.number)
        if before is not None:
            self._add(before, -1)
        self._charges[charge.number] = charge
        self.journal.append(charge)
        self._add(charge, 1)

    def _add(self, charge: Charge, sign: int) -> None:
        self.requests += sign
        self.tokens += sign * charge.tokens
        self.usd += sign * usd_of(charge, self.llm)
