"""Capturing, running and writing out models; where rewrites must and must not apply; all of them on the fixture tasks."""

import copy
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from rewrite_checks import disagreement, quiet_single_thread
from rewrite_graphs import Body, shifted_norm
from torch import nn

from ops6k.reward.solution import solution_finding
from ops6k.screen import compare
from ops6k.screen.instances import MODEL_SEED, make_inputs, make_model, tensors_of
from ops6k.screen.load import load_module, load_task
from ops6k.train.plans import Plan
from ops6k.train.rewrites import REWRITES, NotCapturable, applicable, capture, emit, rewritten
from ops6k.train.rewrites.source import class_source

TASKS = Path(__file__).parent / "tasks"
SOUND = sorted(path.stem for path in TASKS.glob("*.py") if path.stem.startswith(("sound-", "ok-")))
EVERYTHING = Plan(tuple(REWRITES), backend="eager")


@pytest.fixture(autouse=True)
def _quiet():
    with quiet_single_thread():
        torch.manual_seed(0)
        yield


def applied(name: str, forward: Callable, *inputs: torch.Tensor, **parts: object) -> bool:
    """Whether a rewrite applies to a model; what it makes of it is compared with the model."""
    model = Body(forward, **parts).eval()
    program = capture(model, list(inputs))
    assert disagreement(rewritten(program, [name]), model, list(inputs)) == ""
    return name in applicable(program)


def images(channels: int = 4) -> torch.Tensor:
    return torch.randn(2, channels, 8, 8)


MUST = {
    "fold_batch_norm": (
        lambda m, x: m.norm(m.conv(x)),
        images(),
        {"conv": nn.Conv2d(4, 6, 3), "norm": shifted_norm(nn.BatchNorm2d(6))},
    ),
    "fold_scale": (lambda m, x: (m.fc(x) / -2.5 - m.c) * m.c, torch.randn(3, 4), {"fc": nn.Linear(4, 5), "c": torch.randn(5)}),
    "reduce_linear": (lambda m, x: m.fc(x).mean(1, keepdim=True), torch.randn(3, 4), {"fc": nn.Linear(4, 5)}),
    "merge_linear": (lambda m, x: m.b(m.a(x)), torch.randn(3, 4), {"a": nn.Linear(4, 9), "b": nn.Linear(9, 2)}),
    "diagonal_matmul": (lambda m, x: x @ torch.diag(m.d), torch.randn(3, 4), {"d": nn.Parameter(torch.randn(4))}),
    "idempotent": (lambda m, x: torch.relu(x.exp()), torch.randn(3, 4), {}),
    "commute_pool": (lambda m, x: F.max_pool2d(torch.relu(x), 2), images(), {}),
    "cancel_moves": (lambda m, x: x.transpose(0, 1).contiguous().transpose(0, 1).sin(), torch.randn(3, 4), {}),
    "shift_invariance": (lambda m, x: torch.softmax(x - x.amax(1, keepdim=True), 1), torch.randn(3, 4), {}),
    "common_subexpressions": (lambda m, x: x.sin() * 2 + x.sin(), torch.randn(3, 4), {}),
    "hoist_invariants": (lambda m, x: x * m.w.exp(), torch.randn(3, 4), {"w": nn.Parameter(torch.randn(4))}),
}

