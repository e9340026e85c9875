"""params.yaml becomes typed records, or one line that names the place."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from ops6k.errors import MissingInput, ParamsError
from ops6k.params import Params, load

COMMITTED = Path(__file__).resolve().parent.parent / "params.yaml"


@pytest.fixture(autouse=True)
def _no_preset_from_outside(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPS6K_PRESET", raising=False)


@pytest.mark.parametrize("preset", ["full", "demo", "paper"])
def test_every_preset_of_the_committed_file_loads(preset: str):
    assert load(COMMITTED, preset=preset).preset == preset


def test_full_is_the_file_as_it_stands():
    tree = yaml.safe_load(COMMITTED.read_text(encoding="utf-8"))
    params = load(COMMITTED, preset="full")
    assert params.assemble.rows == tree["assemble"]["rows"] == 6000
    assert params.mix.depth == tree["mix"]["depth"]
    assert params.target == tree["target"]


def test_a_preset_changes_what_it_names_and_nothing_else():
    presets = yaml.safe_load(COMMITTED.read_text(encoding="utf-8"))["presets"]
    full, demo = load(COMMITTED, preset="full"), load(COMMITTED, preset="demo")
    for section in ("mix", "harvest", "fuse", "screen", "dedup", "assemble", "train", "publish"):
        before, after = (dataclasses.asdict(getattr(params, section)) for params in (full, demo))
        assert {key for key in before if before[key] != after[key]} <= set(presets["demo"].get(section, {}))


def test_a_preset_replaces_a_mix_whole():
    assert load(COMMITTED, preset="paper").mix.dtype == {"float32": 1.0}


def test_a_setting_of_the_command_line_comes_last():
    assert load(COMMITTED, preset="demo", settings=["assemble.rows=7"]).assemble.rows == 7


def test_the_environment_names_the_preset_where_the_caller_does_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPS6K_PRESET", "paper")
    assert load(COMMITTED).preset == "paper"
    assert load(COMMITTED, preset="demo").preset == "demo"


def test_a_whole_number_is_good_where_a_float_is_wanted():
    assert load(COMMITTED, settings=["screen.timeout_s=30"]).screen.timeout_s == 30.0


def test_paths_start_at_the_folder_of_the_file():
    assert load(COMMITTED).path("seed_ops") == COMMITTED.parent / "seed_ops"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("screen.frobnicate=1", "unknown key 'frobnicate'"),
        ("frobnicate=1", "unknown key 'frobnicate'"),
        ("screen.timeout_s=soon", "screen.timeout_s: must be float, is 'soon'"),
        ("assemble.rows=1.5", "assemble.rows: must be int, is 1.5"),
        ("assemble.rows=true", "assemble.rows: must be int, is True"),
        ("assemble.short=maybe", "assemble.short: 'maybe' is none of allow, stop"),
        ("fuse.source=oracle", "fuse.source: 'oracle' is none of composer, llm"),
        ("screen.window_ms=3", "screen.window_ms: must be a list, is 3"),
        ("screen=3", "screen: must be a mapping, is 3"),
        ("mix.depth={1: 0.5, 2: 0.4}", "depth: shares sum to 0.9, not 1"),
        ("mix.depth={6: 1.0}", "depth: 1 to 5"),
        ("seed", "write section.key=value"),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_place(setting: str, says: str):
    with pytest.raises(ParamsError) as error:
        load(COMMITTED, settings=[setting])
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [("a: [", "not YAML"), ("- 1\n", "must hold a mapping"), ("preset: full\n", "is missing"), ("", "must hold")],
)
def test_a_broken_file_is_one_line_that_names_it(tmp_path: Path, text: str, says: str):
    file = tmp_path / "params.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ParamsError) as error:
        load(file)
    assert "params.yaml" in str(error.value)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_a_missing_input(tmp_path: Path):
    with pytest.raises(MissingInput, match=r"params\.yaml"):
        load(tmp_path / "params.yaml")


def test_parameters_cannot_be_changed_after_loading():
    params: Params = load(COMMITTED)
    with pytest.raises(dataclasses.FrozenInstanceError):
        params.seed = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    "setting",
    [
        "assemble.rows=0",
        "fuse.candidates=-1",
        "screen.window_ms=[100, 1]",
        "screen.window_ms=[1]",
        "screen.tolerance=0",
        "screen.tolerance=.nan",
        "screen.timeout_s=.inf",
        "screen.shard_rows=0",
        "screen.workers=-3",
        "assemble.splits=[0.5, 0.1]",
        "assemble.splits=[0.5, 0.1, 0.1]",
        "assemble.splits=[1.5, -0.25, -0.25]",
        "dedup.jaccard=1.5",
        "mix.dtype={int8: 1.0}",
        "seed=-1",
        "seed=4294967296",
        "dedup.seed=-1",
        "dedup.seed=4294967296",
    ],
)
def test_a_value_out_of_its_range_is_one_line_that_names_the_key(setting: str) -> None:
    with pytest.raises(ParamsError, match=setting.partition("=")[0].split(".")[-1]) as caught:
        load(COMMITTED, settings=[setting])
    assert "\n" not in str(caught.value)


def test_the_bounds_of_a_seed_are_named_in_full_and_allowed():
    with pytest.raises(ParamsError, match=r"dedup\.seed: must be 0 to 4294967295, is -1"):
        load(COMMITTED, settings=["dedup.seed=-1"])
    assert load(COMMITTED, settings=["dedup.seed=4294967295"]).dedup.seed == 2**32 - 1


@pytest.mark.parametrize(
    "value",
    ["2020-99-99", "2001-02-30", "[" * 2000, "9" * 5000, "!!int x", "!!float x", "!!bool x", "!!timestamp x", "{a: [}"],
    ids=lambda value: value[:12],
)
def test_a_value_that_yaml_cannot_read_is_one_line(value: str) -> None:
    with pytest.raises(ParamsError, match="seed") as caught:
        load(COMMITTED, settings=[f"seed={value}"])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
