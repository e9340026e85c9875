"""What the doctor finds on this machine and on one that was made worse: no jail, no compiler, an endpoint that refuses."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ops6k.doctor import Finding, findings
from ops6k.params import Params, load

ROOT = Path(__file__).resolve().parents[1]


def found(params: Params, data: Path) -> dict[str, Finding]:
    return {one.what: one for one in findings(params, data)}


def of_a_model(url: str) -> Params:
    settings = ["fuse.source=llm", "fuse.llm.model=m", f"fuse.llm.base_url={url}"]
    return load(ROOT / "params.yaml", preset="demo", settings=settings)


def doctor_under(*words: str) -> str:
    command = [*words, sys.executable, "-m", "ops6k", "doctor", "--preset", "demo"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "COLUMNS": "250"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout


def test_a_kernel_that_refuses_the_jail_is_told_with_what_to_do_and_stops_no_build() -> None:
    full = ("unshare", "--user", "--map-root-user", "bash", "-c", 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec "$@"', "-")
    if subprocess.run([*full, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no user namespace to try it in")
    (line,) = [line for line in doctor_under(*full).splitlines() if " sandbox " in line]
    assert line.startswith("look") and "no jail, limits and text checks alone: unshare: " in line and "user.max_" in line


@contextmanager
def endpoint(status: int) -> Iterator[str]:
    """A server that answers everything so; its URL, with a password in it."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/v1/models" and self.headers["Authorization"] == "Bearer sk-secret"
            self.send_response(status)
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://user:hidden@127.0.0.1:{server.server_port}/v1/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "seen", "mend"),
    [
        (200, "answers", ""),
        (401, "refuses the key: 401 Unauthorized", "set OPENAI_API_KEY"),
        (404, "answers: 404 Not Found", ""),
        (503, "answers: 503 Service Unavailable", "see the server's log"),
    ],
)
def test_an_endpoint_is_asked_and_what_it_says_is_told_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, seen: str, mend: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with endpoint(status) as url:
        rows = found(of_a_model(url), tmp_path)
    one = rows["endpoint"]
    assert one.seen.endswith(seen) and one.seen.startswith("127.0.0.1:") and one.mend.startswith(mend)
    assert one.is_fatal == (status == 401) and bool(one.mend) == bool(mend)
    assert rows["OPENAI_API_KEY"].seen == "present" and "hidden" not in str(rows) and "secret" not in str(rows)


def test_where_nobody_listens_the_error_is_told(tmp_path: Path) -> None:
    one = found(of_a_model("http://127.0.0.1:1/v1"), tmp_path)["endpoint"]
    assert one.is_fatal and "127.0.0.1:1: [Errno 111] Connection refused" in one.seen and "base_url" in one.mend


def test_a_compiler_without_headers_and_a_damaged_index_fail_and_say_how_to_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, index = tmp_path / "g++", tmp_path / "kernelbench.parquet"
    compiler.write_text("#!/bin/sh\necho 'fatal error: Python.h: No such file or directory' >&2\nexit 1\n", encoding="utf-8")
    compiler.chmod(0o755)
    index.write_bytes((ROOT / "data" / "benchmarks" / "kernelbench.parquet").read_bytes()[:-9])
    monkeypatch.setenv("CXX", str(compiler))
    params = load(ROOT / "params.yaml", preset="demo", settings=[f"dedup.benchmarks=[{index}]"])
    rows = found(params, tmp_path)
    assert (
        rows["C++ compiler"].is_fatal and "Python.h" in rows["C++ compiler"].seen and "python3-dev" in rows["C++ compiler"].mend
    )
    assert rows["benchmark index"].is_fatal and "is damaged" in rows["benchmark index"].seen
    assert "--name kernelbench" in rows["benchmark index"].mend
