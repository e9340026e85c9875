"""One candidate in a sandboxed child: the dry run in one, the run on the device in another.

Both get plain values and return plain values; neither raises for anything that the candidate does.
"""

import contextlib
import platform
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import torch

from ops6k.records import Checks, Environment, Outcome, PhaseSeconds, Reason, Timing, Verdict, Work
from ops6k.sandbox.child import enter
from ops6k.screen import labelled, watch
from ops6k.screen.bench import Bench, set_up
from ops6k.screen.compiled import compiled_model
from ops6k.screen.dry_run import DryRun, dry_run, shape_coupled
from ops6k.screen.eager import eager_finding
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import seed_all, set_precision
from ops6k.screen.limits import Limits
from ops6k.screen.load import Loaded, load_task
from ops6k.screen.share import Share
from ops6k.screen.timing import measure
from ops6k.store import from_plain, to_plain
from ops6k.target import Target

PREDICTED_SLACK = 5.0
"""A prediction this many times outside the window is believed without running."""


def dry_run_candidate(payload: dict) -> dict:
    """{candidate_id, code, target, limits, ops, judge_labels} -> a Verdict if the dry run decides, else its Work as {"work": ...}
    and what a child then holds from first to last, weights and inputs, as {"resident_bytes": ...}."""
    target, limits = from_plain(Target, payload["target"]), from_plain(Limits, payload["limits"])
    set_precision(target)
    watch.install()
    enter("dry_run")
    began = time.monotonic()
    ops = tuple(payload["ops"])
    task = _loaded(payload["code"])
    found = task if isinstance(task, Finding) else dry_run(*task, target, ops)
    seconds = PhaseSeconds(dry_run=time.monotonic() - began)
    flags = ["shape_coupled"] if isinstance(found, DryRun) and shape_coupled(*task, found) else []
    work = found.work if isinstance(found, DryRun) else None
    finding = _reached_out() or (found if isinstance(found, Finding) else None)
    if finding is None and payload["judge_labels"]:
        finding = labelled.in_calls(found.calls, ops)
    finding = finding or _random(found) or _idle(found) or _unused(found) or _budget(work, limits)
    if finding is not None:
        return {"verdict": to_plain(_rejected(payload["candidate_id"], finding, "dry_run", work=work, seconds=seconds))}
    return {
        "work": to_plain(work),
        "seconds": to_plain(seconds),
        "flags": flags,
        "resident_bytes": max(work.io_bytes - found.output_bytes, 0),
    }


def _reached_out() -> Finding | None:
    """What the task's code tried while it ran, whatever became of the attempt."""
    seen = watch.attempts()
    return Finding(Reason.UNSAFE_RUNTIME, f"while it ran: {seen[0]} ({len(seen)} attempts)") if seen else None


def _loaded(code: str) -> tuple[Loaded, list] | Finding:
    """The task and what its model is constructed with."""
    task = attempt(lambda: load_task(code))
    if isinstance(task, Finding):
        return task
    drawn = []
    for seed in (1, 2):
        seed_all(seed)
        drawn.append(attempt(task.get_init_inputs))
    finding = next((d for d in drawn if isinstance(d, Finding)), None) or _init_finding(*drawn)
    return finding or (task, drawn[0])


