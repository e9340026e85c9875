"""The harvest of torch: every operator that torch_names lists, tried in a worker."""

from ops6k.errors import WorkerError
from ops6k.harvest.lines import Harvest, skipped
from ops6k.harvest.pool import Pool
from ops6k.progress import track
from ops6k.records import Operator
from ops6k.store import from_plain

# torch._dynamo: seeding and compiled helpers import it, for seconds in every child if the worker did not.
IMPORTS = (
    "torch",
    "torch._dynamo",
    "torch.testing._internal.common_methods_invocations",
    "torch.testing._internal.common_modules",
)
LISTING_TIMEOUT_S = 300.0
BATCH = 24


def harvest_torch(timeout_s: float, *, only: frozenset[str] = frozenset()) -> Harvest:
    """The operators of torch; `only` restricts it to some labels. Raises WorkerError where a worker cannot run."""
    with Pool(IMPORTS) as pool:
        (listing,) = pool.answers("ops6k.harvest.torch_names:listed", [("torch",)], timeout_s=LISTING_TIMEOUT_S)
        if listing.failure:
            raise WorkerError(f"harvest: the names of torch cannot be listed: {listing.failure}")
        listed = dict(listing.value)
        labels = [label for label, reason in listed.items() if not reason and (not only or label in only)]
        batches = [tuple(labels[start : start + BATCH]) for start in range(0, len(labels), BATCH)]
        found = []
        with track("harvest", len(labels)) as tracker:
            for answer in pool.answers("ops6k.harvest.torch_operators:harvested", batches, timeout_s=timeout_s):
                found.append(answer)
                tracker.advance(note="torch")
    tried = [from_plain(Operator, answer.value) for answer in found if answer.value]
    version = tried[0].version if tried else ""
    left_out = [_left_out(label, reason, version) for label, reason in listed.items() if reason and not only]
    left_out += [operator for operator in tried if not operator.usable]
    left_out += [_left_out(answer.entry, answer.failure, version) for answer in found if answer.failure]
    operators = tuple(operator for operator in tried if operator.usable)
    return Harvest(
        "torch", operators, tuple(left_out), (f"torch {version}: {len(operators)} usable operators of {len(labels)} tried",)
    )


def _left_out(label: str, reason: str, version: str) -> Operator:
    return skipped(
        label, "torch", version, _space(label), kind="module" if label.startswith("nn.") else "function", reason=reason
    )


def _space(label: str) -> str:
    space = label.rpartition(".")[0]
    return {"nn": "torch.nn", "F": "torch.nn.functional"}.get(space, space)
