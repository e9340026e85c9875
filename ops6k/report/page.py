"""The page: text, tables and figures in one HTML file that needs no network and no other file."""

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ops6k
from ops6k.assemble import figures as set_figures
from ops6k.assemble.card import figure as digits
from ops6k.assemble.card import percent
from ops6k.assemble.facts import Facts, device_of, facts
from ops6k.assemble.funnel import reject_counts
from ops6k.assemble.join import Story
from ops6k.params import Params
from ops6k.records import Task
from ops6k.report import figures
from ops6k.report.gather import Gathered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAREST = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure on the page."""

    title: str
    note: str
    source: str
    """data: URI of an SVG."""
    width: int
    """In CSS pixels."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A number at the top of the page."""

    value: str
    label: str


def page(params: Params, found: Gathered) -> str:
    """The report as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    known = facts(found.tasks) if found.tasks else None
    loader = Environment(
        loader=PackageLoader("ops6k", "report"), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    loader.filters |= {"percent": percent, "digits": digits, "device": device_of}
    return loader.get_template("page.html.j2").render(
        params=params,
        found=found,
        facts=known,
        tiles=list(_tiles(found, known)),
        figures=list(_shown(params, found)),
        reasons=reasons_by_depth(found.stories),
        depths=sorted({s.candidate.depth for s in found.stories}),
        sources=reasons_by_source(found.stories),
        nearest=nearest(found.tasks),
        version=ops6k.__version__,
    )


def _tiles(found: Gathered, known: Facts | None) -> Iterator[Tile]:
    eligible = sum(s.is_eligible for s in found.stories)
    yield Tile(f"{len(found.stories):,}", "candidates")
    if found.stories:
        yield Tile(percent(eligible / len(found.stories)), "accepted, after dedup")
    if known:
        yield Tile(f"{known.rows:,}", "rows in the set")
        yield Tile(f"{known.operators}", "distinct operators")
        if known.eager_ms and known.speedup:
            yield Tile(f"{digits(known.eager_ms.median)} ms", "median eager time")
            yield Tile(f"{digits(known.speedup.mean)}×", "torch.compile over eager")
    if found.agent and (reward := found.agent.reward("agent")) is not None:
        yield Tile(digits(reward), "agent's mean reward")


def _shown(params: Params, found: Gathered) -> Iterator[Shown]:
    if found.counts:
        yield _embed(
            "Funnel",
            "What each stage took and kept. harvest counts operators, the others candidates.",
            set_figures.funnel(found.counts),
        )
    if any(s.outcome for s in found.stories):
        yield _embed("Ends by depth", "Class of every screened candidate's end.", figures.ends_by_depth(found.stories))
    if any(s.verdict and s.verdict.timing for s in found.stories):
        note = "Of every candidate that was timed. Dotted: a factor of two."
        yield _embed("Predicted against measured time", note, figures.predicted_against_measured(found.stories))
    if found.tasks:
        yield from _of_rows(params, found.tasks)
    if found.agent:
        note = f"On {found.agent.held_out} held-out tasks; best fixed plan: {found.agent.best_fixed_plan}."
        yield _embed("The agent against what needs no agent", note, figures.strategies(found.agent))
    if found.curve:
        yield _embed("Learning curve", "Mean reward of the last 100 episodes.", figures.learning_curve(found.curve))


def _of_rows(params: Params, tasks: Sequence[Task]) -> Iterator[Shown]:
    window = dict(zip(("window", ""), params.screen.window_ms, strict=False))
    speedup = [t.timing.eager_ms / t.timing.compiled_ms for t in tasks if t.timing.compiled_ms > 0]
    headroom = [t.timing.eager_ms / t.work.sol_ms for t in tasks if t.work.sol_ms > 0]
    scores = [t.similarity.score for t in tasks if t.similarity]
    histogram = set_figures.histogram
    yield _embed(
        "Eager time", "Median device time of one forward.", histogram([t.timing.eager_ms for t in tasks], "ms", marks=window)
    )
    yield _embed("torch.compile over eager", "Right of 1: compiled is faster.", histogram(speedup, "speed-up", marks={"1": 1.0}))
    yield _embed("Headroom", "Eager time over the fused lower bound.", histogram(headroom, "times", marks={"1": 1.0}))
    if scores:
        note = "Score of the nearest benchmark problem."
        yield _embed(
            "Similarity to benchmarks",
            note,
            histogram(scores, "similarity", log=False, marks={"threshold": params.dedup.jaccard}),
        )


def _embed(title: str, note: str, figure: "Figure") -> Shown:
    encoded = base64.b64encode(set_figures.svg(figure).encode()).decode()
    return Shown(title, note, f"data:image/svg+xml;base64,{encoded}", round(96 * figure.get_figwidth()))


def reasons_by_depth(stories: Sequence[Story]) -> list[tuple[str, int, dict[int, int]]]:
    """(outcome or reason, all, by depth), accepted first, then most frequent first."""
    counts = Counter((str(s.reason or s.outcome or "not screened"), s.candidate.depth) for s in stories)
    depths = {depth for _, depth in counts}
    return [(name, total, {depth: counts[name, depth] for depth in depths}) for name, total in reject_counts(stories).items()]


def reasons_by_source(stories: Sequence[Story]) -> list[tuple[str, int, int, str]]:
    """(source, candidates, eligible, most frequent reason)."""
    found = []
    for source in sorted({s.candidate.source for s in stories}):
        of = [s for s in stories if s.candidate.source == source]
        reasons = [name for name in reject_counts(of) if name != "accepted"]
        found.append((source, len(of), sum(s.is_eligible for s in of), reasons[0] if reasons else ""))
    return found


def nearest(tasks: Sequence[Task]) -> list[Task]:
    """The rows nearest to a benchmark problem."""
    return sorted((t for t in tasks if t.similarity), key=lambda t: (-t.similarity.score, t.task_id))[:NEAREST]
