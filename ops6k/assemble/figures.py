"""The figures of the card and the report, drawn without a display and the same for the same data."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ops6k.records import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BLUE, GREY, RED = "#1f2933", "#2563a8", "#c3cad3", "#b4432f"
_STYLE = {"svg.hashsalt": "ops6k", "font.size": 9, "axes.edgecolor": GREY, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
          "ytick.color": INK, "axes.titlesize": 10, "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False}  # fmt: skip


def new_figure(width: float = 7.0, height: float = 2.8) -> "tuple[Figure, Axes]":
    """An empty figure, inches, and its only axes."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots()


def png(figure: "Figure", path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    return path


def svg(figure: "Figure") -> str:
    """The figure as an SVG document; equal figures give equal text."""
    import matplotlib

    stream = BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(stream, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    return stream.getvalue().decode()


def funnel(counts: Sequence[Report]) -> "Figure":
    """Per stage, what it kept of what it took."""
    figure, axes = new_figure(height=0.6 + 0.42 * len(counts))
    names = [count.stage for count in counts]
    axes.barh(names, [count.taken for count in counts], color=GREY, label="taken")
    axes.barh(names, [count.kept for count in counts], color=BLUE, label="kept")
    for place, count in enumerate(counts):
        axes.annotate(f" {count.kept:,} of {count.taken:,}", (max(count.taken, count.kept), place), va="center")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max([c.taken for c in counts] + [1]))
    axes.set_xlabel("operators (harvest), candidates (all others)")
    axes.legend(frameon=False, loc="lower right")
    return figure


def histogram(values: Sequence[float], label: str, *, log: bool = True, marks: Mapping[str, float] | None = None) -> "Figure":
    """How many rows have which value; `marks` are named lines."""
    import numpy as np

    figure, axes = new_figure()
    array = np.asarray(values, dtype=float)
    array = array[array > 0] if log else array
    if array.size:
        low, high = float(array.min()), float(array.max())
        pad = max(1.0, (2 * low / high) ** 0.5) if log else 1.0  # equal values get a bar, not a hairline
        bins = np.geomspace(low / pad, high * pad, 31) if log else np.linspace(min(low, 0.0), max(high, 1.0), 31)
        axes.hist(array, bins=bins, color=BLUE, edgecolor="white", linewidth=0.4)
    if log:
        plain_log_axis(axes, "x")
    for name, place in (marks or {}).items():
        axes.axvline(place, color=RED, linewidth=1, linestyle="--")
        axes.annotate(
            name,
            (place, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(3, 0),
            textcoords="offset points",
            va="top",
            color=RED,
        )
    axes.set_xlabel(label)
    axes.set_ylabel("rows")
    return figure


def plain_log_axis(axes: "Axes", which: str) -> None:
    """A logarithmic axis labelled 0.5, 1, 2, 5, ... instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
