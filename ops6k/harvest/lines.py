"""The harvest's files: sorted JSON lines, so that an upgrade of a library is a readable diff."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ops6k.errors import MissingInput
from ops6k.harvest.categories import Category
from ops6k.records import Operator
from ops6k.store import from_plain, to_plain, whole_file

SKIPPED = "skipped.jsonl"


def skipped(name: str, library: str, version: str, module: str, *, kind: str, reason: str) -> Operator:
    """What is no usable operator and was not described further; kind may be `file`, of a modelling file that does not import."""
    return Operator(
        name=name,
        library=library,
        version=version,
        module=module,
        kind=kind,
        category=Category.OTHER,
        signature="",
        doc="",
        arity=0,
        ranks=(),
        dtypes=(),
        stochastic=False,
        usable=False,
        note=reason,
        source_hash=None,
    )


def group(operator: Operator) -> str:
    """The reason without names and messages, for counting."""
    return "alias" if operator.note.startswith("alias of") else operator.note.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one library gave."""

    library: str
    operators: tuple[Operator, ...]
    skipped: tuple[Operator, ...]
    """usable is False, note says why."""
    notes: tuple[str, ...] = ()


def write(folder: Path, harvests: Iterable[Harvest]) -> None:
    """LIBRARY.jsonl for each harvest and one skipped.jsonl; all are written aside before the first takes its place."""
    harvests = tuple(harvests)
    texts = {f"{harvest.library}.jsonl": _text(harvest.operators) for harvest in harvests}
    texts[SKIPPED] = _text(item for harvest in harvests for item in harvest.skipped)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name, text in texts.items():
            stack.enter_context(whole_file(folder / name)).write_text(text, encoding="utf-8")


def read(path: Path) -> list[Operator]:
    """The operators of a file; raises MissingInput where it is absent or a line is no Operator."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingInput(f"{path}: {error.strerror}; `ops6k harvest` makes it") from None
    except UnicodeDecodeError as error:
        raise MissingInput(f"{path}: not UTF-8 ({error}); `ops6k harvest` makes it anew") from None
    return [_operator(path, number, line) for number, line in enumerate(text.splitlines(), 1)]


def _operator(path: Path, number: int, line: str) -> Operator:
    try:
        return from_plain(Operator, json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MissingInput(f"{path}: line {number} is no operator; `ops6k harvest` makes the file anew") from None


def _text(records: Iterable[Operator]) -> str:
    rows = sorted((to_plain(record) for record in records), key=lambda row: (row["name"], row["module"]))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