MUST_NOT = {
    "a batch norm whose convolution is returned too": (
        "fold_batch_norm", lambda m, x: (y := m.conv(x), m.norm(y)), images(),
        {"conv": nn.Conv2d(4, 6, 3), "norm": shifted_norm(nn.BatchNorm2d(6))},
    ),
    "a batch norm over the rows of a linear layer": (
        "fold_batch_norm", lambda m, x: m.norm(m.fc(x)), torch.randn(3, 5, 5),
        {"fc": nn.Linear(5, 5), "norm": shifted_norm(nn.BatchNorm1d(5))},
    ),
    "a scale that depends on the input": ("fold_scale", lambda m, x: m.fc(x) * x.mean(), torch.randn(3, 4), {"fc": nn.Linear(4, 5)}),
    "a bias along another axis": ("fold_scale", lambda m, x: m.fc(x) + m.c, torch.randn(5, 4), {"fc": nn.Linear(4, 5), "c": torch.randn(5, 1)}),
    "a bias for each column of an image": (
        "fold_scale", lambda m, x: m.conv(x) + m.c, images(), {"conv": nn.Conv2d(4, 8, 1), "c": torch.randn(8)}
    ),
    "a division by the layer": ("fold_scale", lambda m, x: 1.0 / m.fc(x), torch.randn(3, 4), {"fc": nn.Linear(4, 5)}),
    "weights that are inputs": ("fold_scale", lambda m, x: F.linear(x, x) * 2, torch.randn(3, 4), {}),
    "a maximum over a linear layer": ("reduce_linear", lambda m, x: m.fc(x).amax(1), torch.randn(3, 4), {"fc": nn.Linear(4, 5)}),
    "a narrow middle": ("merge_linear", lambda m, x: m.b(m.a(x)), torch.randn(3, 8), {"a": nn.Linear(8, 1), "b": nn.Linear(1, 8)}),
    "layers with work between them": (
        "merge_linear", lambda m, x: m.b(m.a(x).relu()), torch.randn(3, 4), {"a": nn.Linear(4, 9), "b": nn.Linear(9, 2)}
    ),
    "a diagonal off the middle": ("diagonal_matmul", lambda m, x: x @ torch.diag(m.d, 1), torch.randn(3, 4), {"d": torch.randn(3)}),
    "a triangle that cuts": ("diagonal_matmul", lambda m, x: torch.tril(x, 2), torch.randn(4, 4), {}),
    "relu of a tanh": ("idempotent", lambda m, x: torch.relu(x.tanh()), torch.randn(3, 4), {}),
    "a clamp that is returned too": ("idempotent", lambda m, x: (y := x.clamp(-1, 1), y.clamp(0, 2)), torch.randn(3, 4), {}),
    "a sum of a padded average beyond its range": (
        "idempotent", lambda m, x: F.avg_pool2d(x.sigmoid(), 2, divisor_override=1).clamp(0, 1), images(), {}
    ),
    "a negative scale under a maximum": ("commute_pool", lambda m, x: F.max_pool2d(x * -2.0, 2), images(), {}),
    "scales of unknown sign under a maximum": (
        "commute_pool", lambda m, x: F.max_pool2d(x * m.c, 2), images(), {"c": torch.randn(4, 1, 1)}
    ),
    "a maximum whose places are used": (
        "commute_pool", lambda m, x: F.max_pool2d(x.relu(), 2, return_indices=True), images(), {}
    ),
    "a bias under an average that counts padding": ("commute_pool", lambda m, x: F.avg_pool2d(x + 1.0, 3, 2, 1), images(), {}),
    "a bias under an average with a divisor": (
        "commute_pool", lambda m, x: F.avg_pool2d(x + 1.0, 2, divisor_override=3), images(), {}
    ),
    "a bias along the pooled axis": (
        "commute_pool", lambda m, x: F.max_pool2d(x + m.c, 2), images(), {"c": torch.randn(8)}
    ),
    "a pooling that makes nothing smaller": ("commute_pool", lambda m, x: F.max_pool2d(x.relu(), 3, 1, 1), images(), {}),
    "a relu under an average": ("commute_pool", lambda m, x: F.avg_pool2d(x.relu(), 2), images(), {}),
    "two transposes that do something": ("cancel_moves", lambda m, x: x.transpose(0, 1).sin().transpose(1, 2), torch.randn(2, 3, 4), {}),
    "a copy that is returned": ("cancel_moves", lambda m, x: x.clone(), torch.randn(2, 3), {}),
    "flips along two axes": ("cancel_moves", lambda m, x: x.flip(0).flip(1), torch.randn(2, 3), {}),
    "a shift along the axis of softmax": ("shift_invariance", lambda m, x: torch.softmax(x + m.c, 1), torch.randn(3, 4), {"c": torch.randn(4)}),
    "a shift without end": ("shift_invariance", lambda m, x: torch.softmax(x - float("inf"), 1), torch.randn(3, 4), {}),
    "a scale without end": ("fold_scale", lambda m, x: m.fc(x) * float("inf"), torch.randn(3, 4), {"fc": nn.Linear(4, 5)}),
    "a softplus that falls at its threshold": ("commute_pool", lambda m, x: F.max_pool2d(F.softplus(x, 1.0, 0.0), 2), images(), {}),
    "a softplus below zero": ("idempotent", lambda m, x: F.softplus(x, -1.0).relu(), torch.randn(3, 4), {}),
    "windows of padding alone": ("commute_pool", lambda m, x: F.max_pool1d(x.relu(), 2, 1, 1, 3), torch.randn(1, 1, 2), {}),
    "a relu of windows of padding alone": (
        "idempotent", lambda m, x: F.max_pool1d(x.sigmoid(), 2, 1, 1, 3).relu(), torch.randn(1, 1, 2), {}
    ),
    "integers whose maximum has no kernel": (
        "commute_pool", lambda m, x: F.max_pool2d(x.sigmoid(), 2), torch.arange(64).view(1, 1, 8, 8), {}
    ),
    "integers that wrap around": ("idempotent", lambda m, x: (x * x).abs(), torch.tensor([50000], dtype=torch.int32), {}),
    "flips along nothing and everything": ("cancel_moves", lambda m, x: x.flip([]).flip([0, 1]).sin(), torch.randn(2, 3), {}),
    "a layout that is read": (
        "cancel_moves",
        lambda m, x: torch.view_as_real(torch.view_as_complex(x.permute(2, 1, 0).contiguous().unsqueeze(0))).sin(),
        torch.randn(2, 3, 4), {},
    ),
    "random numbers drawn twice": ("common_subexpressions", lambda m, x: x + 0 * (torch.rand_like(x) + torch.rand_like(x)), torch.randn(3), {}),
    "an output that is a weight": ("hoist_invariants", lambda m, x: (x + 1, m.w.exp()), torch.randn(3), {"w": torch.randn(3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", MUST)
def test_a_rewrite_applies_where_it_should(name: str):
    forward, x, parts = MUST[name]
    assert applied(name, forward, x, **parts)


def test_every_rewrite_has_a_model_that_it_applies_to():
    assert set(MUST) == set(REWRITES)


@pytest.mark.parametrize("case", MUST_NOT)
def test_a_rewrite_leaves_alone(case: str):
    name, forward, x, parts = MUST_NOT[case]
    assert not applied(name, forward, x, **parts)


def test_reduced_precision_weights_are_worked_on_in_float32_and_rounded_once():
    x = torch.randn(3, 64, dtype=torch.bfloat16)
    model = Body(lambda m, x: m.fc(x) * m.c / 3, fc=nn.Linear(64, 5).bfloat16(), c=torch.rand(5).bfloat16()).eval()
    program = rewritten(capture(model, [x]), ["fold_scale"])
    module = program.module(model)
    (weight,) = [buffer for name, buffer in module.named_buffers() if name.startswith("prepared") and buffer.dim() == 2]
    exact = model.fc.weight.double() * model.c.double()[:, None] / 3
    assert module(x).dtype == torch.bfloat16
    assert float(((weight.double() - exact) / exact).abs().max()) <= 2**-8 + 1e-6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["fold_batch_norm", "fold_scale", "reduce_linear", "merge_linear", "diagonal_matmul"])
def test_reduced_precision_gives_the_same_dtype_within_its_rounding(name: str, dtype: torch.dtype):
    forward, x, parts = MUST[name]
    model, x = copy.deepcopy(Body(forward, **parts)).to(dtype).eval(), x.to(dtype)
    got, wanted = rewritten(capture(model, [x]), [name]).module(model)(x), model.float()(x.float())
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), wanted, atol=5e-2, rtol=5e-2)


def test_in_place_operators_are_made_ordinary_or_decomposed():
    def forward(m: Body, x: torch.Tensor) -> torch.Tensor:
        y = (x * 2).relu_()
        y[:, 0] = 1.0
        return y.add_(x).view(-1)

    model, x = Body(forward).eval(), torch.randn(3, 4)
    assert disagreement(rewritten(capture(model, [x]), REWRITES), model, [x]) == ""


def _counts(m: Body, x: torch.Tensor) -> torch.Tensor:
    m.n += 1
    return x + m.n


@pytest.mark.parametrize(
    ("forward", "inputs"),
    [
        (lambda m, x: x.mul_(2), [torch.randn(3)]),
        (_counts, [torch.randn(3)]),
        (lambda m, x: x + float(x.sum()), [torch.randn(3)]),
        (lambda m, x: x if x.sum() > 0 else -x, [torch.randn(3)]),
        (lambda m, x: torch.unique(x), [torch.randn(3)]),
        (lambda m, x: torch.as_strided(x, (2,), (1,)), [torch.randn(3)]),
        (lambda m, x: x["a"], [{"a": torch.randn(3)}]),
        (lambda m, x: 1 / 0, [torch.randn(3)]),
    ],
)
def test_what_cannot_be_captured_says_so_with_one_exception(forward: Callable, inputs: list):
    with pytest.raises(NotCapturable, match=r"."):
        capture(Body(forward, n=torch.zeros(1)).eval(), inputs)


def test_a_model_in_training_mode_is_not_captured():
    with pytest.raises(NotCapturable, match="training"):
        capture(Body(lambda m, x: x), [torch.randn(3)])


def test_parameters_keep_their_names_and_prepared_weights_follow_load_state_dict():
    forward, x, parts = MUST["fold_batch_norm"]
    model, other = Body(forward, **parts).eval(), Body(forward, conv=nn.Conv2d(4, 6, 3), norm=nn.BatchNorm2d(6)).eval()
    module = rewritten(capture(model, [x]), REWRITES).module(model)
    assert module.state_dict().keys() == model.state_dict().keys()
    module.load_state_dict(other.state_dict())
    torch.testing.assert_close(module(x), other(x), atol=1e-4, rtol=1e-4)
    assert not any(name.startswith("prepared") for name, _ in model.named_buffers())


def test_other_shapes_and_training_mode_run_the_models_own_forward():
    forward, x, parts = MUST["fold_batch_norm"]
    model = Body(forward, **parts).eval()
    module = rewritten(capture(model, [x]), REWRITES).module(model)
    larger = torch.randn(3, 4, 9, 9)
    assert torch.equal(module(larger), model(larger))
    assert torch.equal(module.train()(x), model.train()(x))


def test_an_output_never_becomes_memory_of_an_input():
    model, x = Body(lambda m, x: (x.neg().neg(), x @ torch.eye(3))).eval(), torch.randn(3, 3)
    outputs = rewritten(capture(model, [x]), REWRITES).module(model)(x)
    assert x.data_ptr() not in {output.data_ptr() for output in outputs}


def test_a_rewritten_module_compiles_as_one_graph():
    forward, x, parts = MUST["fold_scale"]
    model = Body(forward, **parts).eval()
    module = rewritten(capture(model, [x]), REWRITES).module(model)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), model(x), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", SOUND)
