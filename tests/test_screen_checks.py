"""Parts of the screen by themselves: text, dry run, comparison, timing, resizing. In process, on tasks of our own."""

import time

import numpy as np
import pytest
import torch

from ops6k.records import Candidate, Reason
from ops6k.sandbox import Ended
from ops6k.screen import labelled
from ops6k.screen.activity import _changed
from ops6k.screen.bench import set_up
from ops6k.screen.compare import changed_share, identical, output_hash, tightly_equal
from ops6k.screen.course import SPARE_PEAKS, Course, Rules
from ops6k.screen.dry_run import DryRun, dry_run_code
from ops6k.screen.eager import eager_finding
from ops6k.screen.finding import Finding
from ops6k.screen.limits import Limits
from ops6k.screen.resize import resized, size_constants, with_scaled
from ops6k.screen.text import text_finding
from ops6k.screen.timing import median_interval
from ops6k.store import to_plain
from ops6k.target import Target

TARGET = Target("test", "cpu", None, "2.13", 1, 4, "highest", False, 10.0, {"float32": 50.0}, 5.0, "made up for tests")

TASK = """
import torch
import torch.nn as nn

BATCH = 64
WIDTH = 256

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
    def forward(self, x):
        return torch.tanh(self.fc(x))

def get_inputs():
    return [torch.randn(BATCH, WIDTH)]

def get_init_inputs():
    return [WIDTH]
"""
OPS = ("nn.Linear", "torch.tanh")


def reason(code: str, ops: tuple[str, ...] = OPS) -> str | None:
    found = text_finding(code, ops)
    return found and str(found.reason)


def label_reason(code: str, ops: tuple[str, ...] = OPS) -> str | None:
    ran = dry_run_code(code, TARGET, ops)
    assert isinstance(ran, DryRun)
    found = text_finding(code, ops) or labelled.in_calls(ran.calls, ops)
    return found and str(found.reason)


def test_a_sound_task_passes_the_text_checks() -> None:
    assert text_finding(TASK, OPS) is None


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from os import environ",
        "import torch.utils.cpp_extension",
        "from torch import *",
        "torch.save(1, 'x')",
        "x = torch.hub",
        "x = torch.ops.load_library",
        "x = torch._C",
        "x = torch.utils.data",
        "torch.allclose = lambda *a: True",
        "nn.Module.__call__ = print",
        "x = (1).__class__",
        "x = '{0.__class__}'.format(1)",
        "x = getattr(torch, 'load')",
        "x = globals()",
        "x = open('/etc/passwd')",
        "exec('1')",
        "import typing\nx = typing.sys",
        "import functools\nx = functools.GenericAlias.__mro__",
        "def f():\n    yield\nx = f().gi_frame",
        "class A(metaclass=type):\n    pass",
        "class A:\n    def __reduce__(self):\n        return print, ()",
        "torch.set_default_dtype(torch.float64)",
        "x = torch.distributed",
        "x = torch.cuda",
        "t = torch\nx = t.os.environ",
        "x = (tt := torch).os",
        "x = [torch][0].os",
        "x = [torch.nn][0]._C",
        "def f(t=torch):\n    return t.os",
        "def f(torch):\n    return torch.os",
        "import torch as t\nx = t.os\nfrom typing import Any as t",
        "for T in [torch.Tensor]:\n    T.abs = 1",
        "T = torch.Tensor\nT.abs = 1",
        "T = type(torch.ones(1))",
        "import typing\nx = typing.get_type_hints",
        "from functools import update_wrapper",
        "def f():\n    return torch.is_grad_enabled()",
    ],
)
def test_what_reaches_outside_a_task_is_unsafe(line: str) -> None:
    assert reason(f"import torch\nimport torch.nn as nn\n{line}\n{TASK}") == "unsafe/code"


@pytest.mark.parametrize(
    "line",
    [
        "import math\nSCALE = math.pi",
        "from typing import Optional, Tuple",
        "from torch.nn import functional as F",
        "from torch import Tensor",
        "from collections import OrderedDict",
        "from dataclasses import dataclass",
        "import torch.nn.functional as F",
        "DTYPE = torch.bfloat16",
    ],
)
def test_what_honest_tasks_import_is_safe(line: str) -> None:
    assert reason(f"{line.replace('DTYPE', 'import torch; DTYPE')}\n{TASK}") is None


def test_an_argument_named_input_is_no_builtin() -> None:
    assert reason(TASK.replace("self, x", "self, input").replace("self.fc(x)", "self.fc(input)")) is None


