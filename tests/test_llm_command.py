"""`ops6k fuse` with a model, as a person types it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_project import ROOT, llm_project
from servers.openai_server import ModelServer, running

KEY = "sk-test-0123456789abcdefghij"
pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return llm_project(tmp_path / "project").root


def fuse(
    project: Path, server: ModelServer, *settings: str, dry: bool = False, model: str = "scripted"
) -> subprocess.CompletedProcess[str]:
    given = ("fuse.source=llm", "fuse.candidates=6", "fuse.llm.repair=false", "fuse.llm.resize=false", *settings)
    env = os.environ | {"PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "OPS6K_MODEL": model}
    command = [sys.executable, "-m", "ops6k", "fuse", *(["--dry"] if dry else []), *(f"--set={one}" for one in given)]
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120)


def test_a_spent_budget_is_said_in_one_line_exits_0_and_goes_on_when_raised(project: Path, server: ModelServer) -> None:
    done = fuse(project, server, "fuse.llm.max_requests=4")
    assert done.returncode == 0
    said = [line for line in done.stdout.splitlines() if "budget of" in line]
    assert said == [
        "  the budget of 4 requests is spent; raise fuse.llm.max_requests to go on: 2 candidates or repairs were not asked for"
    ]
    assert "6 taken, 4 kept" in done.stdout
    assert "6 taken, 6 kept" in fuse(project, server, "fuse.llm.max_requests=9").stdout
    assert len(server.received) == 6


def test_a_key_that_is_refused_is_one_line_without_the_key(project: Path, server: ModelServer) -> None:
    server.always = "401"
    done = fuse(project, server)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert line.startswith(f"error: endpoint {server.url}: refuses the key: 401")
    assert KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_dry_run_prints_a_prompt_and_requests_tokens_and_usd(project: Path, server: ModelServer) -> None:
    prices = "fuse.llm.prices={scripted: {input: 2, output: 10}}"
    done = fuse(project, server, prices, "fuse.llm.max_output_tokens=1000", "fuse.llm.max_usd=5", dry=True)
    assert done.returncode == 0
    prompt, _, cost = done.stdout.partition("--- cost\n")
    assert "class Model(nn.Module)" in prompt and "Write one program" in prompt
    requests, prompt_tokens, completion_tokens, usd = cost.splitlines()
    assert requests.startswith("6 requests for 6 tasks (budget 20,000)")
    tokens = float(prompt_tokens.split()[1].replace(",", ""))
    assert completion_tokens == "at most 6,000 completion tokens (1,000 a task)"
    assert usd == f"at most about {tokens * 2e-6 + 0.06:.2f} USD (budget 5.0 USD)"
    assert not server.received


def test_a_dry_run_without_a_model_prints_the_prompt_and_that_no_price_is_known(project: Path, server: ModelServer) -> None:
    done = fuse(project, server, dry=True, model="")
    assert done.returncode == 0 and "Write one program" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("USD unknown: no model is named")
    assert not server.received
