"""How an input lies in memory: contiguous as a rule, else as what came before it would have left it."""

import random
from dataclasses import replace

from ops6k.fuse.composer.graph import Input
from ops6k.fuse.composer.inputs import distributions, expression

STRIDED = 0.16
"""Share of the inputs of three axes and more that are not contiguous."""

_CHANNELS_LAST = {"image": "channels_last", "volume": "channels_last_3d"}
_ELSEWHERE = ("softmax", "ranks", "permutation")
"""Distributions along an axis, which stays where it is."""


def laid_out(given: Input, dtype: str, rng: random.Random) -> str:
    """The right-hand side that draws an input: channels last for images, else transposed or every second step of a longer one."""
    value = given.value
    plain = distributions()[given.values].kind == "float" and given.values not in _ELSEWHERE
    if not plain or len(value.axes) < 3 or rng.random() >= STRIDED:
        return expression(given, dtype)
    if value.kind in _CHANNELS_LAST:
        return f"{_bracketed(expression(given, dtype))}.to(memory_format=torch.{_CHANNELS_LAST[value.kind]})"
    if rng.random() < 0.75:
        swapped = replace(value, axes=(*value.axes[:-2], value.axes[-1], value.axes[-2]))
        end = rng.choice((".transpose(-1, -2)", ".transpose(-2, -1)", ".mT"))
        return _bracketed(expression(replace(given, value=swapped), dtype)) + end
    longer = replace(value, axes=(value.axes[0], f"2 * {value.axes[1]}", *value.axes[2:]))
    return f"{_bracketed(expression(replace(given, value=longer), dtype))}[:, ::2]"


def _bracketed(text: str) -> str:
    """What a method can be called on: a call stands alone, arithmetic in brackets."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in " *+-":
            return f"({text})"
    return text
