"""Assemble: join every table once, select by quota, split, and write the data set with its card.

Writes data/dataset/: README.md, data/{train,validation,test}.parquet (Task), funnel/funnel.parquet (FunnelRow),
operators/operators.parquet (Operator), figures/*.png. The folder appears whole or not at all.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ops6k.assemble.card import FUNNEL_FILE, OPERATORS_FILE, Origin, write_card
from ops6k.assemble.funnel import FunnelRow, funnel_rows, read_operators, read_reports, stage_counts
from ops6k.assemble.join import Story, load
from ops6k.assemble.select import Selection, require_full, select
from ops6k.assemble.split import require_shares, split
from ops6k.assemble.tasks import guard, write_splits
from ops6k.errors import Ops6kError
from ops6k.params import Params
from ops6k.records import Funnel, Operator, Report
from ops6k.store import whole_folder, write_rows


def run(params: Params, data: Path) -> Report:
    """Writes data/dataset/ and returns what was taken, kept and left.

    Raises Ops6kError where no task is accepted, or where a quota is short and assemble.short is stop; MissingInput where
    an earlier stage's folder is absent or stale.
    """
    require_shares(params.assemble.splits)
    stories = load(data)
    selection = _selection(stories, params)
    parts = split(selection.stories, params.assemble.splits, params.seed)
    report = _report(sum(story.is_eligible for story in stories), selection, parts)
    operators = read_operators(params.path("seed_ops"))
    reports = read_reports(data / "candidates", data / "resized", data / "matches") | {"assemble": report}
    counts = stage_counts(stories, operators, reports)
    compared = reports["dedup"].notes if "dedup" in reports else ()
    _write(data / "dataset", parts, Origin(params, selection, stories, counts, tuple(operators), compared))
    return report


def _selection(stories: tuple[Story, ...], params: Params) -> Selection:
    selection = select([s for s in stories if s.is_eligible], params.mix, params.assemble.rows, params.seed)
    if params.assemble.short == "stop":
        require_full(selection)
    if not selection.stories:
        raise Ops6kError(
            "assemble: no accepted task fits the mix: nothing to write; see data/verdicts and data/matches for the reasons"
        )
    return selection


def _report(taken: int, selection: Selection, parts: Mapping[str, Sequence[Story]]) -> Report:
    kept = len(selection.stories)
    left = {"outside the mix": selection.outside_mix, "over quota": taken - kept - selection.outside_mix}
    reasons = tuple(Funnel(name, count) for name, count in left.items() if count)
    sizes = ", ".join(f"{name} {len(part)}" for name, part in parts.items())
    short = [f"{q.name}: wanted {q.wanted}, got {q.got}, {q.available} available" for q in selection.quotas if q.short]
    return Report("assemble", taken, kept, reasons, (sizes, *short))


def _write(dataset: Path, parts: Mapping[str, Sequence[Story]], origin: Origin) -> None:
    splits = {story.candidate.candidate_id: name for name, part in parts.items() for story in part}
    with whole_folder(dataset) as folder:
        tasks = write_splits(folder, parts)
        write_rows(folder / FUNNEL_FILE, funnel_rows(origin.stories, splits), FunnelRow, row_group_rows=4096)
        write_rows(folder / OPERATORS_FILE, origin.operators, Operator)
        guard(folder, origin.stories)
        write_card(folder, tasks, origin)
