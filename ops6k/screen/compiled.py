"""torch.compile of the whole graph runs and agrees with eager."""

from collections.abc import Callable

import torch

from ops6k.records import Reason
from ops6k.screen import watch
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.compare import as_tuple
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs


def compiled_model(bench: Bench, ready: Callable[[], None]) -> Callable[..., object] | Finding:
    """The model under fullgraph compilation in default mode, warm; or why it breaks or disagrees.

    It must agree in every element for two draws of the inputs, as a verifier asks of a kernel: what torch.compile does to a
    task is what the mildest correct kernel does. ready: called when code is made and is about to run for the first time; until
    then the model and its inputs are all that is held of the device.
    """
    from torch._inductor.compile_fx import compile_fx

    torch._dynamo.reset()

    def inductor(graph: torch.fx.GraphModule, examples: list) -> Callable[..., object]:
        made = compile_fx(graph, examples)

        def run(*arguments: object) -> object:
            with watch.torchs_own():
                ready()
                return made(*arguments)

        return run

    model = torch.compile(bench.model, fullgraph=True, backend=inductor)
    for seed in DRAWS[:2]:
        inputs = bench.inputs if seed == DRAWS[0] else make_inputs(bench.task, bench.device, seed)
        output = attempt(lambda: as_tuple(model(*inputs)), Reason.COMPILE, watched=False)  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        wanted = attempt(lambda: as_tuple(bench.model(*inputs)))  # noqa: B023 - called at once
        if isinstance(wanted, Finding):
            return wanted
        shares = list(map(bench.changed, output, wanted))
        if max(shares) > 0:
            worst = shares.index(max(shares))
            message = f"output {worst}: compiled and eager differ in {shares[worst]:.2g} of the elements at {bench.tolerance:g}"
            return Finding(Reason.COMPILE, message)
        del output, wanted
    return model
