"""Learning curves as CSV and as a plot, a line a seed."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ops6k.store import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ops6k.train.ppo import CurvePoint

CSV, PNG = "curve.csv", "curve.png"
Curves = Mapping[int, "Sequence[CurvePoint]"]
"""By seed."""


def write(folder: Path, curves: Curves) -> None:
    """seed, step, mean_episode_reward; empty before the first episode has ended."""
    from ops6k.assemble import figures

    with whole_file(folder / CSV) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("seed", "step", "mean_episode_reward"))
        for seed, points in curves.items():
            rewards = ("" if point.mean_reward is None else round(point.mean_reward, 4) for point in points)
            writer.writerows((seed, point.step, reward) for point, reward in zip(points, rewards, strict=True))
    figures.png(draw({seed: [(p.step, p.mean_reward) for p in points] for seed, points in curves.items()}), folder / PNG)


def draw(curves: Mapping[int, Sequence[tuple[int, float | None]]]) -> "Figure":
    """Mean episode reward over environment steps."""
    from ops6k.assemble.figures import BLUE, INK, new_figure

    figure, axes = new_figure()
    for seed, points in curves.items():
        known = [(step, reward) for step, reward in points if reward is not None]
        if known:
            axes.plot(
                *zip(*known, strict=True), color=BLUE, alpha=0.75, marker="o", markersize=2, linewidth=1, label=f"seed {seed}"
            )
    axes.set_xlabel("environment steps")
    axes.set_ylabel("mean episode reward")
    axes.tick_params(colors=INK)
    return figure
