"""Judges one solution of one task, inside a sandboxed child: right first, then timed in turns with eager and compiled.

Standard library, torch and numpy, and the screen's building blocks: this runs on a bare GPU machine. Against tricks: inputs, and
weights once, are fresh at every call; the solution goes before the reference, so that no freed memory holds the answer; what it
returns is copied in the stream's own order, at once; every timed output is compared; calls that are watched for torch's operators
stand between those that are timed, at random, and look the same from inside.
"""

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch

from ops6k.reward.guard import guarded, guarded_twice
from ops6k.sandbox import turns
from ops6k.sandbox.child import enter
from ops6k.screen import watch
from ops6k.screen.compare import disagreement, identical
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs, make_model, seed_all, set_precision, tensors_of
from ops6k.screen.load import Loaded, load_module, load_task
from ops6k.screen.timing import FLUSH_BYTES, one_run

DRAWS = 5
"""Fresh inputs that a solution must get right before it is timed."""
OTHER_WEIGHTS_FROM = 3
"""Of these, the first with other weights, in another instance: what remembers answers or weights shows."""
WARM_UPS = 3
"""Untimed calls of the compiled reference, and of a solution that may be compiled."""


@dataclass(frozen=True, slots=True)
class Request:
    """The payload."""

    candidate_id: str
    code: str
    solution: str
    allow_torch: bool
    atol: float
    rtol: float
    repeats: int
    seed: int
    device: str
    matmul_precision: str
    tf32: bool
    threads: int
    lock: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a solution is not right, as a status of ops6k.reward.Status."""

    status: str
    message: str
    torch_calls: tuple[str, ...] = ()


def score_solution(payload: dict) -> dict:
    """{status, message, torch_calls, worst_error, times: {solution, eager, compiled} in ms by repeat}; times are empty where the
    solution is not right."""
    request = Request(**payload)
    set_precision(request)
    if request.device == "cuda":
        torch.randn(8, 8, device="cuda").mm(torch.eye(8, device="cuda")).sum().item()
    if not request.allow_torch:
        _triton_unwatched(request.device)
        watch.install()
    enter("correctness")
    judge = attempt(lambda: _Judge(request), watched=False)
    if isinstance(judge, Finding):
        return _answer(_of_task(judge))
    refused = judge.correctness()
    if refused is None:
        enter("timing")
        refused = judge.timing()
    return _answer(refused, judge)


def _answer(refused: Refused | None, judge: "_Judge | None" = None) -> dict:
    found = refused or Refused("correct", "", judge.torch_calls)
    return {
        "status": found.status,
        "message": found.message,
        "torch_calls": list(found.torch_calls),
        "worst_error": judge and judge.worst_error,
        "times": {name: list(map(float, row)) for name, row in judge.times.items()} if refused is None else {},
    }


class _Judge:
    """Reference and solution on one device, and what is found on the way."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.random = random.Random(request.seed)
        self.task: Loaded = load_task(request.code, "task_reference")
        self.solution: ModuleType | None = None
        self.worst_error = 0.0
        self.torch_calls: tuple[str, ...] = ()
        """Of one call, where they are allowed."""
        self.state = _global_state()
        self.times: dict[str, list[float]] = {"solution": [], "eager": [], "compiled": []}

    def correctness(self) -> Refused | None:
        """Right for fresh inputs and, in another instance, other weights; changes nothing, keeps nothing, calls no torch."""
        probe = attempt(self._inputs, watched=False)
        if isinstance(probe, Finding):
            return _of_task(probe)
        pair = self._pair(self._seed())
        for draw in range(DRAWS):
            if isinstance(pair, Refused):
                return pair
            self.reference, self.forward = pair
            refused = self._one_call(guarded_twice if draw == 0 else guarded)
            if refused is not None:
                return refused
            if draw + 1 == OTHER_WEIGHTS_FROM:
                pair = self._pair(self._seed())
        return self._keeps_its_outputs()

    def timing(self) -> Refused | None:
        """The solution, eager and compiled once in each repeat, on inputs of that repeat alone."""
        compiled = self._compiled()
        if isinstance(compiled, Refused):
            return compiled
        flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda") if self.request.device == "cuda" else None
        with turns.alone(Path(self.request.lock)):
            # A solution may be compiled by torch, and what was compiled so far is forgotten where the reference's is.
            warm = (self._one_call(guarded) for _ in range(WARM_UPS if self.request.allow_torch else 0))
            if (refused := next(filter(None, warm), None)) is not None:
                return refused
            for _ in range(self.request.repeats):
                refused = self._one_call(guarded) if self.random.random() < 0.5 else None
                refused = refused or self._repeat(compiled, flush)
                if refused is not None:
                    return refused
        return None

    def _repeat(self, compiled: Callable[..., object], flush: torch.Tensor | None) -> Refused | None:
        inputs = self._inputs()
        given = _copied(inputs)
        kept: list[object] = []
        ended = attempt(lambda: one_run(lambda: kept.append(self.forward(*given)), self.request.device, flush), watched=False)
        if isinstance(ended, Finding):
            return _failed(ended)
        got = self._outputs(kept[0], given, inputs)
        if isinstance(got, Refused):
            return got
        self.times["solution"].append(ended[0])
        wanted: list[object] = []
        runs = {
            "eager": lambda: wanted.append(self.reference(*inputs)),
            "compiled": lambda: compiled(*inputs),
        }
        for name in self.random.sample(list(runs), 2):
            self.times[name].append(one_run(runs[name], self.request.device, flush)[0])
        return self._disagreement(got, _plain(wanted[0]))

    def _one_call(self, guard: Callable[..., tuple[object, tuple[str, ...]]]) -> Refused | None:
        """One untimed call, compared."""
        inputs = self._inputs()
        given = _copied(inputs)
        called = attempt(lambda: (self.forward(*given), ()) if self.request.allow_torch else guard(lambda: self.forward(*given)))
        if isinstance(called, Finding):
            return _failed(called)
        output, torch_calls = called
        if torch_calls:
            return Refused("torch", f"forward calls torch's own {', '.join(torch_calls[:5])}", torch_calls)
        got = self._outputs(output, given, inputs)
        if isinstance(got, Refused):
            return got
        wanted = _plain(self.wanted(inputs))
        return wanted if isinstance(wanted, Refused) else self._disagreement(got, wanted)

    def _keeps_its_outputs(self) -> Refused | None:
        """An output that a later call overwrites was never the caller's."""
        inputs = [self._inputs(), self._inputs()]
        first = attempt(lambda: tensors_of(self.forward(*inputs[0])))
        if isinstance(first, Finding):
            return _failed(first)
        before = [tensor.clone() for tensor in first]
        second = attempt(lambda: guarded(lambda: self.forward(*inputs[1])))
        if isinstance(second, Finding):
            return _failed(second)
        self.torch_calls = second[1]
        if second[1] and not self.request.allow_torch:
            return Refused("torch", f"forward calls torch's own {', '.join(second[1][:5])}", second[1])
        if not all(map(torch.equal, first, before)):
            return Refused("wrong", "a later call overwrites what an earlier one returned")
        return None

    def wanted(self, inputs: list) -> object:
        """What the reference returns, or the finding that it amounts to."""
        return attempt(lambda: self.reference(*inputs))

    def _outputs(self, output: object, given: list, inputs: list) -> list[torch.Tensor] | Refused:
        """The outputs' values as the stream has them now; the solution's own tensors are not looked at again."""
        parts = _plain(output)
        if isinstance(parts, Refused):
            return Refused("wrong", parts.message)
        got = attempt(lambda: [part.detach().clone() for part in parts])
        if isinstance(got, Finding):
            return _failed(got)
        if _global_state() != self.state:
            return Refused("unsafe", "leaves torch's global state changed (autocast, grad mode, a backend's switches)")
        if self.request.device == "cuda":
            torch.cuda.synchronize()
        storages = {tensor.untyped_storage().data_ptr() for tensor in tensors_of(given) if tensor.numel()}
        if any(part.numel() and part.untyped_storage().data_ptr() in storages for part in parts):
            return Refused("wrong", "returns the memory of an argument")
        if not identical(tuple(tensors_of(given)), tuple(tensors_of(inputs))):
            return Refused("wrong", "changes its arguments")
        return got

    def _disagreement(self, got: list[torch.Tensor], wanted: list[torch.Tensor]) -> Refused | None:
        found, right = ([(tuple(x.shape), str(x.dtype), x.device.type) for x in outputs] for outputs in (got, wanted))
        if found != right:
            return Refused("wrong", f"returns {found}, not {right}")
        for index, (have, want) in enumerate(zip(got, wanted, strict=True)):
            differs = disagreement(have, want, self.request.atol, self.request.rtol)
            self.worst_error = max(self.worst_error, min(differs.worst, 1e300))
            if differs.refused:
                said = (
                    f"output {index}: {differs.refused} of {want.numel()} elements differ, by up to {differs.worst_refused:.3g}"
                )
                return Refused("wrong", said)
        return None

    def _pair(self, seed: int) -> tuple[torch.nn.Module, Callable[..., object]] | Refused:
        """The reference with its weights, and an instance of the solution that has loaded them."""
        reference = attempt(lambda: make_model(self.task, self.request.device, seed))
        if isinstance(reference, Finding):
            return _of_task(reference)

        def made() -> torch.nn.Module:
            self.solution = self.solution or load_module(self.request.solution)
            seed_all(seed)
            with torch.device(self.request.device):
                solution = self.solution.ModelNew(*self.task.get_init_inputs()).eval().to(self.request.device)
            weights = {name: tensor.clone() for name, tensor in reference.state_dict().items()}
            torch.nn.Module.load_state_dict(solution, weights)
            return solution

        solution = attempt(made)
        return _failed(solution) if isinstance(solution, Finding) else (reference, solution)

    def _compiled(self) -> Callable[..., object] | Refused:
        torch._dynamo.reset()
        compiled = torch.compile(self.reference)

        def warm() -> None:
            for _ in range(WARM_UPS):
                compiled(*self._inputs())

        ended = attempt(warm, watched=False)
        return (
            Refused("reference", f"the task itself does not compile: {ended.message}") if isinstance(ended, Finding) else compiled
        )

    def _inputs(self) -> list:
        return make_inputs(self.task, self.request.device, self._seed())

    def _seed(self) -> int:
        return self.random.getrandbits(48)


