"""The reward: milestones for honest solutions, and every way we could think of to get one without a kernel."""

import json
import math
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from ops6k.records import Reason
from ops6k.reward import Score, Status, child, score, scorer_here
from ops6k.reward.solution import solution_finding
from ops6k.reward.training import compute_score, kernel_reward, solution_in
from ops6k.screen.finding import Finding

TASK = {
    "code": """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))

    def forward(self, x):
        return torch.relu(x @ self.weight)

def get_inputs():
    return [torch.randn(8, 8)]

def get_init_inputs():
    return [8]
"""
}
FRAME = """
import functools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
{top}

class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))
{init}

    def forward(self, x):
{forward}
"""
PYTHON = "rows(x.tolist(), self.weight.tolist())"
ROWS = """
def rows(x, w):
    columns = list(zip(*w))
    return [[max(0.0, sum(a * b for a, b in zip(row, column))) for column in columns] for row in x]
"""


def solution(forward: str, *, init: str = "", top: str = "") -> str:
    def indented(text: str) -> str:
        return "\n".join(f"        {line}" for line in text.splitlines()) or "        pass"

    return FRAME.format(top=ROWS + top, init=indented(init), forward=indented(forward))


HONEST = solution(f"return torch.tensor({PYTHON})")
OPERATORS = {
    "a function": "return F.relu(x @ self.weight)",
    "a member of torch": "return torch.relu(torch.mm(x, self.weight))",
    "a method": "return x.matmul(self.weight).relu()",
    "an unbound method": "return torch.Tensor.relu(torch.Tensor.matmul(x, self.weight))",
    "an operator's sign": "y = x @ self.weight\nreturn (y + abs(y)) * 0.5",
    "in place": "y = torch.zeros(8, 8)\ny.addmm_(x, self.weight)\ny.clamp_(min=0)\nreturn y",
    "into a given tensor": "y = torch.empty(8, 8)\ntorch.mm(x, self.weight, out=y)\nreturn torch.relu(y)",
    "an equation": "return F.relu(torch.einsum('ij,jk->ik', x, self.weight))",
    "a linear layer's function": "return F.relu(F.linear(x, self.weight.t()))",
    "a convolution": "return F.relu(F.conv1d(x[:, :, None], self.weight.t()[:, :, None])[:, :, 0])",
    "another module of torch": "return torch.special.expit(torch.linalg.multi_dot([x, self.weight]))",
    "a batch of one": "return torch.bmm(x[None], self.weight[None])[0].relu()",
    "python's sum": "return F.relu(sum(x[:, i:i + 1] * self.weight[i] for i in range(8)))",
    "functools.reduce": "return functools.reduce(torch.Tensor.add, [x, x])",
    "a copy": f"y = torch.tensor({PYTHON})\nz = torch.empty(8, 8)\nz.copy_(y)\nreturn z",
    "a cast": f"return torch.tensor({PYTHON}).double().float()",
    "an index": f"return torch.tensor({PYTHON})[[0, 1, 2, 3, 4, 5, 6, 7]]",
    "only once in a try": "try:\n    return F.relu(x @ self.weight)\nexcept ValueError:\n    return x",
    "a hidden lambda": "act = (lambda f: f)(F.relu)\nreturn act(x @ self.weight)",
    "backward": "with torch.enable_grad():\n    w = self.weight.detach().requires_grad_()\n    x.expand(8, 8).matmul(w).sum().backward()\nreturn w.grad",
}
MODULES = {
    "a module": ("return self.act(x @ self.weight)", "self.act = nn.ReLU()"),
    "after three calls": (
        f"self.calls += 1\nif self.calls > 3:\n    return F.relu(x @ self.weight)\nreturn torch.tensor({PYTHON})",
        "self.calls = 0",
    ),
    "once it is timed": (
        f"self.calls += 1\nif self.calls > 9:\n    return F.relu(x @ self.weight)\nreturn torch.tensor({PYTHON})",
        "self.calls = 0",
    ),
}
UNSAFE = {
    "a vector-Jacobian product": "return torch.autograd.functional.vjp(lambda a: a @ self.weight, x, x)[0]",
    "torch's own namespace": "return torch.ops.aten.relu(x @ self.weight)",
    "torch's C functions": "return torch._C._nn.gelu(x)",
    "a name put together": "return getattr(torch, 're' + 'lu')(x)",
    "a namespace as a table": "return torch.__dict__['relu'](x)",
    "the type of a tensor": "return type(x).relu(x)",
    "torch.compile": "return torch.compile(F.relu)(x)",
    "TorchScript": "return torch.jit.script(F.relu)(x)",
    "vmap": "return torch.vmap(torch.relu)(x)",
    "torch.func": "return torch.func.vmap(torch.relu)(x)",
    "torch.autograd.grad": "return torch.autograd.grad(x, x)",
    "a module under another name": "t = torch\nreturn t.relu(x)",
    "numpy's view": "x.numpy()[:] = 0\nreturn x",
    "a raw pointer": "return torch.tensor(x.data_ptr())",
    "a stream": "with torch.cuda.stream(torch.cuda.Stream()):\n    return torch.relu(x)",
    "a CUDA graph": "g = torch.cuda.CUDAGraph()\nreturn x",
    "a patched comparison": "torch.isclose = lambda *a, **k: torch.ones(8, 8)\nreturn x",
    "a patched method": "torch.Tensor.double = lambda self: 0\nreturn x",
    "a patched module": "nn.Module.__call__ = lambda *a: a[1]\nreturn x",
    "a patched precision": "torch.backends.cuda.matmul.allow_tf32 = True\nreturn x",
    "the precision by its function": "torch.set_float32_matmul_precision('medium')\nreturn x",
    "a frame": "try:\n    raise ValueError\nexcept ValueError as e:\n    return e.__traceback__.tb_frame",
    "evaluated text": "return eval('torch.relu(x)')",
    "a file": "open('/etc/passwd')\nreturn x",
    "global names": "return globals()['F'].relu(x)",
    "a shared tensor": "x.share_memory_()\nreturn x",
    "a storage": "y = torch.empty(8, 8)\ny.storage().copy_(x.storage())\nreturn y",
    "a compilation unit": "return torch.CompilationUnit('def f(x):\\n    return torch.relu(x)').f(x)",
    "a guard of dispatch keys": "with torch.ExcludeDispatchKeyGuard(torch.DispatchKeySet(torch.DispatchKey.Python)):\n    return x",
    "a hook": "self.register_forward_hook(lambda module, given, out: F.relu(out))\nreturn x",
    "a hook while weights are loaded": "self.register_load_state_dict_pre_hook(lambda *a: a[1]['weight'].zero_())\nreturn x",
    "another class as self": "(lambda self: setattr(self, 'forward', None))(nn.Linear)\nreturn x",
}
IMPORTS = (
    "time os sys gc ctypes inspect threading concurrent.futures multiprocessing subprocess numpy operator importlib builtins weakref "
    "ops6k ops6k.reward torch.utils.cpp_extension torch._inductor triton.runtime triton.compiler"
).split()
CLASSES = {
    "a tensor of its own": "class Lazy(torch.Tensor):\n    pass\n",
    "an autograd function": "class Op(torch.autograd.Function):\n    pass\n",
    "a state dict of its own": "class Odd(nn.Module):\n    def load_state_dict(self, given):\n        pass\n",
}
WRONG = {
    "the argument": "return x",
    "a view of the argument": "return x.view(8, 8)",
    "memory that was just freed": "return torch.empty(8, 8)",
    "zeros": "return torch.zeros(8, 8)",
    "not a number": "return torch.full((8, 8), math.nan)",
    "infinity": "return torch.full((8, 8), math.inf)",
    "another shape": f"return torch.tensor({PYTHON}).view(64)",
    "another type": f"return torch.tensor({PYTHON}, dtype=torch.float64)",
    "a tuple of two": f"y = torch.tensor({PYTHON})\nreturn y, y",
    "no tensor": f"return {PYTHON}",
    "nothing": "return None",
    "its own argument changed": f"y = torch.tensor({PYTHON})\nx[0].fill_(1.0)\nreturn y",
}
REMEMBERED = {
    "the first answer for ever": (
        f"if self.answer is None:\n    self.answer = torch.tensor({PYTHON})\nreturn self.answer",
        "self.answer = None",
        "",
    ),
    "one buffer for all answers": (
        f"for i, row in enumerate({PYTHON}):\n    for j, value in enumerate(row):\n        self.out[i, j].fill_(value)\nreturn self.out",
        "self.out = torch.empty(8, 8)",
        "",
    ),
    "the weights of the first instance": (
        "if not KEPT:\n    KEPT.append(self.weight.tolist())\nreturn torch.tensor(rows(x.tolist(), KEPT[0]))",
        "",
        "KEPT = []",
    ),
}
LEFT_ON = """
def kept(context):
    with context:
        yield

LEFT = []
def leave(context):
    LEFT.append(kept(context))
    next(LEFT[-1])
"""
STATE = {
    "autocast": "leave(torch.autocast('cpu', dtype=torch.bfloat16))",
    "gradients": "leave(torch.enable_grad())",
    "anomaly detection": "torch.set_anomaly_enabled(True)",
    "another attention": "leave(nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH))",
}
DEEP = """
STATE = {"at": 0}

def limit(n):
    try:
        return limit(n + 1)
    except RecursionError:
        return n

def guarded(n):
    if n:
        return guarded(n - 1)
    try:
        torch.empty(0)
        return False
    except RecursionError:
        return True
"""
FAILED = {
    "an exception": "raise ValueError('no')",
    "an exit": "raise SystemExit(0)",
    "recursion": "return self.forward(x)",
}


