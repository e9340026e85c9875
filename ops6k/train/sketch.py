"""What the agent sees of a task's operators: a graph of at most 64 nodes, made once on the CPU from fake tensors.

Standard library only: the child that makes sketches, the features and the tests share these records.
"""

from dataclasses import dataclass

MOST_NODES = 64
"""What is beyond is cut, farthest from the output first."""
INPUT, WEIGHT = "input", "weight"
"""Operators of the nodes that compute nothing."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operator's first output."""

    operator: str
    """ATen name without its overload, such as "convolution"; INPUT or WEIGHT."""
    dtype: str
    """As torch prints it, without the prefix: "float32"."""
    shape: tuple[int, ...]
    bytes: int
    """Read and written."""
    flops: int
    inputs: tuple[int, ...]
    """Indexes of earlier nodes of the sketch."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A task's graph, and which decisions mean something in it."""

    task_id: str
    nodes: tuple[Node, ...]
    """In topological order; empty where the task cannot be captured."""
    rewrites: tuple[str, ...]
    """Those of plans.REWRITES that change something."""
    images: bool
    """Some tensor has four axes, so that channels last means something."""
