"""Measures one task under several plans, inside a sandboxed child: correct first, then timed in turns.

Standard library, torch and numpy, and the screen's building blocks: this runs on a bare GPU machine. What a plan does wrong
is a status; only a task whose eager forward does not run raises, and so loses its child.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ops6k.sandbox import turns
from ops6k.sandbox.child import enter
from ops6k.screen.compare import disagreement
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import MODEL_SEED, make_inputs, make_model, set_precision, tensors_of
from ops6k.screen.judge import environment
from ops6k.screen.load import load_task
from ops6k.screen.timing import FLUSH_BYTES, one_run, ratio_interval
from ops6k.target import Target
from ops6k.train.plans import DEFAULT, EAGER, Plan
from ops6k.train.rewrites import NotCapturable, Program, capture, rewritten

INPUT_SEED = 2001
"""Of the timed inputs; fresh ones count up from it."""
FRESH_INPUTS = 5
"""Draws of the inputs that a plan must get right."""
BASE = "base"
"""The default compile that plans are compared with."""
_MODULE = re.compile(r"\W")
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
    target: Target
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


_CHANNELS_LAST = """
class ChannelsLast(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *arguments):
        images = [isinstance(x, torch.Tensor) and x.dim() == 4 for x in arguments]
        pairs = zip(arguments, images)
        return self.module(*[x.contiguous(memory_format=torch.channels_last) if image else x for x, image in pairs])
"""


def _channels_last(module: torch.nn.Module) -> torch.nn.Module:
    """A module whose 4-d arguments are reordered first, as part of its forward.

    Its class is made of text: Dynamo leaves names among the globals of what it compiles, and the sandbox would see this module changed.
    """
    names: dict = {"torch": torch, "__name__": "channels_last"}
    exec(compile(_CHANNELS_LAST, "<channels last>", "exec"), names)
    return names["ChannelsLast"](module)


@dataclass(frozen=True, slots=True)
class Subject:
    """The task as it stands, and its graph."""

    eager: Ready
    inputs: Sequence[object]
    program: Program | str
    """Why there is none, where it cannot be captured or no plan asks for it."""


def measure_plans(payload: dict) -> dict:
    """{"machine": {...}, "plans": [{plan, status, message, ms, ratio_eager, ...}]}; fields as in times.PlanTime.

    The row of default compile is that of a second compilation against the first: what its ratio shows is the noise.
    """
    request = Request(**payload | {"plans": tuple(payload["plans"]), "target": Target(**payload["target"])})
    set_precision(request.target)
    subject = _subject(request)
    # Ratios need eager and default compile, whatever is asked for.
    built: dict[str, Ready | Failure] = {EAGER.name: subject.eager, BASE: _build(DEFAULT, subject, request)}
    built |= {name: _build(Plan.named(name), subject, request) for name in request.plans if name != EAGER.name}
    checked = _check(built, subject.eager, request)
    return {"machine": _machine(request.target), "plans": _timed(checked, subject.inputs, request)}


def _subject(request: Request) -> Subject:
    enter(EAGER.name)
    eager = Ready(EAGER, _model(request, "task"))
    inputs = _inputs(request, 0)
    eager.forward(*inputs)
    program: Program | str = "no plan rewrites"
    if any(Plan.named(name).rewrites for name in request.plans):
        try:
            program = capture(eager.forward, inputs)
        except NotCapturable as error:
            program = str(error)
    return Subject(eager, inputs, program)


def _build(plan: Plan, subject: Subject, request: Request) -> Ready | Failure:
    """The task under a plan, compiled and run a few times. Code of its own: dynamo's cache is per code object."""
    enter(plan.name)
    if plan.channels_last and not any(map(_is_4d, (*tensors_of(subject.inputs), *subject.eager.forward.parameters()))):
        return Failure("inapplicable", "no tensor has four axes")
    if plan.rewrites and isinstance(subject.program, str):
        return Failure("inapplicable", f"no graph to rewrite: {subject.program}")

    def build() -> Ready:
        module = _model(request, f"task_{_MODULE.sub('_', plan.name)}")
        module.load_state_dict(subject.eager.forward.state_dict(), assign=True)
        if plan.channels_last:
            module = module.to(memory_format=torch.channels_last)
        if plan.rewrites:
            module = rewritten(subject.program, plan.rewrites).module(module)
        if plan.channels_last:
            module = _channels_last(module)
        if plan.options is not None:
            module = torch.compile(module, fullgraph=True, options=dict(plan.options))
        for _ in range(WARM_UPS):
            module(*subject.inputs)
        return Ready(plan, module)

    return _or_failure(attempt(build))


