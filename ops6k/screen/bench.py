"""One task on the bench: model, inputs and outputs that the checks of the screen share, and the evidence they leave."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch

from ops6k.records import Checks
from ops6k.screen.compare import PART, changed_share, output_hash, part_of
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import MODEL_SEED, make_inputs, make_model, seed_all
from ops6k.screen.limits import Limits
from ops6k.screen.load import Loaded, load_task

DRAWS = (11, 12, 13, 14, 15)
"""Seeds of the inputs as given and of fresh ones."""


@dataclass
class Bench:
    """One task on the bench: what the checks share, built up as they go."""

    code: str
    task: Loaded
    device: str
    limits: Limits
    ops: tuple[str, ...]
    """Labels; only operators that they declare must matter."""
    model: torch.nn.Module
    inputs: list
    turn: Callable[[], AbstractContextManager] = nullcontext
    """Entered to work on the device (ops6k.screen.share)."""
    alone: Callable[[], AbstractContextManager] = nullcontext
    """Entered to have it for oneself."""
    first_ms: float = 0.0
    """Wall time of the first forward, whatever it had to load and whoever ran beside it."""
    alone_ms: float | None = None
    """Wall time of one forward alone; measured where the first one was suspicious."""
    outputs: tuple[torch.Tensor, ...] = ()
    fresh: tuple[torch.Tensor, ...] = ()
    """Of the outputs for the first of the fresh inputs, compare.part_of."""
    fresh_mean: tuple[torch.Tensor, ...] = ()
    """Mean of such parts over all fresh inputs, element by element, float32."""
    summaries: dict[int, list[torch.Tensor]] = field(default_factory=dict)
    """Outputs that are reductions over very many numbers, by their place: their values in all draws so far."""
    tolerance: float = 0.0
    """What the task is to be graded with, atol and rtol: the verifier's, or a multiple for reduced precision."""
    bitwise: bool = True
    mode_dependent: bool = False
    output_change: float = 0.0
    input_effect: tuple[float, ...] = ()
    op_effect: float | None = None
    free_share: float = 0.0
    free_answer: str = ""
    flags: tuple[str, ...] = ()

    def changed(self, got: torch.Tensor, wanted: torch.Tensor, enough: float = 0.0) -> float:
        """Share of elements that differ beyond the task's tolerance: of a part where that is more than `enough`, else of all."""
        if got.shape != wanted.shape:
            return 1.0
        share = changed_share(part_of(got), part_of(wanted), self.tolerance)
        return share if share > enough or wanted.numel() <= PART else changed_share(got, wanted, self.tolerance)

    def drop_outputs(self) -> None:
        """Frees all but the model and its inputs."""
        self.outputs = self.fresh = self.fresh_mean = ()
        self.summaries = {}

    def checks(self) -> Checks:
        return Checks(
            bitwise_repeatable=self.bitwise,
            mode_dependent=self.mode_dependent,
            output_change=self.output_change,
            input_effect=self.input_effect,
            op_effect=self.op_effect,
            free_share=self.free_share,
            free_answer=self.free_answer or None,
            atol=self.tolerance,
            rtol=self.tolerance,
            output_hash=output_hash(self.outputs),
            flags=self.flags,
        )


def set_up(code: str, device: str, limits: Limits, ops: tuple[str, ...]) -> Bench | Finding:
    """Model and inputs, made once."""

    def made() -> Bench:
        seed_all(MODEL_SEED)  # what the source draws as it is read
        task = load_task(code)
        return Bench(code, task, device, limits, ops, make_model(task, device, MODEL_SEED), make_inputs(task, device, DRAWS[0]))

    return attempt(made)
