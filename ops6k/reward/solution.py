"""What the text of a solution shows before it runs: it parses, is safe, defines ModelNew, and waits for nobody.

The same allow-list as for tasks, and Triton besides. CUDA and C++ sources are not taken: compiled code can answer for its judge.
"""

import ast

from ops6k.records import Reason
from ops6k.reward.written import Plainer
from ops6k.screen.finding import Finding, one_line
from ops6k.screen.safety import unsafe
from ops6k.screen.text import LONGEST_SOURCE

TRITON = frozenset(
    """triton triton.jit triton.autotune triton.heuristics triton.Config triton.cdiv triton.next_power_of_2 triton.language
    triton.language.*""".split()
)
COMPILER = frozenset(("torch.compile",))
"""Where torch's own operators may be called."""


def solution_finding(code: str, *, allow_torch: bool) -> Finding | None:
    """The first thing wrong with a solution's source, or None."""
    if len(code) > LONGEST_SOURCE:
        return Finding(Reason.STRUCTURE, f"{len(code):,} characters of source; a solution has at most {LONGEST_SOURCE:,}")
    try:
        tree = ast.parse(code)
        if allow_torch:
            tree = Plainer().visit(tree)
        return unsafe(tree, TRITON | COMPILER if allow_torch else TRITON) or _hook(tree) or _structure(tree)
    except RecursionError:
        return Finding(Reason.SYNTAX, "nested too deeply to be read")
    except (SyntaxError, ValueError, MemoryError) as error:
        return Finding(Reason.SYNTAX, one_line(error)[:200])


def _hook(tree: ast.Module) -> Finding | None:
    """Hooks run where nobody looks: while weights are loaded, around what is measured."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("register_") and "hook" in node.attr:
            return Finding(Reason.UNSAFE_CODE, f"line {node.lineno}: {node.attr}")
    return None


def _structure(tree: ast.Module) -> Finding | None:
    found = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == "ModelNew"]
    if len(found) != 1 or not isinstance(found[0], ast.ClassDef):
        return Finding(Reason.STRUCTURE, f"ModelNew is defined {len(found)} times by def or class at the top level, not once")
    return None
