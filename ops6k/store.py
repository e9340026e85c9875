"""Records to files and back: Arrow schemas from dataclasses, Parquet written aside and renamed, fingerprints, work folders.

Imports the standard library and pyarrow only (the GPU side uses it). Everything that a stage leaves behind goes through
here, so "a file appears only when whole" is kept in one place.
"""

import ast
import dataclasses
import errno
import functools
import hashlib
import json
import os
import shutil
import types
import typing
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k.errors import MissingInput

R = typing.TypeVar("R")

_SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def schema_of(record: type) -> pa.Schema:
    """The Arrow schema of a record: nested records are structs, tuples lists, `X | None` nullable."""
    return pa.schema(list(_fields(record)))


def _fields(record: type) -> Iterator[pa.Field]:
    hints = typing.get_type_hints(record)
    for field in dataclasses.fields(record):
        kind, nullable = _without_none(hints[field.name])
        yield pa.field(field.name, _arrow_type(kind), nullable=nullable)


def _without_none(hint: object) -> tuple[object, bool]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (kind,) = [arg for arg in typing.get_args(hint) if arg is not types.NoneType]
        return kind, True
    return hint, False


def _arrow_type(kind: object) -> pa.DataType:
    if typing.get_origin(kind) is tuple:
        return pa.list_(_arrow_type(typing.get_args(kind)[0]))
    if dataclasses.is_dataclass(kind):
        return pa.struct(list(_fields(kind)))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return pa.string()
    return _SCALARS[kind]


def to_plain(record: object) -> dict:
    """A record as plain JSON-ready values, in the order of its fields."""
    return dataclasses.asdict(record)


def from_plain(record: type[R], row: dict) -> R:
    """The record that `to_plain` took apart; raises KeyError where a field without default is missing."""
    return _build(record, row)


@functools.cache
def _hints(kind: type) -> dict[str, object]:
    """Field types of a record: looking them up takes longer than reading a row."""
    return typing.get_type_hints(kind)


def _build(kind: object, value: object) -> object:
    kind, _ = _without_none(kind)
    if value is None:
        return None
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return tuple(_build(item, part) for part in value)
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        names = [f.name for f in dataclasses.fields(kind) if f.name in value or f.default is dataclasses.MISSING]
        return kind(**{name: _build(hints[name], value[name]) for name in names})
    return kind(value) if isinstance(kind, type) and issubclass(kind, StrEnum) else value


def write_rows(path: Path, rows: Iterable[object], record: type, *, row_group_rows: int = 1024) -> Path:
    """Rows of one record as a zstd Parquet file, written aside and renamed."""
    table = pa.Table.from_pylist([to_plain(row) for row in rows], schema=schema_of(record))
    with whole_file(path) as aside:
        # A checksum a page: bytes that a disk turned would else be read as other numbers.
        pq.write_table(table, aside, compression="zstd", row_group_size=row_group_rows, write_page_checksum=True)
    return path


def read_rows(path: Path, record: type[R]) -> list[R]:
    """Rows of one record; raises MissingInput where the file is absent or is no such Parquet file."""
    try:
        table = pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise MissingInput(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise MissingInput(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
    lacking = {f.name for f in dataclasses.fields(record)} - set(table.column_names)
    if lacking:
        raise MissingInput(f"{path}: columns are missing: {', '.join(sorted(lacking))}")
    return [from_plain(record, row) for row in table.to_pylist()]


def is_whole(path: Path) -> bool:
    """Whether a Parquet file is there and can be read to its end, every page as it was written."""
    try:
        pq.read_table(path, page_checksum_verification=True)
    except (FileNotFoundError, pa.ArrowException, OSError):
        return False
    return True


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to; renamed to `path` if the block ends well, removed otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _full_disk_of(path):
            yield aside
            os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def _full_disk_of(path: Path) -> Iterator[None]:
    """A full disk is the place's: a write through an open file names nothing, and a copy names its source."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill; takes the place of `path` if the block ends well, removed otherwise.

    Two renames: a kill between them leaves `path` absent and the next run fills it again; never half of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside, old = (path.with_name(f".{path.name}.{word}") for word in ("new", "old"))
    for left in (aside, old):
        shutil.rmtree(left, ignore_errors=True)
    aside.mkdir()
    try:
        with _full_disk_of(path):
            yield aside
            if path.exists():
                os.replace(path, old)
            os.replace(aside, path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def write_json(path: Path, value: object) -> Path:
    """Indented JSON, keys in the order given, written aside and renamed."""
    with whole_file(path) as aside:
        aside.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def fingerprint(*parts: object) -> str:
    """16 hex digits that stand for plain values and records."""
    text = json.dumps(parts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    return to_plain(value) if dataclasses.is_dataclass(value) else str(value)


def files_hash(*paths: Path) -> str:
    """16 hex digits of names and bytes below the paths; caches of Python and hidden files do not count."""
    digest = hashlib.sha256()
    for root in paths:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(root).parts)
            if path.is_file() and not hidden:
                digest.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def code_hash(*paths: Path) -> str:
    """16 hex digits of what Python files below the paths do: comments, docstrings and layout do not count, nor does the version of
    Python that asks."""
    digest = hashlib.sha256()
    for root in paths:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                body = getattr(node, "body", None)
                if isinstance(body, list):
                    node.body = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            digest.update(f"{path.name}\0{_spelt(tree)}".encode())
    return digest.hexdigest()[:16]


def _spelt(node: object) -> str:
    """A syntax tree as text. Not ast.dump: Python 3.12 gives functions an empty list more than 3.11, and 3.13 leaves out empty lists."""
    if isinstance(node, ast.AST):
        fields = [f"{name}={_spelt(value)}" for name, value in ast.iter_fields(node) if value is not None and value != []]
        return f"{type(node).__name__}({','.join(fields)})"
    return f"[{','.join(map(_spelt, node))}]" if isinstance(node, list) else repr(node)
