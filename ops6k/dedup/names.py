"""Operator names as the similarity index tells them apart: finer than a label's, where one label stands for several operators.

`labels.key` makes nn.ReflectionPad2d, nn.ZeroPad2d and F.pad one, because a task may declare any of them; to a reader, and to
ATen, reflection and zeros are two operators. The same holds for the modes of interpolation. And what a label may leave out
(labels.SHAPE) is not all a view: a triangle, a repetition or a reversed axis makes other values.
"""

import ast
from collections.abc import Sequence

from ops6k.labels import SHAPE, key

VALUES = frozenset("tril triu repeat repeatinterleave unfold flip diagonal real imag".split())
"""Of labels.SHAPE, what changes or repeats values: no view, so a step of the dataflow."""

CONSTANTS = frozenset("zeroslike oneslike fulllike emptylike newzeros newones newfull newempty".split())
"""Of labels.SHAPE, what takes a tensor for its shape alone."""

SEEN_THROUGH = SHAPE - VALUES - CONSTANTS
"""Views, casts and constructors: not a step of the dataflow."""

_SAME = {"tile": "repeat", "fliplr": "flip", "flipud": "flip", "im2col": "unfold", "diag": "diagonal"}
_PADDING = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}
_DEFAULT_MODE = {"pad": "constant", "interpolate": "nearest"}
_MODE_AT = {"pad": 2, "interpolate": 3, "upsample": 2}
"""Position of the argument `mode`, by squashed name; of nn.Upsample, whose first argument is no tensor, one earlier."""


def operator_key(path: str, arguments: Sequence[ast.expr] = (), keywords: Sequence[ast.keyword] = ()) -> str:
    """labels.key of a dotted path, with the mode where it makes another operator: `pad/reflect`, `interpolate/bilinear`."""
    name = key(path)
    name = _SAME.get(name, name)
    if name not in _DEFAULT_MODE:
        return name
    mode = _mode(path.split(".")[-1].rstrip("_").lower().replace("_", ""), arguments, keywords)
    return name if mode in (None, _DEFAULT_MODE[name]) else f"{name}/{mode}"


def _mode(exact: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> str | None:
    """The mode that a name or an argument says; None for the default and for what cannot be read."""
    if "pad" in exact and exact != "pad":
        return next((mode for kind, mode in _PADDING.items() if exact.startswith(kind)), None)
    if exact.startswith("upsampling"):
        return "bilinear" if "bilinear" in exact else None
    place = _MODE_AT.get(exact, len(arguments))
    given = [k.value for k in keywords if k.arg == "mode"] + list(arguments[place : place + 1])
    return given[0].value if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else None
