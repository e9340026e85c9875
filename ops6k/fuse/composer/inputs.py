"""Distributions and sizes as data: how an input is written, what bounds its values, which numbers a size may have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

import yaml

from ops6k.fuse.composer.graph import Input


@dataclass(frozen=True, slots=True)
class Distribution:
    form: str
    low: float
    high: float
    kind: str
    """float, index or mask."""


@dataclass(frozen=True, slots=True)
class Family:
    """Sizes of one axis letter."""

    real: tuple[int, ...]
    twin: tuple[int, ...]
    names: tuple[str, ...]
    scale: str
    """batch, extent or width: what may grow to fill the target's time."""


@cache
def distributions() -> Mapping[str, Distribution]:
    tree = yaml.safe_load((files("ops6k.fuse.composer") / "inputs.yaml").read_text(encoding="utf-8"))
    return {name: _distribution(row) for name, row in tree.items()}


def _distribution(row: dict) -> Distribution:
    low, high = row["range"]
    return Distribution(
        row["form"], -math.inf if low is None else low, math.inf if high is None else high, row.get("kind", "float")
    )


@cache
def families() -> Mapping[str, Family]:
    # Anything but a plain loader would read the letter n as a boolean.
    tree = yaml.load((files("ops6k.fuse.composer") / "sizes.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)
    return {
        letter: Family(tuple(map(int, row["real"])), tuple(map(int, row["twin"])), tuple(row["name"]), row["scale"])
        for letter, row in tree.items()
    }


def expression(given: Input, dtype: str) -> str:
    """The right-hand side that draws an input."""
    form = distributions()[given.values]
    reduced = dtype != "float32"
    axes = given.value.axes
    text = Template(form.form).substitute(
        shape=", ".join(axes),
        tuple=f"({', '.join(axes)})" if len(axes) > 1 else f"({axes[0]},)",
        bound=given.bound,
        **{
            "as": f", dtype=torch.{dtype}" if reduced else "",
            "cast": f".to(torch.{dtype})" if reduced else "",
            "cast0": f".to(torch.{dtype})" if reduced else ".float()",
        },
    )
    # Brackets around all of it were for the cast.
    return text[1:-1] if not reduced and text.startswith("(") else text
