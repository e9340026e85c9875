"""The screen's shards on the nodes of a Ray cluster; nothing else imports Ray.

A task makes one shard and returns the bytes of both its files, so nodes need no folder in common and the data folder stays
on one machine, under one lock. The stage then finds its shards done, as it does after `python -m ops6k.screen`.
"""

import logging
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fsspec
import ray
from ray.exceptions import RayError, RayTaskError

from ops6k.errors import Ops6kError, WorkerError
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate
from ops6k.rounds import CANDIDATES, ROUNDS
from ops6k.screen import WORK
from ops6k.screen.course import Rules
from ops6k.screen.shards import CHECKING_CODE, Shard, fill, rules_of, shards_of
from ops6k.stages import Stage
from ops6k.store import code_hash, read_rows, whole_file

NODES_LOST = 3
"""Times that a shard is begun anew because its node or its process was lost; what a task raises is not tried again."""


@dataclass(frozen=True, slots=True)
class Store:
    """A folder that several machines reach: shards are looked for there before they are made, and left there."""

    url: str

    @classmethod
    def at(cls, url: str) -> "Store":
        """Raises WorkerError where the URL's kind is unknown or its package (s3fs, gcsfs) is not installed."""
        try:
            files, root = fsspec.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise WorkerError(f"--store {url}: {error}") from None
        return cls(files.unstrip_protocol(root))

    def names(self, key: str) -> frozenset[str]:
        """Files below one key of shards: asked once, not shard by shard."""
        files, root = fsspec.url_to_fs(self.url)
        files.invalidate_cache()
        try:
            return frozenset(Path(path).name for path in files.ls(f"{root}/{key}", detail=False))
        except FileNotFoundError:
            return frozenset()

    def take(self, shard: Shard) -> bool:
        """Copies a shard from here; False where it is not here or not whole."""
        files, root = fsspec.url_to_fs(self.url)
        try:
            both = [files.cat_file(f"{root}/{shard.path.parent.name}/{path.name}") for path in (shard.derived, shard.path)]
        except FileNotFoundError:
            return False
        _write(shard, *both)
        return shard.done

    def put(self, shard: Shard) -> None:
        """Written aside and moved: a local folder would show half a file meanwhile."""
        files, root = fsspec.url_to_fs(self.url)
        folder = f"{root}/{shard.path.parent.name}"
        files.makedirs(folder, exist_ok=True)
        for path in (shard.derived, shard.path):
            aside = f"{folder}/.{path.name}.{os.uname().nodename}.{os.getpid()}"
            files.pipe_file(aside, path.read_bytes())
            files.mv(aside, f"{folder}/{path.name}")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where a build's shards are made. address: as ray.init takes it; None is $RAY_ADDRESS, or this machine."""

    address: str | None = None
    store: Store | None = None

    def fill(self, stage: Stage, params: Params, data: Path) -> None:
        """Makes the shards that a stage is missing; stages without shards run where the build runs."""
        for part in ROUNDS:
            if part.judge == stage.name:
                rules = rules_of(params)
                candidates = read_rows(data / part.proposed / CANDIDATES, Candidate)
                shards = shards_of(candidates, rules, params, data / WORK)
                missing = self._missing(shards)
                if missing:
                    self._make(missing, rules, params.screen.workers, stage.name)

    def _missing(self, shards: Sequence[Shard]) -> list[Shard]:
        missing = [shard for shard in shards if not shard.done]
        if self.store is None or not missing:
            return missing
        names = self.store.names(missing[0].path.parent.name)
        return [s for s in missing if not ({s.path.name, s.derived.name} <= names and self.store.take(s))]

    def _make(self, shards: Sequence[Shard], rules: Rules, workers: int, stage: str) -> None:
        with connected(self.address), track(stage, sum(len(shard.candidates) for shard in shards)) as tracker:
            workers = workers or cpus_each(ray.nodes(), rules.target.device)
            gpus = 1 if rules.target.device == "cuda" else 0
            make = ray.remote(made).options(num_cpus=workers, num_gpus=gpus, max_retries=NODES_LOST)
            shared, code = ray.put(rules), code_hash(*CHECKING_CODE)
            running = {make.remote(shard, shared, workers, code, self.store): shard for shard in shards}
            while running:
                (ended, *_), _ = ray.wait(list(running))
                shard = running.pop(ended)
                _write(shard, *_result(ended, shard))
                tracker.advance(len(shard.candidates))


def made(shard: Shard, rules: Rules, workers: int, code: str, store: Store | None) -> tuple[bytes, bytes]:
    """Both files of one shard, derived candidates first; runs on a node. A sandbox is opened for each shard.

    Raises WorkerError that names the node: Ray's own error of a task does not.
    """
    try:
        return _made(shard, rules, workers, code, store)
    except (Ops6kError, OSError) as error:
        raise WorkerError(f"node {ray.util.get_node_ip_address()}: {error}") from error


def _made(shard: Shard, rules: Rules, workers: int, code: str, store: Store | None) -> tuple[bytes, bytes]:
    """Raises WorkerError where the node has other checking code than the build: its verdicts would stand under the wrong key."""
    here = code_hash(*CHECKING_CODE)
    if here != code:
        raise WorkerError(f"its checking code is {here}, the build's is {code}; install the same ops6k on every node")
    with tempfile.TemporaryDirectory(prefix="ops6k-shard-") as folder:
        mine = Shard(Path(folder, shard.path.parent.name, shard.path.name), shard.candidates)
        if store is None or not store.take(mine):
            fill([mine], rules, workers)
            if store is not None:
                store.put(mine)
        return mine.derived.read_bytes(), mine.path.read_bytes()


def _write(shard: Shard, derived: bytes, verdicts: bytes) -> None:
    for path, content in ((shard.derived, derived), (shard.path, verdicts)):
        with whole_file(path) as aside:
            aside.write_bytes(content)


def _result(ended: ray.ObjectRef, shard: Shard) -> tuple[bytes, bytes]:
    try:
        return ray.get(ended)
    except RayTaskError as error:
        if isinstance(error.cause, WorkerError):
            raise WorkerError(str(error.cause)) from None
        raise
    except RayError as error:
        raise WorkerError(f"shard {shard.path.stem}, begun {NODES_LOST + 1} times: {str(error).partition(chr(10))[0]}") from None


def cpus_each(nodes: Sequence[dict], device: str) -> int:
    """CPUs that every task may have: those of a node for each of its GPUs; on a CPU all of a node's, since a neighbour would be
    timed along. The smallest node that can do the work says how many.
    """
    have = [node["Resources"] for node in nodes if node["Alive"]]
    able = [one for one in have if one.get("CPU", 0) >= 1 and (device == "cpu" or one.get("GPU", 0) >= 1)]
    if not able:
        raise WorkerError(f"no node of the Ray cluster has {'a GPU' if device == 'cuda' else 'a CPU'}; --runner ray needs one")
    return min(max(1, int(one["CPU"] // one.get("GPU", 1) if device == "cuda" else one["CPU"])) for one in able)


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """A Ray session; raises WorkerError where there is no cluster at the address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    terminated = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False, include_dashboard=None if address else False)
    except (ConnectionError, RuntimeError) as error:
        raise WorkerError(f"no Ray cluster at {address or 'this machine'}: {str(error).partition(chr(10))[0]}") from None
    signal.signal(signal.SIGTERM, terminated)  # Ray puts its own there, and the command line says what is kept
    try:
        yield
    finally:
        ray.shutdown()
