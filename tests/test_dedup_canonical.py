"""The canonical form: what no longer counts, and what still does."""

import ast
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dedup_tasks import FRAME, TASKS

from ops6k.dedup.canonical import Canonical, canonical
from ops6k.dedup.shingles import jaccard, jaccards, shingles
from ops6k.dedup.variants import SURE


def task(init: str = "pass", forward: str = "return x") -> Canonical:
    return canonical(FRAME.format(init=init, forward=forward))


@pytest.mark.parametrize(
    "spelling", ["F.relu(x)", "torch.relu(x)", "x.relu()", "nn.functional.relu(x)", "torch.nn.functional.relu(x)", "x.relu_()"]
)
def test_spellings_of_one_operator_are_one(spelling: str) -> None:
    assert task(forward=f"return {spelling}").text == task(forward="return torch.relu(x)").text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return x + y", "return torch.add(x, y)"),
        ("x = x * 2.0\n        return x", "x *= 3.0\n        return x"),
        ("return x.sum(dim=1)", "return torch.sum(x, axis=1)"),
        ("return torch.einsum('bij,bjk->bik', x, x)", "return torch.einsum('aqr, ars -> aqs', x, x)"),
        ("return x * (64 * 1024)", "return x * 7"),
        ("assert x.dim() == 2\n        return x.exp()", "return x.exp()"),
        ("'Words.'\n        return x.exp()", "return x.exp()  # words"),
    ],
)
def test_what_is_written_otherwise_is_the_same(one: str, other: str) -> None:
    assert task(forward=one).text == task(forward=other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return F.relu(x)", "return F.softplus(x)"),
        ("return torch.sin(torch.cos(x))", "return torch.cos(torch.sin(x))"),
        ("return x - y", "return y @ x"),
        ("return F.gelu(x, approximate='tanh')", "return F.gelu(x, approximate='none')"),
        ("return torch.einsum('bij,bjk->bik', x, x)", "return torch.einsum('bij,bkj->bik', x, x)"),
        ("return F.pad(x, (1, 1), mode='reflect')", "return F.pad(x, (1, 1), mode='circular')"),
    ],
)
def test_what_computes_otherwise_is_another(one: str, other: str) -> None:
    assert task(forward=one).text != task(forward=other).text


def test_imports_and_module_constants_do_not_count() -> None:
    usual = task("self.fc = nn.Linear(width, 128)", "return self.fc(x)")
    other = canonical("""
from torch import nn as layers, Tensor
import torch
OUT = 2 * 32
class Model(layers.Module):
    def __init__(self, n: int) -> None:
        super(Model, self).__init__()
        self.projection: layers.Linear = layers.Linear(n, OUT)
    def forward(this, rows: Tensor) -> Tensor:
        return this.projection(rows)
def get_inputs(): return [torch.rand(1, 1)]
def get_init_inputs(): return [1]
""")
    assert usual.text == other.text


def test_the_order_of_init_and_of_methods_does_not_count() -> None:
    first = task("self.a = nn.Linear(width, 8)\n        self.b = nn.GELU()", "return self.b(self.a(x))")
    second = task("self.b = nn.GELU()\n        self.a = nn.Linear(width, 8)", "return self.b(self.a(x))")
    assert first.digest == second.digest


def test_helpers_count_where_they_are_used_only() -> None:
    helper = "class Gate(nn.Module):\n    def forward(self, y):\n        return torch.sigmoid(y) * y\n"
    used = canonical(FRAME.format(init="self.gate = Gate()", forward="return self.gate(x)") + helper)
    unused = canonical(
        FRAME.format(init="self.gate = Gate()", forward="return x.exp()") + helper + "def more(y):\n    return y.sin()\n"
    )
    assert "sigmoid" in used.text
    assert "sin" not in unused.text
    assert used.operators == ("sigmoid", "mul")


def test_one_name_in_two_scopes_may_become_two() -> None:
    shared = "def f(x):\n    return x.exp()\n" + FRAME.format(init="pass", forward="return f(x)")
    apart = "def g(other):\n    return other.exp()\n" + FRAME.format(init="pass", forward="return g(x)")
    assert canonical(shared).text == canonical(apart).text


@pytest.mark.parametrize("disguise", SURE.values(), ids=SURE)
@pytest.mark.parametrize("name", TASKS)
def test_a_disguised_copy_has_the_same_canonical_form(name: str, disguise: Callable[[str], str]) -> None:
    copy = disguise(TASKS[name].code)
    assert (copy == TASKS[name].code) == (disguise is SURE["verbatim"])
    assert canonical(copy).text == canonical(TASKS[name].code).text


