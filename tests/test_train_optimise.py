"""A task from a file made faster on this machine, by a rule in the agent's place: attempts, model_new.py, its score."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from ops6k import params
from ops6k.errors import MissingInput
from ops6k.reward import Status
from ops6k.train.collect import Measuring
from ops6k.train.optimise import MODEL_NEW, attempts, ranked, subject_of, verified, write
from ops6k.train.plans import ACTIONS, Plan
from ops6k.train.times import PlanStatus

REPOSITORY = Path(__file__).resolve().parent.parent

DIAGONAL = """import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(width))
    def forward(self, x):
        return torch.relu(torch.diag(self.scale) @ x) + 0.5
def get_inputs():
    return [torch.randn(512, 256)]
def get_init_inputs():
    return [512]
"""


@dataclass
class Script:
    """Takes these decisions in turn, as far as the mask allows them."""

    decisions: list[str]
    refused: list[str] = field(default_factory=list)

    def act(self, seen: dict[str, np.ndarray], mask: np.ndarray) -> int:
        name = self.decisions.pop(0)
        if not mask[ACTIONS.index(name)]:
            self.refused.append(name)
        return ACTIONS.index(name)


@pytest.mark.slow
def test_the_best_plan_of_a_file_is_written_out_and_is_right_by_our_own_reward(tmp_path: Path):
    (tmp_path / "diagonal.py").write_text(DIAGONAL)
    subject = subject_of(str(tmp_path / "diagonal.py"), params.load(REPOSITORY / "params.yaml"), tmp_path, "cpu")
    assert "diagonal_matmul" in subject.sketch.rewrites and subject.task.timing.eager_ms > 0
    every = subject.sketch.rewrites
    script = Script([*every, "default", "stop"])
    tried = list(attempts(script, subject, Measuring(5, 1), tmp_path, 4))
    assert [row.plan for row in tried] == [Plan(every).name] and script.refused == []
    assert {row.status for row in tried} == {PlanStatus.CORRECT}
    best = ranked(tried)[0]
    assert best.plan == Plan(every).name and best.milestone >= 2
    path = write(subject, Plan.named(best.plan), tmp_path / "out")
    assert path.name == MODEL_NEW and "class ModelNew(Model)" in path.read_text()
    found = verified(subject, path)
    assert found.status is Status.CORRECT and found.reward >= 2, found.message
    # What was measured is in the table: asked again, it is not measured again.
    assert list(attempts(Script([*every, "default", "stop"]), subject, Measuring(5, 1), tmp_path, 4)) == tried


def test_what_is_no_task_is_one_clear_line(tmp_path: Path):
    typed = params.load(REPOSITORY / "params.yaml")
    with pytest.raises(MissingInput, match=r"nowhere\.py: no such file"):
        subject_of("nowhere.py", typed, tmp_path, "cpu")
    with pytest.raises(MissingInput, match="no task to train on"):
        subject_of("0123", typed, tmp_path, "cpu")
