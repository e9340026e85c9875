"""The audit notebook, cell by cell, on a made-up data set."""

import json
from pathlib import Path

import pytest
import synthetic_build as synthetic

from ops6k.assemble import run

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "audit.ipynb"


def cells() -> list[dict]:
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def execute(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The notebook's names after its last cell."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    monkeypatch.setenv("OPS6K_DATASET", str(dataset))
    names: dict[str, object] = {}
    with matplotlib.rc_context():
        for number, cell in enumerate(cells()):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"audit.ipynb cell {number}", "exec"), names)
    plt.close("all")
    return names


def test_no_outputs_are_committed() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert len(code) > 5
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
def test_every_cell_runs_and_finds_what_was_planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = synthetic.write_build(synthetic.mixed_build(), tmp_path)
    run(synthetic.params(tmp_path, 40), data)
    names = execute(data / "dataset", monkeypatch)
    assert names["steps"].to_dict() == {"candidates": 122, "through the screen": 81, "through dedup": 79, "rows": 40}
    assert (names["ratio"].round(3) == 1.111).all()  # eager is 1 / 0.9 of the prediction in every synthetic row
    assert names["thresholds"]["output_change at least 0.5"] == 40
    low, high = names["published"]["eager_low_ms"], names["published"]["eager_high_ms"]
    assert len(names["inside"](names["published"], 2, 100)) == ((high >= 2) & (low <= 100)).sum() < 40


@pytest.mark.slow
def test_a_cluster_cut_by_hand_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    data = synthetic.write_build(synthetic.plain_build([(2, "float32", False)] * 20), tmp_path)
    run(synthetic.params(tmp_path, 20, "allow"), data)
    train = data / "dataset" / "data" / "train.parquet"
    test_cluster = pd.read_parquet(data / "dataset" / "data" / "test.parquet")["cluster"].iloc[0]
    pd.read_parquet(train).assign(cluster=test_cluster).to_parquet(train)
    with pytest.raises(AssertionError):
        execute(data / "dataset", monkeypatch)
