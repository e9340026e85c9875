"""The canonical form of a task: what is left of its model once names, sizes, spelling and layout no longer count.

Taken out: docstrings, comments, annotations, arguments of super(), asserts, the input functions, unused helpers. Unified:
imports, names (numbered in order of appearance, forward first), numbers (N), operator spellings (ops6k.labels.key:
nn.ReLU, F.relu, torch.relu and x.relu() are one, as are x + y and torch.add(x, y)), module constants (their value), the
order of __init__ and of methods. Operator names stay.
Pure: nothing is executed.
"""

from dataclasses import dataclass

import numpy as np

from ops6k.dedup import flow
from ops6k.dedup.program import INPUT_FUNCTIONS, Program, digest, parse
from ops6k.dedup.shingles import shingles
from ops6k.dedup.writer import Writer


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    text: str
    """One statement a line, for people and for diffs."""
    digest: str
    """16 hex digits of the text."""
    shingles: np.ndarray
    """xxhash (32 bit) of every 5 tokens in a row: sorted, distinct, uint32."""
    numbers: tuple[float, ...]
    """The numbers that became N, in canonical order, then those of get_init_inputs and get_inputs."""
    words: frozenset[str]
    """Strings of the model: modes, reductions, kinds of norm."""
    operators: tuple[str, ...]
    """Operator keys in dataflow order, as far as the source shows them."""
    flow: str | None
    """Digest of the source's dataflow graph; None where the source hides it."""


def canonical(code: str) -> Canonical | None:
    """The canonical form of a task's model; None where the code is no Python (or is nested beyond Python's stack)."""
    program = parse(code)
    if program is None:
        return None
    try:
        writer = Writer(program)
        writer.write_model()
        text = "\n".join(writer.lines)
        numbers = writer.numbers + _input_numbers(program)
        graph = flow.trace(program)
    except RecursionError:
        return None
    return Canonical(
        text, digest(text), shingles(text.split()), tuple(numbers), frozenset(writer.words), graph.operators, graph.digest
    )


def _input_numbers(program: Program) -> list[float]:
    writer = Writer(program)
    for name in INPUT_FUNCTIONS:
        if name in program.functions:
            writer.function(program.functions[name], method_of=None)
    return writer.numbers
