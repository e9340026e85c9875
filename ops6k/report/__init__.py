"""Report: one self-contained page, numbers for `dvc metrics show` and curves for `dvc plots`, of whatever exists so far.

Writes data/report/: index.html, metrics.json, plots/funnel.csv, plots/learning.csv. The folder appears whole or not at all.
"""

from pathlib import Path

from ops6k.params import Params
from ops6k.records import Report
from ops6k.report.gather import Gathered, gather
from ops6k.report.metrics import metrics, write_funnel, write_learning
from ops6k.report.page import page
from ops6k.store import whole_folder, write_json

NOTHING = "Nothing was built yet: `ops6k build` runs all stages."


def run(params: Params, data: Path) -> Report:
    """Writes data/report/; what is not there yet is left out and said so. Raises MissingInput where a file cannot be read."""
    found = gather(params, data)
    with whole_folder(data / "report") as folder:
        write_json(folder / "metrics.json", metrics(found))
        write_funnel(folder / "plots" / "funnel.csv", found)
        write_learning(folder / "plots" / "learning.csv", found)
        (folder / "index.html").write_text(page(params, found), encoding="utf-8")
    return Report("report", len(found.stories), len(found.tasks), notes=tuple(_notes(found)))


def _notes(found: Gathered) -> list[str]:
    if not found.stories:
        return [NOTHING]
    return [
        f"{name} is not there yet"
        for name, is_there in (("data/dataset", found.tasks), ("data/agent", found.agent))
        if not is_there
    ]
