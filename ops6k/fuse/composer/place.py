"""Puts one recipe, or one piece of plain arithmetic, on a graph: draws what it leaves open and tries the step."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template

from ops6k.fuse.composer.graph import AXES, BY_RANK, Graph, Input, Member, Size, Step, Value
from ops6k.fuse.composer.inputs import distributions, families
from ops6k.fuse.composer.recipe import Recipe, Take
from ops6k.fuse.composer.trial import Beds, Unfit

CHANNEL_SECOND = ("signal", "image", "volume")
"""Kinds whose feature axis is the second; the others' is the last."""

# From any value into a domain, in plain arithmetic: it may stay undeclared. Bounds are those of the text.
_INTO_DOMAIN = {
    (0.05, float("inf")): ("$x * $x + 0.1", 0.1, float("inf")),
    (1.05, float("inf")): ("$x * $x + 1.2", 1.2, float("inf")),
    (0.0, float("inf")): ("$x * $x", 0.0, float("inf")),
    (0.01, 0.99): ("0.05 + 0.9 / (1.0 + $x * $x)", 0.05, 0.95),
    (-0.95, 0.95): ("1.8 * $x / (1.0 + $x * $x)", -0.9, 0.9),
    (-4.0, 4.0): ("6.0 * $x / (1.0 + $x * $x)", -3.0, 3.0),
}


@dataclass(slots=True)
class Draft:
    """A graph under way, its trial run and its dice."""

    graph: Graph
    beds: Beds
    rng: random.Random

    def copy(self) -> "Draft":
        return Draft(self.graph.copy(), self.beds.copy(), self.rng)

    def size(self, letter: str, *, reuse: float = 0.0) -> Size:
        """A size for an axis letter: one there is already with chance `reuse`, else a new one."""
        there = [size for size in self.graph.sizes if size.letter == letter]
        family = families()[letter]
        free = [twin for twin in family.twin if all(size.twin != twin for size in self.graph.sizes)]
        if there and (not free or self.rng.random() < reuse):
            return self.rng.choice(there)
        if not free:
            raise Unfit(f"no twin left for {letter}")
        size = Size(self.graph.fresh("s"), letter, self.rng.choice(family.real), free[0])
        self.graph.sizes.append(size)
        self.beds.size(size)
        return size

    def batch(self, kind: str) -> Size:
        there = [size for size in self.graph.sizes if size.letter in ("b", "b_flat")]
        return there[0] if there else self.size("b_flat" if len(AXES[kind]) < 3 else "b")

    def input(self, kind: str, values: str, axes: tuple[str, ...] | None = None, bound: str = "") -> Value:
        """A new argument of forward; without axes, of the kind's own."""
        if axes is None:
            first = self.batch(kind).name
            named = {letter: self.size(letter, reuse=0.6).name for letter in AXES[kind][1:]}
            axes = (first, *(named[letter] for letter in AXES[kind][1:]))
        spread = distributions()[values]
        value = Value(self.graph.fresh("v"), kind if spread.kind == "float" else "final", axes, spread.low, spread.high)
        given = Input(value, values, bound)
        self.graph.inputs.append(given)
        self.beds.input(given)
        return value

    def member(self, hint: str, build: str, settle: tuple[str, ...] = (), names: Mapping[str, object] | None = None) -> str:
        name = self.graph.fresh("m")
        texts = tuple(Template(text).substitute(names or {}, m=name) for text in settle)
        made = Member(name, hint, build, texts)
        self.graph.members.append(made)
        self.beds.member(made)
        return name


def names_of(value: Value) -> dict[str, object]:
    """The template names that a first value brings; axes of unknown length bring none."""
    letters = AXES[value.kind]
    names: dict[str, object] = {letter: axis for letter, axis in zip(letters, value.axes, strict=True) if axis is not None}
    at = 1 if value.kind in CHANNEL_SECOND else len(letters) - 1
    if value.axes[at] is not None:
        ones = ", 1" * (len(letters) - 1 - at)
        names |= {"f": value.axes[at], "fshape": f"{value.axes[at]}{ones}"}
    return names | {"x": value.name, "faxis": at if at != len(letters) - 1 else -1, "rank": len(letters)}


def place(recipe: Recipe, first: Value, draft: Draft) -> Draft:
    """A copy of the draft with the recipe's step on `first`; raises Unfit."""
    after = draft.copy()
    first = into_domain(recipe.domain, first, after)
    names = names_of(first) | dict(after.rng.choice(recipe.choose))
    names |= {name: after.size(letter, reuse=0.4).name for name, letter in recipe.new.items()}
    names |= _axis(recipe, first, after.rng)
    others = [_other(take, first, names, after) for take in recipe.takes[1:]]
    names |= dict(zip("yzuw", (other.name for other in others), strict=False))
    for name, source in recipe.define:
        if name not in after.graph.definitions:
            after.graph.definitions[name] = source
            after.beds.define(source)
    for name, text in recipe.params.items():
        build = f"nn.Parameter({_fill(text, names)})"
        names[name] = after.member("scale" if "rand(" in text else "weight", build)
    text = _spelled(recipe, names, len(others), after)
    reads = (first.name, *(other.name for other in others))
    _append(after, Step(first, text, reads, recipe.op, recipe.hint, first.name), recipe, first)
    return after


