"""What the prompts ask for: operators drawn fairly, templates that say what is wrong with them, examples that are sound."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from llm_project import NEVER_DRAWN, OPERATORS, ROOT, llm_project

from ops6k.errors import MissingInput, ParamsError
from ops6k.fuse.llm.prompts import Briefs
from ops6k.fuse.sources import Wanted, wanted
from ops6k.labels import ARITHMETIC, SHAPE, key
from ops6k.params import Params

EXAMPLES = re.findall(r"```python\n(# ops: .*?)```", (ROOT / "prompts" / "system.j2").read_text(), re.S)


@pytest.fixture
def params(tmp_path: Path) -> Params:
    return llm_project(tmp_path / "project")


def drawn(params: Params, count: int) -> list[tuple[Wanted, tuple[str, ...]]]:
    briefs = Briefs(params)
    asked = [wanted(params.mix, params.seed, index) for index in range(count)]
    return [(one, tuple(operator.name for operator in briefs.brief(one).operators)) for one in asked]


def test_every_operator_that_computes_is_asked_for_and_no_other(params: Params) -> None:
    names = Counter(name for _, names in drawn(params, 400) for name in names)
    fit = {operator.name for operator in OPERATORS if operator.usable and not operator.stochastic}
    assert set(names) == fit - set(NEVER_DRAWN)


def test_depth_dtype_and_library_are_as_wanted_and_nothing_comes_twice(params: Params) -> None:
    takes = {operator.name: operator.dtypes for operator in OPERATORS}
    for one, names in drawn(params, 400):
        assert len(set(names)) == len(names) == one.depth
        assert any(name.startswith("transformers.") for name in names) == one.with_transformers
        assert all(one.dtype in takes[name] for name in names)


def test_operators_of_small_categories_come_more_often(params: Params) -> None:
    names = Counter(name for _, names in drawn(params, 600) for name in names)
    dense, activations = (
        (names["nn.Linear"] + names["nn.Bilinear"]) / 2,
        sum(names[f"F.{name}"] for name in ("silu", "gelu", "elu")) / 3,
    )
    # By the rule: room in proportion to 1 / sqrt(category's size); 2 dense operators, 20 activations.
    assert dense / activations == pytest.approx((20 / 2) ** 0.5, rel=0.2)


def test_what_is_asked_depends_on_seed_and_index_alone(params: Params) -> None:
    whole = drawn(params, 50)
    briefs = Briefs(params)
    assert [tuple(o.name for o in briefs.brief(one).operators) for one, _ in reversed(whole)] == [
        names for _, names in reversed(whole)
    ]
    assert drawn(replace(params, seed=1), 50) != whole


def test_partners_vary(params: Params) -> None:
    pairs = {frozenset(names[:2]) for one, names in drawn(params, 600) if one.depth > 1}
    assert len(pairs) > 150


def test_named_operators_are_used_as_named(params: Params) -> None:
    brief = Briefs(params).brief(Wanted(0, 0, 2, "float32", False, ("nn.Linear", "F.silu")))
    assert [operator.name for operator in brief.operators] == ["nn.Linear", "F.silu"]
    assert '["nn.Linear", "F.silu"]' in brief.prompt.user
    with pytest.raises(MissingInput, match=r"F\.unheard_of"):
        Briefs(params).brief(Wanted(0, 0, 1, "float32", False, ("F.unheard_of",)))


def test_sizes_asked_for_follow_the_target(params: Params) -> None:
    slow, fast = Briefs(params), Briefs(params)
    fast.target = replace(fast.target, bandwidth_gbs=10 * fast.target.bandwidth_gbs)
    one = wanted(params.mix, 0, 0)
    megabytes = [float(re.search(r"about ([\d.,]+) MB", b.brief(one).prompt.user)[1].replace(",", "")) for b in (slow, fast)]
    assert megabytes[1] == pytest.approx(10 * megabytes[0], rel=0.1)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("{{ operators[0].unheard_of }}", ParamsError, r"fuse\.j2.*unheard_of"),
        ("{{ nothing }}", ParamsError, r"fuse\.j2.*nothing"),
        ("\n{% if %}", ParamsError, r"fuse\.j2 line 2"),
        (None, MissingInput, r"fuse\.j2: no such template"),
    ],
)
def test_a_template_that_is_wrong_is_one_clear_line(params: Params, text: str | None, error: type[Exception], says: str) -> None:
    file = params.root / "prompts" / "fuse.j2"
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(error, match=says) as caught:
        drawn(params, 1)
    assert "\n" not in str(caught.value)


def test_a_missing_or_damaged_harvest_is_one_clear_line(params: Params) -> None:
    file = params.root / "seed_ops" / "torch.jsonl"
    file.write_text(file.read_text() + '{"name": "F.half"\n')
    with pytest.raises(MissingInput, match=r"torch\.jsonl:\d+: no operator record"):
        Briefs(params)
    for file in (params.root / "seed_ops").iterdir():
        file.unlink()
    with pytest.raises(MissingInput, match="ops6k harvest"):
        Briefs(params)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_in_the_prompt_run_and_their_outputs_follow_the_inputs(example: str) -> None:
    small = re.sub(r"^([A-Z]+) = (\d{2,})$", lambda found: f"{found[1]} = {int(found[2]) // 8}", example, flags=re.M)
    namespace: dict[str, object] = {}
    exec(compile(small, "example.py", "exec"), namespace)
    torch.manual_seed(0)
    model = namespace["Model"](*namespace["get_init_inputs"]()).eval()
    first, second = namespace["get_inputs"](), namespace["get_inputs"]()
    with torch.no_grad():
        one, same, other = model(*first), model(*first), model(*second)
    assert torch.equal(one, same)
    assert torch.isfinite(one).all()
    assert (~torch.isclose(one, other, atol=1e-2, rtol=1e-2)).float().mean() > 0.9


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_labels_of_the_examples_are_what_their_code_uses(example: str) -> None:
    labels = {key(label) for label in re.findall(r'"([\w.]+)"', example.splitlines()[0])}
    used = {key(name) for name in re.findall(r"\b((?:nn|F|torch)\.\w+)\(", example)} - {"module", "parameter", "randn"}
    assert used - ARITHMETIC - SHAPE == labels


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2
