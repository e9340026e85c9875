"""The prompt of one wanted candidate: operators drawn from the harvest, a size budget from the target, two templates.

Everything depends on (seed, index) alone, so that a stretch of a run can be asked for anywhere and any time.
"""

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import store
from ops6k import target as targets
from ops6k.errors import MissingInput
from ops6k.fuse.llm.requests import Prompt
from ops6k.fuse.llm.templates import Templates
from ops6k.fuse.sources import Wanted
from ops6k.labels import CONTAINERS, SHAPE, key
from ops6k.params import Params
from ops6k.records import Candidate, Operator, Outcome, Reason

_LIBRARIES = ("torch", "transformers")

_NEVER_DRAWN = SHAPE | CONTAINERS | {"argwhere", "nonzero", "maskedselect", "unique", "uniqueconsecutive", "bincount"}
"""Keys of what computes nothing, or has a shape that depends on values."""
_CATEGORIES_NEVER_DRAWN = ("creation", "random", "cast")

# One additive sequence for each of five places and one for the run time: the square roots of distinct primes are not
# related, so the places combine freely, yet every run of n candidates uses each operator as often as it should.
_STEPS = tuple(math.sqrt(prime) % 1 for prime in (7, 11, 13, 17, 19, 23))
_STARTS = (0.7548776662466927, 0.5698402909980532, 0.3247179572447460, 0.8191725133961645, 0.6710436067037893, 0.1379)


@dataclass(frozen=True, slots=True)
class Brief:
    """What one prompt asks for."""

    wanted: Wanted
    operators: tuple[Operator, ...]
    aim_ms: float
    """Eager run time that was asked for."""
    prompt: Prompt

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(operator.name for operator in self.operators)


class Deck:
    """Usable operators on the line from 0 to 1, by category; rare categories get more room than their number.

    A category of n operators gets room in proportion to sqrt(n): 200 pointwise functions do not drown 9 convolutions.
    """

    def __init__(self, operators: Sequence[Operator]) -> None:
        self.operators = sorted(operators, key=lambda operator: (operator.category, operator.name))
        sizes = Counter(operator.category for operator in self.operators)
        room = [1 / math.sqrt(sizes[operator.category]) for operator in self.operators]
        total, reached, self._ends = sum(room), 0.0, []
        for part in room:
            reached += part / total
            self._ends.append(reached)

    def at(self, place: float, *, without: Sequence[str]) -> Operator | None:
        """The operator at a place in [0, 1), or the next that is not in `without`; None where there is none."""
        first = bisect_right(self._ends, place)
        for step in range(len(self.operators)):
            operator = self.operators[(first + step) % len(self.operators)]
            if operator.name not in without:
                return operator
        return None


