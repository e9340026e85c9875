"""Memory that children share: parts fit into the whole, the dead hold nothing, and small ones do not starve a large one."""

import os
import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from ops6k.sandbox import pool
from ops6k.sandbox.turns import gate_of

SPAWN = get_context("spawn")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "device.pool"
    for file in (path, gate_of(path)):
        file.touch()
    return path


def _take_again_and_again(path: Path, until: float) -> None:
    """Two of these overlap: 60 of 100 are never free at once."""
    while time.time() < until:
        with pool.held(path, 30, 100):
            time.sleep(0.3)


def _take_once(path: Path, amount: int, told: Path) -> None:
    began = time.monotonic()
    with pool.held(path, amount, 100):
        told.write_text(f"{time.monotonic() - began}", encoding="utf-8")


def _die_holding(path: Path) -> None:
    with pool.held(path, 100, 100):
        os._exit(1)


def test_a_large_part_is_not_kept_waiting_by_small_ones(shared: Path, tmp_path: Path) -> None:
    until = time.time() + 25
    small = []
    for _ in range(3):
        small.append(SPAWN.Process(target=_take_again_and_again, args=(shared, until)))
        small[-1].start()
        time.sleep(0.1)
    time.sleep(1.5)
    told = tmp_path / "told"
    large = SPAWN.Process(target=_take_once, args=(shared, 80, told))
    large.start()
    large.join(timeout=20)
    for process in small:
        process.terminate()
        process.join()
    assert large.exitcode == 0
    assert float(told.read_text(encoding="utf-8")) < pool.PATIENCE_S + 5


def test_what_a_dead_process_held_is_free(shared: Path, tmp_path: Path) -> None:
    dead = SPAWN.Process(target=_die_holding, args=(shared,))
    dead.start()
    dead.join()
    told = tmp_path / "told"
    other = SPAWN.Process(target=_take_once, args=(shared, 100, told))
    other.start()
    other.join(timeout=20)
    assert other.exitcode == 0 and float(told.read_text(encoding="utf-8")) < 1


def test_more_than_the_whole_is_given_to_one_that_is_alone(shared: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    one = SPAWN.Process(target=_take_once, args=(shared, 500, told))
    one.start()
    one.join(timeout=20)
    assert one.exitcode == 0
