"""A dataflow graph in which one computation is one node, whoever asks for it and however often."""

from ops6k.dedup.program import digest

THROUGH = ""
"""Key of a node that only passes its inputs on."""


class Graph:
    def __init__(self) -> None:
        self.nodes: list[tuple[str, tuple[int, ...]]] = []
        self.numbered: dict[tuple[str, tuple[int, ...]], int] = {}

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
            digests[node] = digest(" ".join([name, *(digests[part] for part in inputs)]))
        return digest(" ".join(digests[node] for node in outputs if node is not None))
