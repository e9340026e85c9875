"""Trains the agents of a build and gives each its tasks to be judged by: held-out split, cross-validation, given problems."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import store, target
from ops6k.params import Params
from ops6k.records import Task
from ops6k.train import compare, ppo, rows, times_of
from ops6k.train.agent import Agent
from ops6k.train.known import Known
from ops6k.train.problems import problems
from ops6k.train.results import Block, Measured, Results, Training
from ops6k.train.rows import Rows
from ops6k.train.times import PlanStatus


@dataclass(frozen=True, slots=True)
class Pupil:
    """One trained agent and how it came there."""

    agent: Agent
    curve: tuple[ppo.CurvePoint, ...]
    regret: float
    """On the clusters of the training tasks that said when to stop."""


@dataclass(frozen=True, slots=True)
class School:
    """What every agent is trained with."""

    known: Known
    steps: int
    agents: int
    seed: int
    """The first; the others count up."""
    work: Path | None = None
    """Where an interrupted training goes on."""

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(range(self.seed, self.seed + self.agents))

    def trained(self, tasks: Sequence[Task]) -> dict[int, Pupil]:
        """An agent a seed."""
        found = {}
        for seed in self.seeds:
            made = ppo.train(tasks, self.known.table, self.known.sketches, self.steps, seed, self._folder(tasks))
            found[seed] = Pupil(Agent(made.policy, ppo.SIZES), made.curve, made.regret)
        return found

    def _folder(self, tasks: Sequence[Task]) -> Path | None:
        """Named by all that the weights depend on beside the seed: another training never takes it over."""
        if self.work is None:
            return None
        ids = [task.task_id for task in tasks]
        rows = [row for task_id in ids for row in self.known.table.of(task_id).values()]
        code = store.code_hash(Path(__file__).parent)
        return self.work / "training" / store.fingerprint(ids, rows, [self.known.sketches[one] for one in ids], self.steps, code)

    def block(self, parts: Sequence[compare.Tried], how: str, train_tasks: int, known: Known | None = None) -> Block:
        return Block(how, train_tasks, compare.compare(parts, known or self.known, self.seed))


def results(school: School, split: Rows, params: Params, work: Path) -> tuple[dict[int, Pupil], Results]:
    """The agents of the held-out split by seed, and what is to be said of them."""
    pupils = school.trained(split.train)
    agents = [pupil.agent for pupil in pupils.values()]
    tried = compare.tried(agents, split.train, split.held_out, school.known, school.seed)
    published = min(pupils, key=lambda seed: pupils[seed].regret)  # by training tasks alone: the held-out ones only judge
    training = Training(pupils[published].curve[-1].step, school.seeds, published, agents[0].parameters)
    return pupils, Results(
        measured(params, school.known),
        training,
        school.block([tried], split.how, len(split.train)),
        _cross_validation(school, split, params.train.folds),
        _problems(school, split, agents, params, work),
    )


def measured(params: Params, known: Known) -> Measured:
    """The machine as the rows name it; the target's words where no row does."""
    machine = target.load(params.path(params.target))
    table = known.table.rows()
    row = next((row for row in table if row.device), None)
    failures = sum(row.status in (PlanStatus.WRONG, PlanStatus.FAILED) for row in table)
    return Measured(
        row.target if row else machine.name,
        machine.device,
        row.device if row else machine.device_name or machine.device,
        row.driver if row else None,
        row.torch if row else machine.torch,
        row.triton if row else None,
        row.repeats if row else params.train.repeats,
        len(table),
        failures,
    )


def _cross_validation(school: School, split: Rows, folds: int) -> Block | None:
    if folds == 1:
        return None
    parts, how = [], rows.folds(split.tasks, folds)
    for one in how:
        agents = [pupil.agent for pupil in school.trained(one.train).values()]
        parts.append(compare.tried(agents, one.train, one.held_out, school.known, school.seed))
    return school.block(parts, how[0].how, min(len(one.train) for one in how))


def _problems(school: School, split: Rows, agents: Sequence[Agent], params: Params, work: Path) -> Block | None:
    given = problems(params, target.load(params.path(params.target)), work)
    if given is None:
        return None
    theirs = times_of(given.tasks, params, work)
    both = school.known.joined(theirs)
    tried = compare.tried(agents, split.train, given.tasks, both, school.seed)
    how = f"problems of a folder, never trained on: {len(given.tasks)} of {given.files} pass the screen"
    return school.block([tried], how, len(split.train), both)