def test_all_rewrites_on_a_fixture_task_and_what_is_written_out_of_it(name: str):
    code = (TASKS / f"{name}.py").read_text()
    task = load_task(code)
    model, inputs = make_model(task, "cpu", MODEL_SEED), make_inputs(task, "cpu", 5)
    program = capture(model, inputs)
    wanted = [x.clone() for x in tensors_of(model(*inputs))]
    text = emit(code, program, EVERYTHING)
    new = make_model(_with_new_model(text, task), "cpu", MODEL_SEED)
    for module in (rewritten(program, REWRITES).module(model), new):
        got = tensors_of(module(*inputs))
        assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in wanted]
        # The tolerance of a task is 1e-2; for reduced precision a multiple.
        assert not any(compare.disagreement(have, want, 1e-2, 1e-2).refused for have, want in zip(got, wanted, strict=True))


def _with_new_model(text: str, task: object) -> object:
    """A task whose model is ModelNew of an emitted source, which stands in a namespace of its own."""

    class Task:
        model = load_module(text, "model_new").ModelNew
        get_init_inputs = staticmethod(task.get_init_inputs)

    return Task


CODE = """from __future__ import annotations
# ops: nn.Conv2d, nn.BatchNorm2d
import torch as t
import torch.nn as nn

WIDTH = 4


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, width, 3), nn.BatchNorm2d(width)])
        self.head = nn.Linear(width, 5)

    def forward(self, x, scale):
        y = self.layers[1](self.layers[0](x)).relu().amax((2, 3))
        return self.head(y) * t.tensor([1.0, float("inf"), 2.0, 3.0, -1.0]).clamp(max=4.0) + scale, [y]


def get_inputs():
    return [t.randn(2, 3, 6, 6), 0.5]


def get_init_inputs():
    return [WIDTH]


if __name__ == "__main__":
    print(Model(WIDTH)(*get_inputs()))
"""
PLANS = [
    EVERYTHING,
    Plan(("hoist_invariants",), True, "eager"),
    Plan(backend="eager"),
    Plan((), True, "eager"),
    Plan(("fold_batch_norm",), backend="freezing_max_autotune"),
    Plan((), True),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_an_emitted_model_with_the_reference_state_dict_gives_the_reference_outputs(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    # The plan's own decorator, but without Inductor, which takes 10 s to compile a first graph.
    compile_ = torch.compile
    monkeypatch.setattr(torch, "compile", lambda model=None, **_: compile_(model, fullgraph=True, backend="aot_eager"))
    task = load_task(CODE)
    model, inputs = make_model(task, "cpu", MODEL_SEED), make_inputs(task, "cpu", 3)
    text = emit(CODE, capture(model, inputs), plan)
    assert "get_inputs" not in text and "__main__" not in text
    other = task.model(4)
    shifted_norm(other.layers[1])
    new = load_module(text, f"new_{plan.name}").ModelNew(4)
    new.load_state_dict(other.state_dict())
    other, new = other.eval(), new.to("cpu").eval()
    for have, want in zip(tensors_of(new(*inputs)), tensors_of(other(*inputs)), strict=True):
        torch.testing.assert_close(have, want, atol=1e-4, rtol=1e-4)
    assert isinstance(new(*inputs)[1], list)


def test_an_emitted_model_names_torch_alone_and_no_device():
    model = make_model(load_task(CODE), "cpu", MODEL_SEED)
    text = emit(CODE, capture(model, [torch.randn(2, 3, 6, 6), 0.5]), EVERYTHING)
    written = text[text.index("class ModelNew") :]
    assert not re.search(r"cpu|cuda|ops6k", written)
    assert set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)) == {"torch", "__future__"}


