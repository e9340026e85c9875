"""Prefect on this machine in one command: server, work pool, deployment and worker in the foreground (`make ui`).

Where the settings name a server that answers already, that one is used.
Ctrl-C or SIGTERM stops worker and server; runs in progress are cancelled and the next one goes on from their work.
"""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
_LIMITS = {"gpu": 1, "llm": 4}
"""Tasks with a tag that may run at once."""


def main() -> None:
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), ExitStack() as services:
        url = api_url()
        if not _is_healthy(url):
            address = urlsplit(url)
            server = services.enter_context(_running("server", "start", "--host", address.hostname, "--port", str(address.port)))
            _wait_until_healthy(server, url)
        _set_up()
        worker = services.enter_context(_running("worker", "start", "--pool", "local"))
        print("\nready; in another terminal: prefect deployment run ops6k/build --watch\n", flush=True)
        worker.wait()
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


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):
            return True
    except OSError:
        return False


def _wait_until_healthy(server: subprocess.Popen[bytes], url: str, timeout_s: float = 180) -> None:
    ends = time.monotonic() + timeout_s
    while not _is_healthy(url):
        if time.monotonic() > ends or server.poll() is not None:
            sys.exit(f"error: no Prefect server answers at {url}")
        time.sleep(0.5)


def _set_up() -> None:
    """Pool, limits and deployment; run again, it changes nothing."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(_prefect("--no-prompt", "work-pool", "create", "local", "--type", "process"), check=False, **quiet)
    for tag, limit in _LIMITS.items():
        subprocess.run(_prefect("concurrency-limit", "create", tag, str(limit)), check=False, **quiet)
    subprocess.run(_prefect("--no-prompt", "deploy", "--all"), check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
