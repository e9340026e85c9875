"""What a server's warm-up compiled, kept for the next server on this machine: 20 s of the compiler, most of it one precompiled header.

Only what a server wrote before its first child goes in, and a server gets a copy: where children run as the server's user, what
they change is a copy too. The user may delete the folder at any time.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

KEPT = 4
"""Versions (warm-up, torch, Python, compiler, processor), the latest used: up to 160 MB each."""
_DIGEST = "digest"
"""File beside what is kept."""
_TORN_S = 3600
"""Age from which a copy that never became whole was left by a killed process."""
_RESULTS = ("fxgraph", "aotautograd")
"""Whole results of a compile: a server that finds them never imports what compiles, and each child would."""


def folder_of(warm_up: str, device: str) -> Path:
    """Where such a server's files are or will be kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return cache / "ops6k" / "warm-up" / hashlib.sha256("\n".join((warm_up, device, *_machine())).encode()).hexdigest()[:16]


def give(kept: Path, into: Path) -> None:
    """Copies what is kept, if anything is, into a new server's folder; what is damaged is removed, and made anew."""
    with contextlib.suppress(OSError):
        if not kept.is_dir():
            return
        if _digest(kept) != _written(kept):
            shutil.rmtree(kept, ignore_errors=True)
            return
        os.utime(kept)
        shutil.copytree(kept, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns(_DIGEST))


def keep(made: Path, kept: Path) -> None:
    """Keeps what a server's warm-up left, unless that was done before; a home that cannot be written to is no error."""
    if kept.is_dir() or not any(made.iterdir()):
        return
    aside = None
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".", dir=kept.parent))
        shutil.copytree(made, aside / "made", ignore=shutil.ignore_patterns(*_RESULTS, "locks"))
        (aside / "made" / _DIGEST).write_text(_digest(aside / "made"), encoding="utf-8")
        (aside / "made").rename(kept)
        for old in _old(kept.parent):
            shutil.rmtree(old, ignore_errors=True)
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _digest(folder: Path) -> str:
    """Of the names and contents of all files but the digest itself: a compiler takes a torn header for its own error."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _DIGEST):
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()


def _written(folder: Path) -> str:
    try:
        return (folder / _DIGEST).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _old(folder: Path) -> list[Path]:
    """All but the latest used, and copies that never became whole."""
    ages = {path: time.time() - path.stat().st_mtime for path in folder.iterdir()}
    whole = sorted((path for path in ages if not path.name.startswith(".")), key=ages.__getitem__)
    return whole[KEPT:] + [path for path, age in ages.items() if path.name.startswith(".") and age > _TORN_S]


def _machine() -> tuple[str, ...]:
    """What compiled files hold for."""
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = ""
    return torch, sys.version, sys.prefix, platform.machine(), _processor(), _compiler()


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def _compiler() -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        shown = subprocess.run(
            [os.environ.get("CXX", "g++"), "--version"], capture_output=True, text=True, timeout=10, check=False
        )
        return shown.stdout.partition("\n")[0]
    return ""