@pytest.mark.parametrize("name", ["class", "conv-1", 'a"b', "a'b\\", "__a", "\ufb01"])
def test_layers_of_any_name_are_found(name: str):
    model, x = Body(lambda m, x: m.layers[name](x) * 2, layers=nn.ModuleDict({name: nn.Linear(4, 5)})).eval(), torch.randn(3, 4)
    program = rewritten(capture(model, [x]), ["fold_scale"])
    assert "prepared" in class_source(program) and disagreement(program, model, [x]) == ""


def test_names_of_arguments_and_operators_hide_nothing_and_are_taken_by_our_own_reward():
    class Named(Body):
        def forward(self, to: torch.Tensor, named_to: torch.Tensor, argument_3: torch.Tensor, parts: list) -> torch.Tensor:
            return self.fc(to.bfloat16()).float() * 2 + named_to * self.w.exp() + argument_3 + parts[0].to(torch.float32)

    model = Named(None, fc=nn.Linear(4, 4).bfloat16(), w=nn.Parameter(torch.randn(4))).eval()
    inputs = [torch.randn(3, 4), torch.randn(3, 4), torch.randn(3, 4), [torch.randn(3, 4).double()]]
    program = rewritten(capture(model, inputs), REWRITES)
    torch.testing.assert_close(program.module(model)(*inputs), model(*inputs), atol=2e-2, rtol=2e-2)
    text = class_source(program, channels_last=True)
    assert solution_finding(f"import torch\nclass Model(torch.nn.Module):\n    pass\n{text}", allow_torch=True) is None


