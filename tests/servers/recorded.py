"""Answers written by hand in the ways that models answer (tests/recorded/), played back to the prompts that they are meant for.

A file is a few `key: value` lines, a line of three dashes and the answer as it stands. expect: what becomes of its task;
derived: what becomes of the one that the screen makes of it by resizing; dropped: why there is no task at all.
NAME.repair.md answers the prompt that sends NAME.md back, NAME.resize.md the one that asks for another size.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ops6k.fuse.llm.answers import Proposal, proposal

FOLDER = Path(__file__).parent.parent / "recorded"
_NOTHING = "I am afraid that I do not see what is wrong with it."


@dataclass(frozen=True)
class Recorded:
    name: str
    """File name without .md."""
    text: str
    expect: str | None = None
    derived: str | None = None
    dropped: str | None = None

    @cached_property
    def task(self) -> Proposal | None:
        return proposal(self.text)


class Tape:
    """All recorded answers; `answer` is what a server says to a prompt."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.all = {path.stem: _read(path) for path in sorted(folder.glob("*.md"))}
        self.first = [one for one in self.all.values() if "." not in one.name]

    def answer(self, prompt: str) -> str:
        """A first prompt is known by its number, one that sends a program back by the program."""
        if "It was rejected as" not in prompt and "but was rejected as" not in prompt:
            return self.first[int(re.search(r"Draw number (\d+)", prompt)[1])].text
        kind = "resize" if "setting its size constants anew" in prompt else "repair"
        for one in self.first:
            if one.task is not None and one.task.code.strip() in prompt:
                again = self.all.get(f"{one.name}.{kind}")
                return again.text if again else _NOTHING
        raise AssertionError(f"no recorded answer holds the program of this prompt:\n{prompt}")


def _read(path: Path) -> Recorded:
    head, _, text = path.read_text(encoding="utf-8").partition("---\n")
    said = dict(line.split(": ", 1) for line in head.splitlines())
    return Recorded(path.stem, text, **said)
