"""Tasks and times made by hand for the tests of train: a rule that a policy can learn, and no single plan can follow."""

import random
from collections.abc import Sequence

from ops6k import records
from ops6k.records import Checks, Environment, Task, Timing, Work
from ops6k.train.plans import Plan, plans_for
from ops6k.train.sketch import Node, Sketch
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

GPU = Environment("synthetic", "made-up GPU", "1.0", "2.13.0", "3.6.0", "3.11.9", "highest", False)
CPU = Environment("cpu", "cpu", None, "2.13.0", None, "3.11.9", "highest", False)

FAMILIES = {
    "nn.Conv2d": (("convolution", "relu"), "no_layout_optimization"),
    "torch.matmul": (("mm", "relu"), "autotune_gemm"),
    "F.layer_norm": (("native_layer_norm", "relu"), "descent_pointwise"),
    "F.softmax": (("_softmax", "relu"), "shift_invariance,cancel_moves/default"),
    "torch.exp": (("exp", "relu"), "cudagraphs"),
}
"""Label: its ATen operators, and the one plan that reaches 3 for it."""


def task(number: int, label: str = "torch.exp", *, environment: Environment = GPU, code: str | None = None) -> Task:
    """A task of one family, of a size drawn by its number."""
    rng = random.Random(number)
    operators = FAMILIES.get(label, (("relu",), ""))[0]
    size = rng.randint(10**6, 10**8)
    eager_ms = 1 + 20 * rng.random()
    timing = Timing(eager_ms, 0.98 * eager_ms, 1.02 * eager_ms, eager_ms + 0.01, eager_ms / 1.2, eager_ms / 1.2, 15, False)
    work = Work(3 * size, size, 2 * size, 2 * size, eager_ms, eager_ms / 4, 4.0, 8, operators)
    checks = Checks(True, False, 0.9, (0.95,), 0.4, 0.02, "zeros", 1e-2, 1e-2, "0" * 8)
    code = code or f"# {label} {number}"
    return Task(
        records.task_id(code), (label, "F.relu"), "torch#2", code, 2, ("made", "up"), "float32", "by hand", None, None, 0, number,
        f"c{number}", timing, work, checks, None, environment, (), "CC-BY-4.0", "nobody",
    )  # fmt: skip


def plan_time(of: Task, plan: str, ratio_eager: float = 1.0, ratio_compiled: float = 1.0, **other: object) -> PlanTime:
    """A correct measurement with a narrow interval, unless `other` says otherwise."""
    numbers: dict[str, object] = {"ms": of.timing.eager_ms / ratio_eager}
    for against, ratio in (("eager", ratio_eager), ("compiled", ratio_compiled)):
        numbers |= {f"ratio_{against}": ratio, f"ratio_{against}_low": 0.99 * ratio, f"ratio_{against}_high": 1.01 * ratio}
    known = {"repeats": 15, "status": PlanStatus.CORRECT, "message": ""}
    return PlanTime(
        of.task_id,
        plan,
        Plan.named(plan).definition,
        "synthetic",
        "made-up GPU",
        "1.0",
        "2.13",
        "3.6",
        **(known | numbers | other),
    )


def failed(of: Task, plan: str, status: PlanStatus = PlanStatus.FAILED) -> PlanTime:
    return PlanTime(of.task_id, plan, Plan.named(plan).definition, "synthetic", "", None, "", None, 15, status, "made to fail")


def family_tasks(count: int, first: int = 0) -> list[Task]:
    """Tasks of the families in turn."""
    labels = list(FAMILIES)
    return [task(number, labels[number % len(labels)]) for number in range(first, first + count)]


def sketch(of: Task, *rewrites: str, images: bool = False) -> Sketch:
    """A chain: an input, then the task's operators, each on what the one before gave."""
    shape = (of.work.io_bytes // 4096, 1024)
    nodes = [Node("input", "float32", shape, 0, 0, ())]
    nodes += [Node(name, "float32", shape, 2 * of.work.io_bytes, 0, (index,)) for index, name in enumerate(of.work.operators)]
    return Sketch(of.task_id, tuple(nodes), rewrites, images)


def family_sketches(tasks: Sequence[Task]) -> dict[str, Sketch]:
    """By task_id; two rewrites change something in softmax tasks, so that some plans are of several decisions."""
    found = {of.task_id: ("shift_invariance", "cancel_moves") if of.ops[0] == "F.softmax" else () for of in tasks}
    return {of.task_id: sketch(of, *found[of.task_id]) for of in tasks}


def family_table(tasks: Sequence[Task], count: int = 30) -> TimeTable:
    """Each family's own plan reaches 3, channels last is wrong, max_autotune fails; the rest is as default compile, which reaches 2."""
    rows = []
    for of in tasks:
        for plan in plans_for(of, family_sketches([of])[of.task_id].rewrites, count):
            if plan.channels_last or plan.backend == "max_autotune":
                rows.append(failed(of, plan.name, PlanStatus.WRONG if plan.channels_last else PlanStatus.FAILED))
            elif plan.backend == "eager":
                rows.append(plan_time(of, plan.name, 1.0, 1 / 1.2))
            else:
                gain = 1.3 if plan.name == FAMILIES[of.ops[0]][1] else 1.0
                rows.append(plan_time(of, plan.name, 1.2 * gain, gain))
    return TimeTable(rows)
