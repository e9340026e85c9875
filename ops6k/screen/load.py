"""A task's source as something that runs. Only ever called in a sandboxed child."""

import linecache
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass

import torch

NAME = "task"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The three names of a task in KernelBench form."""

    model: type[torch.nn.Module]
    get_inputs: Callable[[], list]
    get_init_inputs: Callable[[], list]
    names: dict[str, object]
    """The namespace of the source, run."""


def load_task(code: str, name: str = NAME) -> Loaded:
    """Runs the source as a module; raises whatever the source raises."""
    module = load_module(code, name)
    return Loaded(module.Model, module.get_inputs, module.get_init_inputs, module.__dict__)


def load_module(code: str, name: str = NAME) -> types.ModuleType:
    """Any source, run as a module; raises whatever the source raises.

    The module stands in sys.modules and its lines in linecache: dataclasses, torch.compile and inspect look there.
    """
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    sys.modules[name] = module
    linecache.cache[module.__file__] = (len(code), None, code.splitlines(keepends=True), module.__file__)
    exec(compile(code, module.__file__, "exec"), module.__dict__)
    return module
