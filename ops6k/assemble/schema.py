"""A record as documentation: its fields, types and docstrings, and its Hub features, all derived from the record itself."""

import ast
import dataclasses
import inspect
import typing
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from ops6k.store import schema_of


@dataclass(frozen=True, slots=True)
class Field:
    """One field as the card lists it."""

    name: str
    """With its path, as in timing.eager_ms."""
    type: str
    nullable: bool
    doc: str


def documented(record: type) -> list[Field]:
    """All fields of a record, nested ones by path, in order."""
    return list(_fields(record, schema_of(record), ""))


def _fields(record: type, schema: pa.Schema, prefix: str) -> Iterator[Field]:
    docs = field_docs(record)
    for field, hint in zip(schema, typing.get_type_hints(record).values(), strict=True):
        yield Field(prefix + field.name, _type_name(field.type), field.nullable, docs.get(field.name, ""))
        nested = next((kind for kind in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(kind)), None)
        if nested is not None:
            inner = field.type.value_type if pa.types.is_list(field.type) else field.type
            yield from _fields(nested, pa.schema(list(inner)), f"{prefix}{field.name}.")


def field_docs(record: type) -> dict[str, str]:
    """The string under each field in the record's source, on one line."""
    (body,) = ast.parse(inspect.getsource(record)).body
    docs = {}
    for statement, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            docs[statement.target.id] = " ".join(str(after.value.value).split())
    return docs


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type_name(kind.value_type)}"
    return "struct" if pa.types.is_struct(kind) else _hub_dtype(kind)


def features(record: type) -> list[dict[str, object]]:
    """The record's columns as `dataset_info: features:` of a Hub card wants them."""
    return [_feature(field) for field in schema_of(record)]


def _feature(field: pa.Field) -> dict[str, object]:
    kind = field.type
    if pa.types.is_struct(kind):
        return {"name": field.name, "struct": [_feature(part) for part in kind]}
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        return {"name": field.name, "list": [_feature(part) for part in kind.value_type]}
    if pa.types.is_list(kind):
        return {"name": field.name, "list": _hub_dtype(kind.value_type)}
    return {"name": field.name, "dtype": _hub_dtype(kind)}


def _hub_dtype(kind: pa.DataType) -> str:
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))
