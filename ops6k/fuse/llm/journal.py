"""Rows of one record in a folder, appended one at a time: a kill loses none that was appended.

New rows are lines of `new.jsonl`; `fold` makes a Parquet part of them. One process at a time.
"""

import hashlib
import json
from pathlib import Path
from typing import Generic, TypeVar

from ops6k import store

R = TypeVar("R")


class Journal(Generic[R]):
    """All rows, oldest first. Raises MissingInput where a Parquet part is damaged: its rows cost money, so nobody drops them unasked."""

    def __init__(self, folder: Path, record: type[R]) -> None:
        self.folder, self.record = folder, record
        self._new = folder / "new.jsonl"
        self.fold()
        self.rows: list[R] = [row for part in self._parts() for row in store.read_rows(part, record)]

    def append(self, row: R) -> None:
        """Whole in the file before this returns; what a power cut loses is not guarded against."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._new.open("ab") as lines:
            lines.write(json.dumps(store.to_plain(row)).encode() + b"\n")
        self.rows.append(row)

    def fold(self) -> None:
        """Moves the new rows to Parquet. A line that a kill cut off is dropped."""
        if not self._new.exists():
            return
        content = self._new.read_bytes()
        # Named by its content: a kill between writing the part and removing the lines doubles no row.
        name = f"{hashlib.sha256(content).hexdigest()[:16]}.parquet"
        rows = [row for line in content.split(b"\n") if (row := self._row(line)) is not None]
        if rows and not any(part.name.endswith(name) for part in self._parts()):
            store.write_rows(self.folder / f"{len(self._parts()):06d}-{name}", rows, self.record)
        self._new.unlink()

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*.parquet"))

    def _row(self, line: bytes) -> R | None:
        try:
            return store.from_plain(self.record, json.loads(line))
        except (ValueError, KeyError, TypeError):
            return None
