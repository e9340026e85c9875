"""Measures one task under several plans, inside a sandboxed child: correct first, then timed in turns.

Standard library, torch and numpy, and the screen's building blocks: this runs on a bare GPU machine. What a plan does wrong
is a status; only a task whose eager forward does not run raises, and so loses its child.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from ops6k.sandbox.child import enter
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.load import load_task
from ops6k.train.paired import device_lock, paired_ms, ratio_interval
from ops6k.train.plans import BY_NAME, Plan

FRESH_INPUTS = 5
"""Draws of the inputs that a plan must get right."""
WARM_UPS = 3
"""Untimed runs: the first compile, the second may record a CUDA graph."""


@dataclass(frozen=True, slots=True)
class Request:
    """The payload."""

    code: str
    plans: tuple[str, ...]
    repeats: int
    atol: float
    rtol: float
    seed: int
    device: str
    threads: int
    matmul_precision: str
    tf32: bool
    lock: str


@dataclass(frozen=True, slots=True)
class Ready:
    """A plan that runs."""

    plan: Plan
    forward: torch.nn.Module | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Failure:
    """A plan that does not, as a status of times.PlanStatus."""

    status: str
    message: str


class ChannelsLast(torch.nn.Module):
    """A module whose 4-d arguments are reordered first, as part of its forward."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module.to(memory_format=torch.channels_last)

    def forward(self, *arguments: object) -> object:
        return self.module(*[x.contiguous(memory_format=torch.channels_last) if _is_4d(x) else x for x in arguments])


def measure_plans(payload: dict) -> dict:
    """{"machine": {...}, "plans": [{plan, status, message, ms, ratio_eager, ...}]}; fields as in times.PlanTime."""
    request = Request(**payload | {"plans": tuple(payload["plans"])})
    _set_precision(request)
    with torch.no_grad():
        enter("eager")
        reference = Ready(BY_NAME["eager"], _model(request, "task"))
        inputs = _inputs(request, 0)
        reference.forward(*inputs)
        # Ratios need eager and default compile, whatever is asked for.
        names = dict.fromkeys(("eager", "default", *request.plans))
        built = {name: reference if name == "eager" else _build(BY_NAME[name], reference, inputs, request) for name in names}
        checked = _check(built, reference, request)
        return {"machine": _machine(request.device), "plans": _timed(checked, inputs, request)}


def _build(plan: Plan, reference: Ready, inputs: Sequence[object], request: Request) -> Ready | Failure:
    """The task under a plan, compiled and run a few times. Code of its own: dynamo's cache is per code object."""
    enter(plan.name)
    if plan.channels_last and not any(map(_is_4d, (*inputs, *reference.forward.parameters()))):
        return Failure("inapplicable", "no tensor has four axes")

    def build() -> Ready:
        module = _model(request, f"task_{plan.name}")
        module.load_state_dict(reference.forward.state_dict(), assign=True)
        if plan.channels_last:
            module = ChannelsLast(module)
        if plan.backend == "inductor":
            module = torch.compile(module, fullgraph=True, options=dict(plan.options))
        for _ in range(WARM_UPS):
            module(*inputs)
        return Ready(plan, module)

    return _or_failure(attempt(build))


def _check(built: dict[str, Ready | Failure], reference: Ready, request: Request) -> dict[str, Ready | Failure]:
    """The same, with plans that disagree with eager on fresh inputs as failures."""
    checked = dict(built)
    for draw in range(1, FRESH_INPUTS + 1):
        inputs = _inputs(request, draw)
        wanted = [tensor.clone() for tensor in _tensors(reference.forward(*inputs))]
        for name, ready in checked.items():
            if isinstance(ready, Ready) and ready is not reference:
                enter(name)
                got = attempt(lambda ready=ready, inputs=inputs: _tensors(ready.forward(*inputs)))
                failure = _or_failure(got) if isinstance(got, Finding) else _disagreement(got, wanted, request)
                checked[name] = failure or ready
    return checked


def _disagreement(got: list[torch.Tensor], wanted: list[torch.Tensor], request: Request) -> Failure | None:
    if [x.shape for x in got] != [x.shape for x in wanted]:
        return Failure("wrong", f"shapes {[tuple(x.shape) for x in got]}, not {[tuple(x.shape) for x in wanted]}")
    for index, (found, right) in enumerate(zip(got, wanted, strict=True)):
        close = torch.isclose(found.double(), right.double(), atol=request.atol, rtol=request.rtol, equal_nan=True)
        if not close.all():
            worst = (found.double() - right.double()).abs().max().item()
            return Failure("wrong", f"output {index}: {1 - close.double().mean().item():.2%} of the elements differ, by up to {worst:.3g}")
    return None


def _timed(checked: dict[str, Ready | Failure], inputs: Sequence[object], request: Request) -> list[dict]:
    """A row for each plan asked for."""
    ready = {name: found for name, found in checked.items() if isinstance(found, Ready)}
    generator = np.random.default_rng(request.seed)
    enter("timing")
    runs = [lambda forward=found.forward: forward(*inputs) for found in ready.values()]
    with device_lock(request.lock):
        for run in runs:
            run()
        times = dict(zip(ready, paired_ms(runs, request.repeats, request.device, generator), strict=True))
    return [{"plan": name} | _row(name, checked[name], times, generator) for name in request.plans]


def _row(name: str, found: Ready | Failure, times: dict[str, np.ndarray], generator: np.random.Generator) -> dict:
    if isinstance(found, Failure):
        return {"status": found.status, "message": found.message}
    row: dict = {"status": "correct", "message": "", "ms": float(np.median(times[name]))}
    for against, base in (("eager", "eager"), ("compiled", "default")):
        if base in times:
            middle, low, high = ratio_interval(times[base], times[name], generator)
            row |= {f"ratio_{against}": middle, f"ratio_{against}_low": low, f"ratio_{against}_high": high}
    return row


def _or_failure(found: Ready | Finding) -> Ready | Failure:
    if isinstance(found, Finding):
        return Failure("unfinished" if found.reason.outcome == "unfinished" else "failed", found.message)
    return found


def _model(request: Request, name: str) -> torch.nn.Module:
    loaded = load_task(request.code, name)
    torch.manual_seed(request.seed)
    return loaded.model(*loaded.get_init_inputs()).to(request.device).eval()


def _inputs(request: Request, draw: int) -> list:
    torch.manual_seed(request.seed + 1 + draw)
    with torch.device(request.device):
        return load_task(request.code).get_inputs()


def _set_precision(request: Request) -> None:
    torch.set_num_threads(request.threads)
    torch.set_float32_matmul_precision(request.matmul_precision)
    torch.backends.cuda.matmul.allow_tf32 = request.tf32
    torch.backends.cudnn.allow_tf32 = request.tf32


def _machine(device: str) -> dict:
    return {}


def _tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _is_4d(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 4
