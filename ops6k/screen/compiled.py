"""torch.compile of the whole graph runs and agrees with eager."""

from collections.abc import Callable

import torch

from ops6k.records import Reason
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.compare import as_tuple, changed_share
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs


def compiled_model(bench: Bench) -> Callable[..., object] | Finding:
    """The model under fullgraph compilation in default mode, warm; or why it breaks or disagrees.

    It must agree in every element for two draws of the inputs, as a verifier asks of a kernel: what torch.compile does to a
    task is what the mildest correct kernel does.
    """
    torch._dynamo.reset()
    model = torch.compile(bench.model, fullgraph=True)
    for seed in DRAWS[:2]:
        inputs = bench.inputs if seed == DRAWS[0] else make_inputs(bench.task, bench.device, seed)
        wanted = bench.outputs if seed == DRAWS[0] else bench.fresh
        output = attempt(lambda: as_tuple(model(*inputs)), Reason.COMPILE, watched=False)  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        shares = [changed_share(got, want, bench.tolerance) for got, want in zip(output, wanted, strict=True)]
        if max(shares) > 0:
            worst = shares.index(max(shares))
            message = f"output {worst}: compiled and eager differ in {shares[worst]:.2g} of the elements at {bench.tolerance:g}"
            return Finding(Reason.COMPILE, message)
    return model
