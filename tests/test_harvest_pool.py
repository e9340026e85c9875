"""The harvest's workers: a bad entry costs its own answer and nothing else."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from ops6k.errors import WorkerError
from ops6k.harvest.pool import Answer, Pool

BEHAVE = "tests.harvest_entries:behave"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(()) as pool:
        yield pool


def by_entry(pool: Pool, *batches: tuple[str, ...]) -> dict[str, Answer]:
    return {answer.entry: answer for answer in pool.answers(BEHAVE, batches, timeout_s=2.0)}


def test_a_hang_costs_its_own_entry_and_the_rest_of_its_batch_is_answered(pool: Pool) -> None:
    found = by_entry(pool, ("first", "hang", "last"), ("other", "spin"))
    assert found["hang"].failure == found["spin"].failure == "no answer within 2 s"
    assert found["hang"].value is None
    assert all(found[name].value == {"entry": name} for name in ("first", "last", "other"))


def test_a_crash_costs_its_own_entry_and_says_how_the_child_ended(pool: Pool) -> None:
    found = by_entry(pool, ("first", "die", "exit", "last"))
    assert found["die"].failure == "child ended by signal 6"
    assert found["exit"].failure == "child ended with code 7"
    assert found["first"].value and found["last"].value


def test_an_exception_that_nothing_catches_is_the_reason_of_its_own_entry_alone(pool: Pool) -> None:
    found = by_entry(pool, ("first", "interrupt", "last"))
    assert found["interrupt"].failure == "KeyboardInterrupt: pressed by nobody"
    assert found["first"].value and found["last"].value


def test_what_an_entry_prints_is_no_answer(pool: Pool) -> None:
    assert set(by_entry(pool, ("print",))) == {"print"}


def test_a_child_has_no_network(pool: Pool) -> None:
    assert by_entry(pool, ("connect",))["connect"].value == {"entry": "the harvest has no network"}


def test_a_worker_that_cannot_import_stops_the_harvest_with_one_line() -> None:
    with Pool(("no_such_library",)) as broken, pytest.raises(WorkerError, match="No module named 'no_such_library'") as caught:
        by_entry(broken, ("first",))
    assert "\n" not in str(caught.value)


def test_no_worker_outlives_a_harvest_that_is_killed() -> None:
    code = f"from ops6k.harvest.pool import Pool; list(Pool(()).answers({BEHAVE!r}, [('hang',)], timeout_s=600.0))"
    harvest = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert _waits_for(lambda: len(_descendants(harvest.pid)) >= 3)  # two workers and the child that hangs
    below = _descendants(harvest.pid)
    harvest.kill()
    harvest.wait()
    assert _waits_for(lambda: not any(_is_running(pid) for pid in below))


def _descendants(pid: int) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        if _parent(int(name)) == pid:
            found += [int(name), *_descendants(int(name))]
    return found


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _waits_for(claim: object, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.1)
    return False
