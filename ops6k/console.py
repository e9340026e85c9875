"""What the command line shows while stages run: bars with rate and ETA on a terminal, plain lines in a log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from ops6k import progress
from ops6k.progress import Tracker
from ops6k.records import Report
from ops6k.stages import Stage

_MOST = 3


class Bars:
    """A bar for each tracker, shown live."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.ids: dict[str, TaskID] = {}

    def show(self, tracker: Tracker) -> None:
        if tracker.stage not in self.ids:
            self.ids[tracker.stage] = self.bars.add_task(tracker.stage, total=tracker.total, rate="", eta="", note="")
        self.bars.update(
            self.ids[tracker.stage],
            total=tracker.total,
            completed=tracker.done,
            rate=f"{tracker.per_second:.1f}/s" if tracker.done else "",
            eta=_eta(tracker),
            note=tracker.note,
        )

    def end(self, tracker: Tracker) -> None:
        self.show(tracker)
        self.bars.stop_task(self.ids.pop(tracker.stage))


def _eta(tracker: Tracker) -> str:
    if tracker.eta_s is None or tracker.done >= tracker.total:
        return ""
    minutes, seconds = divmod(round(tracker.eta_s), 60)
    return f"{minutes}:{seconds:02d} left"


@contextmanager
def shown(console: Console) -> Iterator[None]:
    """Progress goes to bars on a terminal, else to plain lines on stderr, while the block runs."""
    if not console.is_terminal:
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} {task.fields[eta]}"),
        TextColumn("{task.fields[note]}", style="dim"),
    )
    # On a terminal what is printed meanwhile goes above the bars; piped it stays where it belongs.
    with Progress(*columns, console=console, redirect_stdout=sys.stdout.isatty()) as bars:
        token = progress.display.set(Bars(bars))
        try:
            yield
        finally:
            progress.display.reset(token)


class StageLines:
    """One line as a stage begins and one as it ends."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def begins(self, stage: Stage) -> None:
        self.console.print(f"[bold]{stage.name}[/bold]: {stage.does}", highlight=False)

    def ended(self, stage: Stage, report: Report, *, ran: bool) -> None:
        self.console.print(
            ending(report) if ran else f"{stage.name}: up to date ({report.taken} taken, {report.kept} kept)", highlight=False
        )


def ending(report: Report) -> str:
    """`screen: 72 taken, 45 kept in 130.2 s (12 out_of_range/too_fast, 5 invalid/runtime, 4 constant/output, 6 for other reasons)`."""
    reasons = sorted(report.reasons, key=lambda funnel: -funnel.count)
    parts = [f"{funnel.count} {funnel.reason}" for funnel in reasons[:_MOST]]
    more = sum(funnel.count for funnel in reasons[_MOST:])
    most = ", ".join(parts + [f"{more} for other reasons"] * bool(more))
    return f"{report.stage}: {report.taken} taken, {report.kept} kept in {report.seconds:.1f} s{most and f' ({most})'}"
