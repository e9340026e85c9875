"""Files from anywhere, read so that what is wrong with one is a single line that names it.

Python sources, tables of tasks in Parquet or JSON lines that other people have written.
"""

import ast
import codecs
import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k.errors import MissingInput

_LONGEST_NAME = 60
"""Characters; a folder's name may have 255 bytes."""


def readable(text: object) -> str:
    """Text that can be printed and written: a lone surrogate cannot, its escape means the same inside a string."""
    return str(text).encode("utf-8", "backslashreplace").decode()


def source_text(path: Path) -> str:
    """A text file as Python reads it: a byte order mark is none of its text. What is no UTF-8 becomes U+FFFD."""
    return path.read_text(encoding="utf-8-sig", errors="replace")


def syntax_error(code: str) -> str | None:
    """Why a source is no Python, with its line where there is one; None where it is."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except RecursionError:
        return "nested too deeply to be read"
    except (ValueError, MemoryError) as error:
        return _first_line(error) or "too large to be read"
    return None


def plain_files(folder: Path) -> list[Path]:
    """All plain files below a folder, sorted; hidden ones and what lies in hidden folders are left out."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def parquet_rows(path: Path, columns: Collection[str]) -> list[dict]:
    """Rows with those columns alone that are asked for, in any case of letters; raises MissingInput.

    The others are not read: they may hold what Python has no value for (a date in year 300000).
    """
    try:
        with pq.ParquetFile(path) as file:
            read = file.read([name for name in file.schema_arrow.names if name.lower() in columns])
        if len(set(read.column_names)) < read.num_columns:
            raise MissingInput(f"{path}: two columns have the same name")
        read.validate(full=True)
        return read.to_pylist()
    except FileNotFoundError:
        raise MissingInput(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise MissingInput(f"{path}: not a readable Parquet file ({_first_line(error)})") from None


def json_rows(path: Path) -> Iterator[dict]:
    """The objects of a file of JSON lines; raises MissingInput with the line's number."""
    for number, line in enumerate(path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise MissingInput(f"{path}: line {number} is not JSON ({_first_line(error)})") from None
            if not isinstance(row, dict):
                raise MissingInput(f"{path}: line {number} is no JSON object")
            yield row


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def folder_name(source: str) -> str:
    """Of what is made of a source: how it is called, and 8 digits that stand for where it lies, so that no two sources share a folder."""
    path = Path(source).resolve()
    whole = str(path) if path.exists() else source  # a Hub id lies nowhere here
    return f"{readable(path.stem)[:_LONGEST_NAME]}-{hashlib.sha256(readable(whole).encode()).hexdigest()[:8]}"
