"""The screen once more for a set that is there: on this machine, with this torch. A new version says which row passed where.

A row that passes carries the evidence of this machine, one that does not keeps what it had; `validations` has both. On request sizes
are fitted to this machine's window: the fitted task takes the row's place, with the row as its parent.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from ops6k.assemble import schema
from ops6k.assemble.card import measured_anew, require_marks
from ops6k.assemble.tasks import ROW_GROUP_ROWS, validation_of
from ops6k.errors import MissingInput
from ops6k.judge import rules_on
from ops6k.params import Params
from ops6k.records import Candidate, Environment, Outcome, Task, Validation, Verdict, candidate_id, task_id
from ops6k.screen.judge import environment
from ops6k.screen.shards import Shard, fill, shards_of
from ops6k.store import read_rows, whole_folder, write_rows
from ops6k.tables import source_text
from ops6k.task_rows import splits_of
from ops6k.yaml_text import yaml_tree

HEADING = "## Revalidated"
SHARD_ROWS = 2
"""Rows of which what is finished is kept, at most: what is interrupted loses a shard, and a person waits for this one."""


@dataclass(frozen=True, slots=True)
class Revalidated:
    """What became of a set on this machine."""

    device: str
    torch: str
    rows: int
    passed: int
    """Fitted ones with them."""
    fitted: int
    reasons: Mapping[str, int]
    """Of those that did not pass."""


def revalidate(
    source: Path,
    out: Path,
    params: Params,
    work: Path,
    *,
    device: str,
    fit: bool = False,
    workers: int = 2,
    deadline_s: float | None = None,
) -> Revalidated:
    """Writes the new version to `out`, whole or not at all; work: folder of shards that a second run takes over.

    fit: resize what lies outside the window. Raises MissingInput for what is no data set and where the deadline passed before all
    rows were screened, Ops6kError for a device that is not there.
    """
    if not source.is_dir():
        raise MissingInput(f"{source}: no folder of a data set; `hf download --repo-type dataset` fetches one of the Hub's")
    splits = splits_of(str(source))
    card = source / "README.md"
    if card.exists():  # before hours of screening
        require_marks(source_text(card), card)
    rules = replace(rules_on(params, device, keep=work), resize_rounds=params.screen.resize_rounds if fit else 0)
    params = replace(params, screen=replace(params.screen, shard_rows=min(params.screen.shard_rows, SHARD_ROWS)))
    shards = shards_of([_candidate(task) for tasks in splits.values() for task in tasks], rules, params, work)
    fill(shards, rules, workers, deadline_s, stage="revalidate")
    missing = sum(len(shard.candidates) for shard in shards if not shard.done)
    if missing:
        raise MissingInput(f"{missing} rows were not screened before the deadline; run it again to go on, nothing is written yet")
    found = _Found(shards, environment(rules.target))
    new = {name: [found.row(task) for task in tasks] for name, tasks in splits.items()}
    _write(source, out, new, params)
    return _counted([task for tasks in new.values() for task in tasks], {t.task_id for ts in splits.values() for t in ts})


class _Found:
    """The verdicts of all shards, and what the screen derived."""

    def __init__(self, shards: Sequence[Shard], here: Environment) -> None:
        self.here = here
        self.verdicts = {v.candidate_id: v for shard in shards for v in read_rows(shard.path, Verdict)}
        self.fitted = {c.parent: c for shard in shards for c in read_rows(shard.derived, Candidate)}

    def row(self, task: Task) -> Task:
        candidate = _candidate(task)
        verdict = self.verdicts[candidate.candidate_id]
        child = candidate
        while verdict.outcome is not Outcome.ACCEPTED and child.candidate_id in self.fitted:
            child = self.fitted[child.candidate_id]
            verdict = self.verdicts[child.candidate_id]
        if child is not candidate and verdict.outcome is Outcome.ACCEPTED:
            fitted = replace(task, task_id=task_id(child.code), code=child.code, parent=child.parent, round=child.round)
            return _with(fitted, verdict, (), self.here)
        return _with(task, self.verdicts[candidate.candidate_id], task.validations, self.here)


def _with(task: Task, verdict: Verdict, earlier: tuple[Validation, ...], here: Environment) -> Task:
    """The row with one more validation; one of the same machine and torch is replaced."""
    now = validation_of(verdict, here)
    kept = tuple(one for one in earlier if (one.device, one.driver, one.torch) != (now.device, now.driver, now.torch))
    task = replace(task, validations=(*kept, now))
    if verdict.outcome is not Outcome.ACCEPTED:
        return task
    return replace(task, timing=verdict.timing, work=verdict.work, checks=verdict.checks, environment=verdict.environment)


def _candidate(task: Task) -> Candidate:
    return Candidate(
        candidate_id(task.ops, task.code),
        task.ops,
        task.code,
        task.source,
        task.seed,
        task.dtype,
        task.categories,
        task.prompt_hash,
        task.parent,
        task.round,
    )


def _counted(tasks: Sequence[Task], before: set[str]) -> Revalidated:
    last = [task.validations[-1] for task in tasks]
    reasons = Counter(str(one.reason) for one in last if one.reason is not None)
    fitted = sum(task.task_id not in before for task in tasks)
    passed = sum(one.outcome is Outcome.ACCEPTED for one in last)
    return Revalidated(last[0].device, last[0].torch, len(tasks), passed, fitted, dict(reasons.most_common()))


def _write(source: Path, out: Path, splits: Mapping[str, Sequence[Task]], params: Params) -> None:
    with whole_folder(out) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        for file in (folder / "data").glob("*.parquet"):
            file.unlink()
        for name, tasks in splits.items():
            write_rows(folder / "data" / f"{name}.parquet", tasks, Task, row_group_rows=ROW_GROUP_ROWS)
        card = folder / "README.md"
        if card.exists():
            text = measured_anew(source_text(card), folder, splits, params)
            card.write_text(_card(text, folder, splits), encoding="utf-8")


def _card(text: str, folder: Path, splits: Mapping[str, Sequence[Task]]) -> str:
    """The card with its metadata as the files are now, and a table of where the rows passed."""
    parts = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    tree = yaml_tree(parts[1], folder / "README.md") if parts else None
    if not isinstance(tree, dict):
        raise MissingInput(f"{folder.name}/README.md: no card with a YAML head")
    sizes = {name: (folder / "data" / f"{name}.parquet").stat().st_size for name in splits}
    for info in tree.get("dataset_info", []):
        if info.get("config_name") == "default":
            info["features"] = schema.features(Task)
            info["splits"] = [
                {"name": name, "num_bytes": sizes[name], "num_examples": len(tasks)} for name, tasks in splits.items() if tasks
            ]
            info["download_size"] = info["dataset_size"] = sum(part["num_bytes"] for part in info["splits"])
    for config in tree.get("configs", []):
        if config.get("config_name") == "default":
            config["data_files"] = [{"split": name, "path": f"data/{name}.parquet"} for name, tasks in splits.items() if tasks]
    body = parts[2].partition(f"\n{HEADING}\n")[0].rstrip()
    head = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{head}---\n{body}\n\n" + "\n".join(_section([task for tasks in splits.values() for task in tasks])) + "\n"


def _section(tasks: Sequence[Task]) -> Iterator[str]:
    """Where the rows passed, as Markdown."""
    seen = Counter((one.device, one.torch, str(one.outcome)) for task in tasks for one in task.validations)
    yield HEADING
    yield ""
    yield (
        "Evidence columns, times and figures are of the last machine on which a row passed; `validations` has all. How the set was made, "
        "its composition and its neighbours in the benchmarks are told above as at its first screening."
    )
    yield ""
    yield "| device | torch | outcome | rows |"
    yield "|---|---|---|---|"
    for (device, torch, outcome), count in sorted(seen.items()):
        yield f"| {device} | {torch} | {outcome} | {count} |"
