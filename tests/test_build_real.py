"""The real stages, small, on the CPU: a build that is killed ends with the rows of one that was not, given the same times."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ("fuse.candidates=6", "screen.shard_rows=2", "assemble.rows=4", "mix.depth={1: 0.2, 2: 0.8}")


def command(stage: str, data: Path, *settings: str) -> list[str]:
    words = [word for setting in (*SETTINGS, *settings) for word in ("--set", setting)]
    return [sys.executable, "-m", "ops6k", stage, "--preset", "demo", "--data", str(data), *words]


def run(stage: str, data: Path, *settings: str) -> None:
    done = subprocess.run(command(stage, data, *settings), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def kill_after_the_first_shard(stage: str, data: Path, *settings: str) -> int:
    """Shards that stood when the stage was killed with signal 9."""
    process = subprocess.Popen(command(stage, data, *settings), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    work, deadline = data / ".work" / stage, time.monotonic() + 240
    while not (done := [p for p in work.rglob("*.parquet") if "derived" not in p.name]):
        assert process.poll() is None and time.monotonic() < deadline, "the stage ended before it made a shard"
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return len(done)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("undisturbed")
    for stage in ("fuse", "screen", "resize", "rescreen", "dedup", "assemble"):
        run(stage, data)
    return data


def test_a_killed_build_ends_with_the_rows_of_an_undisturbed_one(undisturbed: Path, tmp_path: Path) -> None:
    replay = f"screen.replay_times={undisturbed / 'verdicts'}"
    run("fuse", tmp_path, replay)
    assert kill_after_the_first_shard("screen", tmp_path, replay) < 3
    assert not (tmp_path / "verdicts").exists()
    for stage in ("screen", "resize", "rescreen", "dedup", "assemble"):
        run(stage, tmp_path, replay)
    for table in ("data/train.parquet", "data/validation.parquet", "data/test.parquet", "funnel/funnel.parquet"):
        paths = [data / "dataset" / table for data in (undisturbed, tmp_path)]
        assert [path.exists() for path in paths] in ([True, True], [False, False])
        if paths[0].exists():
            assert pq.read_table(paths[0]).equals(pq.read_table(paths[1])), table


def work(data: Path, *words: str) -> str:
    """What the module says that a bare GPU machine runs."""
    module = [sys.executable, "-m", "ops6k.screen", *command("screen", data)[4:]]
    done = subprocess.run([*module, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_a_damaged_shard_is_made_anew_by_the_machine_whose_slice_it_is_and_taken_over(undisturbed: Path) -> None:
    before = ids(undisturbed / "verdicts" / "verdicts.parquet")
    shard = next(
        p for p in (undisturbed / ".work" / "screen").rglob("*.parquet") if "derived" not in p.name and before[2] in ids(p)
    )
    shard.write_bytes(shard.read_bytes()[:200])
    assert work(undisturbed, "--slice", "0/2") == "2 of 2 shards are done"
    assert work(undisturbed, "--slice", "1/2", "--deadline-s", "0") == "0 of 1 shards are done"
    assert work(undisturbed, "--slice", "1/2") == "1 of 1 shards are done"
    written = shard.stat().st_mtime_ns
    run("screen", undisturbed)
    assert shard.stat().st_mtime_ns == written
    assert set(before) <= set(ids(undisturbed / "verdicts" / "verdicts.parquet"))


def ids(table: Path) -> list[str]:
    return pq.read_table(table).column("candidate_id").to_pylist()


def test_every_row_of_a_real_set_was_accepted_and_measured(undisturbed: Path) -> None:
    from datasets import load_dataset

    rows = [row for split in load_dataset(str(undisturbed / "dataset")).values() for row in split]
    assert len(rows) == 4
    assert all(isinstance(row["ops"], list) and row["depth"] == len(row["ops"]) for row in rows)
    assert all(row["timing"]["eager_high_ms"] >= 1 and row["timing"]["eager_low_ms"] <= 100 for row in rows)
    assert all(row["checks"]["output_change"] >= 0.01 for row in rows)
