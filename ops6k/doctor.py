"""What a build needs of this machine: looked at without changing anything, each finding with how to mend it.

Tokens are said to be there or not, never shown.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from ops6k import runner
from ops6k import target as targets
from ops6k.errors import Ops6kError
from ops6k.params import Params

_DISK_GIB = 2.0
_ENDPOINT_S = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    seen: str
    mend: str = ""
    """How to mend it; empty where all is well."""
    is_fatal: bool = False
    """A build with these parameters would fail."""


def findings(params: Params, data: Path) -> list[Finding]:
    """Everything looked at, in the order in which a build would miss it."""
    return [
        *_packages(),
        _device(),
        _target(params),
        _compiler(),
        _disk(data),
        *_indexes(params),
        *_model(params),
        _hub(params),
        _lock(data),
    ]


def table(found: list[Finding]) -> Table:
    rows = Table("", "what", "seen", "how to mend it", box=None, pad_edge=False)
    for one in found:
        sign = Text("fails", "red") if one.is_fatal else Text("look", "yellow") if one.mend else Text("ok", "green")
        rows.add_row(sign, one.what, one.seen, one.mend)
    return rows


def _packages() -> Iterator[Finding]:
    for name, mend in (
        ("torch", "`make venv`"),
        ("transformers", "`make venv`"),
        ("sb3-contrib", "pip install 'ops6k[rl]'"),
        ("dvc", "pip install 'ops6k[dvc]'"),
    ):
        try:
            yield Finding(name, version(name))
        except PackageNotFoundError:
            yield Finding(name, "not installed", mend, is_fatal=name != "dvc")


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        return Finding("GPU", f"{torch.cuda.get_device_name()}, driver {_driver()}, CUDA {torch.version.cuda}")
    if shutil.which("nvidia-smi"):
        return Finding("GPU", "there is a driver, but torch sees no device", "install a CUDA build of torch that fits the driver")
    return Finding("GPU", f"none; {os.cpu_count()} CPU cores")


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def _target(params: Params) -> Finding:
    try:
        targets.require_machine(targets.load(params.path(params.target)))
    except Ops6kError as error:
        return Finding(
            "target", str(error), "another `target` or `--preset demo`, or `ops6k calibrate --name NAME`", is_fatal=True
        )
    return Finding("target", params.target)


def _compiler() -> Finding:
    found = next(
        (path for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name and (path := shutil.which(name))), None
    )
    if found is None:
        return Finding("C++ compiler", "none", "install g++: torch.compile needs it, also for the CPU", is_fatal=True)
    return Finding("C++ compiler", found)


def _disk(data: Path) -> Finding:
    place = next(path for path in (data.resolve(), *data.resolve().parents) if path.exists())
    free_gib = shutil.disk_usage(place).free / 2**30
    if not os.access(place, os.W_OK):
        return Finding("disk", f"{place} cannot be written to", "another folder with --data", is_fatal=True)
    return Finding(
        "disk",
        f"{free_gib:.1f} GiB free at {place}",
        "" if free_gib >= _DISK_GIB else f"make room: a build wants {_DISK_GIB:g} GiB",
    )


def _indexes(params: Params) -> Iterator[Finding]:
    for path in params.dedup.benchmarks:
        is_there = params.path(path).exists()
        mend = "" if is_there else "`ops6k benchmark index PATH_OR_HUB_ID --name NAME`"
        yield Finding("benchmark index", path if is_there else f"{path} is missing", mend, is_fatal=not is_there)


def _model(params: Params) -> Iterator[Finding]:
    if params.fuse.source != "llm":
        yield Finding("model", "not used: fuse.source is composer")
        return
    needed = (("model", params.fuse.llm.model or os.environ.get("OPS6K_MODEL"), "set fuse.llm.model or OPS6K_MODEL"),)
    for what, value, mend in needed:
        yield Finding(what, value or "not named", "" if value else mend, is_fatal=not value)
    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    yield Finding("OPENAI_API_KEY", "set" if has_key else "not set", "" if has_key else "set it, if the endpoint wants one")
    yield _endpoint(params.fuse.llm.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")


def _endpoint(url: str) -> Finding:
    """Whether something listens there; nothing is asked."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), timeout=_ENDPOINT_S).close()
    except OSError as error:
        return Finding(
            "endpoint", f"{host}:{port}: {error.strerror or error}", "start it, or set fuse.llm.base_url", is_fatal=True
        )
    return Finding("endpoint", f"{host}:{port} listens")


def _hub(params: Params) -> Finding:
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    has_token = bool(os.environ.get("HF_TOKEN")) or (home / "token").exists()
    if has_token:
        return Finding("Hub token", "present")
    return Finding("Hub token", "none", "`hf auth login`, before publishing" if params.publish.to else "")


def _lock(data: Path) -> Finding:
    holder = runner.holder(data)
    return Finding(
        "data folder",
        f"{holder} is building" if holder else "free",
        "wait for it or stop it" if holder else "",
        is_fatal=bool(holder),
    )