def test_labels_of_modules_functions_and_methods_are_one() -> None:
    assert label_reason(TASK, ("F.linear", "nn.Tanh")) is None
    assert label_reason(TASK.replace("torch.tanh(self.fc(x))", "self.fc(x).tanh()")) is None
    assert label_reason(TASK, ("nn.Linear", "nn.Tanh", "nn.ReLU")) == "invalid/label"
    assert label_reason(TASK, ("nn.Linear",)) == "invalid/label"


def test_arithmetic_and_shape_operators_need_no_label_but_may_have_one() -> None:
    code = TASK.replace("torch.tanh(self.fc(x))", "(torch.tanh(self.fc(x)) * 2.0).reshape(-1, 4)")
    assert label_reason(code) is None
    assert label_reason(code, (*OPS, "torch.mul", "torch.reshape")) is None


def test_an_operator_inside_a_helper_module_counts() -> None:
    code = TASK.replace(
        "class Model", "class Block(nn.Module):\n    def forward(self, x):\n        return torch.exp(x)\n\nclass Model"
    )
    code = code.replace("self.fc = ", "self.block = Block()\n        self.fc = ").replace(
        "self.fc(x))", "self.fc(self.block(x)))"
    )
    assert label_reason(code, (*OPS, "torch.exp")) is None
    assert label_reason(code) == "invalid/label"


def test_a_label_of_transformers_needs_a_helper_of_that_name() -> None:
    code = TASK.replace(
        "class Model", "class NewGELU(nn.Module):\n    def forward(self, x):\n        return x * torch.sigmoid(x)\n\nclass Model"
    )
    code = code.replace("self.fc = ", "self.act = NewGELU()\n        self.fc = ").replace("torch.tanh(", "self.act(")
    assert label_reason(code, ("nn.Linear", "transformers.NewGELU")) is None
    assert reason(code, ("nn.Linear", "transformers.FastGELU")) == "invalid/label"


def test_the_dry_run_counts_a_linear_layer_as_by_hand() -> None:
    found = dry_run_code(TASK, TARGET)
    assert isinstance(found, DryRun)
    assert found.work.flops == 2 * 64 * 256 * 256  # matrix products alone
    weights, rows = 256 * 256 + 256, 64 * 256
    # linear reads x, weight and bias and writes y; tanh reads and writes y.
    assert found.work.bytes_moved == 4 * (rows + weights + rows + 2 * rows)
    assert found.work.io_bytes == 4 * (rows + weights + rows)
    assert found.work.peak_bytes == 4 * (rows + weights + 2 * rows)
    assert found.output_shapes == ((64, 256),)


@pytest.mark.parametrize(
    ("call", "flops"),
    [
        ("torch.addbmm(x.new_zeros(4, 6), x.view(2, 4, 8), x.view(2, 4, 8).mT[:, :, :3].repeat(1, 1, 2))", 2 * 2 * 4 * 8 * 6),
        ("x @ x[0]", 2 * 8 * 8),
        ("torch.addmv(x[0], x, x[0])", 2 * 8 * 8),
        ("torch.dot(x[0], x[1])[None]", 2 * 8),
        ("torch.addr(x, x[0], x[1])", 2 * 8 * 8),
        ("torch.nn.functional.bilinear(x, x, x.view(1, 8, 8).repeat(5, 1, 1))", 2 * 8 * 5 * 8 * 8),
        ("torch.cdist(x, x, p=1.0)", 3 * 8 * 8 * 8),
        ("torch.conv_tbc(x.view(4, 2, 8), x.view(2, 8, 4), x[0, :4])", 2 * 3 * 2 * 4 * 2 * 8),
        ("torch.tanh(x) + x", 0),
    ],
)  # fmt: skip
def test_products_that_torchs_own_table_leaves_out_are_counted(call: str, flops: int) -> None:
    code = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return " + call
    code += "\n\ndef get_inputs():\n    return [torch.randn(8, 8)]\n\ndef get_init_inputs():\n    return []\n"
    found = dry_run_code(code, TARGET)
    assert isinstance(found, DryRun), found
    assert found.work.flops == flops


def test_two_terabytes_are_counted_without_being_allocated() -> None:
    found = dry_run_code(TASK.replace("BATCH = 64", f"BATCH = {2**31}"), TARGET)
    assert isinstance(found, DryRun)
    assert found.work.peak_bytes > 2**41 and found.work.tier_gib is None


def test_a_tensor_left_on_the_cpu_is_found_without_an_accelerator() -> None:
    found = dry_run_code(TASK.replace("torch.tanh(self.fc(x))", "torch.tanh(self.fc(x)) * torch.arange(256)"), TARGET)
    assert isinstance(found, Finding) and found.reason is Reason.DEVICE
    moved = dry_run_code(
        TASK.replace("torch.tanh(self.fc(x))", "torch.tanh(self.fc(x)) * torch.arange(256, device=x.device)"), TARGET
    )
    assert isinstance(moved, DryRun)


