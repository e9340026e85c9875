"""The eager checks: the task runs for real, and what a verifier could not hold against a wrong kernel is found.

Two tolerances throughout: a tight one for determinism, the verifier's for constancy. Each check returns a Finding or None
and the evidence goes into Checks.
"""

import copy
import time
from collections.abc import Callable

import torch

from ops6k.records import Outcome, Reason
from ops6k.screen import free, removable, ties
from ops6k.screen.activity import every_argument_matters, every_weight_matters, reacts_to_inputs
from ops6k.screen.bench import Bench
from ops6k.screen.compare import as_tuple, bits_of, identical, tightly_equal
from ops6k.screen.conditioning import fit_tolerance
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import (
    OTHER_SEED,
    TWIN_SEED,
    generator_states,
    make_model,
    seed_all,
    tensors_of,
)
from ops6k.screen.load import load_task
from ops6k.screen.state import difference, remembered

TWIN_NAME = "task_read_anew"

SUSPICIOUS, FAR = 10, 3
"""Times the window's end: of the first forward, beside others and with all that loads; of one more, alone, to be called too slow."""


def eager_finding(bench: Bench) -> Finding | None:
    """The first eager check that the task fails, cheapest first."""
    bench.tolerance = bench.limits.tolerance
    finding = _first(bench, runs_cleanly) or far_too_slow(bench) or _first(bench, is_finite, repeats, twins_agree)
    if finding is not None:
        return finding
    with bench.turn():
        ill_conditioned = fit_tolerance(bench)
    finding = _first(
        bench, ties.finding, reacts_to_inputs, every_argument_matters, _free_answer, removable.finding, every_weight_matters
    )
    if finding is not None and bench.tolerance > bench.limits.tolerance:
        needs = f"at {bench.tolerance:g}, which its rounding needs, {finding.message}"
        return Finding(Reason.NO_TOLERANCE, needs) if finding.reason.outcome is Outcome.CONSTANT else finding
    with bench.turn():
        bench.mode_dependent = _mode_dependent(bench)
    return finding or ill_conditioned


def _free_answer(bench: Bench) -> Finding | None:
    return free.finding(bench, _other_weights(bench))


def _first(bench: Bench, *checks: Callable[[Bench], Finding | None]) -> Finding | None:
    for check in checks:
        with bench.turn():
            finding = check(bench)
        if finding is not None:
            return finding
    return None


def runs_cleanly(bench: Bench) -> Finding | None:
    """Runs once; draws nothing, changes neither its inputs nor what it remembers, and returns something of its own."""
    before, generators = _bits(bench.inputs), generator_states(bench.device)
    remembers = remembered(bench.task, bench.model)
    began = time.perf_counter()
    output = attempt(lambda: as_tuple(bench.model(*bench.inputs)))
    if isinstance(output, Finding):
        return output
    if bench.device == "cuda":
        torch.cuda.synchronize()
    bench.first_ms = 1e3 * (time.perf_counter() - began)
    bench.outputs = tuple(tensor.clone() for tensor in output)
    if not identical(tuple(generators), tuple(generator_states(bench.device))):
        return Finding(Reason.RANDOM_OP, "forward moves the random generator's state in eval mode")
    if before != _bits(bench.inputs):
        return Finding(Reason.STATEFUL, "forward changes its arguments")
    changed = difference(remembers, remembered(bench.task, bench.model))
    return Finding(Reason.STATEFUL, f"forward changes {changed}") if changed else _alias(bench, output)


def far_too_slow(bench: Bench) -> Finding | None:
    """A forward that takes many times the window's end, alone: the thirty to come would hold up the device for all others.

    One such task (a chain of solvers, 100 times the predicted time) made seven others beside it run into their time limit.
    """
    if bench.limits.window_ms is None or bench.first_ms < SUSPICIOUS * bench.limits.window_ms[1]:
        return None
    with bench.alone():
        began = time.perf_counter()
        output = attempt(lambda: _finished(bench))
        bench.alone_ms = 1e3 * (time.perf_counter() - began)
    if isinstance(output, Finding):
        return output
    high = bench.limits.window_ms[1]
    if bench.alone_ms <= FAR * high:
        return None
    return Finding(Reason.TOO_SLOW, f"{bench.alone_ms:.3g} ms for one forward, the window ends at {high:g} ms")


