"""One operator of torch, tried and described. Runs in a harvest worker."""

import inspect

from ops6k.harvest import categories, describe
from ops6k.harvest.torch_names import resolve
from ops6k.harvest.torch_samples import calls
from ops6k.harvest.trials import observe, seed
from ops6k.records import Operator
from ops6k.store import to_plain


def harvested(label: str) -> dict:
    """The Operator that a label names, as plain values; never raises for what the operator does."""
    import torch

    torch.set_num_threads(1)
    seed()
    target = resolve(label)
    seen = observe(lambda dtype: calls(label, dtype))
    operator = Operator(
        name=label,
        library="torch",
        # Without the build's suffix: 2.13.0+cpu and 2.13.0+cu130 hold the same operators.
        version=torch.__version__.partition("+")[0],
        module=module_path(label, target),
        kind="module" if inspect.isclass(target) else "function",
        category=categories.of_torch(label),
        signature=describe.signature(label.rpartition(".")[2], target),
        doc=describe.doc_line(target),
        arity=seen.arity,
        ranks=seen.ranks,
        dtypes=seen.dtypes,
        stochastic=seen.stochastic,
        usable=not seen.failure,
        note=seen.failure,
        source_hash=describe.source_hash(target),
    )
    return to_plain(operator)


def module_path(label: str, target: object) -> str:
    """Where it is defined if Python says so, else where it is found."""
    space = {"nn": "torch.nn", "F": "torch.nn.functional"}.get(label.rpartition(".")[0], label.rpartition(".")[0])
    found = getattr(target, "__module__", None)
    return found if isinstance(found, str) and found.startswith("torch.") and not found.startswith("torch._C") else space