def test_a_model_with_a_prepared_part_of_its_own_is_not_captured():
    with pytest.raises(NotCapturable, match="prepared_exp"):
        capture(Body(lambda m, x: x * m.prepared_exp.exp(), prepared_exp=nn.Parameter(torch.randn(4))).eval(), [torch.randn(4)])


def test_inputs_of_another_dtype_run_the_models_own_forward():
    model, x = Body(lambda m, x: x.to(torch.float32).clone() + 1).eval(), torch.randn(3)
    module = rewritten(capture(model, [x]), REWRITES).module(model)
    assert module(x.double()).dtype == torch.float32


def test_a_form_feed_in_a_string_ends_no_line():
    code = 'import torch\nSAID = "a\x0cb\u2028c"\n\ndef get_inputs():\n    return []\n\nclass Model(torch.nn.Module):\n    pass\n'
    text = emit(code, None, Plan(backend="eager"))
    assert "get_inputs" not in text and load_module(text, "said").SAID == "a\x0cb\u2028c"
    assert issubclass(load_module(text, "said").ModelNew, nn.Module)


def test_a_task_with_a_model_of_the_same_name_is_not_written_out():
    with pytest.raises(ValueError, match="ModelNew of its own"):
        emit("class ModelNew:\n    pass\nclass Model(ModelNew):\n    pass\n", None, Plan(backend="eager"))


def test_a_plan_with_rewrites_needs_a_program():
    with pytest.raises(ValueError, match="fold_scale"):
        emit(CODE, None, EVERYTHING)
