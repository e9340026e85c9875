"""Prefect on this machine in one command: server, work pool, deployment and worker in the foreground (`make ui`).

Ctrl-C or SIGTERM stops worker and server; runs in progress are cancelled and the next one goes on from their work.
"""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LIMITS = {"gpu": 1, "llm": 4}
"""Tasks with a tag that may run at once."""


def main() -> None:
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _running("server", "start") as server:
            _wait_until_healthy(server)
            _set_up()
            print("\nready; in another terminal: prefect deployment run ops6k/build --watch\n", flush=True)
            with _running("worker", "start", "--pool", "local") as worker:
                worker.wait()
    except KeyboardInterrupt:
        print("stopped")


def _prefect(*words: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *words]


@contextmanager
def _running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Prefect service in a session of its own, so that Ctrl-C reaches it once, from here, in the right order."""
    process = subprocess.Popen(_prefect(*words), start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def api_url() -> str:
    """Where the settings say that the server is."""
    from prefect.settings import get_current_settings

    return str(get_current_settings().api.url)


def _wait_until_healthy(server: subprocess.Popen[bytes], timeout_s: float = 180) -> None:
    health = f"{api_url()}/health"
    ends = time.monotonic() + timeout_s
    while time.monotonic() < ends and server.poll() is None:
        try:
            with urllib.request.urlopen(health, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    sys.exit(f"error: no Prefect server answers at {health}")


def _set_up() -> None:
    """Pool, limits and deployment; run again, it changes nothing."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(_prefect("--no-prompt", "work-pool", "create", "local", "--type", "process"), check=False, **quiet)
    for tag, limit in _LIMITS.items():
        subprocess.run(_prefect("concurrency-limit", "create", tag, str(limit)), check=False, **quiet)
    subprocess.run(_prefect("--no-prompt", "deploy", "--all"), check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
