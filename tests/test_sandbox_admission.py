"""Which job begins next, decided without a sandbox; and turns at the device, between real processes."""

import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path

from ops6k.sandbox import turns
from ops6k.sandbox.admission import PATIENCE, Admission


@dataclass
class Asked:
    job_id: str
    device_gib: float = 0.0
    alone: bool = False


def begun(admission: Admission) -> list[str]:
    return [job.job_id for job in iter(admission.begin, None)]


def test_a_small_job_passes_one_that_does_not_fit() -> None:
    admission = Admission([Asked("a", 6), Asked("b", 6), Asked("c", 3)], workers=4, device_gib=10)
    assert begun(admission) == ["a", "c"]
    admission.end("a", None)
    assert begun(admission) == ["b"]


def test_what_does_not_fit_is_passed_only_so_often() -> None:
    small = [Asked(str(i), 1) for i in range(500)]
    admission = Admission([Asked("first", 6), Asked("large", 10), *small], workers=3, device_gib=10)
    passing = begun(admission)[1:]
    while new := begun(admission) or admission.end(passing.pop(0), None) or begun(admission):
        passing += new
    assert admission.passed == PATIENCE and admission.waiting[0].job_id == "large"
    for job_id in ["first", *passing]:
        admission.end(job_id, None)
    assert begun(admission)[0] == "large"


def test_a_job_larger_than_the_device_runs_when_nothing_else_does() -> None:
    admission = Admission([Asked("huge", 99), Asked("b", 1)], workers=4, device_gib=10)
    assert begun(admission) == ["huge"]
    admission.end("huge", None)
    assert begun(admission) == ["b"]


def test_a_job_alone_waits_for_all_others_and_all_others_for_it() -> None:
    admission = Admission([Asked("a"), Asked("b"), Asked("c")], workers=2, device_gib=10)
    assert begun(admission) == ["a", "b"]
    admission.end("a", Asked("a again", alone=True))
    assert begun(admission) == []
    admission.end("b", None)
    assert begun(admission) == ["a again"]
    admission.end("a again", None)
    assert begun(admission) == ["c"]


def test_what_follows_goes_before_what_is_still_to_be_drawn() -> None:
    admission = Admission([Asked("a"), Asked("b")], workers=1, device_gib=10)
    assert begun(admission) == ["a"]
    admission.end("a", Asked("a run"))
    assert begun(admission) == ["a run"]


def _share(lock: Path, log: Path) -> None:
    for _ in range(40):
        with turns.shared(lock):
            with log.open("a") as file:
                file.write("<")
            time.sleep(0.005)
            with log.open("a") as file:
                file.write(">")


def test_who_is_alone_is_alone_and_is_not_kept_waiting_by_those_who_share(tmp_path: Path) -> None:
    lock, log = tmp_path / "lock", tmp_path / "log"
    lock.touch(), turns.gate_of(lock).touch(), log.touch()
    sharing = [multiprocessing.get_context("fork").Process(target=_share, args=(lock, log)) for _ in range(3)]
    for process in sharing:
        process.start()
    while not log.read_text():
        time.sleep(0.001)
    for _ in range(5):
        with turns.alone(lock):
            before = log.read_text()
            assert before.count("<") == before.count(">")
            time.sleep(0.02)
            assert log.read_text() == before
    assert any(process.is_alive() for process in sharing)  # five turns alone came in the midst of a hundred shared ones
    for process in sharing:
        process.join()
    assert log.read_text().count("<") == 120