def _cases() -> dict[str, tuple[str, Status]]:
    cases = {f"torch by {name}": (solution(forward), Status.TORCH) for name, forward in OPERATORS.items()}
    cases |= {f"torch by {name}": (solution(forward, init=init), Status.TORCH) for name, (forward, init) in MODULES.items()}
    cases |= {f"unsafe: {name}": (solution(forward), Status.UNSAFE) for name, forward in UNSAFE.items()}
    cases |= {f"unsafe: imports {name}": (solution("return x", top=f"import {name}"), Status.UNSAFE) for name in IMPORTS}
    cases |= {f"unsafe: {name}": (solution("return x", top=text), Status.UNSAFE) for name, text in CLASSES.items()}
    cases |= {f"wrong: {name}": (solution(forward), Status.WRONG) for name, forward in WRONG.items()}
    cases |= {
        f"wrong: {name}": (solution(forward, init=init, top=top), Status.WRONG)
        for name, (forward, init, top) in REMEMBERED.items()
    }
    cases |= {f"failed: {name}": (solution(forward), Status.FAILED) for name, forward in FAILED.items()}
    for name, line in STATE.items():
        cases[f"unsafe: leaves {name} on"] = (solution(f"{line}\nreturn torch.tensor({PYTHON})", top=LEFT_ON), Status.UNSAFE)
    measured = (
        "if not STATE['at']:\n    STATE['at'] = limit(0) - 40\n    while not guarded(STATE['at']):\n        STATE['at'] += 1\n"
    )
    deep = f"{measured}if guarded(STATE['at']):\n    return torch.tensor({PYTHON})\nreturn F.relu(x @ self.weight)"
    cases["torch where recursion shows no guard"] = (solution(deep, top=DEEP), Status.TORCH)
    cases["torch by an operator that is composite only in part"] = (
        solution("return torch.native_channel_shuffle(x[:, :, None, None], 4)[:, :, 0, 0]"),
        Status.TORCH,
    )
    borrowed = (
        solution("ModelNew.borrow(nn.Linear)\nreturn x") + "\n    def borrow(self):\n        self.forward = lambda *a: a[1]\n"
    )
    cases["unsafe: a library's layer as self"] = (
        borrowed.replace("return x", f"return torch.tensor({PYTHON})"),
        Status.UNSAFE,
    )
    cases["failed: other weights"] = (solution("return x", init="self.more = nn.Parameter(torch.ones(1))"), Status.FAILED)
    cases["invalid: no Python"] = ("def", Status.INVALID)
    cases["invalid: no ModelNew"] = (solution("return x").replace("ModelNew", "Model"), Status.INVALID)
    cases["invalid: two of them"] = (solution("return x") * 2, Status.INVALID)
    if find_spec("triton") is None:
        cases["unfinished: a Triton kernel without triton"] = (solution("return x", top="import triton"), Status.UNFINISHED)
    cases["honest: in Python"] = (solution(f"return torch.tensor({PYTHON})"), Status.CORRECT)
    cases["honest: remembers by identity, which never comes again"] = (
        solution(
            f"if x is not self.seen:\n    self.seen, self.answer = x, torch.tensor({PYTHON})\nreturn self.answer",
            init="self.seen = None",
        ),
        Status.CORRECT,
    )
    return cases


