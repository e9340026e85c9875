"""How long training takes, how much memory, and how much it learns, on a made-up table: no device.

    python benchmarks/agent_training.py --tasks 400 --plans 20 --steps 60000

A plan's gain is a fixed random function of the task's operators, its size and type, with noise: what a policy can learn is known
to be there, and the oracle says how much. Nothing here says anything about a device.
"""

import argparse
import random
import resource
import time

import numpy as np

from ops6k import records
from ops6k.records import Checks, Environment, Task, Timing, Work
from ops6k.train import compare, ppo
from ops6k.train.agent import Agent
from ops6k.train.known import Known
from ops6k.train.plans import REWRITES, plans_for
from ops6k.train.sketch import Node, Sketch
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

WHERE = Environment("made up", "made-up GPU", "1.0", "2.13.0", "3.6.0", "3.11.9", "highest", False)
OPERATORS = {
    "nn.Conv2d": "convolution", "torch.matmul": "mm", "F.softmax": "_softmax", "F.layer_norm": "native_layer_norm", "F.relu": "relu",
    "torch.exp": "exp", "torch.sum": "sum", "torch.cumsum": "cumsum", "F.max_pool2d": "max_pool2d_with_indices", "torch.gather": "gather",
}  # fmt: skip
HELD_OUT = 0.3


def made_up_task(number: int) -> Task:
    rng = random.Random(number)
    labels = tuple(rng.sample(list(OPERATORS), rng.randint(1, 5)))
    size, eager_ms = int(10 ** rng.uniform(6, 8.5)), rng.uniform(1, 8)
    compiled_ms = eager_ms / rng.uniform(0.9, 2)
    timing = Timing(eager_ms, eager_ms, eager_ms, eager_ms, compiled_ms, compiled_ms, 15, False)
    names = tuple(OPERATORS[label] for label in labels)
    work = Work(3 * size, size, 2 * size, 2 * size, eager_ms, eager_ms / 4, 4.0, 8, names)
    checks = Checks(True, False, 0.9, (0.95,), 0.4, 0.02, "zeros", 1e-2, 1e-2, "0" * 8)
    code, dtype = f"# {number}", rng.choice(["float32", "bfloat16", "float16"])
    return Task(
        records.task_id(code), labels, f"torch#{len(labels)}", code, len(labels), (), dtype, "made up", None, None, 0, number,
        f"c{number}", timing, work, checks, None, WHERE, (), "", "",
    )  # fmt: skip


def made_up_sketch(task: Task) -> Sketch:
    rng = random.Random(task.seed + 1)
    shape = (task.work.io_bytes // 4096, 1024)
    nodes = [Node("input", task.dtype, shape, 0, 0, ())]
    nodes += [Node(name, task.dtype, shape, 2 * task.work.io_bytes, 0, (i,)) for i, name in enumerate(task.work.operators)]
    return Sketch(task.task_id, tuple(nodes), tuple(rng.sample(REWRITES, rng.randint(0, 2))), "nn.Conv2d" in task.ops)


def made_up_times(tasks: list[Task], sketches: dict[str, Sketch], plans: int, noise: float) -> TimeTable:
    """log gain over default compile = W[decisions] . (operators, size, type) + noise, mostly below nought."""
    draw, rows, known = np.random.default_rng(0), [], {}
    for task in tasks:
        seen = np.array([*(label in task.ops for label in OPERATORS), np.log10(task.work.io_bytes) - 7, task.dtype == "float32"])
        for plan in plans_for(task, sketches[task.task_id].rewrites, plans):
            for decision in plan.decisions:
                known.setdefault(decision, draw.normal(0, 0.07, len(seen)))
            gain = sum(known[decision] @ seen for decision in plan.decisions) - 0.02 + draw.normal(0, noise)
            gain = 0.0 if plan.name == "default" else float(np.clip(gain, -0.5, 0.4))
            rows.append(_row(task, plan, 1.0 if plan.name == "eager" else float(np.exp(gain))))
    return TimeTable(rows)


def _row(task: Task, plan: object, over_compiled: float) -> PlanTime:
    base = task.timing.eager_ms / task.timing.compiled_ms
    over_eager = 1.0 if plan.name == "eager" else base * over_compiled
    over_compiled = 1 / base if plan.name == "eager" else over_compiled
    ratios = [value * share for value in (over_eager, over_compiled) for share in (1.0, 0.98, 1.02)]
    return PlanTime(
        task.task_id, plan.name, plan.definition, "made up", "made-up GPU", None, "2.13", None, 15, PlanStatus.CORRECT, "",
        task.timing.eager_ms / over_eager, *ratios,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--steps", type=int, default=60000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.03)
    given = parser.parse_args()
    tasks = [made_up_task(number) for number in range(given.tasks)]
    sketches = {task.task_id: made_up_sketch(task) for task in tasks}
    known = Known(made_up_times(tasks, sketches, given.plans, given.noise), sketches)
    cut = round(HELD_OUT * len(tasks))
    began = time.monotonic()
    agents = [
        Agent(ppo.train(tasks[cut:], known.table, sketches, given.steps, seed).policy, ppo.SIZES) for seed in range(given.seeds)
    ]
    seconds = time.monotonic() - began
    found = compare.compare([compare.tried(agents, tasks[cut:], tasks[:cut], known, 0)], known, 0)
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(known.table.rows())} times of {len(tasks)} tasks; {given.seeds} seeds in {seconds:.0f} s, {gib:.2f} GiB at most")
    for name, one in found.one_attempt.items():
        shares = found.gap_closed.get(name)
        closed = f", gap closed {shares.milestone.share}" if shares else ""
        print(f"{name:20} mean milestone {one.mean_reward:.3f}{closed} {shares.milestone if shares else ''}")


if __name__ == "__main__":
    main()
