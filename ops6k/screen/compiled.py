"""torch.compile of the whole graph runs and agrees with eager."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from ops6k.records import Reason
from ops6k.screen.compare import as_tuple, changed_share
from ops6k.screen.finding import Finding, attempt

if TYPE_CHECKING:
    from ops6k.screen.eager import Bench

AGREEING_SHARE = 0.999


def compiled_model(bench: "Bench") -> Callable[..., object] | Finding:
    """The model under fullgraph compilation in default mode, warm; or why it breaks or disagrees."""
    torch._dynamo.reset()
    model = torch.compile(bench.model, fullgraph=True)
    output = attempt(lambda: as_tuple(model(*bench.inputs)), Reason.COMPILE)
    if isinstance(output, Finding):
        return output
    for i, (got, wanted) in enumerate(zip(output, bench.outputs, strict=True)):
        share = changed_share(got, wanted, bench.limits.tolerance)
        if share > 1 - AGREEING_SHARE:
            return Finding(Reason.COMPILE, f"output {i}: compiled and eager differ in {share:.2%} of the elements")
    return model