class Briefs:
    """Makes prompts; reads seed_ops/, prompts/ and the target once."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.target = targets.load(params.path(params.target))
        usable = [operator for operator in catalogue(params.path("seed_ops")) if operator.usable and not operator.stochastic]
        self._by_name = {operator.name: operator for operator in usable}
        self._category = {key(operator.name): operator.category for operator in usable}
        self._drawable = [operator for operator in usable if _is_drawable(operator)]
        self._decks: dict[tuple[bool, str], Deck] = {}
        self._templates = Templates(params.path("prompts"))
        self._version = store.files_hash(params.path("prompts"))
        self._system = self._templates.render(
            "system.j2",
            window_ms=params.screen.window_ms,
            tolerance=params.screen.tolerance,
            memory_gib=params.screen.memory_gib,
            device=self.target.device_name or self.target.device,
        )

    def brief(self, wanted: Wanted) -> Brief:
        """The prompt of one candidate; raises MissingInput where the harvest holds nothing that fits."""
        operators = self._named(wanted) if wanted.operators else self._drawn(wanted)
        aim_ms = self._aim_ms(_place(wanted, 5))
        user = self._templates.render(
            "fuse.j2",
            operators=operators,
            depth=len(operators),
            dtype=wanted.dtype,
            number=wanted.index,
            **self._amounts(aim_ms, wanted.dtype),
        )
        return Brief(wanted, operators, aim_ms, self._prompt(user))

    def together(self, briefs: Sequence[Brief]) -> Prompt:
        """One prompt for all of them."""
        if len(briefs) == 1:
            return briefs[0].prompt
        return self._prompt(self._templates.render("several.j2", texts=[brief.prompt.user.strip() for brief in briefs]))

    def again(self, brief: Brief, candidate: Candidate, reason: Reason, message: str) -> Prompt:
        """The prompt that quotes why a candidate was rejected: resize.j2 for one out of range, else repair.j2."""
        if reason.outcome is Outcome.OUT_OF_RANGE:
            return self._sized(brief.aim_ms, candidate, reason, message)
        return self._prompt(
            self._templates.render(
                "repair.j2",
                asked=brief.prompt.user.strip(),
                ops=candidate.ops,
                code=candidate.code.strip(),
                reason=reason.value,
                message=message,
            )
        )

    def resize(self, candidate: Candidate, reason: Reason, message: str) -> Brief:
        """What asks for a candidate of any run in another size; the run time to aim at is drawn by its id."""
        wanted = Wanted(
            index=0,
            seed=candidate.seed,
            depth=candidate.depth,
            dtype=candidate.dtype,
            with_transformers=False,
            operators=candidate.ops,
        )
        known = tuple(self._by_name[name] for name in candidate.ops if name in self._by_name)
        aim_ms = self._aim_ms(int(candidate.candidate_id[:8], 16) / 16**8)
        return Brief(wanted, known, aim_ms, self._sized(aim_ms, candidate, reason, message))

    def _sized(self, aim_ms: float, candidate: Candidate, reason: Reason, message: str) -> Prompt:
        return self._prompt(
            self._templates.render(
                "resize.j2",
                ops=candidate.ops,
                dtype=candidate.dtype,
                code=candidate.code.strip(),
                reason=reason.value,
                message=message,
                memory_gib=self.params.screen.memory_gib,
                **self._amounts(aim_ms, candidate.dtype),
            )
        )

    def _aim_ms(self, place: float) -> float:
        low_ms, high_ms = self.params.fuse.target_ms
        return low_ms * (high_ms / low_ms) ** place

    def _amounts(self, aim_ms: float, dtype: str) -> dict[str, str]:
        """The run time to aim at, and what the target moves and computes in it."""
        return {
            "aim_ms": _two_digits(aim_ms),
            "megabytes": _two_digits(aim_ms * self.target.bandwidth_gbs),
            "gigaflops": _two_digits(aim_ms * self.target.rate(dtype) / 1e12),
        }

    def _prompt(self, user: str) -> Prompt:
        return Prompt(self._system, user, self._version)

    def categories(self, ops: Sequence[str]) -> tuple[str, ...]:
        """Categories of labels, each once; a label that was not harvested has none."""
        return tuple(dict.fromkeys(self._category[key(label)] for label in ops if key(label) in self._category))

    def _named(self, wanted: Wanted) -> tuple[Operator, ...]:
        unknown = [name for name in wanted.operators if name not in self._by_name]
        if unknown:
            raise MissingInput(f"seed_ops has no usable operator {unknown[0]!r}; see `ops6k harvest`")
        return tuple(self._by_name[name] for name in wanted.operators)

    def _drawn(self, wanted: Wanted) -> tuple[Operator, ...]:
        drawn: list[Operator] = []
        for position in range(wanted.depth):
            of_transformers = wanted.with_transformers and position == 0
            deck = self._deck(of_transformers, wanted.dtype)
            operator = deck.at(_place(wanted, position), without=[operator.name for operator in drawn])
            if operator is None:
                library = "transformers" if of_transformers else "torch"
                raise MissingInput(
                    f"seed_ops/{library}.jsonl: too few usable {wanted.dtype} operators for depth {wanted.depth}; run `ops6k harvest`"
                )
            drawn.append(operator)
        return tuple(drawn)

    def _deck(self, of_transformers: bool, dtype: str) -> Deck:
        """A deck a dtype: skipping what does not take it would crowd its neighbours."""
        if (of_transformers, dtype) not in self._decks:
            fit = [
                o for o in self._drawable if (o.library == "transformers") == of_transformers and dtype in (o.dtypes or (dtype,))
            ]
            self._decks[of_transformers, dtype] = Deck(fit)
        return self._decks[of_transformers, dtype]


def _is_drawable(operator: Operator) -> bool:
    return key(operator.name) not in _NEVER_DRAWN and operator.category not in _CATEGORIES_NEVER_DRAWN


def catalogue(folder: Path) -> list[Operator]:
    """Every harvested operator; raises MissingInput where a file is missing, all are empty or a line is damaged."""
    operators = []
    for file in (folder / f"{library}.jsonl" for library in _LIBRARIES):  # other files there list what was left out
        if not file.exists():
            raise MissingInput(f"{file}: no such file; `ops6k harvest` makes it")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            try:
                operators.append(store.from_plain(Operator, json.loads(line)))
            except (ValueError, KeyError, TypeError):
                raise MissingInput(f"{file}:{number}: no operator record; `ops6k harvest` writes the file") from None
    if not operators:
        raise MissingInput(f"{folder}: no operators; `ops6k harvest` makes them")
    return operators


def _place(wanted: Wanted, position: int) -> float:
    """A number in [0, 1): where sequence `position` stands at this index."""
    return (wanted.seed * _STARTS[position] + (wanted.index + 1) * _STEPS[position]) % 1


def _two_digits(value: float) -> str:
    """72,000 for 71,873.2; 0.24 for 0.2401."""
    return f"{float(f'{value:.2g}'):,.10g}"