def arithmetic(text: str, first: Value, reads: tuple[str, ...], draft: Draft, bounds: tuple[float, float] | None = None) -> Value:
    """Appends an undeclared step whose result has the shape of `first`; raises Unfit."""
    free = (-float("inf"), float("inf"))
    recipe = Recipe(op="", category="", forms=(), takes=(), range=bounds or free, keeps_shape=True)
    return _append(draft, Step(first, text, reads, None, "", first.name), recipe, first)


def into_domain(domain: tuple[float, float], value: Value, draft: Draft) -> Value:
    """The value, or one made of it that lies in the domain."""
    low, high = domain
    if low <= value.low and value.high <= high:
        return value
    if domain not in _INTO_DOMAIN:
        raise Unfit("outside the operator's domain")
    text, floor, ceiling = _INTO_DOMAIN[domain]
    text = f"$x + {low + 0.1:g}" if value.low >= 0 and high == float("inf") else text
    return arithmetic(Template(text).substitute(x=value.name), value, (value.name,), draft, (floor, ceiling))


def _fill(text: str, names: Mapping[str, object]) -> str:
    try:
        return Template(text).substitute(names)
    except KeyError as error:
        raise Unfit(f"{error} has no length that is a size") from None


def _axis(recipe: Recipe, first: Value, rng: random.Random) -> dict[str, object]:
    rank = len(first.axes)
    axes = [axis for axis in recipe.axis if -axis < rank] or [-i for i in range(1, rank)]
    if not axes:
        return {}
    axis = rng.choice(axes)
    length = first.axes[axis]
    return {"axis": axis} | ({} if length is None else {"n": length, "N": length})


def _other(take: Take, first: Value, names: Mapping[str, object], draft: Draft) -> Value:
    if take.like:
        return _like(take, first, draft)
    axes = tuple(str(names.get(token, token)) for token in take.axes)
    if not all(axis.isdigit() or axis.startswith("s_") for axis in axes):
        raise Unfit(f"no size for {' '.join(take.axes)}")
    return draft.input(BY_RANK[len(axes)], take.values, axes, _fill(take.bound, names))


def _like(take: Take, first: Value, draft: Draft) -> Value:
    """An earlier value of the same shape, else a new input of it."""
    known = [v for v in draft.graph.values() if v.axes == first.axes and v.kind == first.kind and v.name != first.name]
    unread = [v for v in draft.graph.unread() if v in known]
    if take.values == "normal" and known and (unread or draft.rng.random() < 0.5):
        return draft.rng.choice(unread or known)
    if None in first.axes or any("//" in axis or "*" in axis for axis in first.axes):
        raise Unfit("a second input of unknown shape")
    return draft.input(first.kind, take.values, first.axes)


def _spelled(recipe: Recipe, names: dict[str, object], others: int, draft: Draft) -> str:
    form = draft.rng.choice(recipe.forms)
    if "$x" in form:
        return _fill(form, names)
    settle = tuple(_fill(text, names | {"m": "$m"}) for text in recipe.settle)
    names["m"] = draft.member(recipe.hint or recipe.op.rpartition(".")[2], _fill(form, names), settle, {})
    arguments = ", ".join(f"${letter}" for letter in "xyzuw"[: others + 1])
    return _fill(recipe.call or f"$m({arguments})", names)


def _append(draft: Draft, step: Step, recipe: Recipe, first: Value) -> Value:
    """Names the step's result, tries it and keeps it; raises Unfit."""
    named = replace(step, value=replace(first, name=draft.graph.fresh("v")))
    reads = [value for value in draft.graph.values() if value.name in step.reads]
    tried = draft.beds.step(named, reads, draft.graph.sizes, first if recipe.keeps_shape else None)
    result, axes = tried.twin, tried.axes
    same = recipe.gives == "same" and len(axes) == len(first.axes)
    kind = first.kind if same else recipe.gives if recipe.gives in AXES else BY_RANK.get(len(axes), "final")
    if recipe.gives == "final" or not result.is_floating_point():
        kind = "final"
    if kind != "final" and len(AXES[kind]) != len(axes):
        raise Unfit(f"gives rank {len(axes)}, not {kind}")
    low, high = recipe.range or (first.low, first.high)
    value = Value(named.value.name, kind, axes, low, high)
    draft.graph.steps.append(replace(named, value=value, launches=tried.launches))
    return value
