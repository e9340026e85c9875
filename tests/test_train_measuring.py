"""Real measurements of tiny tasks in the sandbox, and what becomes of children that die."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from train_tasks import CPU, plan_time, task

from ops6k import store
from ops6k.errors import TargetMismatch
from ops6k.sandbox import Ended
from ops6k.target import Target
from ops6k.train.collect import Measuring, measure_tasks, outcome, unmeasured
from ops6k.train.measure import paired_ms, ratio_interval
from ops6k.train.plans import EAGER, Plan, plans_for
from ops6k.train.times import PlanStatus, PlanTime

TARGET = Target(
    "here",
    "cpu",
    None,
    ".".join(torch.__version__.split(".")[:2]),
    1,
    4.0,
    "highest",
    False,
    8.0,
    {"float32": 50.0},
    4.0,
    "by hand",
)
HOW = Measuring(repeats=5, workers=2)

POINTWISE = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(torch.exp(x) * 0.5 + x)
def get_inputs():
    return [torch.rand(256, 1024)]
def get_init_inputs():
    return []
"""

CONVOLUTION = """import torch
class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, 32, 3)
    def forward(self, x):
        return torch.relu(self.conv(x))
def get_inputs():
    return [torch.rand(4, 16, 32, 32)]
def get_init_inputs():
    return [16]
"""

# Its forward cannot become one graph: default compile fails, eager does not.
UNCOMPILABLE = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return torch.exp(x)
def get_inputs():
    return [torch.rand(64, 64)]
def get_init_inputs():
    return []
"""

# The sum over a wide layer's outputs.
REWRITABLE = """import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(512, 2048)
    def forward(self, x):
        return self.linear(x.transpose(0, 1).transpose(0, 1)).sum(1, keepdim=True)
def get_inputs():
    return [torch.randn(512, 512)]
def get_init_inputs():
    return []
"""

# Another answer where it is compiled.
WRONG_COMPILED = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x) + (1.0 if torch.compiler.is_compiling() else 0.0)
def get_inputs():
    return [torch.rand(64, 64)]
def get_init_inputs():
    return []
"""


def on_cpu(number: int, code: str):
    return task(number, environment=CPU, code=code)


def plans_of(of, *rewrites: str) -> tuple[Plan, ...]:
    return plans_for(of, rewrites, 40)


@pytest.mark.slow
def test_tasks_are_measured_for_real_once_and_what_a_plan_does_wrong_is_a_status(tmp_path: Path):
    tasks = [on_cpu(1, POINTWISE), on_cpu(2, UNCOMPILABLE), on_cpu(3, WRONG_COMPILED), on_cpu(4, REWRITABLE)]
    plans = [(), (), (), ("reduce_linear", "cancel_moves")]
    asked = [(of, plans_for(of, rewrites, 4)) for of, rewrites in zip(tasks, plans, strict=True)]
    table = measure_tasks(asked, TARGET, HOW, tmp_path)
    good, broken, wrong, rewritable = (table.of(of.task_id) for of in tasks)
    assert good["eager"].ratio_eager == 1.0
    # Default compile is compared with another compilation of its own: what is not 1 is noise.
    assert good["default"].ratio_compiled != 1.0 and 0.2 < good["default"].ratio_compiled < 5
    assert good["default"].status is PlanStatus.CORRECT and good["default"].ms > 0
    assert good["default"].ratio_eager_low <= good["default"].ratio_eager <= good["default"].ratio_eager_high
    assert good["default"].torch == torch.__version__
    assert broken["default"].status is PlanStatus.FAILED and broken["default"].message
    assert broken["eager"].status is PlanStatus.CORRECT and broken["eager"].ratio_compiled is None
    assert wrong["default"].status is PlanStatus.WRONG and "100.00%" in wrong["default"].message
    reduced = rewritable["reduce_linear,cancel_moves/default"]
    assert (
        reduced.status is PlanStatus.CORRECT and reduced.ratio_compiled_low > 1.05
    )  # a product with one column instead of 2,048
    # Real times never repeat: equal rows come from the work folder. After a kill, only what is missing is measured.
    assert measure_tasks(asked, TARGET, HOW, tmp_path).rows() == table.rows()
    (folder,) = (tmp_path / "plan_times").iterdir()
    (folder / f"{tasks[0].task_id}.parquet").unlink()
    assert [bool(unmeasured(of, plans, folder)) for of, plans in asked] == [True, False, False, False]
    assert [path.name for path in tmp_path.iterdir()] == ["plan_times"]  # the sandbox leaves nothing behind