def test_code_that_is_no_python_has_no_canonical_form() -> None:
    assert canonical("class Model(:\n") is None
    assert canonical("x = '\0'") is None


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x = 1",
        "class Model: pass",
        "class Model:\n    forward = 3",
        "def f(*a, b=1, **k): yield from a",
        "X = X + 1\nclass Model:\n    y = X",
    ],
)
def test_odd_python_has_a_canonical_form(code: str) -> None:
    assert isinstance(canonical(code), Canonical)


def test_python_of_any_kind_is_read_without_an_error() -> None:
    """Standard library modules as a stand-in for whatever a model may write."""
    folder = Path(ast.__file__).parent
    for name in ("ast", "dataclasses", "enum", "functools", "inspect", "asyncio/base_events", "typing", "contextlib", "tempfile"):
        assert isinstance(canonical((folder / f"{name}.py").read_text()), Canonical), name


def test_nesting_beyond_the_stack_gives_none_and_no_error() -> None:
    assert canonical("class Model:\n    x = " + "+".join(["y"] * 20000)) is None


@pytest.mark.parametrize(
    "code",
    [
        "X = Y + 1\nY = X + 1\nclass Model:\n    def forward(self, x): return X",
        "A0 = (1,)\n"
        + "".join(f"A{i} = (A{i - 1}, A{i - 1})\n" for i in range(1, 40))
        + "class Model:\n    def forward(self, x): return A39",
        "".join(f"def f{i}(x): return f{i + 1}(x) + f{i + 1}(x * 2)\n" for i in range(30))
        + "class Model:\n    def forward(self, x): return f0(x)",
        "class Model:\n    def __init__(self):\n        part = [part]\n        part.append(nn.Sequential(*part))\n"
        "        self.net = nn.Sequential(*part, *part)\n    def forward(self, x): return self.net(x)",
        "class Model:\n    def __init__(self): self.inner = Model()\n    def forward(self, x): return self.inner(x) + self.forward(x)",
    ],
    ids=["constants in a circle", "constants that double", "helpers that double", "a list in itself", "a model in itself"],
)
def test_code_that_grows_without_end_is_read_in_bounded_time(code: str) -> None:
    began = time.process_time()
    assert canonical(code) is not None
    assert time.process_time() - began < 2


def test_jaccard_agrees_with_python_sets() -> None:
    random = np.random.default_rng(0)
    sets = [np.unique(random.integers(0, 60, size).astype(np.uint32)) for size in (0, 1, 5, 30, 60)]
    for left in sets:
        expected = [len(set(left) & set(right)) / max(len(set(left) | set(right)), 1) for right in sets]
        assert jaccards(left, sets) == pytest.approx(expected)
        assert [jaccard(left, right) for right in sets] == pytest.approx(expected)


def test_shingles_are_five_tokens_each() -> None:
    assert shingles(list("abcdefg")).size == 3
    assert shingles(list("abc")).size == 1
    assert np.array_equal(shingles(list("abcdeabcde")), np.unique(shingles(list("abcdeabcde"))))


def test_numbers_are_kept_in_an_order_that_renaming_does_not_change() -> None:
    code = FRAME.format(init="self.fc = nn.Linear(width, 128)", forward="return self.fc(x) * 0.5")
    assert canonical(code).numbers == canonical(SURE["renamed"](code)).numbers == (0.5, 128, 256, 64, 256)


def test_dataflow_sees_through_modules_helpers_and_statement_order() -> None:
    plain = task("self.act = nn.GELU()", "a = x.sin()\n        b = x.cos()\n        return self.act(a - b)")
    turned = task(forward="b = torch.cos(x)\n        a = torch.sin(x)\n        return F.gelu(a - b)")
    split = canonical(
        FRAME.format(init="self.tail = Tail()", forward="return self.tail(x)")
        + "class Tail(nn.Module):\n    def forward(self, y):\n        return F.gelu(y.sin() - y.cos())\n"
    )
    assert plain.operators == turned.operators == split.operators == ("sin", "cos", "sub", "gelu")
    assert plain.flow == turned.flow == split.flow


def test_dataflow_keeps_order_and_wiring_apart() -> None:
    forms = [
        task(forward=f"return {what}")
        for what in ("x.sin().cos()", "x.cos().sin()", "x.sin().cos() + x", "x.sin().cos() + x.sin()", "x.sin() + x.cos()")
    ]
    assert len({form.flow for form in forms}) == len(forms)


