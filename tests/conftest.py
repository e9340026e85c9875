"""A small project of its own for tests of what stands around the stages: the real command line, runner, DVC files and flow,
over stand-in stages (tests/tiny/stages.py) that take milliseconds."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ops6k.stages import STAGES

REPOSITORY = Path(__file__).resolve().parent.parent
STAGE_NAMES = ("harvest", "fuse", "screen", "resize", "rescreen", "dedup", "assemble", "train", "report")
_PACKAGES = ("harvest", "fuse", "screen", "dedup", "assemble", "train", "report")
_SECOND_ROUND = {"fuse": "resize", "screen": "rerun"}
"""Further stages that a package holds."""

_PARAMS = """\
preset: full
seed: 0
target: data/targets/cpu.yaml
mix:
  depth: {1: 0.5, 2: 0.3, 3: 0.2}
  dtype: {float32: 1.0}
  transformers: 0.0
harvest: {min_torch: 1, min_transformers: 0}
fuse: {candidates: 12}
screen: {window_ms: [1, 6], shard_rows: 2}
dedup: {jaccard: 0.9}
assemble: {rows: 6, short: allow}
train: {tasks: 2}
publish: {}
presets:
  demo:
    fuse: {candidates: 8}
"""


# A shell without job control starts what it puts in the background with SIGINT ignored, and children inherit that: the tests
# that interrupt a build would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Project:
    """A folder with a whole project in it."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("OPS6K_", "PREFECT_", "GIT_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        quiet = {"DO_NOT_TRACK": "1", "NO_COLOR": "1", "COLUMNS": "200", "DVC_NO_ANALYTICS": "1"}
        return kept | quiet | {"PYTHONPATH": str(self.root), "PATH": path}

    def run(self, *words: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command in the project; its output is captured."""
        done = subprocess.run(
            words, cwd=self.root, env=self.environment | environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert not check or done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def ops6k(self, *words: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "ops6k", *words, check=check, **environment)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """The command line in the background."""
        return subprocess.Popen(
            [sys.executable, "-m", "ops6k", *words],
            cwd=self.root,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def dvc(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "dvc", *words, check=check)

    def commit(self, message: str) -> None:
        self.run("git", "add", "-A")
        self.run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", message)

    def copy(self, root: Path, then: tuple[str, ...] = ()) -> "Project":
        """Another such project; `then` is what DVC is asked to do in it."""
        shutil.copytree(self.root, root, symlinks=True)
        project = Project(root)
        if then:
            project.dvc(*then)
        return project

    def ran(self) -> list[str]:
        """Stages that ran since the last look, in order."""
        log = self.root / "ran.log"
        names = log.read_text(encoding="utf-8").split() if log.exists() else []
        log.unlink(missing_ok=True)
        return names

    def set(self, old: str, new: str) -> None:
        """Edits params.yaml."""
        path = self.root / "params.yaml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def outputs(self) -> dict[str, bytes]:
        """Every file of the results; reports of stages hold seconds and do not count."""
        files = (
            path for path in self.data.rglob("*") if path.is_file() and ".work" not in path.parts and path.name != "report.json"
        )
        return {str(path.relative_to(self.data)): path.read_bytes() for path in files}


def tiny_project(root: Path) -> Project:
    """A project with stand-in stages, tracked by git and DVC."""
    package = root / "ops6k"
    package.mkdir(parents=True)
    for module in (REPOSITORY / "ops6k").glob("*.py"):
        shutil.copy(module, package)
    for name in ("commands", "sandbox"):
        shutil.copytree(REPOSITORY / "ops6k" / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "tests" / "tiny" / "stages.py", root / "tiny_stages.py")
    for name in _PACKAGES:
        (package / name).mkdir()
        source = f"from tiny_stages import {name} as run\n\n__all__ = ['run']\n"
        source += f"from tiny_stages import {_SECOND_ROUND[name]}\n" if name in _SECOND_ROUND else ""
        (package / name / "__init__.py").write_text(source, encoding="utf-8")
    for module in {name for stage in STAGES for name in stage.code if name.endswith(".py") and name.count("/") == 2}:
        (root / module).write_text("", encoding="utf-8")  # DVC wants to see what a stage depends on
    shutil.copytree(REPOSITORY / "flows", root / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("prefect.yaml", "pyproject.toml", ".gitignore", ".dvcignore"):
        shutil.copy(REPOSITORY / name, root)
    (root / "params.yaml").write_text(_PARAMS, encoding="utf-8")
    for path in ("prompts/fuse.j2", "data/targets/cpu.yaml", "data/benchmarks/kernelbench.parquet"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("stand-in\n", encoding="utf-8")
    project = Project(root)
    project.ops6k("dvc-yaml")
    (root / ".dvc").mkdir()
    shutil.copy(REPOSITORY / ".dvc" / "config", root / ".dvc")
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return tiny_project(tmp_path / "project")


@pytest.fixture(scope="session")
def git_template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A tiny project under git, as after a clone: DVC files and seed_ops committed."""
    project = tiny_project(tmp_path_factory.mktemp("git") / "project")
    project.ops6k("harvest")
    project.run("git", "init", "-q")
    (project.root / ".git" / "info" / "exclude").write_text("ran.log\n", encoding="utf-8")
    project.commit("start")
    project.ran()
    return project


@pytest.fixture(scope="session")
def repro_template(git_template: Project) -> Project:
    """The same after `dvc repro`; ran.log tells what that ran."""
    return git_template.copy(git_template.root.parent / "repro", then=("repro",))


@pytest.fixture
def git_project(git_template: Project, tmp_path: Path) -> Project:
    return git_template.copy(tmp_path / "project")


@pytest.fixture
def built_project(repro_template: Project, tmp_path: Path) -> Project:
    """Under git and DVC, everything built by `dvc repro`."""
    project = repro_template.copy(tmp_path / "project")
    project.ran()
    return project
