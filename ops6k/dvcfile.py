"""dvc.yaml from the table of stages: `ops6k dvc-yaml` writes it, a test compares the committed file with the table."""

from pathlib import Path

import yaml

from ops6k.stages import STAGES, Stage

_HEAD = "# Written by `ops6k dvc-yaml` from ops6k/stages.py: edit that table, not this file.\n"

# Folders, since which file is read depends on the parameters and DVC wants to know before.
_FOLDERS = {"{target}": "data/targets", "{benchmarks}": "data/benchmarks"}

_PLOTS = {
    "data/report/plots/funnel.csv": {
        "template": "bar_horizontal",
        "x": "count",
        "y": "reason",
        "title": "What became of the candidates",
    },
    "data/report/plots/learning.csv": {"x": "step", "y": "mean_reward", "title": "Learning curve"},
}


def dvc_yaml(tree: dict[str, object]) -> dict[str, object]:
    """dvc.yaml as plain values; `tree` is params.yaml's, whose presets hold parameters too."""
    return {
        "stages": {stage.name: _stage(stage, tree) for stage in STAGES},
        "plots": [{path: form} for path, form in _PLOTS.items()],
    }


def written(tree: dict[str, object]) -> str:
    return _HEAD + yaml.safe_dump(dvc_yaml(tree), sort_keys=False, width=120)


def write(root: Path) -> Path:
    """Writes dvc.yaml beside params.yaml."""
    tree = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    path = root / "dvc.yaml"
    path.write_text(written(tree), encoding="utf-8")
    return path


def _stage(stage: Stage, tree: dict[str, object]) -> dict[str, object]:
    described = {
        "desc": stage.does,
        "cmd": f"python -m ops6k {stage.name}",
        "deps": list(dict.fromkeys([_FOLDERS.get(path, path) for path in stage.reads] + list(stage.code))),
        "params": _params(stage, tree),
        **_outs(stage),
    }
    return {key: value for key, value in described.items() if value}


def _params(stage: Stage, tree: dict[str, object]) -> list[str]:
    """Sections, and what the presets lay over them, so that one threshold re-runs only what depends on it."""
    if not stage.params:
        return []
    sections = [*stage.params, *(["target"] if "{target}" in stage.reads else [])]
    presets: dict[str, dict[str, object]] = tree.get("presets") or {}  # type: ignore[assignment]
    laid_over = [f"presets.{name}.{section}" for name, preset in presets.items() for section in sections if section in preset]
    return [*(["preset"] if laid_over else []), *sections, *laid_over]


def _outs(stage: Stage) -> dict[str, object]:
    if stage.name == "report":  # one page, numbers and curves: each shown by its own command of DVC
        return {"outs": ["data/report/index.html", *_PLOTS], "metrics": ["data/report/metrics.json"]}
    if stage.writes == "seed_ops":  # in git; persist: a harvest that fails must not take the committed files with it
        return {"outs": [{"seed_ops": {"cache": False, "persist": True}}]}
    return {"outs": [stage.writes]}
