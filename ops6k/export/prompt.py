"""What a policy is asked for one task: the text of prompts/kernel.j2."""

import re
from collections.abc import Callable
from pathlib import Path

from ops6k.records import Task
from ops6k.task_rows import tolerance

TEMPLATE = "kernel.j2"


class Prompts:
    """Prompts of tasks; the template is read at the first one, so that formats without a prompt need no project."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._render: Callable[..., str] | None = None

    def of(self, task: Task) -> str:
        """One user's message; raises MissingInput without the template, ParamsError where it is wrong."""
        if self._render is None:
            from ops6k.fuse.llm.templates import Templates  # jinja2 and what is around it take a while

            self._render = Templates(self._folder).render
        atol, rtol = tolerance(task)
        return self._render(
            TEMPLATE,
            code=task.code,
            fence=fence(task.code),
            dtype=task.dtype,
            tf32="on" if task.environment.tf32 else "off",
            device=task.environment.device,
            atol=atol,
            rtol=rtol,
            eager_ms=task.timing.eager_ms,
            compiled_ms=task.timing.compiled_ms,
        )


def fence(code: str) -> str:
    """Backticks that nothing in the code can close: a docstring may hold a fence of its own."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    return "`" * max(3, longest + 1)
