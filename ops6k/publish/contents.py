"""What of a build is published, and the checks that nothing leaves which should not: secrets, and a data set without its card."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k.errors import HubError, MissingInput, ParamsError
from ops6k.yaml_text import yaml_tree

What = Literal["dataset", "agent", "all"]

_SECRETS = (
    ("a Hugging Face token", re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}")),
    ("an API key", re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}")),
)
_SECRET_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY")
_SHORTEST_SECRET = 8
"""A shorter value of such a variable (`none`, `test`) is no secret and would be found everywhere."""


@dataclass(frozen=True, slots=True)
class Part:
    """One repository to be."""

    kind: Literal["dataset", "model"]
    repository: str
    """Name without the organisation."""
    folder: Path
    files: tuple[Path, ...]
    """Relative to the folder, sorted; hidden files and caches are left out."""


def parts(data: Path, what: What) -> tuple[Part, ...]:
    """What is to be published, checked; raises MissingInput or HubError with one line that names the file."""
    wanted = ("dataset", "agent") if what == "all" else (what,)
    return tuple(_dataset(data) if name == "dataset" else _agent(data) for name in wanted)


def changes(part: Part, there: Mapping[str, int], is_same: Callable[[str], bool]) -> Iterator[str]:
    """What publishing does, a line a file: `+ data/test.parquet (12,345 bytes)`, `~ README.md (6,100 bytes, were 6,001)`, `- old.csv`.

    there: sizes of what is published already, by name. is_same: asked of files on both sides.
    """
    here = {file.as_posix(): part.folder / file for file in part.files}
    for name, path in here.items():
        size = path.stat().st_size
        if name not in there:
            yield f"+ {name} ({size:,} bytes)"
        elif not is_same(name):
            yield f"~ {name} ({size:,} bytes, were {there[name]:,})"
    yield from (f"- {name}" for name in sorted(there.keys() - here.keys()))


def _dataset(data: Path) -> Part:
    part = _part("dataset", "ops6k", data / "dataset", stage="assemble")
    if Path("README.md") not in part.files:
        raise HubError(
            f"{part.folder}: no README.md, and the Hub shows and loads a data set by its card; `ops6k assemble` writes it"
        )
    return part


def _agent(data: Path) -> Part:
    return _part("model", "ops6k-agent", data / "agent", stage="train")


def _part(kind: Literal["dataset", "model"], repository: str, folder: Path, *, stage: str) -> Part:
    if not folder.is_dir():
        raise MissingInput(f"{folder}: no such folder; `ops6k {stage}` makes it")
    files = tuple(sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file()))
    files = tuple(file for file in files if not any(part.startswith((".", "__pycache__")) for part in file.parts))
    if not files:
        raise MissingInput(f"{folder}: empty; `ops6k {stage}` fills it")
    for file in files:
        _refuse_secret(folder / file)
    if Path("README.md") in files:
        _require_head(folder / "README.md")
    return Part(kind, repository, folder, files)


def _require_head(card: Path) -> None:
    """A card opens with a YAML mapping between two lines of three dashes: the Hub reads licence, size and configs there."""
    head = re.match(r"---\n(.*?)\n---(\n|\Z)", card.read_text(encoding="utf-8"), re.S)
    if head is None:
        raise HubError(f"{card}: does not open with a YAML head between two lines of ---")
    try:
        tree = yaml_tree(head[1], f"{card}: the head")
    except ParamsError as error:
        raise HubError(str(error)) from None
    if not isinstance(tree, dict):
        raise HubError(f"{card}: the head must be a mapping, is {type(tree).__name__}")


def _refuse_secret(file: Path) -> None:
    """Raises HubError where the file holds what looks like a secret; the secret itself is not shown."""
    known = [(name, value) for name in _SECRET_VARIABLES if len(value := os.environ.get(name, "")) >= _SHORTEST_SECRET]
    for text in _texts(file):
        for name, pattern in _SECRETS:
            if pattern.search(text):
                raise HubError(f"{file}: holds what looks like {name}; nothing was published")
        for name, value in known:
            if value in text:
                raise HubError(f"{file}: holds the value of {name}; nothing was published")


def _texts(file: Path) -> Iterator[str]:
    """The file as text, Parquet row by row: a secret does not show in compressed bytes."""
    if file.suffix != ".parquet":
        yield file.read_bytes().decode("utf-8", errors="replace")
        return
    try:
        with pq.ParquetFile(file) as table:
            metadata = table.schema_arrow.metadata or {}
            yield " ".join(part.decode("utf-8", errors="replace") for pair in metadata.items() for part in pair)
            for batch in table.iter_batches(batch_size=256):
                yield json.dumps(batch.to_pylist(), default=str, ensure_ascii=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise MissingInput(f"{file}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
