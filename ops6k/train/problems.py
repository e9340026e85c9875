"""A folder of problems in KernelBench form as tasks to judge an agent by; none is ever trained on.

They pass the screen like others (but for the window), which is where their work and times come from: what it rejects is left
out and counted. What the screen said is kept in the work folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ops6k import store
from ops6k.params import Params
from ops6k.records import Checks, Environment, Outcome, Task, Timing, Work, task_id
from ops6k.target import Target

if TYPE_CHECKING:
    from ops6k.judge import Judged

_NEEDED = {"timing": Timing, "work": Work, "checks": Checks, "environment": Environment}


@dataclass(frozen=True, slots=True)
class Problems:
    tasks: tuple[Task, ...]
    files: int
    """How many there were, with those that the screen rejects."""


def problems(params: Params, machine: Target, work: Path) -> Problems | None:
    """The tasks of train.problems, screened here where the work folder lacks them; None where no folder is given."""
    from ops6k import judge

    if params.train.problems is None:
        return None
    folder = params.path(params.train.problems)
    codes = {given.task_id: given.code for given in judge.read_tasks(folder)}
    kept = work / "problems" / f"{store.fingerprint(machine, params.screen, codes)}.parquet"
    if not kept.exists():
        found = judge.judge_path(folder, params=params, device=machine.device, window=False)
        tasks = [_task(one.id, codes[one.id], one.evidence) for one in found if _is_usable(one)]
        store.write_rows(kept, {task.task_id: task for task in tasks}.values(), Task)
    return Problems(tuple(store.read_rows(kept, Task)), len(codes))


def _is_usable(one: "Judged") -> bool:
    """A problem that only dedup rejects, as a copy of itself, has passed all that counts here."""
    passed = one.outcome is Outcome.ACCEPTED or one.evidence.get("phase") == "dedup"
    return passed and all(one.evidence.get(name) for name in _NEEDED)


def _task(name: str, code: str, evidence: dict[str, object]) -> Task:
    known = {key: store.from_plain(record, evidence[key]) for key, record in _NEEDED.items()}
    return Task(
        task_id=task_id(code),
        ops=(),
        data_source=f"problem: {name}",
        code=code,
        depth=min(max(len(known["work"].operators), 1), 5),
        categories=(),
        dtype="float32",
        source="given",
        prompt_hash=None,
        parent=None,
        round=0,
        seed=0,
        cluster=f"problem {name}",
        similarity=None,
        validations=(),
        licence="",
        attribution="",
        **known,
    )
