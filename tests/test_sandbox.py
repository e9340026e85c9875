"""The sandbox with real children: limits, isolation, and what the caller learns. Functions run in the children stand here."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ops6k.sandbox import Ended, Job, Sandbox

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parent
HERE = "tests.test_sandbox"
MARK = "left-by-a-child-of-the-sandbox"


def answer(payload: dict) -> dict:
    return {"doubled": payload["number"] * 2}


def hang(payload: dict) -> dict:
    while True:
        time.sleep(0.01)


def die(payload: dict) -> dict:
    os.abort()


def eat(payload: dict) -> dict:
    kept = [bytearray(b"x" * 2**26) for _ in range(200)]
    return {"kept": len(kept)}


def fail(payload: dict) -> dict:
    raise ValueError("not today")


def look_around(payload: dict) -> dict:
    return {"environment": dict(os.environ), "home": os.getcwd(), "session": os.getsid(0) == os.getpid()}


def connect(payload: dict) -> dict:
    import socket

    socket.create_connection(("127.0.0.1", payload["port"]), timeout=2)
    return {}


def read_files(payload: dict) -> dict:
    found = {}
    for path in payload["paths"]:
        try:
            found[path] = Path(path).read_bytes()[:100].decode(errors="replace")
        except OSError as error:
            found[path] = type(error).__name__
    return {"found": found, "processes": len([p for p in os.listdir("/proc") if p.isdigit()]), "user": os.geteuid()}


def leave_a_process(payload: dict) -> dict:
    child = subprocess.Popen([sys.executable, "-c", f"import os, time; os.setpgid(0, 0); time.sleep(600)  # {MARK}"])
    return {"alive": child.poll() is None}


@pytest.fixture(scope="module")
def ended() -> dict[str, Ended]:
    os.environ["HF_TOKEN"] = "canary-of-the-sandbox"
    limits = {"hang": (1.0, 1.0), "eat": (60.0, 0.5)}
    jobs = [
        Job(f.__name__, f"{HERE}:{f.__name__}", {"number": 21, "port": 1}, *limits.get(f.__name__, (60.0, 1.0)))
        for f in (hang, answer, die, eat, fail, look_around, leave_a_process)
    ]
    try:
        with Sandbox(device="cpu", workers=2, preload="json", show=[TESTS]) as sandbox:
            return {end.job_id: end for end in sandbox.map(jobs)}
    finally:
        del os.environ["HF_TOKEN"]


def test_a_child_answers_with_what_its_function_returns(ended: dict[str, Ended]) -> None:
    assert ended["answer"].answer == {"doubled": 42}


def test_a_hang_ends_at_its_time_limit_and_others_run_meanwhile(ended: dict[str, Ended]) -> None:
    assert ended["hang"].how == "timeout" and 1.0 <= ended["hang"].seconds < 5
    assert len(ended) == 7


def test_a_crash_and_an_exception_say_what_happened(ended: dict[str, Ended]) -> None:
    assert ended["die"].how == "crashed" and "signal 6" in ended["die"].detail
    assert ended["fail"].how == "crashed" and "not today" in ended["fail"].detail


def test_memory_beyond_the_limit_is_taken_back(ended: dict[str, Ended]) -> None:
    assert ended["eat"].how in ("memory", "crashed") and ended["eat"].answer is None


def test_a_child_sees_no_token_and_has_its_own_home_and_session(ended: dict[str, Ended]) -> None:
    seen = ended["look_around"].answer
    assert "canary-of-the-sandbox" not in str(seen) and "HF_TOKEN" not in seen["environment"]
    assert seen["environment"]["HOME"] == seen["home"] and seen["session"]


def test_what_a_child_leaves_running_is_killed(ended: dict[str, Ended]) -> None:
    assert ended["leave_a_process"].answer == {"alive": True}
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and MARK in _command_line(pid)]


def test_a_child_reaches_no_network() -> None:
    import socket

    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Sandbox(device="cpu", workers=1, preload="json", show=[TESTS]) as sandbox,
    ):
        job = Job("connect", f"{HERE}:connect", {"port": server.getsockname()[1]}, 30.0, 1.0)
        (end,) = sandbox.map([job])
        if end.answer == {}:
            pytest.skip("this kernel gives a child no network namespace of its own")
        assert "unreachable" in end.detail or "refused" in end.detail


def test_a_child_finds_no_files_of_the_project_nor_of_its_user(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("canary-in-a-file")
    paths = [
        str(secret),
        str(TESTS.parent / "params.yaml"),
        f"/proc/{os.getpid()}/environ",
        "/etc/passwd",
        str(Path.home() / ".bashrc"),
    ]
    with Sandbox(device="cpu", workers=1, preload="json", show=[TESTS]) as sandbox:
        (end,) = sandbox.map([Job("read", f"{HERE}:read_files", {"paths": paths}, 30.0, 1.0)])
        if sandbox.jail_refused:
            pytest.skip(f"no jail on this machine: {sandbox.jail_refused}")
    assert set(end.answer["found"].values()) == {"FileNotFoundError"}
    assert end.answer["processes"] < 10
    assert os.geteuid() != 0 or end.answer["user"] != 0


def leave_a_link(payload: dict) -> dict:
    os.unlink("stderr")
    os.symlink(payload["secret"], "stderr")
    os.mkfifo("phase")
    os._exit(3)


def test_a_link_or_a_pipe_that_a_child_leaves_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("canary-behind-a-link")
    with Sandbox(device="cpu", workers=1, preload="json", show=[TESTS]) as sandbox:
        (end,) = sandbox.map([Job("link", f"{HERE}:leave_a_link", {"secret": str(secret)}, 30.0, 1.0)])
    assert end.how == "crashed" and end.phase == ""
    assert "canary" not in end.detail and "exit status 3" in end.detail


def leave_a_daemon(payload: dict) -> dict:
    """A process of another session that would kill whatever comes next under the same user."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                for name in os.listdir("/proc"):
                    if name.isdigit() and int(name) not in (1, os.getpid()):
                        with contextlib.suppress(OSError):
                            os.kill(int(name), 9)
        os._exit(0)
    time.sleep(0.2)
    return {}


