"""The table of stages against dvc.yaml, and what may import what."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

from ops6k.dvcfile import dvc_yaml
from ops6k.stages import STAGES

REPOSITORY = Path(__file__).resolve().parent.parent


def _tree() -> dict[str, object]:
    return yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))


def test_dvc_yaml_says_what_the_stage_table_says():
    committed = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text(encoding="utf-8"))
    assert committed == dvc_yaml(_tree()), "run `ops6k dvc-yaml`"


def test_each_stage_reads_only_what_earlier_stages_write_or_what_is_committed():
    committed = {"prompts", "{target}", "{benchmarks}"}
    for number, stage in enumerate(STAGES):
        assert set(stage.reads) <= committed | {earlier.writes for earlier in STAGES[:number]}


def test_every_stage_is_in_dvc_yaml_with_its_command_inputs_and_code():
    stages = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert list(stages) == [stage.name for stage in STAGES]
    for stage in STAGES:
        assert stages[stage.name]["cmd"] == f"python -m ops6k {stage.name}"
        assert set(stage.code) <= set(stages[stage.name]["deps"])


def test_a_threshold_in_a_preset_is_a_parameter_of_the_stages_that_use_it_and_of_no_other():
    stages = dvc_yaml(_tree())["stages"]
    users = {name for name, stage in stages.items() if "presets.demo.screen" in stage.get("params", [])}
    assert users == {stage.name for stage in STAGES if "screen" in stage.params}


# What torch's own wheel requires, by the names that are imported.
_TORCHS = "filelock typing_extensions setuptools sympy mpmath networkx jinja2 markupsafe fsspec triton torchgen functorch"

_REFUSE = f"""
import importlib, importlib.abc, pkgutil, sys

ALLOWED = set(sys.stdlib_module_names) | {{"torch", "numpy", "pyarrow", "yaml", "ops6k", *{_TORCHS!r}.split()}}


class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED:
            raise ModuleNotFoundError(f"{{name}} is not on a GPU machine", name=name)


sys.meta_path.insert(0, Refuse())
for root in sys.argv[1:]:
    package = importlib.import_module(root)
    for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{{root}}."):
        importlib.import_module(module.name)
        print(module.name)
"""


def _import_on_a_bare_machine(*modules: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _REFUSE, *modules], cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_gpu_side_imports_only_the_standard_library_torch_numpy_pyarrow_and_yaml():
    done = _import_on_a_bare_machine(
        "ops6k.screen",
        "ops6k.sandbox",
        "ops6k.target",
        "ops6k.params",
        "ops6k.store",
        "ops6k.progress",
        "ops6k.stages",
        "ops6k.train.rewrites",
    )
    assert done.returncode == 0, done.stderr
    assert "ops6k.screen.dry_run" in done.stdout


def test_the_import_hook_refuses_what_a_gpu_machine_lacks():
    done = _import_on_a_bare_machine("ops6k.console")
    assert done.returncode != 0
    assert re.search(r"ModuleNotFoundError: rich\S* is not on a GPU machine", done.stderr)
