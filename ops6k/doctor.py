"""What a build needs of this machine: looked at without changing anything, each finding with how to mend it.

Tokens are said to be there or not, never shown.
"""

import errno
import os
import shutil
import subprocess
import sysconfig
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from ops6k import runner
from ops6k import target as targets
from ops6k.errors import Ops6kError
from ops6k.params import Params
from ops6k.sandbox import Job, Sandbox
from ops6k.store import is_whole

_DISK_GIB = 2.0
_ENDPOINT_S = 5.0
_PROGRAM = "#include <Python.h>\n#include <vector>\nint main() { return std::vector<int>{0}[0]; }\n"
"""What torch.compile's programs include, too: a compiler without these headers is of no use."""
_JAIL_SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"),
    ("kernel/unprivileged_userns_clone", "0", "`sudo sysctl kernel.unprivileged_userns_clone=1`"),
    ("user/max_user_namespaces", "0", "`sudo sysctl user.max_user_namespaces=10000`"),
)
"""Settings of the kernel, below /proc/sys, with the value that keeps a user from namespaces of his own; a root needs none."""


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
        *_triton(),
        _jail(),
        _disk("disk", data, "another folder with --data"),
        _disk("temporary files", Path(tempfile.gettempdir()), "TMPDIR=FOLDER of yours"),
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
    found = _first_program(os.environ.get("CXX"), "g++", "clang++", "c++")
    if found is None:
        return Finding("C++ compiler", "none", "install g++: torch.compile needs it, also for the CPU", is_fatal=True)
    command = [found, "-fsyntax-only", "-I", sysconfig.get_path("include"), "-x", "c++", "-"]
    done = subprocess.run(command, input=_PROGRAM, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), f"exit status {done.returncode}")
        return Finding(
            "C++ compiler", f"{found}: {said}", "install the headers of Python and C++ (python3-dev, g++)", is_fatal=True
        )
    return Finding("C++ compiler", found)


def _triton() -> Iterator[Finding]:
    """Where there is a GPU: torch.compile writes triton for it, and triton compiles a launcher in C."""
    import torch

    if not torch.cuda.is_available():
        return
    try:
        yield Finding("triton", version("triton"))
    except PackageNotFoundError:
        yield Finding("triton", "not installed", "`pip install triton`, or a CUDA build of torch, which brings it", is_fatal=True)
    found = _first_program(os.environ.get("CC"), "gcc", "clang")
    yield Finding("C compiler", found or "none", "" if found else "install gcc: triton needs it", is_fatal=found is None)


def _first_program(*names: str | None) -> str | None:
    return next((path for name in names if name and (path := shutil.which(name))), None)


def _jail() -> Finding:
    """A child is run in a sandbox, as the screen runs them."""
    try:
        with Sandbox(device="cpu", workers=1, preload="json") as sandbox:
            (ended,) = sandbox.map([Job("doctor", "builtins:dict", {}, timeout_s=60.0, memory_gib=1.0)])
            refused = sandbox.jail_refused
    except Ops6kError as error:
        return Finding("sandbox", str(error), "free memory, disk and processes for it; see the message", is_fatal=True)
    if ended.how != "answered":
        return Finding("sandbox", f"its child {ended.how}: {ended.detail}", "see the message", is_fatal=True)
    if not refused:
        return Finding("sandbox", "a jail: own root, processes, network and user")
    return Finding("sandbox", f"no jail, limits and text checks alone: {refused}", _jail_mend(refused))


def _jail_mend(refused: str) -> str:
    if os.strerror(errno.ENOSPC) in refused:  # so unshare says that there are too many namespaces
        return "raise those of `sysctl -a --pattern 'user.max_.*_namespaces'` that are 0 or used up"
    for name, refuses, mend in _JAIL_SWITCHES:
        path = Path("/proc/sys", name)
        if os.geteuid() != 0 and path.exists() and path.read_text(encoding="ascii").strip() == refuses:
            return mend
    return "allow namespaces and mounts; Docker: --cap-add SYS_ADMIN, --security-opt seccomp=unconfined and apparmor=unconfined"


def _disk(what: str, folder: Path, elsewhere: str) -> Finding:
    place = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    free_gib = shutil.disk_usage(place).free / 2**30
    if not os.access(place, os.W_OK):
        return Finding(what, f"{place} cannot be written to", elsewhere, is_fatal=True)
    return Finding(
        what,
        f"{free_gib:.1f} GiB free at {place}",
        "" if free_gib >= _DISK_GIB else f"make room, a build wants {_DISK_GIB:g} GiB; or {elsewhere}",
    )


def _indexes(params: Params) -> Iterator[Finding]:
    for path in params.dedup.benchmarks:
        place = params.path(path)
        seen = path if is_whole(place) else f"{path} is {'damaged' if place.exists() else 'missing'}"
        mend = f"`git checkout {path}`, or `ops6k benchmark index PATH_OR_HUB_ID --name {place.stem}`"
        yield Finding("benchmark index", seen, "" if seen == path else mend, is_fatal=seen != path)


def _model(params: Params) -> Iterator[Finding]:
    if params.fuse.source != "llm":
        yield Finding("model", "not used: fuse.source is composer")
        return
    model = params.fuse.llm.model or os.environ.get("OPS6K_MODEL")
    yield Finding("model", model or "not named", "" if model else "set fuse.llm.model or OPS6K_MODEL", is_fatal=not model)
    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    yield Finding("OPENAI_API_KEY", "present" if has_key else "none", "" if has_key else "set it, if the endpoint wants one")
    yield _endpoint(params.fuse.llm.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")


def _endpoint(url: str) -> Finding:
    """What it says when asked for its models, which costs nothing. Only its host is shown: a URL may carry a password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    try:
        request = urllib.request.Request(f"{parts.scheme}://{host}{parts.path.rstrip('/')}/models")
        request.add_unredirected_header("Authorization", f"Bearer {os.environ.get('OPENAI_API_KEY') or 'none'}")
        urllib.request.urlopen(request, timeout=_ENDPOINT_S).close()
    except urllib.error.HTTPError as error:
        refused = error.code in (401, 403)
        seen = f"{host} {'refuses the key' if refused else 'answers'}: {error.code} {error.reason}"
        mend = "set OPENAI_API_KEY to a key of this endpoint" if refused else "see the server's log" if error.code >= 500 else ""
        return Finding("endpoint", seen, mend, is_fatal=refused)
    except (OSError, ValueError, HTTPException) as error:
        said = getattr(error, "reason", error)
        return Finding("endpoint", f"{host}: {said}", "start it, or set fuse.llm.base_url or OPENAI_BASE_URL", is_fatal=True)
    return Finding("endpoint", f"{host} answers")


def _hub(params: Params) -> Finding:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("HF_HOME") or cache / "huggingface")
    has_token = bool(os.environ.get("HF_TOKEN")) or Path(os.environ.get("HF_TOKEN_PATH") or home / "token").exists()
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
