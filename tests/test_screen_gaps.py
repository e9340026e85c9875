"""What the screen still judges wrongly: small tasks in tests/gaps, each with the verdict that it ought to get in its first line.

Who mends one of these kinds sees its test pass, which fails the suite until the file is moved to tests/tasks.
"""

from pathlib import Path

import pytest

from ops6k import params
from ops6k.judge import Judged, judge_path

pytestmark = pytest.mark.slow

GAPS = Path(__file__).parent / "gaps"
FILES = sorted(GAPS.glob("*.py"))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Judged]:
    typed = params.load(Path(__file__).parents[1] / "params.yaml", preset="demo", settings=["screen.timeout_s=60"])
    return {judged.id: judged for judged in judge_path(GAPS, params=typed, device="cpu", window=False)}


@pytest.mark.xfail(strict=True, reason="a known gap of the screen")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_gap_is_still_one(file: Path, verdicts: dict[str, Judged]) -> None:
    wanted = {word.strip() for word in file.read_text().splitlines()[0].removeprefix("#").split("|")}
    judged = verdicts[file.name]
    assert (str(judged.reason) if judged.reason else "keep") in wanted