def test_what_the_verifier_tolerates_is_no_change() -> None:
    wanted = torch.tensor([0.0, 1.0, 100.0, float("nan")])
    assert changed_share(wanted + torch.tensor([0.009, 0.019, 1.0, 0.0]), wanted, 1e-2) == 0
    assert changed_share(wanted + torch.tensor([0.011, 0.0, 0.0, 0.0]), wanted, 1e-2) == 0.25


def test_repeats_are_compared_tightly() -> None:
    a = (torch.randn(100, generator=torch.Generator().manual_seed(0)),)
    assert identical(a, (a[0].clone(),)) and not identical(a, (a[0] + 1e-6,))
    assert tightly_equal(a, (a[0] + 1e-7,)) and not tightly_equal(a, (a[0] + 1e-3,))


def test_the_interval_of_a_median_covers_it_and_narrows_with_more_repeats() -> None:
    draw = np.random.default_rng(0)
    few, many = draw.normal(10, 1, 8), draw.normal(10, 1, 800)
    (low_few, high_few), (low_many, high_many) = median_interval(few), median_interval(many)
    assert low_many < 10 < high_many
    assert high_many - low_many < high_few - low_few


def test_a_resized_task_comes_near_the_wanted_time_and_keeps_its_operators() -> None:
    before = dry_run_code(TASK, TARGET)
    code = resized(TASK, TARGET, wanted_ms=5.0, correction=1.0, memory_gib=4)
    after = dry_run_code(code, TARGET)
    assert 5.0 / 1.5 < after.work.predicted_ms < 5.0 * 1.5
    assert after.work.operators == before.work.operators
    assert "WIDTH = 256" in code


def test_size_constants_are_those_that_inputs_read_batch_first() -> None:
    code = TASK.replace("BATCH = 64\nWIDTH = 256", "WIDTH = 256\nHEADS = 8\nBATCH = 64")
    assert size_constants(code) == ["BATCH", "WIDTH"]
    assert "BATCH = 96\n" in with_scaled(code, "BATCH", 1.5)


def test_a_model_that_casts_itself_to_bfloat16_can_be_dry_run() -> None:
    code = TASK.replace("self.fc = nn.Linear(width, width)", "self.fc = nn.Linear(width, width)\n        self.to(torch.bfloat16)")
    found = dry_run_code(code.replace("torch.randn(BATCH, WIDTH)", "torch.randn(BATCH, WIDTH, dtype=torch.bfloat16)"), TARGET)
    assert isinstance(found, DryRun) and found.output_dtypes == ("bfloat16",)


def test_the_hash_of_an_output_sees_values_places_shapes_and_dtypes() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    others = [x + 1e-6, x.flip(0), x.reshape(4, 3), x.to(torch.float64), x.t().contiguous()]
    hashes = {output_hash((value,)) for value in (x, *others)}
    assert len(hashes) == 6 and output_hash((x.clone(),)) in hashes
    assert output_hash((x, x + 1)) != output_hash((x + 1, x))


@pytest.mark.parametrize(("terms", "wanted"), [(500, None), (20_000, "invalid/syntax")])
def test_a_source_nested_too_deeply_or_too_long_is_a_finding_not_a_crash(terms: int, wanted: str | None) -> None:
    deep = TASK.replace("torch.tanh(self.fc(x))", "self.fc(x)" + "+x" * terms)
    assert reason(deep) == wanted
    assert reason(TASK + "# " + "x" * 200_000) == "invalid/structure"


def test_a_long_forward_is_read_in_time_linear_in_its_length() -> None:
    long = TASK.replace(
        "return torch.tanh(self.fc(x))", "\n        ".join(["x = torch.tanh(x + 1)"] * 2000) + "\n        return self.fc(x)"
    )
    began = time.process_time()
    assert reason(long) is None
    assert time.process_time() - began < 5


def test_what_a_child_says_is_believed_only_as_far_as_it_fits_the_question() -> None:
    limits = Limits(None, 1e-2, 4, 60)
    candidate = Candidate("mine", OPS, TASK, "test", 0, "float32", ())
    accepted = {"candidate_id": "mine", "outcome": "accepted", "reason": None, "message": "forged", "phase": "timing"}
    answers = [
        {"verdict": accepted},
        {"verdict": accepted | {"candidate_id": "x"}},
        {"verdict": {}},
        {"work": 3, "seconds": {}},
        {},
    ]
    for answer in answers:
        course = Course(0, candidate, Rules(TARGET, limits, 0))
        job = course.first()
        assert job is not None
        assert course.next(Ended(job.job_id, answer, "answered", "", 0.1, "dry_run")) is None
        assert course.done and course.verdicts[-1].reason is Reason.UNSAFE_RUNTIME