POOLED = "F.adaptive_avg_pool1d({}, 8)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (POOLED.format("x"), POOLED.format("x.repeat_interleave(2, 1)")),
        (POOLED.format("x.repeat(1, 2)"), POOLED.format("x.repeat_interleave(2, 1)")),
        (POOLED.format("x"), POOLED.format("x.tile(2)")),
        (POOLED.format("x"), POOLED.format("x.flip(1)")),
        (POOLED.format("x"), POOLED.format("x.tril()")),
        (POOLED.format("x.triu()"), POOLED.format("x.tril()")),
        ("F.interpolate(F.unfold(x, 3), scale_factor=2)", "F.interpolate(x, scale_factor=2)"),
        ("nn.Upsample(scale_factor=2)(nn.Unfold(3)(x))", "F.interpolate(x.tile(2), scale_factor=2)"),
        ("torch.matmul(x, x)", "torch.tril(torch.matmul(x, x))"),
        ("F.pad(x, (1, 1), mode='reflect')", "F.pad(x, (1, 1))"),
        ("F.pad(x, (1, 1), 'circular')", "F.pad(x, (1, 1), 'replicate')"),
        ("nn.ReflectionPad1d(2)(x)", "nn.ConstantPad1d(2, 0.5)(x)"),
        ("nn.ReplicationPad2d(2)(x)", "nn.ZeroPad2d(2)(x)"),
        ("F.interpolate(x, scale_factor=2, mode='bilinear')", "F.interpolate(x, scale_factor=2)"),
        ("nn.UpsamplingBilinear2d(2)(x)", "nn.UpsamplingNearest2d(2)(x)"),
        ("torch.fft.fft(x).real.exp()", "torch.fft.fft(x).imag.exp()"),
        ("(x.float() * x.float().pow(2).mean(-1).rsqrt()).type_as(x) * self.w", "x * self.w"),
        ("x.int().bitwise_not() + x", "x + x"),
    ],
)
def test_what_changes_or_repeats_values_is_a_step_of_the_dataflow(one: str, other: str) -> None:
    left, right = (task(forward=f"return {what}") for what in (one, other))
    assert left.flow != right.flow and left.digest != right.digest
    assert left.operators != right.operators


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x.tile(2).exp()", "torch.exp(x.repeat(1, 2))"),
        ("nn.ReflectionPad1d(2)(x)", "F.pad(x, (2, 2), mode='reflect')"),
        ("nn.ConstantPad1d(2, 0.5)(x)", "F.pad(x, (2, 2), value=0.5)"),
        ("nn.Upsample(scale_factor=2, mode='bilinear')(x)", "F.interpolate(x, scale_factor=2, mode='bilinear')"),
        ("nn.UpsamplingBilinear2d(scale_factor=2)(x)", "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True)"),
        ("nn.Flatten()(x).exp()", "torch.flatten(x, 1).exp()"),
        ("torch.where(x > 0, x, torch.zeros_like(x))", "torch.where(x > 0, x, 0.0)"),
        ("torch.fft.fft(x).real.exp()", "torch.exp(torch.real(torch.fft.fft(x)))"),
        ("x.float().exp()", "torch.exp(x.to(torch.float32))"),
        ("x.sum() / float(x.size(0))", "x.sum() / len(x)"),
        ("x.exp() * x.numel()", "x.exp() * 256"),
    ],
)
def test_two_spellings_of_what_changes_values_are_one_dataflow(one: str, other: str) -> None:
    left, right = (task(forward=f"return {what}") for what in (one, other))
    assert left.flow == right.flow is not None


def test_dataflow_walks_containers_and_loops() -> None:
    chain = task("self.net = nn.Sequential(nn.Linear(width, 8), nn.ReLU())", "return self.net(x)")
    loop = task(
        "self.net = nn.ModuleList([nn.Linear(width, 8), nn.ReLU()])",
        "for layer in self.net:\n            x = layer(x)\n        return x",
    )
    assert chain.operators == loop.operators == ("linear", "relu")
    assert chain.flow == loop.flow


def test_a_call_that_cannot_be_followed_has_no_dataflow_digest() -> None:
    assert task("self.f = make(width)", "return self.f(x)").flow is None


def test_dead_code_is_no_operator() -> None:
    assert task(forward="y = x.sin()\n        return x.cos()").operators == ("cos",)


def test_a_task_takes_under_two_milliseconds() -> None:
    code = FRAME.format(init="self.fc = nn.Linear(width, 8)", forward="x = F.gelu(self.fc(x))\n        return x.sum(dim=1)")
    took = []
    for _ in range(20):
        began = time.process_time()
        canonical(code)
        took.append(time.process_time() - began)
    assert min(took) < 0.002
