"""Figures that only the report shows: ends by depth, prediction against measurement, the agent."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ops6k.assemble.figures import BLUE, GREY, RED, new_figure, plain_log_axis
from ops6k.assemble.join import Story
from ops6k.records import Outcome
from ops6k.report.gather import AgentResults, CurvePoint
from ops6k.train.curves import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = dict(
    zip(Outcome, (BLUE, "#b4432f", "#d98c3f", "#e3c65b", "#7a9a5b", "#8d7fb5", "#5d4a86", "#222222", "#c3cad3"), strict=True)
)


def ends_by_depth(stories: Sequence[Story]) -> "Figure":
    """For each depth, the share of its screened candidates that ended in each class."""
    counts = Counter((s.candidate.depth, s.outcome) for s in stories if s.outcome)
    depths = sorted({depth for depth, _ in counts})
    figure, axes = new_figure(height=0.9 + 0.42 * len(depths))
    names = [f"{depth} op{'s' if depth > 1 else ''} (n={sum(counts[depth, o] for o in Outcome)})" for depth in depths]
    left = [0.0] * len(depths)
    for outcome in [o for o in Outcome if any(counts[depth, o] for depth in depths)]:
        shares = [100 * counts[depth, outcome] / sum(counts[depth, o] for o in Outcome) for depth in depths]
        axes.barh(names, shares, left=left, color=_COLOURS[outcome], label=outcome.value.replace("_", " "))
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the candidates of a depth")
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
    return figure


def predicted_against_measured(stories: Sequence[Story]) -> "Figure":
    """Roofline estimate against measured eager device time, with the lines of agreement and of a factor of two."""
    pairs = [
        (s.verdict.work.predicted_ms, s.verdict.timing.eager_ms)
        for s in stories
        if s.verdict and s.verdict.work and s.verdict.timing
    ]
    figure, axes = new_figure(width=4.2, height=3.6)
    pairs = [(x, y) for x, y in pairs if x > 0 and y > 0]
    if pairs:
        predicted, measured = zip(*pairs, strict=True)
        span = [0.8 * min(*predicted, *measured), 1.25 * max(*predicted, *measured)]
        for factor, style in ((1, "-"), (2, ":"), (0.5, ":")):
            axes.plot(span, [factor * end for end in span], color=GREY, linewidth=1, linestyle=style, zorder=0)
        axes.scatter(predicted, measured, s=9, color=BLUE, alpha=0.55, linewidths=0, rasterized=True)
        axes.set_xlim(span)
        axes.set_ylim(span)
    plain_log_axis(axes, "x")
    plain_log_axis(axes, "y")
    axes.set_xlabel("predicted eager time, ms")
    axes.set_ylabel("measured eager device time, ms")
    return figure


def strategies(agent: AgentResults) -> "Figure":
    """Mean reward of the agent and of what needs no agent, with one attempt and with four."""
    figure, axes = new_figure(height=0.8 + 0.4 * len(agent.one_attempt))
    best_of_four = {s.name: s.mean_reward for s in agent.four_attempts}
    order = sorted(agent.one_attempt, key=lambda s: s.mean_reward)
    for place, one in enumerate(order):
        colour = RED if one.name == "agent" else BLUE
        four = best_of_four.get(one.name)
        if four is not None:
            axes.plot([one.mean_reward, four], [place, place], color=GREY, linewidth=2, zorder=0)
            axes.scatter(
                [four], [place], s=36, facecolors="white", edgecolors=colour, label="best of four" if place == 0 else None
            )
        axes.scatter([one.mean_reward], [place], s=36, color=colour, label="one attempt" if place == 0 else None)
    axes.set_yticks(range(len(order)), [one.name.replace("_", " ") for one in order])
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.set_xlabel("mean reward (-1 wrong, 1 correct, 2 faster than eager, 3 faster than compiled too)")
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
    return figure


def learning_curve(curve: Sequence[CurvePoint]) -> "Figure":
    """Mean episode reward over training steps, a line a seed."""
    seeds = dict.fromkeys(point.seed for point in curve)
    return draw({seed: [(point.step, point.mean_reward) for point in curve if point.seed == seed] for seed in seeds})
