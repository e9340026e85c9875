"""A sketch as arrays: a row of floats for each operator, and who reads whom. Standard library and numpy only."""

import math
import re
import zlib
from collections.abc import Sequence

import numpy as np

from ops6k.train.sketch import INPUT, MOST_NODES, WEIGHT, Node, Sketch

LIMIT = 8.0
"""Every feature is scaled by hand to about -1..1 and clipped to this: no statistics of training rows travel with the weights."""

# In this order, the first that matches counts: names of ATen operators as their schemas spell them.
GROUPS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("held", rf"^(?:{INPUT}|{WEIGHT})$"),
        ("convolution", r"convolution"),
        ("attention", r"attention"),
        ("recurrent", r"lstm|gru|rnn"),
        ("matmul", r"^\w*(?:mm|mv)$|^dot$"),
        ("norm", r"norm"),
        ("softmax", r"softmax|logsumexp"),
        ("pool", r"pool"),
        ("scan", r"^cum|_cum|^logcum|sort|topk|median|mode|kthvalue|unique"),
        ("index", r"index|gather|scatter|embedding|take|roll|flip|_pad|upsample|grid_"),
        ("reduction", r"sum|mean|^a?max$|^a?min$|^aminmax$|var|std|prod|argm|^any$|^all$"),
        ("copy", r"copy|clone|^cat$|stack|^full|^zeros|^ones|fill"),
    )
)
GROUP_NAMES = (*(name for name, _ in GROUPS), "pointwise")
BUCKETS = 16
"""Of a hash of the operator's name: what the groups do not tell apart."""
DTYPES = ("float32", "bfloat16", "float16", "int64", "bool")
AXES = 5

NODE_FEATURES: tuple[str, ...] = (
    *(f"is_{name}" for name in GROUP_NAMES),
    *(f"name_{bucket}" for bucket in range(BUCKETS)),
    *(f"dtype_{name}" for name in DTYPES),
    *(f"axis_{axis}" for axis in range(AXES)),
    "bytes", "flops", "share_of_bytes", "share_of_flops", "intensity", "readers", "place",
)  # fmt: skip


def group_of(operator: str) -> int:
    """Its index in GROUP_NAMES; what no pattern matches is pointwise for the most part."""
    return next((index for index, (_, pattern) in enumerate(GROUPS) if pattern.search(operator.lower())), len(GROUPS))


def bucket_of(operator: str) -> int:
    return zlib.crc32(operator.encode()) % BUCKETS


def graph(sketch: Sketch) -> dict[str, np.ndarray]:
    """nodes (MOST_NODES, len(NODE_FEATURES)) float32, edges (MOST_NODES, MOST_NODES) and node_mask (MOST_NODES,) of 0 and 1.

    edges[i, j] is 1 where node i reads node j. Rows beyond the sketch's nodes are 0.
    """
    nodes = np.zeros((MOST_NODES, len(NODE_FEATURES)), np.float32)
    edges, mask = np.zeros((MOST_NODES, MOST_NODES), np.int8), np.zeros(MOST_NODES, np.int8)
    readers = [0] * len(sketch.nodes)
    for index, node in enumerate(sketch.nodes):
        mask[index] = 1
        for read in node.inputs:
            edges[index, read] = 1
            readers[read] += 1
    whole = (sum(node.bytes for node in sketch.nodes), sum(node.flops for node in sketch.nodes))
    for index, node in enumerate(sketch.nodes):
        place = (index + 1) / len(sketch.nodes)
        nodes[index] = clipped([*_row(node, whole), math.log2(1 + readers[index]), place])
    return {"nodes": nodes, "edges": edges, "node_mask": mask}


def clipped(values: Sequence[float]) -> np.ndarray:
    return np.clip(np.asarray(values, dtype=np.float32), -LIMIT, LIMIT)


def log10(value: float, centre: float = 0.0) -> float:
    return math.log10(max(value, 1e-6)) - centre


def log2(above: float, below: float) -> float:
    return math.log2(max(above, 1e-6) / max(below, 1e-6))


def _row(node: Node, whole: tuple[int, int]) -> list[float]:
    group, bucket = group_of(node.operator), bucket_of(node.operator)
    # From the last axis: what is contiguous has one place whatever the rank.
    sizes = [math.log2(max(size, 1)) / 8 for size in reversed(node.shape[-AXES:])]
    return [
        *(float(index == group) for index in range(len(GROUP_NAMES))),
        *(float(index == bucket) for index in range(BUCKETS)),
        *(float(node.dtype == name) for name in DTYPES),
        *sizes, *([0.0] * (AXES - len(sizes))),
        log10(max(node.bytes, 1)) / 8, log10(max(node.flops, 1)) / 10,
        node.bytes / max(whole[0], 1), node.flops / max(whole[1], 1),
        log2(max(node.flops, 1), max(node.bytes, 1)) / 8,
    ]  # fmt: skip