def _plain(output: object) -> list[torch.Tensor] | Refused:
    """One tensor or a tuple or list of them: what a task of the set returns."""
    if isinstance(output, Finding):
        return _of_task(output)
    parts = [output] if isinstance(output, torch.Tensor) else list(output) if type(output) in (tuple, list) else []
    if not parts or not all(type(part) in (torch.Tensor, torch.nn.Parameter) for part in parts):
        return Refused("reference", f"returns {type(output).__name__}, not plain tensors")
    return parts


def _of_task(finding: Finding) -> Refused:
    return Refused("reference", f"the task itself does not run here: {finding.message}")


def _failed(finding: Finding) -> Refused:
    if lacking := _lacking(finding.message):
        return Refused("unfinished", f"{lacking}, which is no fault of the solution ({finding.message})")
    return Refused("unfinished" if finding.reason.outcome == "unfinished" else "failed", finding.message)


def _lacking(message: str) -> str:
    """What this machine lacks to run a Triton kernel, where that is what Python or triton says; else empty."""
    if "No module named 'triton'" in message and find_spec("triton") is None:
        return "triton is not installed here"
    if "0 active drivers" in message and not torch.cuda.is_available():
        return "triton finds no GPU here"
    return ""


def _copied(arguments: list) -> list:
    return torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, arguments)


def _global_state() -> tuple[object, ...]:
    """What a solution could leave switched for the reference that runs after it."""
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.get_float32_matmul_precision(),
        torch.are_deterministic_algorithms_enabled(),
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.cudnn_sdp_enabled(),
        torch.backends.cuda.matmul.allow_tf32,
        torch.backends.cudnn.allow_tf32,
        torch.backends.cudnn.benchmark,
        torch.backends.mkldnn.enabled,
    )


@functools.cache
def _triton_unwatched(device: str) -> None:
    """Triton compiles at a kernel's first launch, with the solution's lines on the stack: files and processes are its own then.

    Its driver, which an autotuned kernel asks for where it is defined, is compiled before anybody watches.
    """
    try:
        from triton.runtime import driver
        from triton.runtime.jit import JITFunction
    except ImportError:
        return
    if device == "cuda":
        driver.active.get_current_target()
    launch = JITFunction.run

    @functools.wraps(launch)
    def run(self: object, *arguments: object, **options: object) -> object:
        with watch.torchs_own():
            return launch(self, *arguments, **options)

    JITFunction.run = run
