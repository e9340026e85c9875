"""What orchestration adds to a build: the stages called directly in one process, `ops6k build`, and the Prefect flow.

Each way has a project folder of its own with the same candidates and the same made-up times of them (screen.replay_times), so the
work is the same; harvest and fuse are done before. First each way runs once from the screen to the report. Then, in
turn and `--rounds` times, it runs with the verdict shards and measured plans already there: seconds in which orchestration would show.
Wall and processor seconds (user and system, children included; the flow's with its server's, whose start is apart). No DVC.

    python benchmarks/overhead.py --candidates 200 --rounds 5
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ops6k.records import Candidate, Outcome, Timing, Verdict
from ops6k.rounds import CANDIDATES, VERDICTS
from ops6k.store import read_rows, write_rows

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
DONE_BEFORE = ("harvest", "fuse")
MADE = ("verdicts", "resized", "rescreened", "matches", "dataset", "agent", "report")
WAYS = ("direct", "build", "flow")


@dataclass(frozen=True)
class Spent:
    wall_s: float
    cpu_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="of the part that is not screening")
    given = parser.parse_args()
    print(f"{given.candidates} candidates, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder, prefect_server(Path(folder)) as server:
        words = ["--preset", "demo", "--set", f"fuse.candidates={given.candidates}"]
        template = prepared(Path(folder, "template"), words)
        words += ["--set", f"screen.replay_times={template / 'times'}"]
        whole = {}
        for way in reversed(WAYS):  # whatever the first pays for the others, it is not the direct call
            shutil.copytree(template, Path(folder, way))
            whole[way] = spent(Path(folder, way), way, words, server)
            print(f"{way}: {whole[way]}, load {os.getloadavg()[0]:.1f}", flush=True)
        for way in WAYS:
            told("whole", way, [whole[way]], [whole["direct"]])
        rounds: dict[str, list[Spent]] = {way: [] for way in WAYS}
        for turn in range(given.rounds):
            for way in (*WAYS[turn % 3 :], *WAYS[: turn % 3]):
                unmade(Path(folder, way))
                rounds[way].append(spent(Path(folder, way), way, words, server))
        for way in WAYS:
            told("screened before", way, rounds[way], rounds["direct"], whole["direct"])
    print(f"load {os.getloadavg()[0]:.1f}")


def prepared(root: Path, words: Sequence[str]) -> Path:
    """A project whose candidates are made, with a time for each that lies in the window."""
    for name in ("ops6k", "flows", "prompts", "seed_ops", "data/benchmarks", "data/targets"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("params.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    run(root, [sys.executable, "-m", "ops6k", "build", "--until", "fuse", *words], {})
    timing = Timing(5.0, 4.9, 5.1, 5.1, 4.0, 4.1, 20, False)
    ids = [one.candidate_id for one in read_rows(root / "data" / "candidates" / CANDIDATES, Candidate)]
    write_rows(
        root / "times" / VERDICTS, [Verdict(one, Outcome.ACCEPTED, None, "", "timing", timing=timing) for one in ids], Verdict
    )
    return root


def unmade(root: Path) -> None:
    """Takes away what the stages after the screen's work made, and what says that it was."""
    for name in MADE:
        shutil.rmtree(root / "data" / name, ignore_errors=True)
    for folder in (root / "data" / ".work" / "stamps").iterdir():
        if folder.name not in DONE_BEFORE:
            shutil.rmtree(folder)


def spent(root: Path, way: str, words: Sequence[str], server: "Server") -> Spent:
    settings = words[3::2]
    direct = (
        "from pathlib import Path; from ops6k.params import load; from ops6k.stages import STAGES\n"
        f"params = load(Path('params.yaml'), preset='demo', settings={settings})\n"
        f"for stage in STAGES:\n    if stage.name not in {DONE_BEFORE}: stage.run(params, Path('data'))"
    )
    flow = f"import sys; sys.path.insert(0, 'flows'); from build import build; build('demo', {settings})"
    commands = {"direct": ["-c", direct], "build": ["-m", "ops6k", "build", *words], "flow": ["-c", flow]}
    environment = {"PREFECT_API_URL": server.url, "PREFECT_HOME": server.home} if way == "flow" else {}
    began, cpu_before = time.monotonic(), cpu_of_session(server.pid) if way == "flow" else 0.0
    cpu_s = run(root, [sys.executable, *commands[way]], environment)
    cpu_after = cpu_of_session(server.pid) if way == "flow" else 0.0
    return Spent(time.monotonic() - began, cpu_s + cpu_after - cpu_before)


def run(root: Path, command: Sequence[str], environment: dict[str, str]) -> float:
    """Runs a command in the project; its processor seconds and those of all that it waited for."""
    quiet = {"PYTHONPATH": str(root), "DO_NOT_TRACK": "1", "COLUMNS": "200"}
    with (root / "log.txt").open("ab") as log:
        process = subprocess.Popen(command, cwd=root, env=os.environ | quiet | environment, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"error: {command[:4]} failed:\n{(root / 'log.txt').read_text(errors='replace')[-3000:]}")
    return used.ru_utime + used.ru_stime


def told(what: str, way: str, mine: Sequence[Spent], direct: Sequence[Spent], whole: Spent | None = None) -> None:
    """A line: medians, what they are more than the direct call's, and that as a share of the whole build called directly."""
    whole = whole or direct[0]
    parts = []
    for kind in ("wall_s", "cpu_s"):
        seconds, least = (statistics.median(getattr(one, kind) for one in several) for several in (mine, direct))
        share = (seconds - least) / getattr(whole, kind)
        parts.append(f"{kind} {seconds:8.2f} ({seconds - least:+.2f}, {share:+.2%} of a whole build)")
    print(f"{what:16} {way:7} {'   '.join(parts)}   of {len(mine)}", flush=True)


@dataclass(frozen=True)
class Server:
    url: str
    home: str
    pid: int


@contextmanager
def prefect_server(folder: Path) -> Iterator[Server]:
    """A server of Prefect's with a database of its own, in a session of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, home = f"http://127.0.0.1:{port}/api", str(folder / "prefect")
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PREFECT_HOME": home, "PREFECT_API_URL": url, "DO_NOT_TRACK": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        answered(process, f"{url}/health")
        yield Server(url, home, process.pid)
    finally:
        process.terminate()
        process.wait(30)


def answered(process: subprocess.Popen[bytes], url: str, timeout_s: float = 180.0) -> None:
    ends = time.monotonic() + timeout_s
    while time.monotonic() < ends and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    sys.exit(f"error: no Prefect server answers at {url}")


def cpu_of_session(leader: int) -> float:
    """Processor seconds of the processes of a session that are still there."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[3]) == leader:
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


if __name__ == "__main__":
    main()