def _init_finding(first: object, second: object) -> Finding | None:
    if not isinstance(first, list | tuple):
        return Finding(Reason.STRUCTURE, f"get_init_inputs returns {type(first).__name__}, not a list")
    leaves = torch.utils._pytree.tree_leaves(list(first))
    if any(isinstance(leaf, torch.nn.Module) for leaf in leaves):
        return Finding(Reason.STRUCTURE, "get_init_inputs returns a live module, which two models would share")
    described = [
        [
            (tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else repr(x)
            for x in torch.utils._pytree.tree_leaves(list(drawn))
        ]
        for drawn in (first, second)
    ]
    if described[0] != described[1]:
        return Finding(Reason.INIT, f"get_init_inputs varies between calls: {described[0]} and {described[1]}"[:300])
    return None


def _budget(work: Work, limits: Limits) -> Finding | None:
    if work.peak_bytes > limits.memory_gib * 2**30:
        return Finding(Reason.MEMORY, f"needs {work.peak_bytes / 2**30:.1f} GiB, allowed are {limits.memory_gib:g}")
    if limits.window_ms is None:
        return None
    low, high = limits.window_ms
    if work.predicted_ms * PREDICTED_SLACK < low:
        return Finding(Reason.TOO_FAST, f"predicted {work.predicted_ms:.3g} ms, the window begins at {low:g} ms")
    if work.predicted_ms > high * PREDICTED_SLACK:
        return Finding(Reason.TOO_SLOW, f"predicted {work.predicted_ms:.3g} ms, the window ends at {high:g} ms")
    return None


def _random(found: DryRun) -> Finding | None:
    return Finding(Reason.RANDOM_OP, f"forward draws random numbers in eval mode ({found.draws[0]})") if found.draws else None


def _idle(found: DryRun) -> Finding | None:
    return Finding(Reason.REMOVABLE_OP, f"{found.calls.idle[0]} changes nothing") if found.calls.idle else None


def _unused(found: DryRun) -> Finding | None:
    if found.unused_arguments:
        return Finding(Reason.DEAD_INPUT, f"argument {found.unused_arguments[0]} lends at most its shape")
    unused = [name for name in found.unused_state if not name.endswith("num_batches_tracked")]
    return Finding(Reason.UNUSED, f"{unused[0]} is never read") if unused else None


def run_candidate(payload: dict) -> dict:
    """{candidate_id, code, target, limits, work, seconds, share, timing} -> a Verdict."""
    target, limits = from_plain(Target, payload["target"]), from_plain(Limits, payload["limits"])
    set_precision(target)
    if target.device == "cuda":
        # CUDA's start opens libraries: not the task's doing.
        torch.randn(8, 8, device="cuda").mm(torch.eye(8, device="cuda")).sum().item()
    watch.install()
    verdict = _Run(payload, target, limits).verdict()
    return {"verdict": to_plain(replace(verdict, environment=environment(target)))}


EAGER_PEAKS, RUN_PEAKS = 2.1, 1.2
"""Times the peak of a run that the eager checks (a reference of twice the width), and eager beside compiled, hold at once, beside
inputs and outputs that are kept."""


class _Run:
    """The phases on the device, with their seconds."""

    def __init__(self, payload: dict, target: Target, limits: Limits) -> None:
        self.payload, self.target, self.limits = payload, target, limits
        self.work = from_plain(Work, payload["work"])
        self.seconds: dict[str, float] = dict(payload["seconds"])
        self.checks: Checks | None = None
        self.timing: Timing | None = None
        self.forward_ms: float | None = None
        given = payload["share"]
        self.share = Share(target.device, Path(given["lock"]), Path(given["pool"]), given["pool_bytes"])

    def verdict(self) -> Verdict:
        for phase, run in (("eager", self.eager), ("compile", self.compile), ("timing", self.time)):
            enter(phase)
            self.share.phase, self.share.waited = phase, 0.0
            began = time.monotonic()
            finding = attempt(run, watched=False)
            finding = _reached_out() or finding
            self.seconds[phase] = time.monotonic() - began - self.share.waited
            if finding is not None:
                return self._verdict(finding, phase)
        return self._verdict(None, "timing")

    def _lent(self, peaks: float) -> AbstractContextManager:
        beyond = int(peaks * self.work.peak_bytes) + self.work.io_bytes - self.payload["resident_bytes"]
        return self.share.memory(max(beyond, 0))

    def eager(self) -> Finding | None:
        with self._lent(EAGER_PEAKS):
            with self.share.turn():
                bench = set_up(self.payload["code"], self.target.device, self.limits, tuple(self.payload["ops"]))
            if isinstance(bench, Finding):
                return bench
            self.bench: Bench = bench
            bench.turn, bench.alone, bench.flags = self.share.turn, self.share.alone, tuple(self.payload["flags"])
            finding = eager_finding(bench)
            self.forward_ms = bench.alone_ms
            if finding is None:
                self.checks = bench.checks()
            bench.drop_outputs()
        return finding

    def compile(self) -> Finding | None:
        with contextlib.ExitStack() as held:

            def ready() -> None:
                if not self.compiled_once:
                    self.compiled_once = True
                    held.enter_context(self._lent(RUN_PEAKS))
                    held.enter_context(self.share.turn())

            self.compiled_once = False
            compiled = compiled_model(self.bench, ready)
        if isinstance(compiled, Finding):
            return compiled
        self.compiled = compiled
        return None

    def time(self) -> Finding | None:
        if self.payload["timing"] is not None:
            self.timing = from_plain(Timing, self.payload["timing"])
        else:
            model, inputs = self.bench.model, self.bench.inputs
            with self._lent(RUN_PEAKS), self.share.alone():
                self.timing = measure(lambda: model(*inputs), lambda: self.compiled(*inputs), self.target.device)
        return _window_finding(self.timing, self.limits)

    def _verdict(self, finding: Finding | None, phase: str) -> Verdict:
        used = self.share.used
        at_device = {"lock": used["timing"] or None, "device": used["eager"] + used["compile"] or None}
        kept = {
            "work": self.work,
            "seconds": from_plain(PhaseSeconds, self.seconds | at_device),
            "checks": self.checks,
            "timing": self.timing,
            "forward_ms": self.forward_ms,
        }
        if finding is not None:
            return _rejected(self.payload["candidate_id"], finding, phase, **kept)
        message = f"{self.timing.eager_ms:.3g} ms eager, {self.timing.compiled_ms:.3g} ms compiled"
        return Verdict(self.payload["candidate_id"], Outcome.ACCEPTED, None, message, phase, **kept)


def _window_finding(timing: Timing, limits: Limits) -> Finding | None:
    """Outside only if the whole interval is."""
    if limits.window_ms is None:
        return None
    low, high = limits.window_ms
    if timing.eager_high_ms < low:
        return Finding(Reason.TOO_FAST, f"{timing.eager_ms:.3g} ms eager, the window begins at {low:g} ms")
    if timing.eager_low_ms > high:
        return Finding(Reason.TOO_SLOW, f"{timing.eager_ms:.3g} ms eager, the window ends at {high:g} ms")
    return None


def _rejected(candidate_id: str, finding: Finding, phase: str, **kept: object) -> Verdict:
    return Verdict(candidate_id, finding.reason.outcome, finding.reason, finding.message, phase, **kept)


def environment(target: Target) -> Environment:
    """The device and versions that a verdict was reached with."""
    cuda = target.device == "cuda"
    return Environment(
        target=target.name,
        device=torch.cuda.get_device_name() if cuda else "cpu",
        driver=_driver() if cuda else None,
        torch=torch.__version__,
        triton=_triton(),
        python=platform.python_version(),
        matmul_precision=torch.get_float32_matmul_precision(),
        tf32=torch.backends.cuda.matmul.allow_tf32,
    )


def _driver() -> str | None:
    path = Path("/proc/driver/nvidia/version")
    return (
        next((word for word in path.read_text().split() if word[:1].isdigit() and "." in word), None) if path.exists() else None
    )


def _triton() -> str | None:
    from importlib import metadata

    found = {dist.metadata["Name"]: dist.version for dist in metadata.distributions(name="triton")}
    return next(iter(found.values()), None)
