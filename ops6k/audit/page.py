"""The report of an audit: audit.json for programs, audit.md and audit.html for people, from one record."""

import hashlib
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ops6k import __version__
from ops6k.audit import Audit
from ops6k.store import to_plain, whole_file, write_json
from ops6k.tables import readable

SHOWN = 100
"""Rows of a kind whose code stands in the page."""
_LONGEST_NAME = 60
"""Characters; a folder's name may have 255 bytes."""


def folder_name(source: str) -> str:
    """Of a source's reports: how it is called, and 8 digits that stand for where it lies, so that no two sources share a folder."""
    path = Path(source).resolve()
    whole = str(path) if path.exists() else source  # a Hub id lies nowhere here
    return f"{readable(path.stem)[:_LONGEST_NAME]}-{hashlib.sha256(readable(whole).encode()).hexdigest()[:8]}"


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
