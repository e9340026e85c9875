"""A dataflow graph in which one computation is one node, whoever asks for it and however often."""

from ops6k.dedup.program import digest

THROUGH = ""
"""Key of a node that only passes its inputs on."""

_TUPLE = "?tuple"


class Graph:
    def __init__(self) -> None:
        self.nodes: list[tuple[str, tuple[int, ...]]] = []
        self.numbered: dict[tuple[str, tuple[int, ...]], int] = {}
        self.tuples: dict[int, list[int | None]] = {}

    def node(self, name: str, inputs: list[int | None]) -> int:
        """The number of an operator on inputs; what is the same computation has the same number."""
        known = (name, tuple(part for part in inputs if part is not None))
        if known not in self.numbered:
            self.numbered[known] = len(self.nodes)
            self.nodes.append(known)
        return self.numbered[known]

    def join(self, inputs: list[int | None]) -> int | None:
        """Several values as one; None where there is none, the value itself where there is one."""
        present = [part for part in inputs if part is not None]
        if len(present) < 2:
            return present[0] if present else None
        return self.node(THROUGH, present)

    def together(self, parts: list[int | None]) -> int | None:
        """A tuple's value; its parts are remembered, so that a helper may return several values."""
        if all(part is None for part in parts):
            return None
        pattern = "".join("-" if part is None else "+" for part in parts)
        result = self.node(_TUPLE + pattern, parts)
        self.tuples[result] = parts
        return result

    def parts(self, value: int | None, count: int) -> list[int | None]:
        """The value as so many: a tuple's own parts, else each is the whole."""
        known = self.tuples.get(value, ())
        return list(known) if len(known) == count else [value] * count

    def operators(self, order: list[int]) -> tuple[str, ...]:
        """Keys of the nodes that compute; those that start with a question mark stand for something else."""
        return tuple(name for node in order if (name := self.nodes[node][0]) != THROUGH and not name.startswith("?"))

    def reachable(self, outputs: list[int | None]) -> list[int]:
        """Nodes that outputs depend on, in dataflow order (depth first, inputs before users)."""
        order: dict[int, None] = {}
        stack = [(node, False) for node in reversed(outputs) if node is not None]
        while stack:
            node, inputs_done = stack.pop()
            if inputs_done:
                order[node] = None
            elif node not in order:
                stack.append((node, True))
                stack += [(part, False) for part in reversed(self.nodes[node][1])]
        return list(order)

    def digest(self, outputs: list[int | None], order: list[int]) -> str:
        digests: dict[int, str] = {}
        for node in order:
            name, inputs = self.nodes[node]
            passes_on = name == THROUGH or name.startswith(_TUPLE)
            below = [digests[part] for part in inputs]
            digests[node] = (
                below[0] if passes_on and len(below) == 1 else digest(" ".join([THROUGH if passes_on else name, *below]))
            )
        return digest(" ".join(digests[node] for node in outputs if node is not None))