@pytest.mark.gpu
def test_on_a_gpu_every_applicable_plan_runs_and_is_right(tmp_path: Path):
    here = dataclasses.replace(TARGET, device="cuda", device_name=torch.cuda.get_device_name(), memory_gib=16.0)
    tasks = [task(1, "nn.Conv2d", code=CONVOLUTION), task(2, code=POINTWISE)]
    table = measure_tasks([(of, plans_of(of)) for of in tasks], here, HOW, tmp_path)
    for of in tasks:
        found = table.of(of.task_id)
        assert found.keys() == {plan.name for plan in plans_of(of)}
        assert {name: row.message for name, row in found.items() if row.status is not PlanStatus.CORRECT} == {}
        assert {row.device for row in found.values()} == {torch.cuda.get_device_name()}


def test_a_damaged_file_of_times_is_measured_anew(tmp_path: Path):
    one = task(1)
    path = store.write_rows(tmp_path / f"{one.task_id}.parquet", [plan_time(one, "eager")], PlanTime)
    assert EAGER not in unmeasured(one, plans_of(one), tmp_path)
    path.write_bytes(path.read_bytes()[:50])
    assert unmeasured(one, plans_of(one), tmp_path) == plans_of(one)


def test_a_machine_that_is_not_the_targets_measures_nothing(tmp_path: Path):
    other = dataclasses.replace(TARGET, torch="1.0")
    with pytest.raises(TargetMismatch, match=r"torch 1\.0"):
        measure_tasks([(on_cpu(1, POINTWISE), plans_for(on_cpu(1, POINTWISE), (), 2))], other, HOW, tmp_path)


def test_a_child_that_dies_in_one_plan_leaves_the_others_to_be_tried_again():
    of = task(1)
    plans = plans_of(of)
    crash = Ended(of.task_id, None, "crashed", "killed by signal 11", 3.0, "cudagraphs")
    rows, again = outcome(crash, of, plans, TARGET, HOW)
    assert [(row.plan, row.status) for row in rows] == [("cudagraphs", PlanStatus.FAILED)]
    assert set(again) == set(plans) - {Plan(backend="cudagraphs")}


@pytest.mark.parametrize("phase", ["eager", "timing", ""])
def test_a_crash_where_no_plan_ran_is_held_against_none(phase: str):
    of = task(1)
    rows, _ = outcome(Ended(of.task_id, None, "crashed", "killed by signal 9", 1.0, phase), of, plans_of(of), TARGET, HOW)
    assert {row.status for row in rows} == {PlanStatus.UNFINISHED}


def test_a_child_that_runs_out_of_time_elsewhere_leaves_every_plan_unfinished_and_none_an_attempt():
    of = task(1)
    late = Ended(of.task_id, None, "timeout", "killed by signal 9", 900.0, "timing")
    rows, again = outcome(late, of, plans_of(of), TARGET, HOW)
    assert {row.status for row in rows} == {PlanStatus.UNFINISHED} and len(rows) == len(plans_of(of)) and again == ()
    assert not any(row.is_attempt for row in rows)


def test_every_repeat_times_every_run_once():
    calls: list[int] = []
    times = paired_ms([lambda i=i: calls.append(i) for i in range(3)], 4, "cpu", np.random.default_rng(0))
    assert times.shape == (3, 4) and (times > 0).all()
    timed = calls[3:]  # after one warm-up each
    assert all(sorted(timed[i : i + 3]) == [0, 1, 2] for i in range(0, 12, 3))


def test_a_paired_ratio_sees_through_noise_that_both_share():
    noise = np.random.default_rng(0).uniform(1, 10, 15)
    middle, low, high = ratio_interval(1.2 * noise, noise)
    assert (middle, low, high) == pytest.approx((1.2, 1.2, 1.2))
    middle, low, high = ratio_interval(noise, noise[::-1])
    assert low < middle < high


def test_measuring_imports_nothing_beyond_the_standard_library_torch_numpy_pyarrow_and_yaml():
    code = """
import importlib.abc, sys
import torch, torch._inductor, numpy, pyarrow.parquet, yaml
known = {name.split(".")[0] for name in sys.modules} | set(sys.stdlib_module_names) | {"ops6k"}
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in known:
            raise ImportError(f"refused: {name}")
sys.meta_path.insert(0, Refuse())
import ops6k.train.__main__, ops6k.train.collect, ops6k.train.measure, ops6k.train.rows
assert not {"gymnasium", "stable_baselines3", "sb3_contrib", "safetensors"} & set(sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1])
    assert ran.returncode == 0, ran.stderr
