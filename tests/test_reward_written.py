"""What the text of a solution may hold where torch's operators are allowed, and what still refuses it."""

import pytest

from ops6k.reward import Status, score
from ops6k.reward.solution import solution_finding
from ops6k.screen.load import load_task
from ops6k.train.plans import Plan
from ops6k.train.rewrites import applicable, capture, emit

CODE = """import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 8, 3, bias=False), nn.BatchNorm2d(8))
    def forward(self, x):
        return torch.relu(torch.relu(self.layers(x))) + torch.tensor(2.0)
def get_inputs():
    return [torch.rand(2, 4, 12, 12)]
def get_init_inputs():
    return [4]
"""


def written(plan: Plan) -> str:
    task = load_task(CODE)
    model = task.model(4).eval()
    return emit(CODE, capture(model, task.get_inputs()), plan)


def rewrites() -> tuple[str, ...]:
    task = load_task(CODE)
    return applicable(capture(task.model(4).eval(), task.get_inputs()))


@pytest.mark.slow
def test_what_a_plan_is_written_out_as_is_right_by_our_own_reward():
    text = written(Plan(rewrites(), True))
    assert "torch.ops.aten" in text and "hook(ModelNew.prepare)" in text
    found = score({"code": CODE}, text, device="cpu", allow_torch=True, repeats=3)
    assert found.status is Status.CORRECT and found.reward >= 1, found.message
    assert score({"code": CODE}, text, device="cpu").status is Status.UNSAFE


REFUSED = {
    "an operator that changes a tensor": "return torch.ops.aten.relu_.default(x)",
    "an operator into a given tensor": "return torch.ops.aten.relu.out(x, out=x)",
    "a file": "return torch.ops.aten.from_file.default('/etc/passwd', False, 8)",
    "what TorchScript alone knows": "return torch.ops.aten.save.default(x, 'y')",
    "an operator as a value": "f = torch.ops.aten.relu.default\nreturn f(x)",
    "an operator without overload": "return torch.ops.aten.relu(x)",
    "its kernels": "torch.ops.aten.relu.default.py_impl(0)(x)\nreturn x",
    "another namespace": "return torch.ops.prims.sin.default(x)",
    "the namespace as a value": "aten = torch.ops.aten\nreturn aten.relu.default(x)",
    "what stands before the namespace": "return open('/etc/passwd').torch.ops.aten.relu.default(x)",
    "a module before the namespace": "return __import__('os').popen('id').torch.ops.aten.relu.default(x)",
    "a library": "torch.ops.load_library('x.so')\nreturn x",
    "another hook": "self.register_forward_hook(lambda *a: a[2])\nreturn x",
    "a hook before weights are loaded": "self.register_load_state_dict_pre_hook(ModelNew.forward)\nreturn x",
    "a hook of anything": "self.register_load_state_dict_post_hook(lambda *a: None)\nreturn x",
    "a hook that every module has": "self.register_load_state_dict_post_hook(ModelNew.load_state_dict)\nreturn x",
    "a hook of Python's own": "self.register_load_state_dict_post_hook(ModelNew.__setattr__)\nreturn x",
    "an attribute by a name": "return getattr(torch, 'relu')(x)",
    "an attribute by a made name": "return getattr(self, '_' + '0')(x)",
    "a file at hand": "open('/etc/passwd')\nreturn x",
    "a patch": "torch.relu = torch.ops.aten.relu.default(x)\nreturn x",
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_torch_is_allowed_the_rest_is_refused_as_before(name: str):
    body = "\n".join(f"        {line}" for line in REFUSED[name].splitlines())
    text = f"import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n{body}\n"
    found = solution_finding(text, allow_torch=True)
    assert found is not None and found.reason.outcome == "unsafe", found


TAKEN = {
    "an operator": "return torch.ops.aten.relu.default(x)",
    "an operator of Python's own name": "return torch.ops.aten.__and__.Tensor(x > 0, x < 1)",
    "a numbered layer": "return getattr(self.layers, '0')(x)",
    "a layer with a name that is a keyword": "return getattr(self.layers, 'class')(x)",
    "a layer with a name that is no identifier": "return getattr(self.layers, 'conv-1')(x)",
}


@pytest.mark.parametrize("name", TAKEN)
def test_where_torch_is_allowed_what_a_plan_is_written_in_is_taken(name: str):
    text = f"import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        {TAKEN[name]}\n"
    assert solution_finding(text, allow_torch=True) is None
    assert solution_finding(text, allow_torch=False) is not None


@pytest.mark.parametrize("top", ["from torch.ops.aten import relu", "import torch.ops.aten.relu as r", "from torch import ops"])
def test_operators_are_not_imported(top: str):
    text = f"import torch\n{top}\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    assert solution_finding(text, allow_torch=True).reason.outcome == "unsafe"
