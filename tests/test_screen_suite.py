"""Small tasks, each a file in tests/tasks whose first line names the verdicts that it may get; judged once, all together.

The window is off unless a file says `# window: true`: the tasks are small. Compared with KernelBench; what the other benchmarks
have of the sound ones, tests/test_dedup.py says.
"""

from pathlib import Path

import pytest

from ops6k import params
from ops6k.judge import Judged, judge_path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # all tasks are judged by the first test that asks

TASKS = Path(__file__).parent / "tasks"
FILES = sorted(TASKS.glob("*.py"))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Judged]:
    settings = ["screen.timeout_s=60", "dedup.benchmarks=[data/benchmarks/kernelbench.parquet]"]
    typed = params.load(Path(__file__).parents[1] / "params.yaml", preset="demo", settings=settings)
    return {judged.id: judged for judged in judge_path(TASKS, params=typed, device="cpu", window=False)}


def expected(file: Path) -> set[str]:
    return {word.strip() for word in file.read_text().splitlines()[0].removeprefix("#").split("|")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_task_gets_the_verdict_that_its_first_line_names(file: Path, verdicts: dict[str, Judged]) -> None:
    judged = verdicts[file.name]
    assert (str(judged.reason) if judged.reason else "keep") in expected(file), judged.evidence["message"]


def test_a_batch_norm_with_statistics_of_its_own_is_marked_mode_dependent(verdicts: dict[str, Judged]) -> None:
    assert verdicts["ok-batchnorm.py"].evidence["checks"]["mode_dependent"] is True
    assert verdicts["ok-linear-gelu.py"].evidence["checks"]["mode_dependent"] is False


def test_an_accepted_task_carries_times_work_and_the_machine(verdicts: dict[str, Judged]) -> None:
    evidence = verdicts["ok-linear-gelu.py"].evidence
    assert 0 < evidence["timing"]["eager_low_ms"] <= evidence["timing"]["eager_ms"] <= evidence["timing"]["eager_high_ms"]
    assert evidence["work"]["flops"] == 2 * 64 * 256 * 128
    assert evidence["environment"]["matmul_precision"] == "highest"


def test_a_hang_costs_its_own_verdict_and_the_next_task_is_judged(verdicts: dict[str, Judged]) -> None:
    assert verdicts["endless-loop.py"].outcome != "accepted"
    assert len(verdicts) == len(FILES)
