"""A captured model: its graph, and how that is run in place of the model's own forward."""

import copy
import linecache
from dataclasses import dataclass, replace

import torch
from torch.fx import Graph

from ops6k.train.rewrites.source import Input, class_source


@dataclass(frozen=True, slots=True)
class Program:
    """What a model does to inputs of these shapes, in eval mode without gradients."""

    graph: Graph
    """ATen calls; `get_attr` nodes are named as in the state_dict (or as the attribute, or as in `constants`); the output node
    holds the model's own structure."""
    arguments: tuple
    """The arguments of forward: Input where a tensor comes in, lists and tuples of those, anything else a fixed value."""
    constants: dict[str, torch.Tensor]
    """Small tensors that the forward makes of Python numbers."""

    def copy(self) -> "Program":
        return replace(self, graph=copy.deepcopy(self.graph))

    def inputs(self) -> list[Input]:
        return [leaf for leaf in torch.utils._pytree.tree_leaves(list(self.arguments)) if isinstance(leaf, Input)]

    def module(self, model: torch.nn.Module) -> torch.nn.Module:
        """The model with this graph as its forward: the same parameters (shared, not copied) under the same names.

        What depends on weights alone is computed now and after each load_state_dict. Inputs of other shapes, and training
        mode, go to the model's own forward.
        """
        made = _class_of(class_source(self), type(model))
        twin = copy.copy(model)
        for name in ("_buffers", "_non_persistent_buffers_set", "_load_state_dict_post_hooks"):
            twin.__dict__[name] = copy.copy(model.__dict__[name])
        twin.__class__ = made
        twin.set_up()
        return twin


def _class_of(text: str, base: type) -> type:
    """The class in a source, whose base is called Model there. Its lines stand in linecache: tracebacks show them."""
    file = f"<rewritten {id(base)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict = {"torch": torch, "Model": base, "__name__": base.__module__}
    exec(compile(text, file, "exec"), names)
    return names["ModelNew"]
