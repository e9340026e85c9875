"""The card of a data set: YAML head for the Hub, text from the template beside this file, figures; all from the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ops6k
from ops6k.assemble import figures, schema
from ops6k.assemble.facts import benchmarks, device_of, facts
from ops6k.assemble.funnel import FunnelRow
from ops6k.assemble.join import Story
from ops6k.assemble.select import Selection
from ops6k.errors import MissingInput
from ops6k.params import Params
from ops6k.records import Operator, Report, Task

if TYPE_CHECKING:
    import jinja2

LICENCE_ID = "cc-by-4.0"
FUNNEL_FILE, OPERATORS_FILE = "funnel/funnel.parquet", "operators/operators.parquet"
_END = "<!-- end measured -->"
_PARTS = ("banner", "times", "limits", "torch")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class Origin:
    """What the card needs beside the rows themselves."""

    params: Params
    selection: Selection
    stories: tuple[Story, ...]
    counts: tuple[Report, ...]
    """Of every stage up to assemble."""
    operators: tuple[Operator, ...]
    compared: tuple[str, ...]
    """Notes of dedup: which references it compared with, and how many."""


def write_card(folder: Path, tasks: Mapping[str, Sequence[Task]], origin: Origin) -> Path:
    """README.md and figures/ of a data set whose Parquet files are already written to the folder."""
    rows = [task for part in tasks.values() for task in part]
    _write_figures(folder / "figures", rows, origin)
    path = folder / "README.md"
    path.write_text(f"---\n{head(folder, tasks, origin)}---\n{body(tasks, origin)}", encoding="utf-8")
    return path


def head(folder: Path, tasks: Mapping[str, Sequence[Task]], origin: Origin) -> str:
    """The card's metadata as YAML."""
    import yaml

    # `datasets` cannot read a Parquet file of no rows: a split that a tiny set leaves empty is not announced.
    splits = {name: (f"data/{name}.parquet", len(part)) for name, part in tasks.items() if part}
    configs = {
        "default": (Task, splits),
        "funnel": (FunnelRow, {"train": (FUNNEL_FILE, len(origin.stories))}),
        "operators": (Operator, {"train": (OPERATORS_FILE, len(origin.operators))}),
    }
    tree = {
        "pretty_name": "Ops6K",
        "license": LICENCE_ID,
        "language": ["code"],
        "task_categories": ["text-generation"],
        "size_categories": [_size(sum(map(len, tasks.values())))],
        "tags": ["code", "pytorch", "gpu-kernels", "cuda", "triton", "reinforcement-learning", "kernelbench"],
        "configs": [_config(name, files) for name, (_, files) in configs.items()],
        "dataset_info": [_info(folder, name, record, files) for name, (record, files) in configs.items()],
    }
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)


def _size(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "n>1M")


def _config(name: str, files: Mapping[str, tuple[str, int]]) -> dict[str, object]:
    return {"config_name": name, "data_files": [{"split": split, "path": path} for split, (path, _) in files.items()]}


def _info(folder: Path, name: str, record: type, files: Mapping[str, tuple[str, int]]) -> dict[str, object]:
    # Bytes are of the files on disk; rows are checked by load_dataset against what it reads.
    sizes = {split: (folder / path).stat().st_size for split, (path, _) in files.items()}
    splits = [{"name": split, "num_bytes": sizes[split], "num_examples": rows} for split, (_, rows) in files.items()]
    total = sum(sizes.values())
    return {
        "config_name": name,
        "features": schema.features(record),
        "splits": splits,
        "download_size": total,
        "dataset_size": total,
    }


def body(tasks: Mapping[str, Sequence[Task]], origin: Origin) -> str:
    """The card's text in Markdown."""
    rows = [task for part in tasks.values() for task in part]
    known = facts(rows)
    return (
        _templates()
        .get_template("card.md.j2")
        .render(
            facts=known,
            splits={name: len(part) for name, part in tasks.items()},
            counts=origin.counts,
            quotas=origin.selection.quotas,
            params=origin.params,
            made=len(origin.stories),
            benchmarks=benchmarks(origin.stories, origin.selection.stories),
            compared=origin.compared or [f"compared with {Path(index).stem}" for index in origin.params.dedup.benchmarks],
            libraries=_libraries(origin.operators),
            tables={
                "default": schema.documented(Task),
                "funnel": schema.documented(FunnelRow),
                "operators": schema.documented(Operator),
            },
            composed_only=known.composed == known.rows,
            version=ops6k.__version__,
        )
    )


def measured_anew(text: str, folder: Path, tasks: Mapping[str, Sequence[Task]], params: Params) -> str:
    """The card's text with what it says of times and machines as the rows have it now; their figures are drawn anew.

    The card has its marks (`require_marks`).
    """
    rows = [task for part in tasks.values() for task in part]
    _write_measured_figures(folder / "figures", rows, params)
    parts = _templates().get_template("measured.md.j2").make_module({"facts": facts(rows), "params": params})
    for name in _PARTS:
        before, _, rest = text.partition(_mark(name))
        text = before + _marked(getattr(parts, name)(), name) + rest.partition(_END)[2]
    return text


def require_marks(text: str, path: Path) -> None:
    """Raises MissingInput for a card that `measured_anew` cannot write anew."""
    for name in _PARTS:
        if _END not in text.partition(_mark(name))[2]:
            raise MissingInput(f"{path}: no {_mark(name)} in it: a card of another version of Ops6K, or one edited by hand")


def _templates() -> "jinja2.Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = Environment(
        loader=PackageLoader("ops6k", "assemble"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    loader.filters |= {"percent": percent, "figure": figure, "cell": cell, "device": device_of, "marked": _marked}
    return loader


def _marked(text: str, name: str) -> str:
    """Between marks that a reader does not see; `measured_anew` finds the text by them."""
    return f"{_mark(name)}\n{text.strip()}\n{_END}"


def _mark(name: str) -> str:
    return f"<!-- measured: {name} -->"


def _libraries(operators: Sequence[Operator]) -> list[tuple[str, str, int, int]]:
    """(library, version, harvested, usable)."""
    pairs = sorted({(op.library, op.version) for op in operators})
    return [
        (*pair, len(of := [op for op in operators if (op.library, op.version) == pair]), sum(op.usable for op in of))
        for pair in pairs
    ]


def percent(share: float) -> str:
    """`12.3 %`."""
    return f"{100 * share:.1f} %"


def figure(value: float) -> str:
    """Three significant digits, without exponent."""
    return f"{float(f'{value:.3g}'):,.6g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.2g}"


def cell(text: str) -> str:
    """Text that stays in one cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _write_figures(folder: Path, rows: Sequence[Task], origin: Origin) -> None:
    figures.png(figures.funnel(origin.counts), folder / "funnel.png")
    _write_measured_figures(folder, rows, origin.params)


def _write_measured_figures(folder: Path, rows: Sequence[Task], params: Params) -> None:
    window = dict(zip(("window", ""), params.screen.window_ms, strict=False))
    headroom = [t.timing.eager_ms / t.work.sol_ms for t in rows if t.work.sol_ms > 0]
    eager_ms = [t.timing.eager_ms for t in rows]
    figures.png(figures.histogram(eager_ms, "eager device time, ms", marks=window), folder / "timing.png")
    figures.png(figures.histogram(headroom, "eager time over fused lower bound", marks={"1": 1.0}), folder / "headroom.png")