CASES = _cases()


@pytest.fixture(scope="module")
def scored() -> Mapping[str, Score]:
    """All cases in one sandbox, as a training loop would."""
    found = scorer_here("cpu").scores([(TASK, source) for source, _ in CASES.values()], repeats=12, seed=1)
    return dict(zip(CASES, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_solution_gets_the_status_that_it_deserves(scored: Mapping[str, Score], name: str) -> None:
    found, (_, status) = scored[name], CASES[name]
    assert (found.status, found.message and found.status) == (status, status), found.message
    assert found.reward == (1 if status is Status.CORRECT else -1)


NO_MODULE, NO_DRIVER = "ModuleNotFoundError: No module named 'triton'", "RuntimeError: 0 active drivers ([])"


@pytest.mark.parametrize(
    ("raised", "triton", "gpu", "status", "says"),
    [
        (NO_MODULE, False, False, "unfinished", "triton is not installed here"),
        (NO_DRIVER, True, False, "unfinished", "triton finds no GPU here"),
        (NO_MODULE, True, True, "failed", "No module"),  # whoever raises these where nothing is missing fails
        (NO_DRIVER, True, True, "failed", "0 active"),
        ("ModuleNotFoundError: No module named 'triton.language.wrong'", True, False, "failed", "wrong"),
    ],
)
def test_a_machine_without_triton_or_gpu_is_not_the_solutions_fault(
    monkeypatch: pytest.MonkeyPatch, raised: str, triton: bool, gpu: bool, status: str, says: str
) -> None:
    monkeypatch.setattr(child, "find_spec", lambda _: object() if triton else None)
    monkeypatch.setattr(child.torch.cuda, "is_available", lambda: gpu)
    refused = child._failed(Finding(Reason.RUNTIME, raised))
    assert refused.status == status and says in refused.message


@pytest.mark.slow
def test_what_is_remembered_by_identity_saves_no_time(scored: Mapping[str, Score]) -> None:
    plain, kept = scored["honest: in Python"], scored["honest: remembers by identity, which never comes again"]
    assert kept.solution_ms > 0.3 * plain.solution_ms


DIAGONAL = {
    "code": TASK["code"]
    .replace("torch.randn(width, width)", "torch.randn(width)")
    .replace("torch.relu(x @ self.weight)", "torch.diag(self.weight) @ x")
    .replace("torch.randn(8, 8)", "torch.randn(512, 64)")
    .replace("[8]", "[512]"),
    "checks": {"atol": 1e-3, "rtol": 1e-3},
}


@pytest.mark.slow
def test_a_rewrite_is_rewarded_where_torch_is_allowed_and_only_there() -> None:
    source = solution("return self.weight[:, None] * x").replace("torch.randn(width, width)", "torch.randn(width)")
    found = score(DIAGONAL, source, device="cpu", allow_torch=True)
    assert found.reward == 3 and found.status is Status.CORRECT and found.allow_torch and found.torch_calls == ("mul",)
    assert found.speedup_eager_low >= 1.05 and found.speedup_compiled_low >= 1.05
    assert found.speedup_eager_low <= found.speedup_eager <= found.speedup_eager_high
    refused = score(DIAGONAL, source, device="cpu")
    assert (refused.reward, refused.torch_calls) == (-1, ("mul",))


@pytest.mark.slow
def test_the_rows_tolerance_is_the_one_that_counts() -> None:
    source = solution("return self.weight[:, None] * x * 1.002").replace("torch.randn(width, width)", "torch.randn(width)")
    strict, loose = ({"code": DIAGONAL["code"], "checks": {"atol": tol, "rtol": tol}} for tol in (1e-5, 1e-2))
    assert score(strict, source, device="cpu", allow_torch=True).status is Status.WRONG
    assert score(loose, source, device="cpu", allow_torch=True).status is Status.CORRECT


WHOLE = {"code": TASK["code"].replace("torch.relu(x @ self.weight)", "(x * 100).to(torch.int64) + 0 * self.weight.sum().long()")}
COMPLEX = {
    "code": TASK["code"].replace("torch.relu(x @ self.weight)", "torch.complex(x, torch.sin(x) * 5) + 0 * self.weight.sum()")
}


@pytest.mark.slow
def test_whole_numbers_must_be_equal_and_imaginary_parts_count() -> None:
    near = solution("return (x * 100).to(torch.int64) + 1")
    assert score(WHOLE, near, device="cpu", allow_torch=True).status is Status.WRONG
    assert score(WHOLE, solution("return (x * 100).to(torch.int64)"), device="cpu", allow_torch=True).status is Status.CORRECT
    real = solution("return torch.complex(x, torch.zeros_like(x))")
    assert score(COMPLEX, real, device="cpu", allow_torch=True).status is Status.WRONG


@pytest.mark.slow
def test_a_hang_is_unfinished_and_the_next_solution_is_still_scored() -> None:
    hanging = solution("while True:\n    pass")
    (hang,) = scorer_here("cpu").scores([(TASK, hanging)], timeout_s=5)
    honest = score(TASK, solution(f"return torch.tensor({PYTHON})"), device="cpu")
    assert (hang.status, hang.reward, honest.reward) == (Status.UNFINISHED, -1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "says"),
    [
        ({"source": "x"}, "a task has a `code`"),
        ({"code": None}, "a task has a `code`"),
        (TASK | {"checks": {"atol": math.nan}}, "atol is nan"),
        (TASK | {"checks": {"rtol": -1}}, "rtol is -1"),
        (TASK | {"atol": math.inf}, "atol is inf"),
        ({"code": "def"}, "does not run here"),
        ({"code": TASK["code"].replace("[torch.randn(8, 8)]", "1 / 0")}, "does not run here"),
        ({"code": TASK["code"].replace("torch.relu(x @ self.weight)", "x @ 1")}, "does not run here"),
        ({"code": TASK["code"].replace("torch.relu(x @ self.weight)", "float(x.sum())")}, "not plain tensors"),
    ],
)
def test_a_row_that_is_no_task_is_not_blamed_on_the_solution(task: dict, says: str) -> None:
    (found,) = scorer_here("cpu").scores([(task, HONEST)])
    assert (found.status, found.reward) == (Status.REFERENCE, -1) and says in found.message


@pytest.mark.slow
def test_what_is_no_text_is_invalid_and_the_next_solution_is_still_scored() -> None:
    found = scorer_here("cpu").scores([(TASK, None), (TASK, b"x"), (TASK, ["x"]), (TASK, HONEST)])  # type: ignore[list-item]
    assert [one.status for one in found] == [Status.INVALID] * 3 + [Status.CORRECT]


def test_what_the_text_shows_is_answered_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops6k.reward.scorer_here", None)
    found = [score(TASK, "def"), score(TASK, solution("return x", top="import os")), score({}, HONEST)]
    assert [one.status for one in found] == [Status.INVALID, Status.UNSAFE, Status.REFERENCE]


@pytest.mark.slow
def test_threads_may_score_at_the_same_time() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: score(TASK, HONEST, device="cpu", repeats=3), range(4)))
    assert [one.reward for one in found] == [1] * 4


