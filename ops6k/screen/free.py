"""Free answers: outputs that cost nothing and that a verifier would take for right almost everywhere."""

from collections.abc import Iterator

import torch

from ops6k.records import Reason
from ops6k.screen.bench import Bench
from ops6k.screen.compare import changed_share, part_of
from ops6k.screen.finding import Finding
from ops6k.screen.instances import tensors_of

REJECT_SHARE = 0.90
FLAG_SHARE = 0.70
"""A task whose best free answer matches this share is kept and flagged. About 0.5 is what a ReLU leaves by nature."""


def finding(bench: Bench, other_weights: tuple[torch.Tensor, ...] | None) -> Finding | None:
    """The largest share of an output's elements that a free answer matches: 0.90 or more is rejected, the answer named.

    Of a large output a part is looked at, some millions of elements evenly spaced.
    """
    for i, output in enumerate(map(part_of, bench.outputs)):
        for name, answer in _answers(bench, i, output, other_weights):
            share = 1.0 - changed_share(answer, output, bench.tolerance)
            if share > bench.free_share:
                bench.free_share, bench.free_answer = share, f"output {i}: {name}"
    if bench.free_share >= REJECT_SHARE:
        return Finding(Reason.FREE_ANSWER, f"{bench.free_answer} matches {bench.free_share:.1%} of the elements")
    if bench.free_share >= FLAG_SHARE:
        bench.flags += ("free_answer",)
    return None


def _answers(
    bench: Bench, i: int, output: torch.Tensor, other_weights: tuple[torch.Tensor, ...] | None
) -> Iterator[tuple[str, torch.Tensor]]:
    yield "zeros", torch.zeros_like(output)
    # Of other inputs: what the output is for these is not known beforehand.
    middle = bench.fresh[i].flatten()[:: max(1, output.numel() // 100_000)].double().median()
    yield f"the scalar {middle.item():.4g}", torch.full_like(output, middle.to(output.dtype).item())
    mean = bench.fresh_mean[i]
    yield "the mean over other inputs", mean
    for axis in range(output.dim() if output.dim() > 1 else 0):
        others = [other for other in range(output.dim()) if other != axis]
        yield f"a constant per position of axis {axis}", mean.mean(dim=others, keepdim=True).expand_as(output)
    yield "the output for other inputs", bench.fresh[i]
    # An output that no weight enters (a mask, a sum of inputs) is the same for all weights, and is no worse for it.
    if other_weights is not None and not torch.equal(part_of(other_weights[i]), output):
        yield "the output of other weights", part_of(other_weights[i])
    for j, argument in enumerate(tensors_of(bench.inputs)):
        if argument.shape == bench.outputs[i].shape:
            yield f"argument {j}", part_of(argument)