def _finished(bench: Bench) -> None:
    """One forward, to its end on the device."""
    bench.model(*bench.inputs)
    if bench.device == "cuda":
        torch.cuda.synchronize()


def _bits(arguments: list) -> list[int]:
    return [int(bits_of(tensor).sum()) for tensor in tensors_of(arguments)]


def is_finite(bench: Bench) -> Finding | None:
    for i, output in enumerate(bench.outputs):
        bad = int((~output.isfinite()).sum()) / output.numel() if output.is_floating_point() and output.numel() else 0.0
        if bad > 0:
            return Finding(Reason.NON_FINITE, f"output {i}: {bad:.2%} of the elements are not finite")
    return None


def repeats(bench: Bench) -> Finding | None:
    """Twice more: bit for bit, or within what the order of sums explains."""
    for _ in range(2):
        again = attempt(lambda: as_tuple(bench.model(*bench.inputs)))
        if isinstance(again, Finding):
            return again
        bench.bitwise = bench.bitwise and identical(bench.outputs, again)
        if not bench.bitwise and not tightly_equal(bench.outputs, again):
            return Finding(Reason.REPEAT, "the same model gives different outputs for the same inputs")
    return None


def still_repeats(bench: Bench) -> Finding | None:
    """The first inputs once more, after some thirty other calls: what was remembered on the way shows here."""
    again = attempt(lambda: as_tuple(bench.model(*bench.inputs)))
    if isinstance(again, Finding):
        return again
    if not tightly_equal(bench.outputs, again):
        return Finding(Reason.REPEAT, "after other calls the same model gives other outputs for the same inputs")
    return None


def twins_agree(bench: Bench) -> Finding | None:
    """A second instance, of the source read anew as another process would, computes the same once it has the weights."""
    seed_all(TWIN_SEED)
    twin = attempt(lambda: make_model(load_task(bench.code, TWIN_NAME), bench.device, TWIN_SEED))
    if isinstance(twin, Finding):
        return twin
    loaded = attempt(lambda: twin.load_state_dict(bench.model.state_dict()), Reason.INIT)
    if isinstance(loaded, Finding):
        return loaded
    output = attempt(lambda: as_tuple(twin(*bench.inputs)))
    if isinstance(output, Finding):
        return output
    if not tightly_equal(bench.outputs, output):
        return Finding(
            Reason.INIT, "a second instance with the same state dict computes something else: state outside the state dict"
        )
    return None


def _alias(bench: Bench, output: tuple[torch.Tensor, ...]) -> Finding | None:
    """An output that is an input, or a view of one, computes nothing."""
    given = tensors_of(bench.inputs)
    for i, tensor in enumerate(output):
        for j, earlier in enumerate(output[:i]):
            if tensor.shape == earlier.shape and tensor.dtype == earlier.dtype and identical((tensor,), (earlier,)):
                return Finding(Reason.IDENTITY, f"output {i} equals output {j}")
        for j, argument in enumerate(given):
            if tensor.numel() and tensor.untyped_storage().data_ptr() == argument.untyped_storage().data_ptr():
                return Finding(Reason.IDENTITY, f"output {i} is argument {j} or a view of it")
            if tensor.shape == argument.shape and tensor.dtype == argument.dtype and identical((tensor,), (argument,)):
                return Finding(Reason.IDENTITY, f"output {i} equals argument {j}")
    return None


def _mode_dependent(bench: Bench) -> bool:
    """Whether train mode computes something else; a model that cannot run in train mode is one that does."""
    model = copy.deepcopy(bench.model).train()
    output = attempt(lambda: as_tuple(model(*bench.inputs)))
    return isinstance(output, Finding) or not tightly_equal(bench.outputs, output)


def _other_weights(bench: Bench) -> tuple[torch.Tensor, ...] | None:
    """The output of a model whose every weight is another; None where some are fixed by design (tables, ramps) or none are there."""
    weights = bench.model.state_dict()
    other = attempt(lambda: make_model(bench.task, bench.device, OTHER_SEED))
    if not weights or isinstance(other, Finding):
        return None
    if any(
        not name.endswith("num_batches_tracked") and identical((tensor,), (weights[name],))
        for name, tensor in other.state_dict().items()
    ):
        return None
    output = attempt(lambda: as_tuple(other(*bench.inputs)))
    return None if isinstance(output, Finding) else output
