"""Grows a graph operator by operator: which operator next, on which value, which branches join, what is returned."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TypeVar

import torch

from ops6k.fuse.composer.graph import AXES, Graph, Value
from ops6k.fuse.composer.place import Draft, arithmetic, names_of, place
from ops6k.fuse.composer.probe import require_sound
from ops6k.fuse.composer.recipe import DOMAINS, FLOATS, Recipe, recipes
from ops6k.fuse.composer.trial import Beds, Unfit
from ops6k.fuse.sources import Wanted

T = TypeVar("T")

ATTEMPTS = 24
TRIES = 16
"""Operators tried on a value before an attempt is given up."""

# Plain arithmetic that people put around operators: $x the value, $y an earlier one of its shape, $p a parameter of our own.
_WITH_EARLIER = ("$x + $y", "$x * $y", "$x - $y", "0.5 * ($x + $y)", "$x + 0.5 * $y", "$y - 0.3 * $x")
_WITH_PARAMETER = (
    ("$x * $p", "scale", "torch.rand($fshape) + 0.5"),
    ("$x + $p", "bias", "torch.randn($fshape)"),
    ("$x - $p * $x", "decay", "torch.rand($fshape) * 0.8"),
)


@dataclass(frozen=True, eq=False)
class Pool:
    """Recipes by what they can follow, and the order in which operators take their turn as a task's anchor."""

    recipes: tuple[Recipe, ...]
    seed: int

    @cached_property
    def by_dtype(self) -> dict[str, list[tuple[Recipe, frozenset[str]]]]:
        """Recipes that have the dtype, each with the kinds that it can follow."""
        return {
            dtype: [(recipe, frozenset(recipe.takes[0].kinds)) for recipe in self.recipes if dtype in recipe.dtypes]
            for dtype in FLOATS
        }

    def anchor(self, wanted: Wanted, attempt: int) -> Recipe:
        """The operator that candidate number `index` is built around: each takes its turn, so the rare come first.

        A turn that does not fit (dtype, library, alone) passes to the next operator; so does every fourth attempt.
        """
        case = (wanted.dtype, wanted.with_transformers, wanted.depth > 1, wanted.operators)
        by_op = _anchors(self, *case)
        if not by_op:
            raise Unfit("no operator is wanted here")
        turn, place_in_turn = divmod(wanted.index, len(by_op))
        op = _order(self, turn, case)[(place_in_turn + attempt // 4) % len(by_op)]
        return random.Random(f"{self.seed}/{wanted.index}/{attempt}/anchor").choice(by_op[op])

    def draw(self, kinds: Sequence[str], used: set[str], wanted: Wanted, rng: random.Random) -> Recipe | None:
        """A companion: a category first, so that the many activations do not crowd out the few scans."""
        fit = [r for r in _takers(self, wanted.dtype, frozenset(kinds)) if r.key not in used]
        if wanted.operators:
            fit = [r for r in fit if r.op in wanted.operators]
        if not fit:
            return None
        category = rng.choice(sorted({r.category for r in fit}))
        op = rng.choice(sorted({r.op for r in fit if r.category == category}))
        return rng.choice([r for r in fit if r.op == op])


@lru_cache(maxsize=1024)
def _takers(pool: Pool, dtype: str, kinds: frozenset[str]) -> list[Recipe]:
    """Recipes that can follow a value of one of these kinds."""
    return [recipe for recipe, takes in pool.by_dtype[dtype] if not takes.isdisjoint(kinds)]


@lru_cache(maxsize=64)
def _anchors(pool: Pool, dtype: str, with_transformers: bool, in_company: bool, operators: tuple) -> dict[str, list[Recipe]]:
    """Recipes that may be an anchor, by operator."""
    found: dict[str, list[Recipe]] = {}
    for recipe, _ in pool.by_dtype[dtype]:
        library = recipe.is_transformers or not with_transformers
        if library and (recipe.solo or in_company) and (not operators or recipe.op in operators):
            found.setdefault(recipe.op, []).append(recipe)
    return found


@lru_cache(maxsize=64)
def _order(pool: Pool, turn: int, case: tuple) -> list[str]:
    """The operators in the order of one turn."""
    ops = sorted(_anchors(pool, *case))
    random.Random(f"{pool.seed}/turn/{turn}").shuffle(ops)
    return ops


@cache
def full_pool(seed: int) -> Pool:
    return Pool(recipes(), seed)


def grow(wanted: Wanted, pool: Pool, first_attempt: int = 0) -> Graph | None:
    """A graph of `wanted.depth` operators that the trial run found sound; None where no attempt gave one.

    Depends on its arguments alone. Numbers of the trial run are drawn from a generator state of its own.
    """
    for attempt in range(first_attempt, first_attempt + ATTEMPTS):
        rng = random.Random(f"{wanted.seed}/{wanted.index}/{attempt}")
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(rng.getrandbits(32))
            graph = _if_fit(lambda attempt=attempt, rng=rng: _attempt(wanted, pool, attempt, rng))
        if graph is not None:
            return graph
    return None


def _if_fit(make: Callable[[], T]) -> T | None:
    """What is made; None where it turns out unfit: another one is tried, or it is left out."""
    try:
        return make()
    except Unfit:
        return None


def _attempt(wanted: Wanted, pool: Pool, attempt: int, rng: random.Random) -> Graph:
    anchor = pool.anchor(wanted, attempt)
    turn = rng.randrange(wanted.depth) if attempt % 4 < 2 else 0
    kind = rng.choice(anchor.takes[0].kinds)
    draft = Draft(Graph(), Beds.empty(), rng)
    used = {anchor.key}
    for position in range(wanted.depth):
        if position == turn:
            draft = place(anchor, _value_for(anchor, draft, kind), draft)
        else:
            draft, op = _companion(draft, kind, used, position < turn, (wanted, pool, anchor))
            used.add(op)
        if rng.random() < 0.3 and position < wanted.depth - 1:
            draft = _flourish(draft)
    draft = _joined(draft)
    draft.graph.outputs = [value.name for value in draft.graph.unread()]
    if not 1 <= len(draft.graph.outputs) <= 3 or not draft.graph.is_connected():
        raise Unfit("loose ends")
    require_sound(draft.graph, draft.beds.twin, wanted.dtype)
    return draft.graph


def _first_values(recipe: Recipe, rng: random.Random) -> str:
    """A distribution inside the recipe's domain."""
    for name, domain in DOMAINS.items():
        if domain == recipe.domain and name not in ("any", "nonnegative"):
            return name
    return "positive" if recipe.domain[0] == 0 else rng.choice(("normal", "normal", "normal", "uniform", "wide"))


def _value_for(recipe: Recipe, draft: Draft, kind: str) -> Value:
    """What the recipe is put on: a loose end of its kind, else any value of it, else a new input."""
    fit = [v for v in draft.graph.values() if v.kind in recipe.takes[0].kinds]
    loose = [v for v in draft.graph.unread() if v in fit]
    if loose and draft.rng.random() < 0.85:
        return loose[-1]
    if fit and draft.rng.random() < 0.9:
        return draft.rng.choice(fit)
    return draft.input(kind if kind in recipe.takes[0].kinds else recipe.takes[0].kinds[0], _first_values(recipe, draft.rng))


def _companion(
    draft: Draft, kind: str, used: set[str], keep_kind: bool, context: tuple[Wanted, Pool, Recipe]
) -> tuple[Draft, str]:
    wanted, pool, anchor = context
    for _ in range(TRIES):
        loose = [v.kind for v in draft.graph.unread() if v.kind in AXES]
        kinds = loose or [v.kind for v in draft.graph.values() if v.kind in AXES] or [kind]
        recipe = pool.draw(kinds, used, wanted, draft.rng)
        if recipe is None:
            break
        if keep_kind and recipe.gives not in ("same", *anchor.takes[0].kinds):
            continue
        trial = draft.copy()
        placed = _if_fit(lambda recipe=recipe, trial=trial: place(recipe, _value_for(recipe, trial, kind), trial))
        if placed is not None:
            return placed, recipe.key
    raise Unfit("no operator fits")


def _flourish(draft: Draft) -> Draft:
    """Plain arithmetic after an operator: a residual, a product, a parameter of our own. The draft as it was where none fits."""
    loose = [v for v in draft.graph.unread() if v.kind in AXES]
    if not loose:
        return draft
    value, after = loose[-1], draft.copy()
    earlier = [v for v in after.graph.values() if v.axes == value.axes and v.kind == value.kind and v.name != value.name]
    try:
        if earlier and after.rng.random() < 0.7:
            other = after.rng.choice(earlier)
            text = after.rng.choice(_WITH_EARLIER).replace("$x", value.name).replace("$y", other.name)
            arithmetic(text, value, (value.name, other.name), after)
        else:
            _parameter(value, after)
    except Unfit:
        return draft
    return after


def _parameter(value: Value, draft: Draft) -> None:
    text, hint, build = draft.rng.choice(_WITH_PARAMETER)
    names = names_of(value)
    if "fshape" not in names:
        raise Unfit("no feature size")
    member = draft.member(hint, f"nn.Parameter({build.replace('$fshape', str(names['fshape']))})")
    arithmetic(text.replace("$x", value.name).replace("$p", member), value, (value.name,), draft)


def _joined(draft: Draft) -> Draft:
    """Loose ends of one shape become one value, three times in four; the rest are outputs."""
    while True:
        loose = [v for v in draft.graph.unread() if v.kind in AXES]
        pairs = [(a, b) for i, a in enumerate(loose) for b in loose[i + 1 :] if a.axes == b.axes]
        if not pairs or draft.rng.random() < 0.25:
            return draft
        first, second = draft.rng.choice(pairs)
        text = draft.rng.choice(("$x + $y", "$x * $y", "$x - $y")).replace("$x", second.name).replace("$y", first.name)
        after = draft.copy()
        try:
            arithmetic(text, second, (second.name, first.name), after)
        except Unfit:
            return draft
        draft = after
