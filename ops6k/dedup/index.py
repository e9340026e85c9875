"""Benchmark indexes: what is known of the tasks that a set must not copy. Hashes, operator names and names; no source.

An index is one Parquet file, data/benchmarks/NAME.parquet, made by `ops6k benchmark index`. Its metadata says where the
tasks came from and which canonical form made it: one made by another form is refused, never compared.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k import store
from ops6k.dedup.canonical import Canonical, canonical
from ops6k.dedup.program import digest, is_task
from ops6k.dedup.subject import arguments, folded
from ops6k.errors import MissingInput
from ops6k.tables import json_rows, parquet_rows, plain_files, readable, source_text

FOLDER = Path("data/benchmarks")
METADATA = b"ops6k"
_COLUMNS = ("code", "name", "task_id", "id", "level", "problem_id")
_MOST = 2**31

Trace = Callable[[Sequence[str]], list[tuple[str, ...] | None]]
"""Sources to the ATen operators of their forward, in dataflow order; None where it does not run."""

# Its canonical form stands for the rules: where they change, old indexes do not fit. A rule that it does not exercise
# belongs into it.
_PROBE = '''
import torch, torch.nn as nn, torch.nn.functional as F
from math import sqrt
SIZE, RATE = 4 * 8, 1e-3
SHAPE = (SIZE, SIZE // 2)
def scaled(x, by: float = 2.0):
    return x * by, x.shape
class Block(nn.Module):
    """A block."""
    def __init__(self, width):
        super(Block, self).__init__()
        self.layers = nn.Sequential(nn.Linear(width, SIZE), nn.ReLU())
    def forward(self, x):
        return F.layer_norm(self.layers(x), (SIZE,))
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mask", torch.ones(width))
        self.out = self._head(width)
        self.block: Block = Block(width)
        self.many = nn.ModuleList([nn.Conv1d(width, width, kernel_size=3, bias=False) for _ in range(2)])
        self.scale = nn.Parameter(torch.full(SHAPE, 1 / sqrt(width)))
    def _head(self, width):
        layers = [nn.Dropout(RATE)]
        for _ in range(3):
            layers += [nn.Linear(width, width)]
            layers.append(nn.GELU(approximate="tanh"))
        return nn.Sequential(*layers)
    def forward(self, x: torch.Tensor, y=None):
        b, c = x.size(0), x.shape[-1]
        for i, layer in enumerate(self.many):
            y, _ = scaled(self.block(x), by=1.5)
            x += layer(y).softmax(dim=-1)
        x.float().clamp_(min=-1.0, max=1e4)
        x = F.interpolate(F.pad(x.tril().tile(2), (1, 1), mode="reflect"), scale_factor=2, mode="bilinear")
        x = torch.where(x > 0, torch.fft.fft(nn.ReplicationPad1d(1)(x)).real, torch.zeros_like(x)).repeat_interleave(2, 0)
        parts = [part.view(b, -1) for part in torch.chunk(x, 2, dim=1)]
        y = torch.cat(parts, axis=-1) if c > 1 else -x[:, 1:] @ self.scale
        return torch.einsum("bi,bj->bij", y, self.out(x)), lambda z: z ** 2 < 1
'''


@dataclass(frozen=True, slots=True)
class Reference:
    """One task of a benchmark."""

    name: str
    level: int | None
    benchmark: str
    problem: int | None
    """Its number in its level."""
    canonical: str
    """Digest of its canonical form."""
    shingles: tuple[int, ...]
    """xxhash (32 bit) of five canonical tokens in a row, sorted."""
    operators: tuple[str, ...]
    """Operator keys in dataflow order, as the source shows them."""
    flow: str | None
    """Digest of the source's dataflow graph."""
    aten: tuple[str, ...] | None
    """ATen operators of a dry run in dataflow order, views dropped, repeated steps once; None where it does not run."""
    arguments: int | None = None
    """Of forward."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an index came from: its file's metadata."""

    source: str
    """Public name of the source."""
    revision: str | None
    """Commit or version."""
    references: int
    skipped: int
    """Files and rows without a model."""
    scheme: str
    """The canonical form that made it."""
    torch: str | None = None
    """Version whose dry runs gave the ATen operators (decompositions change between versions); None without them."""