def _check(built: dict[str, Ready | Failure], reference: Ready, request: Request) -> dict[str, Ready | Failure]:
    """The same, with plans that disagree with eager on fresh inputs as failures."""
    checked = dict(built)
    for draw in range(1, FRESH_INPUTS + 1):
        inputs = _inputs(request, draw)
        enter(EAGER.name)
        wanted = [tensor.clone() for tensor in tensors_of(reference.forward(*inputs))]
        for name, ready in checked.items():
            if isinstance(ready, Ready) and ready is not reference:
                enter(name)
                got = attempt(lambda ready=ready, inputs=inputs: tensors_of(ready.forward(*inputs)))
                failure = _or_failure(got) if isinstance(got, Finding) else _disagreement(got, wanted, request)
                checked[name] = failure or ready
    return checked


def _disagreement(got: list[torch.Tensor], wanted: list[torch.Tensor], request: Request) -> Failure | None:
    found, right = ([(tuple(x.shape), x.dtype) for x in outputs] for outputs in (got, wanted))
    if found != right:
        return Failure("wrong", f"returns {found}, not {right}")
    for index, (found, right) in enumerate(zip(got, wanted, strict=True)):
        differs = disagreement(found, right, request.atol, request.rtol)
        if differs.refused:
            share = differs.refused / right.numel()
            return Failure("wrong", f"output {index}: {share:.2%} of the elements differ, by up to {differs.worst_refused:.3g}")
    return None


def _timed(checked: dict[str, Ready | Failure], inputs: Sequence[object], request: Request) -> list[dict]:
    """A row for each plan asked for."""
    ready = {name: found for name, found in checked.items() if isinstance(found, Ready)}
    enter("timing")
    runs = [lambda forward=found.forward: forward(*inputs) for found in ready.values()]
    with turns.alone(Path(request.lock)):
        times = paired_ms(runs, request.repeats, request.target.device, np.random.default_rng(INPUT_SEED))
    by_name = dict(zip(ready, times, strict=True))
    return [{"plan": name} | _row(name, checked[name], by_name) for name in request.plans]


def paired_ms(runs: Sequence[Callable[[], object]], repeats: int, device: str, generator: np.random.Generator) -> np.ndarray:
    """Milliseconds of each run in each repeat (device time on a GPU), (runs, repeats) float64; every repeat has all runs, in a random order."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device) if device == "cuda" else None
    for run in runs:
        run()
    times = np.empty((len(runs), repeats))
    for repeat in range(repeats):
        for index in generator.permutation(len(runs)):
            times[index, repeat], _ = one_run(runs[index], device, flush)
    return times


def _row(name: str, found: Ready | Failure, times: dict[str, np.ndarray]) -> dict:
    if isinstance(found, Failure):
        return {"status": found.status, "message": found.message}
    row: dict = {"status": "correct", "message": "", "ms": float(np.median(times[name]))}
    for against, base in (("eager", EAGER.name), ("compiled", BASE)):
        if base in times:
            middle, low, high = ratio_interval(times[base], times[name])
            row |= {f"ratio_{against}": middle, f"ratio_{against}_low": low, f"ratio_{against}_high": high}
    return row


def _or_failure(found: Ready | Finding) -> Ready | Failure:
    if isinstance(found, Finding):
        return Failure("unfinished" if found.reason.outcome == "unfinished" else "failed", found.message)
    return found


def _model(request: Request, name: str) -> torch.nn.Module:
    return make_model(load_task(request.code, name), request.target.device, MODEL_SEED)


def _inputs(request: Request, draw: int) -> list:
    return make_inputs(load_task(request.code), request.target.device, INPUT_SEED + draw)


def _machine(target: Target) -> dict:
    found = environment(target)
    return {"device": found.device, "driver": found.driver, "torch": found.torch, "triton": found.triton}


def _is_4d(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 4
