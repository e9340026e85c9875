"""The caller's side: jobs in, what became of them out, never more at once than workers and memory allow."""

import json
import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ops6k.errors import WorkerError
from ops6k.sandbox import kept as warmth
from ops6k.sandbox.admission import Admission
from ops6k.sandbox.lines import IMPORT
from ops6k.sandbox.turns import gate_of

_CACHES = ("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
"""Where the server's warm-up writes: a compiler's precompiled headers are large, and its children read them."""
ALLOWED_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "VIRTUAL_ENV")
"""All that a child inherits. Tokens, keys and the rest of the environment never reach it."""


@dataclass(frozen=True, slots=True)
class Job:
    job_id: str
    function: str
    """module:function; gets the payload, returns what json can carry."""
    payload: dict
    timeout_s: float
    memory_gib: float
    """Host memory of the child and all it starts; past it the child is killed."""
    device_gib: float = 0.0
    """Device memory it is expected to need: admission, not a limit."""
    alone: bool = False
    """Runs when nothing else does: what ran out of time or memory gets the whole machine once."""


@dataclass(frozen=True, slots=True)
class Ended:
    job_id: str
    answer: dict | None
    """What the function returned; None unless how is answered."""
    how: str
    """answered, crashed, timeout or memory."""
    detail: str
    """Exit status and the end of the child's error output."""
    seconds: float
    phase: str
    """The last phase that the function named before it ended (see child.enter)."""


