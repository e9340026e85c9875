"""The screen's shards on a Ray cluster: several raylets on this machine, of which one is killed while it makes a shard."""

import dataclasses
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ops6k import progress, runner
from ops6k.errors import WorkerError
from ops6k.params import Params, load
from ops6k.records import Candidate, Outcome, Report, Timing, Verdict
from ops6k.rounds import CANDIDATES, VERDICTS
from ops6k.screen.shards import Shard, rules_of, shards_of
from ops6k.screen.warm import TASK
from ops6k.stages import BY_NAME
from ops6k.store import read_rows, write_rows

pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

from ops6k.cluster import Cluster, Store, cpus_each  # noqa: E402 - only where Ray is installed

ROOT = Path(__file__).resolve().parents[1]
SCREEN = BY_NAME["screen"]
WORDS = ("screen.shard_rows=1", "screen.workers=1")


def proposed(data: Path) -> Params:
    """Two small candidates with recorded times, a shard each."""
    labels = ("nn.Linear", "torch.tanh")
    candidates = [Candidate(f"c{i}", labels, f"{TASK}\n# {i}\n", "control", i, "float32", ("linear",)) for i in range(2)]
    write_rows(data / "candidates" / CANDIDATES, candidates, Candidate)
    timing = Timing(5.0, 4.9, 5.1, 5.1, 4.0, 4.1, 20, False)
    times = [Verdict(c.candidate_id, Outcome.ACCEPTED, None, "", "timing", timing=timing) for c in candidates]
    write_rows(data / "times" / VERDICTS, times, Verdict)
    return load(ROOT / "params.yaml", preset="demo", settings=[*WORDS, f"screen.replay_times={data / 'times'}"])


def shards(params: Params, data: Path) -> list[Shard]:
    return shards_of(read_rows(data / "candidates" / CANDIDATES, Candidate), rules_of(params), params, data / ".work" / "screen")


def screened(params: Params, data: Path, cluster: Cluster | None = None) -> Report:
    with runner.locked(data):
        return runner.perform(SCREEN, params, data, before=cluster.fill if cluster else None)


def verdicts(data: Path) -> list[Verdict]:
    """Without what differs from run to run."""
    rows = read_rows(data / "verdicts" / VERDICTS, Verdict)
    return [dataclasses.replace(row, seconds=None, forward_ms=None) for row in rows]


class Noting:
    """A display that keeps how a stage's shards stood, change by change."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str | None]] = []

    def show(self, tracker: progress.Tracker) -> None:
        if self.seen[-1:] != [tracker.parts]:
            self.seen.append(dict(tracker.parts))

    def end(self, tracker: progress.Tracker) -> None: ...


@pytest.fixture(scope="module")
def noting() -> Noting:
    return Noting()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, noting: Noting) -> tuple[Params, Path]:
    data = tmp_path_factory.mktemp("undisturbed")
    params = proposed(data)
    token = progress.display.set(noting)
    screened(params, data)
    progress.display.reset(token)
    return params, data


@pytest.fixture(scope="module")
def nodes() -> Iterator["cluster_utils.Cluster"]:
    """A head without a CPU for tasks, which asks often whether nodes live; the tests add and remove nodes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT))
        cluster = cluster_utils.Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": {"health_check_period_ms": 500}},
        )
        try:
            yield cluster
        finally:
            cluster.shutdown()


