"""Sketches: what a task's graph looks like to an agent, without a byte of its tensors, and kept once made."""

import dataclasses
from pathlib import Path

import torch
from train_tasks import CPU, task

from ops6k.screen.load import load_task
from ops6k.screen.warm import TARGET
from ops6k.train.describe import describe
from ops6k.train.rewrites import applicable, capture
from ops6k.train.sketch import INPUT, MOST_NODES, WEIGHT
from ops6k.train.sketches import made_of, sketches_of

CONVOLUTION = """import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 32, 3, bias=False)
        self.norm = nn.BatchNorm2d(32)
    def forward(self, x):
        y = self.norm(self.conv(x)).flatten(1)
        return torch.relu(torch.relu(y)) + y
def get_inputs():
    return [torch.rand(BATCH, 16, 34, 34)]
def get_init_inputs():
    return [16]
"""

CHAIN = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(80):
            x = torch.sin(x)
        return x
def get_inputs():
    return [torch.rand(8, 8)]
def get_init_inputs():
    return []
"""

# A name that the written class has of its own: no rewrite can be written out.
NOT_CAPTURABLE = CHAIN.replace("    def forward", "    def prepare(self):\n        pass\n    def forward")

RAISES = CHAIN.replace("torch.sin(x)", "torch.sin(x, x, x)")

ENDS_ITS_CHILD = CHAIN.replace("import torch\n", "import torch, os\n", 1).replace("return x", "os._exit(3)")


def test_a_node_says_what_it_reads_moves_and_computes_and_views_are_passed_through():
    sketch, why = describe("t", CONVOLUTION.replace("BATCH", "4"), TARGET)
    weights = [i for i, node in enumerate(sketch.nodes) if node.operator == WEIGHT]
    (given,) = [i for i, node in enumerate(sketch.nodes) if node.operator == INPUT]
    convolution, norm, first, second, added = sketch.nodes[-5:]
    start = len(sketch.nodes) - 5
    assert [node.operator for node in sketch.nodes[-5:]] == [
        "convolution",
        "native_batch_norm",
        "relu",
        "relu",
        "add",
    ] and not why
    assert len(weights) == 5 and sketch.nodes[weights[0]].shape == (32, 16, 3, 3)
    assert set(convolution.inputs) == {given, weights[0]} and convolution.flops == 2 * 4 * 32 * 32 * 32 * 16 * 9
    assert set(norm.inputs) == {start, *weights[1:]}
    assert (first.inputs, second.inputs, added.inputs) == ((start + 1,), (start + 2,), (start + 3, start + 1))
    assert first.bytes == 2 * 4 * 4 * 32 * 32 * 32 and first.shape == (4, 32 * 32 * 32) and first.dtype == "float32"
    assert sketch.images


def test_rewrites_found_without_memory_are_those_of_the_real_model():
    task = load_task(CONVOLUTION.replace("BATCH", "2"))
    with torch.no_grad():
        real = applicable(capture(task.model(16).eval(), task.get_inputs()))
    sketch, _ = describe("t", CONVOLUTION.replace("BATCH", "10**9"), TARGET)  # 74 TB of input
    assert sketch.rewrites == real and {"fold_batch_norm", "idempotent"} <= set(real)


def test_of_a_long_graph_the_nodes_nearest_to_the_output_are_kept():
    sketch, _ = describe("t", CHAIN, TARGET)
    assert len(sketch.nodes) == MOST_NODES and {node.operator for node in sketch.nodes} == {"sin"}
    assert [node.inputs for node in sketch.nodes] == [(), *((i,) for i in range(MOST_NODES - 1))]
    assert not sketch.images


def test_what_cannot_be_captured_has_nodes_and_no_rewrites_and_what_does_not_run_has_neither():
    seen, why_seen = describe("a", NOT_CAPTURABLE, TARGET)
    raised, why_raised = describe("b", RAISES, TARGET)
    assert len(seen.nodes) == MOST_NODES and seen.rewrites == () and "prepare of its own" in why_seen
    assert (raised.nodes, raised.rewrites) == ((), ()) and why_raised.startswith("TypeError")


def test_sketches_are_made_once_and_a_task_that_ends_its_child_takes_no_other_along(tmp_path: Path):
    codes = [CONVOLUTION.replace("BATCH", "4"), ENDS_ITS_CHILD, CHAIN]
    tasks = [dataclasses.replace(task(number, environment=CPU, code=code)) for number, code in enumerate(codes)]
    made = made_of(tasks, TARGET, 1, tmp_path)
    good, ended, chain = (made[of.task_id] for of in tasks)
    assert list(made) == [of.task_id for of in tasks]
    assert good.sketch.rewrites and len(chain.sketch.nodes) == MOST_NODES
    assert ended.sketch.nodes == () and ended.why.startswith("crashed after")
    (kept,) = (tmp_path / "sketches").rglob("*.parquet")
    written = kept.stat().st_mtime_ns
    assert sketches_of(tasks, TARGET, 1, tmp_path) == {of.task_id: made[of.task_id].sketch for of in tasks}
    assert [path.stat().st_mtime_ns for path in (tmp_path / "sketches").rglob("*.parquet")] == [written]
