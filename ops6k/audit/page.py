"""The report of an audit: audit.json for programs, audit.md and audit.html for people, from one record."""

from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ops6k import __version__
from ops6k.audit import Audit
from ops6k.store import to_plain, whole_file, write_json

SHOWN = 100
"""Rows of a kind whose code stands in the page."""


def write(found: Audit, folder: Path) -> list[Path]:
    """The three files, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = {"version": __version__, "faulty_rows": faulty(found)} | to_plain(found)
    paths = [write_json(folder / "audit.json", summary)]
    for name, escape in (("audit.md", False), ("audit.html", True)):
        environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent),
            undefined=StrictUndefined,
            autoescape=escape,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        text = environment.get_template(f"{name}.j2").render(
            audit=found, shown=SHOWN, kinds=found.by_kind(), faulty=faulty(found), headroom=_quantiles(found), version=__version__
        )
        with whole_file(folder / name) as aside:
            aside.write_text(text, encoding="utf-8")
        paths.append(folder / name)
    return paths


def faulty(found: Audit) -> int:
    """Rows with a fault or more."""
    return len({fault.place for fault in found.faults})


def _quantiles(found: Audit) -> dict[str, float]:
    shares = {"10 %": 0.1, "median": 0.5, "90 %": 0.9}
    return {name: float(np.quantile(found.headroom, share)) for name, share in shares.items()} if found.headroom else {}
