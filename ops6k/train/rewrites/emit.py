"""model_new.py: a task's own source and ModelNew, a class with the same constructor that runs under a plan; needs torch alone."""

import ast
import re

from ops6k.train.plans import Plan
from ops6k.train.rewrites.program import Program
from ops6k.train.rewrites.source import class_source, literal
from ops6k.train.rewrites.table import rewritten

_HARNESS = ("get_inputs", "get_init_inputs")


def emit(task_code: str, program: Program | None, plan: Plan) -> str:
    """The source of model_new.py. program: as captured; only a plan with rewrites needs it, and raises ValueError without; so does
    a task that has a ModelNew already.

    A harness constructs ModelNew (with the seed of the reference, or loads its state_dict), moves it to the device and calls eval().
    """
    if plan.rewrites and program is None:
        raise ValueError(f"the plan {plan.name} rewrites a graph, and there is none")
    if any(getattr(node, "name", getattr(node, "id", "")) == "ModelNew" for node in ast.walk(ast.parse(task_code))):
        raise ValueError("the task has a ModelNew of its own")
    decorator = _decorator(plan) if plan.options is not None else ""
    does = f"Model under the plan {plan.name}: {plan.does}."
    if plan.rewrites:
        text = class_source(rewritten(program, plan.rewrites), decorator, does, plan.channels_last)
    else:
        text = _inherited(plan, decorator, does)
    return f"{without_harness(task_code)}\n\nimport torch\n\n\n{text}"


def _decorator(plan: Plan) -> str:
    options = ", ".join(f"{name!r}: {literal(value)}" for name, value in plan.options)
    return f"@torch.compile(fullgraph=True{f', options={{{options}}}' if options else ''})"


def _inherited(plan: Plan, decorator: str, does: str) -> str:
    """ModelNew with the forward of Model."""
    lines = ["class ModelNew(Model):", f'    """{does}"""']
    if plan.channels_last:
        lines += [
            "",
            "    def __init__(self, *arguments, **named):",
            "        super().__init__(*arguments, **named)",
            "        self.to(memory_format=torch.channels_last)",
        ]
    if decorator or plan.channels_last:
        lines += ["", *([f"    {decorator}"] if decorator else []), "    def forward(self, *arguments, **named):"]
    if plan.channels_last:
        lines += [
            "        images = [isinstance(x, torch.Tensor) and x.dim() == 4 for x in arguments]",
            "        pairs = zip(arguments, images)",
            "        arguments = [x.contiguous(memory_format=torch.channels_last) if image else x for x, image in pairs]",
        ]
    if decorator or plan.channels_last:
        lines.append("        return super().forward(*arguments, **named)")
    return "\n".join(lines) + "\n"


def without_harness(code: str) -> str:
    """A task's source without get_inputs, get_init_inputs and what stands under `if __name__ == "__main__"`; a function that the
    rest of the source names stays."""
    tree = ast.parse(code)
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.dump(node.test)]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in _HARNESS]
    rest = [node for node in tree.body if node not in guards and node not in functions]
    named = {node.id for item in rest for node in ast.walk(item) if isinstance(node, ast.Name)}
    gone = guards + [node for node in functions if node.name not in named]
    lines = re.split(r"\r\n|\r|\n", code)  # as Python counts them: str.splitlines ends one at a form feed in a string too
    for node in sorted(gone, key=lambda node: node.lineno, reverse=True):
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
        del lines[first - 1 : node.end_lineno]
    return "\n".join(lines).rstrip() + "\n"
