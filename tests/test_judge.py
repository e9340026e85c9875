"""`ops6k judge`: verdicts as they come, in the order given, and none that is known is lost."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import typer.testing
from dedup_tasks import framed
from synthetic_build import accepted, rejected

from ops6k import cli, judge, params
from ops6k.judge import Judged, judge_path
from ops6k.records import Outcome, Reason
from ops6k.screen.course import Course

ROOT = Path(__file__).parents[1]
SOUND = framed("self.fc = nn.Linear(width, 64)", "return torch.kthvalue(self.fc(x).cumsum(0), 3, dim=1)[0]")
CODES = {"a": SOUND, "b": framed("", "return x @ x"), "c": SOUND.replace("fc", "proj"), "d": framed("", "return torch.relu(x)")}
ENDS = {"a": "accepted", "b": "invalid", "c": "duplicate", "d": "contaminated"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, code in CODES.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    return tmp_path


def _ending_in(monkeypatch: pytest.MonkeyPatch, order: str, then: BaseException | None = None) -> list[str]:
    """Lets the screen's courses end in this order, b as one that does not run; the names of those that have ended."""
    ended: list[str] = []

    def judged(courses: Sequence[Course], *_: object) -> Iterator[Course]:
        for name in order:
            course = courses["abcd".index(name)]
            verdict = rejected(course.candidate, Reason.RUNTIME) if name == "b" else accepted(course.candidate)
            course.verdicts.append(verdict)
            ended.append(name)
            yield course
        if then is not None:
            raise then

    monkeypatch.setattr(judge, "judged", judged)
    return ended


def _verdicts(folder: Path) -> Iterator[Judged]:
    return judge_path(folder, params=params.load(ROOT / "params.yaml"), device="cpu", window=False)


def test_verdicts_come_in_the_order_given_each_as_soon_as_those_before_it_are_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = _ending_in(monkeypatch, "bacd")
    seen = [(one.id, str(one.outcome), "".join(ended)) for one in _verdicts(folder)]
    assert seen == [
        ("a.py", "accepted", "ba"),
        ("b.py", "invalid", "ba"),
        ("c.py", "duplicate", "bac"),
        ("d.py", "contaminated", "bacd"),
    ]


def test_of_two_copies_the_first_given_stands_whichever_ends_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _ending_in(monkeypatch, "dcba")
    found = list(_verdicts(folder))
    assert {one.id[0]: str(one.outcome) for one in found} == ENDS
    assert "with a.py" in str(found[2].evidence["message"]) and found[2].evidence["matches"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)], ids=["interrupted", "terminated"])
def test_an_interruption_gives_what_is_known_and_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    _ending_in(monkeypatch, "db", then=stop)
    verdicts = _verdicts(folder)
    assert [next(verdicts).id, next(verdicts).id] == ["b.py", "d.py"]
    with pytest.raises(type(stop)):
        next(verdicts)


@pytest.mark.parametrize(
    ("names", "words", "code"),
    [("a", ["--strict"], 0), ("abcd", ["--strict"], 1), ("abcd", ["--strict", "--json"], 1), ("b", [], 0)],
)
def test_the_command_ends_with_one_where_strict_finds_a_task_that_is_not_accepted(
    monkeypatch: pytest.MonkeyPatch, names: str, words: list[str], code: int
) -> None:
    found = [Judged(name, Outcome(ENDS[name]), None, {"message": "seen [x]"}) for name in names]
    monkeypatch.setattr(judge, "judge_path", lambda *_, **__: iter(found))
    done = typer.testing.CliRunner().invoke(
        cli.app, ["judge", "x.py", "--device", "cpu", "--params", str(ROOT / "params.yaml"), *words]
    )
    lines = done.stdout.splitlines()
    assert done.exit_code == code and len(lines) == len(names)
    if "--json" in words:
        assert [json.loads(line)["outcome"] for line in lines] == [ENDS[name] for name in names]
    else:
        assert lines[0] == f"{names[0]}  {ENDS[names[0]]}  message=seen [x]"


def test_what_a_yaml_row_does_not_say_of_a_task_its_first_comments_may(tmp_path: Path) -> None:
    text = "# ops: torch.relu\n# window: false\nclass Model:\n    pass\n"
    rows = [
        {"id": "a", "code": text},
        {"id": "b", "code": text, "ops": ["torch.abs"], "window": True},
        {"id": "c", "code": "x = 1"},
    ]
    (tmp_path / "set.yaml").write_text(json.dumps(rows), encoding="utf-8")
    found = [(one.task_id, one.ops, one.window) for one in judge.read_tasks(tmp_path / "set.yaml")]
    assert found == [("a", ("torch.relu",), False), ("b", ("torch.abs",), True), ("c", None, None)]


@pytest.mark.parametrize(("command", "goes_on"), [("judge", False), ("show", False), ("audit", True), ("screen", True)])
def test_only_a_command_that_goes_on_where_it_was_stopped_says_so(
    monkeypatch: pytest.MonkeyPatch, command: str, goes_on: bool
) -> None:
    monkeypatch.setattr("sys.argv", ["ops6k", command, "x"])
    assert ("goes on from here" in cli._stopped("interrupted")) is goes_on
