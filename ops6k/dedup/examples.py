"""The examples of a project's prompts as references: a model copies what it is shown, and the copy is no new task."""

import re
from pathlib import Path

from ops6k.dedup.index import Reference, Source, load_indexes, references_of
from ops6k.params import Params

EXAMPLES = "prompts"
"""Their name among the benchmarks. They reject; they are nobody's nearest problem."""

_FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def compared_with(params: Params) -> list[Reference]:
    """References of every index that params.yaml names, and the prompts' examples. Raises MissingInput without an index."""
    return load_indexes(params.path(path) for path in params.dedup.benchmarks) + examples(params.path("prompts"))


def examples(folder: Path) -> list[Reference]:
    """References of the tasks that stand whole in prompts (*.j2); none where there are no prompts."""
    found = [
        Source(f"{prompt.stem}-{number}", None, number, code)
        for prompt in sorted(folder.glob("*.j2"))
        for number, code in enumerate(_FENCE.findall(prompt.read_text(encoding="utf-8")), 1)
        if "{{" not in code  # a place for a candidate's code
    ]
    return references_of(found, EXAMPLES)[0] if found else []
