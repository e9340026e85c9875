"""The self-test for a person: tables for the terminal, the same as CSV, and a plot of precision and recall."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from ops6k import store
from ops6k.assemble.figures import BLUE, GREY, INK, RED, png
from ops6k.dedup.curves import CHANNELS, Point
from ops6k.dedup.selftest import NEEDED, SelfTest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = dict(zip(CHANNELS, (INK, BLUE, RED, GREY, "#3f8f5b"), strict=True))


def recall_rows(tested: SelfTest) -> list[tuple[object, ...]]:
    """(disguise, copies, caught, recall, needed, holds, by channel, missed)."""
    return [
        (
            one.disguise,
            one.copies,
            one.caught,
            round(one.caught / one.copies, 4),
            NEEDED[one.disguise],
            one.holds,
            " ".join(f"{funnel.reason} {funnel.count}" for funnel in one.channels),
            " ".join(one.missed),
        )
        for one in tested.recalls
    ]


def channel_rows(points: Sequence[Point]) -> list[tuple[object, ...]]:
    """(channel, threshold, recall, precision, caught, copies, merged, problems)."""
    return [
        (
            p.channel,
            p.threshold,
            round(p.recall, 4),
            None if p.precision is None else round(p.precision, 4),
            p.caught,
            p.copies,
            p.merged,
            p.problems,
        )
        for p in points
    ]


def merged_rows(tested: SelfTest) -> list[tuple[object, ...]]:
    return [(m.rule, m.level, m.merged, m.problems) for m in tested.merged]


_RECALL = ("disguise", "copies", "caught", "recall", "needed", "holds", "by channel", "missed")
_CHANNEL = ("channel", "threshold", "recall", "precision", "caught", "copies", "merged", "problems")
_MERGED = ("rule", "level", "merged", "problems")


def tables(tested: SelfTest) -> list[Table]:
    """What is rejected in which disguise; each channel at each threshold; problems that a rule takes for another."""
    return [
        _table("Copies rejected", _RECALL, recall_rows(tested)),
        _table("Channels alone, copies in all disguises", _CHANNEL, channel_rows(tested.points)),
        _table("Problems taken for another one", _MERGED, merged_rows(tested)),
    ]


def write(tested: SelfTest, folder: Path) -> list[Path]:
    """Writes recall.csv, channels.csv, merged.csv and channels.png."""
    written = [
        _csv(folder / "recall.csv", _RECALL, recall_rows(tested)),
        _csv(folder / "channels.csv", _CHANNEL, channel_rows(tested.points)),
        _csv(folder / "merged.csv", _MERGED, merged_rows(tested)),
    ]
    return [*written, png(figure(tested.points), folder / "channels.png")]


def figure(points: Sequence[Point]) -> "Figure":
    """Recall (left) and precision (right) over the threshold, a line a channel."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(8.0, 3.2), layout="constrained")
    left, right = drawn.subplots(1, 2, sharex=True, sharey=True)
    for channel in CHANNELS:
        own = [p for p in points if p.channel == channel]
        thresholds = [p.threshold for p in own]
        left.plot(thresholds, [p.recall for p in own], color=_COLOURS[channel], marker=".", label=channel)
        right.plot(thresholds, [p.precision for p in own], color=_COLOURS[channel], marker=".")
    for axes, title in ((left, "Recall"), (right, "Precision")):
        axes.set(title=title, xlabel="threshold", ylim=(0, 1.03))
    left.legend(frameon=False, fontsize=8)
    return drawn


def _table(title: str, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in names:
        made.add_column(name, overflow="fold")
    for row in rows:
        made.add_row(*("" if value is None else str(value) for value in row))
    return made


def _csv(path: Path, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Path:
    with store.whole_file(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])
    return path