@dataclass(frozen=True, slots=True)
class Source:
    """One task of a benchmark before it is indexed."""

    name: str
    level: int | None
    problem: int | None
    code: str


def build_index(
    source: str | Path,
    name: str,
    *,
    folder: Path = FOLDER,
    trace: Trace | None = None,
    origin: tuple[str, str | None] | None = None,
) -> Path:
    """Writes FOLDER/NAME.parquet from a folder of Python files, a Parquet or JSONL file, or a Hub id.

    trace: how ATen operators are found; None leaves them unknown. origin: public name and revision of the source; by
    default the source as given. Raises MissingInput where there is no such source or no task in it.
    """
    if not re.fullmatch(r"[\w.-]+", name):
        raise MissingInput(f"benchmark name {name!r}: letters, digits, points and dashes only")
    taken = list(sources(source))
    references, skipped = references_of(taken, name, trace)
    public, revision = origin or (str(source), None)
    made = Origin(public, revision, len(references), skipped, scheme(), version("torch") if trace else None)
    return _write(folder / f"{name}.parquet", references, made)


def references_of(taken: Sequence[Source], benchmark: str, trace: Trace | None = None) -> tuple[list[Reference], int]:
    """References of tasks, earlier versions that changed nothing left out, and how many tasks had no model.

    Raises MissingInput where none has one.
    """
    kept = [(one, form) for one in taken if (form := _form(one.code))]
    if not kept:
        raise MissingInput(f"{benchmark}: no task found ({len(taken)} files or rows, none with a Model class); no index made")
    references = _without_repeats(
        [
            Reference(
                one.name,
                one.level,
                benchmark,
                one.problem,
                form.digest,
                tuple(form.shingles.tolist()),
                form.operators,
                form.flow,
                None,
                arguments(one.code),
            )
            for one, form in kept
        ]
    )
    if trace:
        codes = {one.name: one.code for one, _ in kept}
        found = trace([codes[reference.name] for reference in references])
        references = [
            replace(reference, aten=operators and folded(operators))
            for reference, operators in zip(references, found, strict=True)
        ]
    return references, len(taken) - len(kept)


def load_index(path: Path) -> list[Reference]:
    """The references of an index; raises MissingInput where it is absent, unreadable, empty or of another canonical form."""
    remedy = f"`ops6k benchmark index PATH_OR_HUB_ID --name {path.stem}` makes it"
    if not path.exists():
        raise MissingInput(f"{path}: no such benchmark index; {remedy}")
    references = store.read_rows(path, Reference)
    if not references:
        raise MissingInput(f"{path}: the benchmark index is empty; {remedy} anew")
    if origin(path).scheme != scheme():
        raise MissingInput(f"{path}: the benchmark index was made by another canonical form; {remedy} anew")
    return references


def load_indexes(paths: Iterable[Path]) -> list[Reference]:
    """The references of all indexes. No index, no pass: raises MissingInput where none is named."""
    references = [reference for path in paths for reference in load_index(path)]
    if not references:
        raise MissingInput(
            "dedup.benchmarks in params.yaml names no benchmark index: nothing would be compared; `ops6k benchmark index` makes one"
        )
    return references


def origin(path: Path) -> Origin:
    """Where an index came from; raises MissingInput where the file does not say."""
    metadata = pq.read_schema(path).metadata or {}
    if METADATA not in metadata:
        raise MissingInput(f"{path}: no benchmark index (its metadata is missing); `ops6k benchmark index` makes one")
    return store.from_plain(Origin, json.loads(metadata[METADATA]))


def scheme() -> str:
    """16 hex digits that change with the canonical form."""
    form = canonical(_PROBE)
    return digest(f"{form.text} {form.shingles.tolist()} {form.operators} {form.flow}")