def test_a_process_that_left_its_session_harms_no_later_child() -> None:
    with Sandbox(device="cpu", workers=1, preload="json", show=[TESTS]) as sandbox:
        jobs = [Job("daemon", f"{HERE}:leave_a_daemon", {}, 30.0, 1.0)]
        jobs += [Job(f"after-{i}", f"{HERE}:answer", {"number": i}, 30.0, 1.0) for i in range(5)]
        ended = {end.job_id: end.how for end in sandbox.map(jobs)}
        if sandbox.jail_refused or os.geteuid() != 0:
            pytest.skip("children have no user of their own here")
    assert {how for job, how in ended.items() if job != "daemon"} == {"answered"}


def test_children_die_with_a_killed_caller(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path\nfrom ops6k.sandbox import Job, Sandbox\n"
        f"with Sandbox(device='cpu', workers=1, preload='json', show=[Path('tests')]) as s:\n"
        f"    list(s.map([Job('h', '{HERE}:hang', {{}}, 600.0, 1.0)]))\n"
    )
    root = str(Path(__file__).parents[1])
    caller = subprocess.Popen([sys.executable, "-c", script], cwd=root, env={**os.environ, "TMPDIR": str(tmp_path)})
    sandbox_home = _wait_for(lambda: next(iter(tmp_path.glob("ops6k-*/h/stderr")), None))
    assert sandbox_home is not None
    caller.kill()
    caller.wait()
    assert _wait_for(lambda: not _processes_in(str(tmp_path)))


def _processes_in(folder: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(folder):
                found.append(entry.name)
        except OSError:
            continue
    return found


def _command_line(pid: str) -> str:
    try:
        return Path("/proc", pid, "cmdline").read_text(errors="replace")
    except OSError:
        return ""


def _wait_for(condition, seconds: float = 20.0) -> object:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    return None
