"""How many times of plans a device takes in an hour: screens candidates, then measures what it accepts, resumable.

    ops6k fuse --preset full --data WORK/data
    python benchmarks/agent_measuring.py WORK --screen-s 230 --measure-s 230 --plans 12

Runs on a bare GPU machine. What it leaves in WORK/data/.work is what the next build finds done, under the same parameters.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ops6k import params, store, target
from ops6k.assemble.join import Story
from ops6k.assemble.tasks import task_of
from ops6k.params import Params
from ops6k.records import Candidate, Outcome, Task, Verdict
from ops6k.rounds import CANDIDATES, FIRST
from ops6k.screen import WORK, fill_shards
from ops6k.train.collect import Measuring, measure_tasks
from ops6k.train.plans import plans_for
from ops6k.train.sketches import sketches_of
from ops6k.train.times import PlanTime


def accepted(build: Params, data: Path, deadline_s: float) -> list[Task]:
    """What the screen takes of data/candidates, as rows without similarity or cluster; shards that are not whole are left out."""
    done = [shard for shard in fill_shards(build, data, FIRST, deadline_s) if shard.done]
    candidates = {one.candidate_id: one for one in store.read_rows(data / FIRST.proposed / CANDIDATES, Candidate)}
    candidates |= {one.candidate_id: one for shard in done for one in store.read_rows(shard.derived, Candidate)}
    verdicts = [verdict for shard in done for verdict in store.read_rows(shard.path, Verdict)]
    print(Counter(str(verdict.reason or verdict.outcome) for verdict in verdicts), flush=True)
    taken = [verdict for verdict in verdicts if verdict.outcome is Outcome.ACCEPTED]
    tasks = {task.task_id: task for one in taken for task in [task_of(Story(candidates[one.candidate_id], one, (), "0"))]}
    return [tasks[task_id] for task_id in sorted(tasks)]


def show(rows: Sequence[PlanTime], seconds: float) -> None:
    print(f"{len(rows)} times, {3600 * len(rows) / max(seconds, 1e-9):.0f} an hour, {Counter(row.status.value for row in rows)}")
    for backend in dict.fromkeys(row.plan for row in rows):
        milestones = Counter(row.milestone for row in rows if row.plan == backend)
        print(f"{backend:40} {dict(sorted(milestones.items()))}")
    best = Counter(max(row.milestone for row in rows if row.task_id == task_id) for task_id in {row.task_id for row in rows})
    print(f"best of a task: {dict(sorted(best.items()))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--preset", default="full")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--screen-s", type=float, default=230)
    parser.add_argument("--measure-s", type=float, default=230)
    parser.add_argument("--plans", type=int, default=12)
    given = parser.parse_args()
    build = params.load(Path("params.yaml"), preset=given.preset, settings=given.settings)
    machine, data = target.load(build.path(build.target)), given.work / "data"
    tasks = accepted(build, data, given.screen_s)
    sketches = sketches_of(tasks, machine, os.cpu_count() or 1, data / WORK.parent)
    asked = [(task, plans_for(task, sketches[task.task_id].rewrites, given.plans)) for task in tasks]
    began = time.monotonic()
    how = Measuring(build.train.repeats, build.screen.workers, given.measure_s)
    show(measure_tasks(asked, machine, how, data / WORK.parent).rows(), time.monotonic() - began)


if __name__ == "__main__":
    main()