def _form(code: str) -> Canonical | None:
    """The canonical form of a task; None for a file without a class."""
    return canonical(code) if is_task(code) else None


def _write(path: Path, references: list[Reference], made: Origin) -> Path:
    schema = store.schema_of(Reference).with_metadata({METADATA: json.dumps(store.to_plain(made)).encode()})
    table = pa.Table.from_pylist([store.to_plain(reference) for reference in references], schema=schema)
    with store.whole_file(path) as aside:
        pq.write_table(table, aside, compression="zstd")
    return path


def _without_repeats(references: list[Reference]) -> list[Reference]:
    """An earlier version of a problem counts only where it differs from the current one."""
    seen: set[tuple] = set()
    kept = []
    for reference in sorted(references, key=lambda r: ("@" in r.name, r.level or 0, r.problem or 0, r.name)):
        what = (reference.level, reference.problem, reference.canonical)
        if "@" not in reference.name or what not in seen:
            kept.append(reference)
            seen.add(what)
    return kept


def sources(source: str | Path) -> Iterable[Source]:
    """The tasks of a folder, a file or a Hub id; raises MissingInput, HubError."""
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if path.suffix in (".parquet", ".jsonl") or path.exists():
        return _table(path)
    if isinstance(source, Path) or str(source).count("/") != 1:
        raise MissingInput(f"{source}: neither a folder, nor a Parquet or JSONL file, nor a Hub id (owner/name)")
    from ops6k.dedup import hub

    return [_row(row, f"{source}: row {number}") for number, row in enumerate(hub.rows(str(source)))]


def _folder(root: Path) -> Iterable[Source]:
    """Python files below a folder. A folder vN above levelN names an earlier version: name@vN.

    Files of one name (func_forward.py in a folder a task) are told apart by the folders above them.
    """
    found = [_file(root, path) for path in plain_files(root) if path.suffix == ".py"]
    counts = Counter(one.name for one, _ in found)
    return [replace(one, name=where) if counts[one.name] > 1 else one for one, where in found]


def _file(root: Path, path: Path) -> tuple[Source, str]:
    """One task, and a name for it that no other file of the folder has."""
    parts = path.relative_to(root).parts[:-1]
    level = next((i for i, part in enumerate(parts) if re.fullmatch(r"level_?\d+", part)), None)
    version = next((part for part in parts[:level] if re.fullmatch(r"v\d[\w.]*", part)), None) if level else None
    suffix = "" if version is None else f"@{version}"
    source = Source(
        name=readable(path.stem) + suffix,
        level=None if level is None else int(re.sub(r"\D", "", parts[level])),
        problem=_leading_number(path.stem),
        code=source_text(path),
    )
    return source, readable("/".join([*(part for part in parts if part != version), path.stem])) + suffix


def _table(path: Path) -> list[Source]:
    if path.suffix not in (".parquet", ".jsonl"):
        raise MissingInput(f"{path}: give a folder of .py files, a .parquet or .jsonl file, or a Hub id")
    rows = parquet_rows(path, _COLUMNS) if path.suffix == ".parquet" else json_rows(path)
    return [_row(row, f"{path}: row {number}") for number, row in enumerate(rows)]


def _row(row: dict, place: str) -> Source:
    """A row with a `code` column; name, level and problem_id are used where they are there."""
    code = row.get("code")
    if not isinstance(code, str):
        raise MissingInput(f"{place}: no column `code` with the source of a task (it is {type(code).__name__})")
    name = next((row[column] for column in ("name", "task_id", "id") if row.get(column) is not None), place.rpartition(" ")[2])
    return Source(readable(name), _number(row.get("level")), _number(row.get("problem_id")), readable(code))


def _number(value: object) -> int | None:
    """A level or a problem's number; None for anything else."""
    return value if isinstance(value, int) and abs(value) < _MOST else None


def _leading_number(text: str) -> int | None:
    found = re.match(r"\d+", text)
    return int(found[0]) if found else None
