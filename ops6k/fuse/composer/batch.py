"""Composes a stretch of a run, in a sandboxed child: grow, write, fit to the target by dry runs.

The composer as a Source is here too; the stage calls `compose_batch` through the sandbox, because dry runs execute what
was composed.
"""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ops6k.fuse.composer.fit import Fitted, fitted, unsound_at_size, wanted_ms
from ops6k.fuse.composer.graph import Graph
from ops6k.fuse.composer.grow import ATTEMPTS, full_pool, grow
from ops6k.fuse.composer.recipe import FLOATS, recipes
from ops6k.fuse.composer.write import Writer, labels_of
from ops6k.fuse.sources import Wanted
from ops6k.records import Candidate, candidate_id
from ops6k.screen import finding
from ops6k.store import fingerprint, from_plain, to_plain
from ops6k.target import Target

FIT_TRIES = 6
"""Graphs tried where one cannot be fitted or fails its dry run."""

_WARM_ROWS = 60


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate and what its making showed."""

    index: int
    candidate: Candidate | None
    shape: str
    """Hash of the graph without names and numbers: tasks that share it differ in sizes alone."""
    predicted_ms: float | None
    refused: tuple[str, ...]
    """Why graphs were given up, dry run or fit."""
    fault: str | None = None
    """The composer's own error, where it ended by one."""


@dataclass(frozen=True, slots=True)
class Composer:
    """The built-in source."""

    target: Target
    target_ms: tuple[float, float]

    def propose(self, wanted: Sequence[Wanted]) -> Iterator[Candidate]:
        for one in wanted:
            proposal = self.one(one)
            if proposal.candidate is not None:
                yield proposal.candidate

    def one(self, wanted: Wanted) -> Proposal:
        """Candidate number `wanted.index`; depends on it, the mix behind it and the target alone."""
        pool, refused = full_pool(wanted.seed), []
        goal_ms = wanted_ms(wanted.seed, wanted.index, self.target_ms)
        for attempt in range(FIT_TRIES):
            graph = grow(wanted, pool, first_attempt=attempt * ATTEMPTS)
            if graph is None:
                refused.append("nothing sound grew")
                continue
            writer = Writer(graph, wanted.dtype, f"{wanted.seed}/{wanted.index}/{attempt}")
            found = fitted(graph, writer, self.target, goal_ms)
            problem = found if isinstance(found, str) else self._unsound(graph, found, (wanted, attempt))
            if problem is None:
                return Proposal(
                    wanted.index,
                    _candidate(wanted, graph, found.code),
                    shape_hash(graph),
                    found.work.predicted_ms,
                    tuple(refused),
                )
            refused.append(f"{'+'.join(graph.ops())}: {problem}")
        return Proposal(wanted.index, None, "", None, tuple(refused))

    def _unsound(self, graph: Graph, found: Fitted, at: tuple[Wanted, int]) -> str | None:
        import torch

        wanted, attempt = at
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random.Random(f"{wanted.seed}/{wanted.index}/{attempt}/size").getrandbits(32))
            return unsound_at_size(graph, found)


def shape_hash(graph: Graph) -> str:
    return fingerprint(graph.shape_text())


@cache
def _categories() -> dict[str, str]:
    return {recipe.op: recipe.category for recipe in recipes()}


def _candidate(wanted: Wanted, graph: Graph, code: str) -> Candidate:
    ops = labels_of(graph)
    categories = tuple(dict.fromkeys(_categories()[op] for op in ops))
    return Candidate(candidate_id(ops, code), ops, code, "composer", wanted.seed, wanted.dtype, categories)


def compose_batch(payload: dict) -> dict:
    """For a sandboxed child. payload: target, target_ms, wanted (plain records); gives {proposals: plain records}."""
    import torch

    torch.set_num_threads(1)
    composer = Composer(from_plain(Target, payload["target"]), tuple(payload["target_ms"]))
    found = [_one_or_fault(composer, from_plain(Wanted, row)) for row in payload["wanted"]]
    return {"proposals": [to_plain(proposal) for proposal in found]}


def _one_or_fault(composer: Composer, wanted: Wanted) -> Proposal:
    """A fault of ours costs one candidate, and is counted and quoted: a run of thousands must not end by it, each time it is begun."""
    made = finding.attempt(lambda: composer.one(wanted), watched=False)
    return Proposal(wanted.index, None, "", None, (), made.message) if isinstance(made, finding.Finding) else made


def warm_up() -> None:
    """What the fork server does once: recipes read, fake kernels and decompositions loaded (seconds in a process that has none)."""
    import torch

    torch.set_num_threads(1)
    composer = Composer(Target("warm", "cpu", None, "", 1, 16, "highest", False, 10.0, {"float32": 50.0}, 5.0, ""), (2.0, 5.0))
    for index in range(_WARM_ROWS):
        composer.one(Wanted(index, 0, 3, FLOATS[index % 3], index == 0))


def payload_of(target: Target, target_ms: tuple[float, ...], wanted: Sequence[Wanted]) -> dict:
    return {"target": dataclasses.asdict(target), "target_ms": list(target_ms), "wanted": [to_plain(one) for one in wanted]}