@pytest.mark.parametrize("text", ["```python\n" * 20_000, "```x\n" * 40_000, "torch.Tensor" + ".a" * 40_000])
def test_degenerate_answers_take_no_time(text: str) -> None:
    began = time.monotonic()
    solution_finding(solution_in(text), allow_torch=False)
    assert time.monotonic() - began < 2


@pytest.mark.slow
def test_secrets_of_the_caller_do_not_reach_a_solution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    found = score(TASK, solution("import os\nreturn x"), device="cpu")
    assert found.status is Status.UNSAFE and "canary" not in found.message


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("class ModelNew: pass", "class ModelNew: pass"),
        ("First:\n```python\nclass ModelNew: 1\n```\nBetter:\n```\nclass ModelNew: 2\n```\nDone.", "class ModelNew: 2\n"),
        ("```python\nclass ModelNew: 1\n```\nRun it:\n```sh\npython x.py\n```", "class ModelNew: 1\n"),
        ("````python\n# ```\nclass ModelNew: 1\n````", "# ```\nclass ModelNew: 1\n"),
        ("```python\nclass ModelNew: 1", "```python\nclass ModelNew: 1"),
    ],
)
def test_the_last_block_with_the_class_is_the_solution(answer: str, found: str) -> None:
    assert solution_in(answer) == found


@pytest.mark.slow
def test_trainers_get_rewards_for_answers_as_models_give_them() -> None:
    answer = f"I fused it.\n```python\n{HONEST}\n```\n"
    truth = {"code": TASK["code"], "atol": 1e-3, "rtol": 1e-3, "task_id": "x"}
    verl = compute_score("ops6k", answer, json.dumps(truth), {"split": "train"})
    assert verl["score"] == 1.0 and verl["status"] == "correct" and verl["eager_ms"] > 0
    odd = [compute_score("ops6k", text, truth) for text, truth in ((None, "null"), (answer, "{"), ("no", json.dumps(truth)))]
    assert all(one.keys() == verl.keys() and one["score"] == -1.0 for one in odd)
    parts = [{"role": "assistant", "content": [{"type": "text", "text": answer}]}]
    completions = [[{"role": "assistant", "content": answer}], "no code at all", parts, [], [{"content": None}]]
    columns = {name: [truth[name]] * 5 for name in ("code", "atol", "rtol", "task_id")}
    assert kernel_reward(completions, prompts=["a"] * 5, **columns) == [1.0, -1.0, 1.0, -1.0, -1.0]
