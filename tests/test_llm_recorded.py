"""Recorded answers through the whole pipeline: asked, judged, sent back, screened, compared, assembled; each with its verdict."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from llm_project import ROOT, llm_project
from servers.openai_server import running
from servers.recorded import Recorded, Tape

from ops6k import runner
from ops6k.assemble.join import Story, peek
from ops6k.params import Price
from ops6k.records import Report
from ops6k.stages import BY_NAME

TAPE = Tape()
STAGES = ("fuse", "screen", "resize", "rescreen", "dedup", "assemble")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Played:
    reports: dict[str, Report]
    stories: tuple[Story, ...]
    data: Path
    asked: int

    def story(self, one: Recorded) -> Story:
        """What became of a recorded task."""
        (found,) = [s for s in self.stories if s.candidate.code == one.task.code and one.task.ops in (None, s.candidate.ops)]
        return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    params = llm_project(tmp_path_factory.mktemp("recorded") / "project")
    (params.root / "seed_ops" / "skipped.jsonl").unlink()
    (params.root / "data" / "benchmarks").mkdir()
    for index in params.dedup.benchmarks:
        shutil.copy(ROOT / index, params.path(index))
    llm = replace(params.fuse.llm, model="recorded", prices={"recorded": Price(2.0, 8.0)}, max_usd=100.0)
    params = replace(params, fuse=replace(params.fuse, source="llm", candidates=len(TAPE.first), llm=llm))
    data = params.root / "built"
    with running() as server, pytest.MonkeyPatch.context() as patch:
        server.answer = TAPE.answer
        patch.setenv("OPENAI_BASE_URL", server.url)
        reports = {name: runner.execute(BY_NAME[name], params, data) for name in STAGES}
        yield Played(reports, peek(data), data, len(server.received))


def test_there_are_enough_of_them_in_every_depth():
    tasks = [one.task for one in TAPE.all.values() if one.task is not None]
    assert len(tasks) >= 40
    assert set(Counter(len(task.ops) for task in tasks if task.ops)) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", [one.name for one in TAPE.all.values() if one.expect])
def test_a_recorded_task_gets_its_verdict(played: Played, name: str):
    one = TAPE.all[name]
    story = played.story(one)
    assert (story.reason or story.outcome) == one.expect, story.message
    if one.derived:
        (child,) = [s for s in played.stories if s.candidate.parent == story.candidate.candidate_id]
        assert (child.reason or child.outcome) == one.derived, child.message


def test_what_is_no_task_is_counted(played: Played):
    wanted = Counter(one.dropped for one in TAPE.all.values() if one.dropped)
    dropped = {funnel.reason: funnel.count for funnel in played.reports["fuse"].reasons}
    unanswered = dropped["answer/no_code"] - wanted["answer/no_code"]
    assert dropped["duplicate/exact"] == wanted["duplicate/exact"]
    sent_back = [s for s in played.stories if s.candidate.round == 0 and s.verdict.phase in ("text", "dry_run")]
    assert unanswered == len(
        [s for s in sent_back if not any(c.candidate.parent == s.candidate.candidate_id for c in played.stories)]
    )


def test_repairs_and_resizes_name_their_parent_and_their_round(played: Played):
    again = [one for one in TAPE.all.values() if "." in one.name]
    for one in again:
        story, parent = played.story(one), played.story(TAPE.all[one.name.partition(".")[0]])
        assert (story.candidate.parent, story.candidate.round) == (parent.candidate.candidate_id, parent.candidate.round + 1)
    assert played.reports["resize"].kept == 1


def test_only_accepted_tasks_without_a_match_are_rows(played: Played):
    codes = {
        code for file in (played.data / "dataset" / "data").glob("*.parquet") for code in pq.read_table(file)["code"].to_pylist()
    }
    assert codes and codes <= {story.candidate.code for story in played.stories if story.is_eligible}


def test_what_it_cost_is_told(played: Played):
    (line,) = [note for note in played.reports["resize"].notes if "requests sent in all runs" in note]
    accepted = sum(story.is_eligible for story in played.stories)
    if os.environ.get("SHOW"):
        print(f"\n{line}; {accepted} accepted of {len(played.stories)}")
    assert line.startswith(f"recorded: {played.asked} requests sent in all runs, ") and line.endswith(" USD")
