"""The fuse stage with the composer behind it: real sandboxed children, shards that resume, one Parquet file."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ops6k import fuse, params
from ops6k.fuse.composer import stage
from ops6k.fuse.made import distinct
from ops6k.records import Candidate, candidate_id
from ops6k.screen.bench import set_up
from ops6k.screen.eager import eager_finding
from ops6k.screen.finding import Finding
from ops6k.screen.limits import limits_of
from ops6k.store import read_rows
from ops6k.target import load as load_target

ROOT = Path(__file__).parents[1]


def _params(count: int) -> params.Params:
    found = params.load(ROOT / "params.yaml", preset="demo", settings=[f"fuse.candidates={count}", "fuse.target_ms=[2, 5]"])
    return replace(found, target="data/targets/cpu.yaml")


def _candidates(data: Path) -> list[Candidate]:
    return read_rows(data / "candidates" / "candidates.parquet", Candidate)


@pytest.mark.slow
def test_a_run_that_lost_a_batch_goes_on_and_ends_with_the_same_candidates(tmp_path):
    run = _params(stage.BATCH_ROWS + 4)
    report = fuse.run(run, tmp_path)
    first = _candidates(tmp_path)
    assert report.kept == len(first) == stage.BATCH_ROWS + 4 and report.stage == "fuse"
    assert all(c.candidate_id == candidate_id(c.ops, c.code) for c in first) and len({c.candidate_id for c in first}) == len(
        first
    )
    shards = sorted(stage.Work.of(run, tmp_path).folder.glob("*.parquet"))
    kept_at = shards[0].stat().st_mtime_ns
    shards[-1].unlink()
    shutil.rmtree(tmp_path / "candidates")
    fuse.run(run, tmp_path)
    assert _candidates(tmp_path) == first
    assert shards[0].stat().st_mtime_ns == kept_at and shards[-1].exists()


def test_another_seed_target_or_range_has_a_work_folder_of_its_own(tmp_path):
    run = _params(20)
    folders = {
        stage.Work.of(r, tmp_path).folder
        for r in (run, replace(run, seed=1), replace(run, fuse=replace(run.fuse, target_ms=(2.0, 6.0))))
    }
    assert len(folders) == 3
    assert stage.Work.of(_params(40), tmp_path).folder == stage.Work.of(run, tmp_path).folder


def test_repeated_candidates_count_once():
    one = Candidate("a", ("torch.tanh",), "x", "m", 0, "float32", ("activation",))
    kept, repeated = distinct([one, replace(one, seed=1), replace(one, candidate_id="b")])
    assert [c.candidate_id for c in kept] == ["a", "b"] and kept[0].seed == 0 and repeated == 1


def test_a_fault_of_the_composer_costs_one_candidate_and_is_quoted(tmp_path, monkeypatch):
    from ops6k.fuse.composer import batch

    def broken(self: batch.Composer, wanted: object) -> object:
        raise RuntimeError("of ours")

    monkeypatch.setattr(batch.Composer, "one", broken)
    run = _params(3)
    payload = stage.Work.of(run, tmp_path).job(0).payload
    proposals = [stage.from_plain(batch.Proposal, row) for row in batch.compose_batch(payload)["proposals"]]
    assert len(proposals) == stage.BATCH_ROWS and proposals[0].fault == "RuntimeError: of ours"
    kept, dropped = stage._selected(proposals, 3)
    assert not kept and dropped == {"composer fault": stage.BATCH_ROWS}
    assert "number 0, RuntimeError: of ours" in stage._notes(kept, proposals)[2]


@pytest.mark.slow
def test_most_candidates_pass_the_screens_eager_checks():
    """60 % of all screening is asked for; the eager checks are where most bad tasks fall."""
    torch.set_num_threads(1)
    from ops6k.fuse.composer.batch import Composer
    from ops6k.fuse.sources import wanted

    run = _params(20)
    target = load_target(run.path(run.target))
    limits = limits_of(run.screen, target, window=False)
    composer, findings = Composer(target, (2.0, 4.0)), []
    for candidate in composer.propose([wanted(run.mix, 11, index) for index in range(20)]):
        with torch.no_grad():
            bench = set_up(candidate.code, "cpu", limits, candidate.ops)
            findings.append(bench if isinstance(bench, Finding) else eager_finding(bench))
    assert len(findings) == 20
    assert sum(finding is None for finding in findings) >= 15, [f for f in findings if f]