def lost_in_the_middle(nodes: "cluster_utils.Cluster", node: object, folder: Path) -> bool:
    """Kills the node as soon as it has begun a shard, seconds before that could be done; whether it came to that."""
    deadline = time.monotonic() + 60
    while not (begun := list(folder.glob("ops6k-shard-*"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    nodes.remove_node(node, allow_graceful=False)
    return bool(begun)


@pytest.mark.slow
def test_the_screen_says_when_a_shard_begins_and_what_came_of_it(undisturbed: tuple[Params, Path], noting: Noting) -> None:
    came = [f"{verdict.reason or verdict.outcome} 1" for verdict in verdicts(undisturbed[1])]
    first, second = {"screen-0000": came[0]}, {"screen-0001": came[1]}
    assert noting.seen == [{}, {"screen-0000": None}, first, first | {"screen-0001": None}, first | second]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_lost_node_costs_its_shard_alone_and_the_verdicts_are_those_of_one_machine(
    undisturbed: tuple[Params, Path], nodes: "cluster_utils.Cluster", tmp_path: Path
) -> None:
    params, alone = undisturbed
    shutil.copytree(alone / "candidates", tmp_path / "candidates")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        stays = nodes.add_node(wait=False, num_cpus=1, env_vars={"TMPDIR": first})
        goes = nodes.add_node(num_cpus=1, env_vars={"TMPDIR": second})
        store = Store.at(f"file://{tmp_path}/store")
        with ThreadPoolExecutor(1) as beside:
            died_at_work = beside.submit(lost_in_the_middle, nodes, goes, Path(second))
            report = screened(params, tmp_path, Cluster(nodes.address, store))
        nodes.remove_node(stays)
    assert died_at_work.result()
    assert report.taken == 2 and verdicts(tmp_path) == verdicts(alone)
    names = {shard.path.name for shard in shards(params, tmp_path)}
    assert names <= store.names(shards(params, tmp_path)[0].path.parent.name)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_node_with_other_checking_code_is_refused_in_one_line(
    undisturbed: tuple[Params, Path], nodes: "cluster_utils.Cluster", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # Ray has its workers look for modules in the caller's folder too
    params, alone = undisturbed
    shutil.copytree(alone / "candidates", tmp_path / "candidates")
    shutil.copytree(ROOT / "ops6k", tmp_path / "other" / "ops6k", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other" / "ops6k" / "screen" / "ties.py").open("a", encoding="utf-8") as file:
        file.write("\nNEW_RULE = 1\n")
    node = nodes.add_node(num_cpus=1, env_vars={"PYTHONPATH": str(tmp_path / "other")})
    try:
        with pytest.raises(WorkerError, match=r"^node \S+: its checking code is \w+, the build's is \w+; install the same ops6k"):
            screened(params, tmp_path, Cluster(nodes.address))
    finally:
        nodes.remove_node(node)
    assert not any(shard.done for shard in shards(params, tmp_path))


@pytest.mark.slow
def test_what_the_store_holds_is_taken_without_a_cluster_unless_it_is_damaged(
    undisturbed: tuple[Params, Path], tmp_path: Path
) -> None:
    params, alone = undisturbed
    store = Store.at(f"file://{tmp_path}/store")
    for shard in shards(params, alone):
        store.put(shard)
    shutil.copytree(alone / "candidates", tmp_path / "candidates")
    screened(params, tmp_path, Cluster("127.0.0.1:1", store))
    assert verdicts(tmp_path) == verdicts(alone)
    last = shards(params, tmp_path)[-1]
    held = tmp_path / "store" / last.path.parent.name / last.path.name
    held.write_bytes(held.read_bytes()[:-9])
    last.path.unlink()
    assert not store.take(last) and not last.done


def test_a_task_has_the_cpus_that_the_smallest_able_node_has_for_a_gpu() -> None:
    of = [{"Alive": True, "Resources": one} for one in ({"CPU": 4.0}, {"CPU": 96.0, "GPU": 8.0}, {"CPU": 64.0, "GPU": 4.0})]
    gone = {"Alive": False, "Resources": {"CPU": 1.0, "GPU": 1.0}}
    assert cpus_each([*of, gone], "cuda") == 12 and cpus_each([*of, gone], "cpu") == 4


def test_a_cluster_without_a_gpu_is_no_place_for_a_gpu_target() -> None:
    with pytest.raises(WorkerError, match="no node of the Ray cluster has a GPU"):
        cpus_each([{"Alive": True, "Resources": {"CPU": 4.0}}], "cuda")


def test_a_store_of_an_unknown_kind_is_one_line() -> None:
    with pytest.raises(WorkerError, match="--store nowhere://x: "):
        Store.at("nowhere://x")