class Sandbox:
    """A fork server and its children. Use as a context manager; a killed caller takes all of them along.

    workers: children at once. device_gib: device memory shared out among children by their jobs' estimates.
    preload: modules that every child finds imported, comma separated. warm_up: module:function that the server calls once
    before it forks (it must start no threads and touch no device). show: paths that children may read beside Python, the
    system's libraries and this package.
    Raises WorkerError where the server cannot start or dies.
    """

    def __init__(
        self,
        *,
        device: str,
        workers: int,
        work: Path | None = None,
        device_gib: float = float("inf"),
        preload: str = "torch",
        warm_up: str | None = None,
        show: Sequence[Path] = (),
    ) -> None:
        self.workers, self.device_gib = workers, device_gib
        _sweep(Path(work or tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=f"ops6k-{os.getpid()}-", dir=work)).resolve()
        self.folder.chmod(0o711)  # a child's own user must reach its own folder in it
        self._tokens: dict[str, str] = {}
        """Of running jobs: what a child must know to answer for its job."""
        self.lock = self.folder / "device.lock"
        self.pool = self.folder / "device.pool"
        for shared in (self.lock, gate_of(self.lock), self.pool, gate_of(self.pool)):
            shared.touch()
            shared.chmod(0o666)
        settings = {
            "device": device,
            "preload": preload,
            "warm_up": warm_up,
            "show": [str(path.resolve()) for path in show],
            "caller": os.getpid(),
        }
        own = self.folder / "server"
        own.mkdir(mode=0o755)
        kept = warmth.folder_of(warm_up, device) if warm_up else None
        if kept is not None:
            warmth.give(kept, own)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "ops6k.sandbox.server", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "server.err").open("wb"),
            env=_environment(device) | dict.fromkeys(_CACHES, str(own)),
            cwd=self.folder,
            start_new_session=True,
        )
        self.jail_refused: str = json.loads(self._line())["jail"]
        """Why children run without a jail; empty where they have one."""
        if kept is not None:  # it has said that it is ready, and has had no child yet
            warmth.keep(own, kept)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stdin.close()
        try:
            self._server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        _remove(self.folder)

    def map(self, jobs: Iterable[Job], follow: Callable[[Ended], Job | None] | None = None) -> Iterator[Ended]:
        """What became of each job, in the order in which they end. Jobs are drawn as places become free.

        follow: asked at each end for a job that must come next (it goes before those still to be drawn).
        """
        admission = Admission(jobs, self.workers, self.device_gib)
        while True:
            while (job := admission.begin()) is not None:
                self._start(job)
            if not admission.running:
                return
            ended = self._collect(json.loads(self._line()))
            admission.end(ended.job_id, follow(ended) if follow is not None else None)
            yield ended

    def preload(self, names: Iterable[str]) -> None:
        """Modules, or functions as module:function, that children from now on find imported or called. They must start no
        threads and touch no device."""
        self._server.stdin.write(f"{IMPORT}{','.join(names)}\n".encode())
        self._server.stdin.flush()

    def _start(self, job: Job) -> None:
        home = self.folder / job.job_id
        home.mkdir()
        (home / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
        self._tokens[job.job_id] = secrets.token_hex(16)
        self._server.stdin.write(f"{job.job_id} {self._tokens[job.job_id]}\n".encode())
        self._server.stdin.flush()

    def _collect(self, ended: dict) -> Ended:
        home, token = self.folder / ended["job_id"], self._tokens.pop(ended["job_id"])
        answer, detail = None, ended["detail"]
        if ended["how"] == "answered":
            answer = _parsed(_left(home / "answer.json", 16 * 2**20), token)
            detail = detail if answer is not None else "what stands where its answer belongs is not its own"
        last = _last_line(_left(home / "stderr", 2000))
        how = "crashed" if ended["how"] == "answered" and answer is None else ended["how"]
        detail = f"{detail}: {last}" if answer is None and last else detail
        phase = _last_line(_left(home / "phase", 40))
        _remove(home)
        return Ended(ended["job_id"], answer, how, detail, ended["seconds"], phase)

    def _line(self) -> bytes:
        line = self._server.stdout.readline()
        if not line and "No space left on device" in _left(self.folder / "server.err", 100_000):
            raise WorkerError(
                f"no space left for the sandbox in {self.folder.parent}: free some, or set TMPDIR to another folder"
            )
        if not line:
            raise WorkerError(f"the sandbox's fork server ended: {_last_line(_left(self.folder / 'server.err', 2000))}")
        return line


def _sweep(parent: Path) -> None:
    """Removes what killed callers left: a folder is named for its caller's process."""
    for folder in parent.glob("ops6k-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not Path("/proc", pid).exists():
            _remove(folder)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # folders in folders, a thousand deep
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


def _environment(device: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ALLOWED_ENVIRONMENT if name in os.environ}
    package_parent = str(Path(__file__).resolve().parents[2])
    # Triton asks for a user name, and a child's user has none in the system's list.
    kept |= {"USER": "sandbox", "LOGNAME": "sandbox"}
    kept |= {
        "PYTHONPATH": package_parent,
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }
    # A child of a fork server reaches CUDA only if nothing before the fork initialised it: importing inductor asks for the
    # device, which with NVML does not create a context.
    kept |= {"PYTORCH_NVML_BASED_CUDA_CHECK": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    return kept if device == "cuda" else kept | {"CUDA_VISIBLE_DEVICES": ""}


def _left(path: Path, limit: int) -> str:
    """The end of what a child left in a file of its own; empty where that is no plain file.

    The reader stands outside the jail: a link would show the child a file that the jail hides, a pipe would hold us for ever.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            return ""
        file.seek(max(0, status.st_size - limit))
        return file.read(limit).decode(errors="replace")


def _parsed(text: str, token: str) -> dict | None:
    """The answer that a child wrote; None for what others left in its place, and for what cannot be read or written on."""
    try:
        left = json.loads(text, parse_int=_small)
        json.dumps(left, ensure_ascii=False).encode()  # a lone surrogate can be written to no file
    except (ValueError, RecursionError):
        return None
    genuine = isinstance(left, dict) and left.get("token") == token
    return left["answer"] if genuine and isinstance(left.get("answer"), dict) else None


def _small(digits: str) -> int:
    """Raises ValueError for an integer that no record holds."""
    if len(digits) > 19:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    # A terminal obeys some characters that cannot be printed.
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in lines[-1][:300]) if lines else ""
