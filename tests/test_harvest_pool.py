"""The harvest's workers: a bad entry costs its own answer and nothing else."""

import os
import subprocess
import sys
import time

import pytest

from ops6k.errors import WorkerError
from ops6k.harvest.pool import Answer, Work, answers

QUICK = Work("tests.harvest_entries:behave", (), timeout_s=2.0)


def by_entry(work: Work, *batches: tuple[str, ...]) -> dict[str, Answer]:
    return {answer.entry: answer for answer in answers(work, batches)}


def test_a_hang_costs_its_own_entry_and_the_rest_of_its_batch_is_answered() -> None:
    found = by_entry(QUICK, ("first", "hang", "last"), ("other",))
    assert found["hang"].failure == "no answer within 2 s"
    assert found["hang"].value is None
    assert all(found[name].value == {"entry": name} for name in ("first", "last", "other"))


def test_a_crash_costs_its_own_entry_and_says_how_the_child_ended() -> None:
    found = by_entry(QUICK, ("first", "die", "exit", "last"))
    assert found["die"].failure == "child ended by signal 6"
    assert found["exit"].failure == "child ended with code 7"
    assert found["first"].value and found["last"].value


def test_what_an_entry_prints_is_no_answer() -> None:
    assert set(by_entry(QUICK, ("print",))) == {"print"}


def test_a_child_has_no_network() -> None:
    assert by_entry(QUICK, ("connect",))["connect"].value == {"entry": "the harvest has no network"}


def test_a_worker_that_cannot_import_stops_the_harvest_with_one_line() -> None:
    with pytest.raises(WorkerError, match="No module named 'no_such_library'") as caught:
        by_entry(Work("tests.harvest_entries:behave", ("no_such_library",), 2.0), ("first",))
    assert "\n" not in str(caught.value)


def test_no_worker_outlives_a_harvest_that_is_killed() -> None:
    code = "from ops6k.harvest.pool import *; list(answers(Work('tests.harvest_entries:behave', (), 600.0), [('hang',)]))"
    harvest = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert _waits_for(lambda: len(_descendants(harvest.pid)) >= 2)
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
