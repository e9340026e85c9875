"""The check checked: rewrites of our own tasks are found, and the self-test reports what it sees."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from dedup_tasks import TASKS, framed

from ops6k.dedup.canonical import canonical
from ops6k.dedup.decide import decide, rejections
from ops6k.dedup.index import references_of, sources
from ops6k.dedup.rewrites import LIKELY, functional, reordered, split, wrapped
from ops6k.dedup.selftest import NEEDED, self_test
from ops6k.dedup.similar import nearest, side_by_side
from ops6k.dedup.subject import Subject
from ops6k.dedup.variants import SURE, renamed, resized
from ops6k.params import DedupParams

PARAMS = DedupParams()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, (name, task) in enumerate(TASKS.items()):
        path = tmp_path / "level2" / f"{number}_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(task.code)
    return tmp_path


def outputs(code: str, seed: int = 0) -> list[object]:
    """What a task of ours returns: weights by state dict from the original, inputs from a seed."""
    import torch

    space: dict[str, object] = {}
    exec(compile(code, "task", "exec"), space)
    torch.manual_seed(seed)
    model = space["Model"](*space["get_init_inputs"]()).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.01)
        return [model(*(x[:2] if x.dim() == 4 else x for x in space["get_inputs"]()))]


@pytest.mark.parametrize("rewrite", [functional, wrapped, split, reordered, renamed])
@pytest.mark.parametrize("name", ["chain", "pair", "functions", "gated"])
def test_a_rewrite_computes_what_the_task_computes(name: str, rewrite: Callable[[str], str]) -> None:
    import torch

    code = TASKS[name].code
    [expected], [found] = outputs(code), outputs(rewrite(code))
    assert torch.allclose(expected, found)


def test_rewrites_change_the_text() -> None:
    code = framed(
        "self.fc = nn.Linear(width, 9)\n        self.act = nn.GELU()",
        "a = x.sin()\n        b = x.cos()\n        return self.act(self.fc(a) + self.fc(b))",
    )
    texts = {name: canonical(rewrite(code)).text for name, rewrite in LIKELY.items()}
    assert len({canonical(code).text, *texts.values()}) == 1 + len(LIKELY)
    assert len({canonical(rewrite(code)).flow for rewrite in LIKELY.values()} | {canonical(code).flow}) == 1


@pytest.mark.parametrize("rewrite", LIKELY.values(), ids=LIKELY)
@pytest.mark.parametrize("name", TASKS)
def test_a_rewritten_copy_of_a_reference_is_contaminated(name: str, rewrite: Callable[[str], str], folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours")
    copy = Subject("copy", TASKS[name].ops, rewrite(TASKS[name].code), None)
    ast.parse(copy.code)
    match = rejections(decide([copy], references, PARAMS))["copy"]
    assert match.reference.split("_", 1)[1] == name


def test_the_self_test_reports_recall_and_price(folder: Path) -> None:
    tested = self_test(folder, PARAMS)
    assert tested.holds
    assert {(r.disguise, r.copies, r.caught) for r in tested.recalls} == {(name, len(TASKS), len(TASKS)) for name in NEEDED}
    assert {m.merged for m in tested.merged if m.rule in ("canonical", "graph", "any", "text alone at 1.0")} == {0}


def test_the_self_test_fails_where_a_rule_is_off(folder: Path) -> None:
    rules = {name: "flag" if name.startswith("benchmark/") else action for name, action in PARAMS.rules.items()}
    tested = self_test(folder, DedupParams(rules=rules))
    assert not tested.holds
    assert {r.caught for r in tested.recalls} == {0}
    assert all(len(r.missed) == len(TASKS) for r in tested.recalls)


def test_the_nearest_reference_of_a_copy_is_its_original(folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours")
    found = nearest(SURE["disguised"](TASKS["attention"].code), None, references, count=3)
    assert len(found) == 3
    assert found[0].reference.endswith("attention")
    assert (found[0].canonical, found[0].graph, found[0].text, found[0].operators) == (True, 1.0, 1.0, 1.0)
    assert found[1].text < 1
    assert not found[1].canonical


def test_a_task_that_is_no_python_has_neighbours_by_its_trace_alone(folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours", trace=lambda codes: [("mm", "erf")] * len(codes))
    found = nearest("class Model(:", ("mm", "erf"), references)
    assert {(n.graph, n.text, n.operators) for n in found} == {(1.0, 0.0, 0.0)}


def test_canonical_forms_stand_side_by_side() -> None:
    one, other = (
        framed("self.fc = nn.Linear(width, 9)", f"y = self.fc(x)\n        return F.{name}(y)") for name in ("gelu", "silu")
    )
    rows = side_by_side(one, other)
    assert [row[:2] for row in rows if not row[2]] == [("return gelu ( v2 , )", "return silu ( v2 , )")]
    assert [row[0] for row in rows] == canonical(one).text.splitlines()
    assert all(row[2] for row in side_by_side(one, resized(one)))
