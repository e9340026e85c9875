"""Recipes: how each operator may stand in a task, read from data files. No operator is named in this package's code.

A recipe's texts are Python with `$` names: `$x $y $z` what it takes, the letters of the first one's axes (`$c`, `$y_d` for
the second's), `$f $faxis $fshape` its feature axis, `$axis $n` an axis drawn for it, `$m` its module, and whatever
`choose`, `new` and `params` name. recipes/README.md says it by example.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import yaml

from ops6k.fuse.composer.graph import AXES
from ops6k.labels import key

DOMAINS = {
    "any": (-math.inf, math.inf),
    "positive": (0.05, math.inf),
    "above_one": (1.05, math.inf),
    "unit": (0.01, 0.99),
    "bounded": (-0.95, 0.95),
    "moderate": (-4.0, 4.0),
    "nonnegative": (0.0, math.inf),
}
"""What an operator asks of its first value."""

FLOATS = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Take:
    """One tensor that an operator takes."""

    kinds: tuple[str, ...] = ()
    """Kinds that the first value may have; empty for later ones."""
    like: bool = False
    """Same shape as the first value: an earlier value, or a new input."""
    axes: tuple[str, ...] = ()
    """A new input with these axes (letters, new sizes or texts)."""
    values: str = "normal"
    """Distribution of a new input."""
    bound: str = ""
    """Text of the size that integers stay under."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way in which one operator may be used."""

    op: str
    category: str
    forms: tuple[str, ...]
    """Spellings: an expression with `$x`, or a module's constructor."""
    takes: tuple[Take, ...]
    gives: str = "same"
    """same, reduced (the axis drawn is gone), final, or a kind."""
    call: str = ""
    """How the module is called, where not `$m($x, $y, ...)`."""
    axis: tuple[int, ...] = ()
    """Axes to draw `$axis` from, negative; empty: any but the batch."""
    choose: tuple[Mapping[str, object], ...] = ({},)
    new: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    settle: tuple[str, ...] = ()
    domain: tuple[float, float] = DOMAINS["any"]
    range: tuple[float, float] | None = DOMAINS["any"]
    """Bounds of the result whatever the inputs; None keeps those of what it took."""
    dtypes: tuple[str, ...] = FLOATS
    define: tuple[tuple[str, str], ...] = ()
    """Helper classes and functions: name, source."""
    solo: bool = True
    """May stand alone in a task; False where that is a benchmark's own problem."""
    hint: str = ""
    keeps_shape: bool = False
    """What it gives has the shape of what it took, whatever the sizes: so for all that take any kind."""
    key: str = ""
    """labels.key(op): what makes two recipes one operator."""

    @property
    def is_transformers(self) -> bool:
        return self.op.startswith("transformers.")


_KEYS = {
    "op",
    "category",
    "forms",
    "takes",
    "gives",
    "call",
    "axis",
    "choose",
    "new",
    "params",
    "settle",
    "domain",
    "range",
    "dtypes",
    "define",
    "solo",
    "hint",
    "keeps_shape",
}


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes of the package, in the order of the files' names."""
    folder = files("ops6k.fuse.composer") / "recipes"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda entry: entry.name)
    return tuple(recipe for entry in found for recipe in read(entry.read_text(encoding="utf-8"), entry.name))


def read(text: str, name: str) -> list[Recipe]:
    """The recipes of one file's text. Raises ValueError that names the file and the operator."""
    tree = yaml.safe_load(text)
    helpers = tree.get("helpers", {})
    return [_recipe({**tree.get("defaults", {}), **row}, helpers, f"{name}: {row.get('op')}") for row in tree["recipes"]]


def _recipe(row: dict, helpers: dict[str, str], place: str) -> Recipe:
    unknown = set(row) - _KEYS
    if unknown:
        raise ValueError(f"{place}: unknown key {sorted(unknown)[0]!r}")
    any_kind = _listed(row.get("takes", "any"))[0] == "any"
    takes = tuple(_take(part, place, first=i == 0) for i, part in enumerate(_listed(row.pop("takes", "any"))))
    plain = {key: row[key] for key in ("op", "category", "gives", "call", "new", "params", "solo", "hint") if key in row}
    return Recipe(
        **plain,
        keeps_shape=row.get("keeps_shape", any_kind and plain.get("gives", "same") == "same"),
        key=key(row["op"]),
        takes=takes,
        forms=tuple(_listed(row["forms"])),
        axis=tuple(_listed(row.get("axis", []))),
        choose=_choices(row.get("choose", {})),
        settle=tuple(_listed(row.get("settle", []))),
        domain=_bounds(row.get("domain", "any")),
        range=None if row.get("range") == "keep" else _bounds(row.get("range", "any")),
        dtypes=tuple(_listed(row.get("dtypes", FLOATS))),
        define=tuple((helper, helpers[helper]) for helper in _listed(row.get("define", []))),
    )


def _listed(value: object) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def _bounds(value: object) -> tuple[float, float]:
    if isinstance(value, str):
        return DOMAINS[value]
    low, high = value
    return (-math.inf if low is None else float(low), math.inf if high is None else float(high))


def _choices(value: object) -> tuple[Mapping[str, object], ...]:
    """A list of mappings to draw one from; a mapping of lists is every combination of them."""
    if isinstance(value, list):
        return tuple(value)
    rows: list[dict[str, object]] = [{}]
    for name, options in value.items():
        rows = [{**row, name: option} for row in rows for option in options]
    return tuple(rows)


def _take(part: object, place: str, *, first: bool) -> Take:
    if isinstance(part, dict):
        return Take(axes=tuple(part["axes"].split()), values=part.get("values", "normal"), bound=str(part.get("bound", "")))
    if not first:
        word, _, values = str(part).partition(" ")
        if word != "like":
            raise ValueError(f"{place}: takes {part!r} is neither like nor a mapping")
        return Take(like=True, values=values or "normal")
    kinds = tuple(AXES) if part == "any" else tuple(str(part).split("|"))
    if part == "any":
        kinds = tuple(kind for kind in AXES if kind not in ("vec", "matrix", "square"))
    if not set(kinds) <= set(AXES):
        raise ValueError(f"{place}: takes {part!r} names no kind of {', '.join(AXES)}")
    return Take(kinds=kinds)
