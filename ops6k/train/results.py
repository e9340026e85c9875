"""results.json: everything that the card and the report say of an agent, as records. Standard library only."""

from dataclasses import dataclass

from ops6k.train.compare import Comparison


@dataclass(frozen=True, slots=True)
class Block:
    """A comparison and what it was made on."""

    how: str
    """Where the judged tasks come from."""
    train_tasks: int
    """That each agent was trained on; of several splits the fewest."""
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Measured:
    """What the times were taken on."""

    target: str
    device: str
    """cpu or cuda."""
    device_name: str
    driver: str | None
    torch: str
    triton: str | None
    repeats: int
    measurements: int
    failures: int
    """Of them wrong or failed."""

    @property
    def on_gpu(self) -> bool:
        return self.device == "cuda"


@dataclass(frozen=True, slots=True)
class Training:
    """How the weights came about."""

    steps: int
    seeds: tuple[int, ...]
    published_seed: int
    """The best of them on clusters of the training tasks that each leaves out to know when to stop: the tables show the mean of all."""
    parameters: int


@dataclass(frozen=True, slots=True)
class Results:
    measured: Measured
    training: Training
    held_out: Block
    """One split: agents judged on clusters left out."""
    cross_validation: Block | None
    """Every measured task judged by agents that saw none of its cluster; None where train.folds is 1."""
    problems: Block | None
    """The problems of a folder, judged by the agents of the held-out split; None where none was given."""