def _course_at_run(limits: Limits) -> Course:
    """A course whose dry run is over."""
    course = Course(0, Candidate("mine", OPS, TASK, "test", 0, "float32", ()), Rules(TARGET, limits, 2))
    job = course.first()
    ran = {
        "work": to_plain(dry_run_code(TASK, TARGET, OPS).work),
        "seconds": {"dry_run": 0.1},
        "flags": [],
        "resident_bytes": 10**6,
    }
    assert course.next(Ended(job.job_id, ran, "answered", "", 0.1, "dry_run")).function.endswith("run_candidate")
    return course


def test_what_ran_out_of_memory_beside_others_gets_more_room_then_the_machine_then_its_verdict() -> None:
    course = _course_at_run(Limits(None, 1e-2, 4, 60))
    short = {"candidate_id": "mine", "outcome": "unfinished", "reason": "unfinished/memory", "message": "", "phase": "eager"}
    answered = Ended("0-2", {"verdict": short}, "answered", "", 1.0, "eager")
    second = course.next(answered)
    spare_gib = SPARE_PEAKS * course.work.peak_bytes / 2**30
    assert not second.alone and second.device_gib == pytest.approx(course.resident_bytes / 2**30 + spare_gib)
    third = course.next(answered)
    assert third.alone and not course.done
    assert course.next(answered) is None and course.verdicts[-1].reason is Reason.OUT_OF_MEMORY


def test_what_was_killed_beside_others_gets_the_machine_once() -> None:
    course = _course_at_run(Limits(None, 1e-2, 4, 60))
    killed = Ended("0-2", None, "timeout", "killed", 60.0, "eager")
    assert course.next(killed).alone
    assert course.next(killed) is None and course.verdicts[-1].reason is Reason.TIMEOUT


@pytest.mark.parametrize(("high_ms", "wanted"), [(1e-3, Reason.TOO_SLOW), (1e4, None)])
def test_a_forward_far_beyond_the_window_is_not_run_thirty_times(high_ms: float, wanted: Reason | None) -> None:
    bench = set_up(TASK, "cpu", Limits((1e-4, high_ms), 1e-2, 4, 60), OPS)
    ran = []
    bench.model.register_forward_hook(lambda *_: ran.append(1))
    found = eager_finding(bench)
    assert (found and found.reason) is wanted
    assert (len(ran) == 2) == (wanted is Reason.TOO_SLOW)
    assert (bench.alone_ms is not None) == (wanted is Reason.TOO_SLOW)


def test_what_the_eager_checks_call_too_slow_is_resized_by_what_they_measured() -> None:
    course = _course_at_run(Limits((1, 100), 1e-2, 4, 60))
    slow = {"candidate_id": "mine", "outcome": "out_of_range", "reason": "out_of_range/too_slow", "message": "", "phase": "eager"}
    slow |= {"work": to_plain(course.work), "forward_ms": 500.0}
    job = course.next(Ended("0-2", {"verdict": slow}, "answered", "", 1.0, "eager"))
    assert job.function == "ops6k.screen.resize:resize_candidate"
    assert job.payload["wanted_ms"] == 20 and job.payload["correction"] == 500 / course.verdicts[0].work.predicted_ms


def test_what_a_dry_run_lets_pass_is_done_without_a_verdict_where_nothing_else_is_asked() -> None:
    rules = Rules(TARGET, Limits(None, 1e-2, 4, 60), 0, dry_run_only=True)
    course = Course(0, Candidate("mine", OPS, TASK, "test", 0, "float32", ()), rules)
    ran = {"work": to_plain(dry_run_code(TASK, TARGET, OPS).work), "seconds": {"dry_run": 0.1}, "flags": [], "resident_bytes": 1}
    assert course.next(Ended(course.first().job_id, ran, "answered", "", 0.1, "dry_run")) is None
    assert course.done and not course.verdicts and course.work.operators


def test_a_changed_weight_is_changed_in_every_element_both_ways_and_a_variance_stays_one() -> None:
    for weight in (torch.tensor([0.8]), torch.rand(1000), torch.randn(1000) * 3, torch.zeros(7), torch.rand(50).bfloat16()):
        one, other = _changed(weight)
        assert one.dtype == weight.dtype and (one - weight).abs().min() > 0.9
        if (weight < 0).any():
            assert torch.equal((one > weight), (other < weight))
        else:
            assert (one >= 0).all() and (other >= 0).all() and (other <= weight).all()
