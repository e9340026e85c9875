"""Known operators of torch are harvested for what they are."""

from pathlib import Path

import pytest

from ops6k.harvest import lines
from ops6k.harvest.categories import Category, of_torch
from ops6k.harvest.from_torch import harvest_torch
from ops6k.records import Operator

SEED_OPS = Path(__file__).resolve().parent.parent / "seed_ops"
SAMPLE = frozenset(
    """nn.Linear nn.LSTM nn.Dropout nn.MultiheadAttention F.relu F.dropout F.rrelu F.scaled_dot_product_attention torch.abs torch.cumsum
    torch.bernoulli torch.fft.rfft torch.linalg.norm torch.special.erfcx torch.cat torch.topk torch.equal""".split()
)


@pytest.fixture(scope="module")
def committed() -> dict[str, Operator]:
    return {operator.name: operator for operator in lines.read(SEED_OPS / "torch.jsonl")}


@pytest.fixture(scope="module")
def left_out() -> dict[str, str]:
    return {operator.name: operator.note for operator in lines.read(SEED_OPS / "skipped.jsonl")}


@pytest.mark.slow
def test_the_committed_lines_are_what_the_code_gives(committed: dict[str, Operator], left_out: dict[str, str]) -> None:
    found = harvest_torch(60.0, only=SAMPLE)
    assert {operator.name for operator in (*found.operators, *found.skipped)} == SAMPLE
    assert [operator for operator in found.operators if committed[operator.name] != operator] == []
    assert {operator.name: operator.note for operator in found.skipped} == {"torch.equal": left_out["torch.equal"]}


@pytest.mark.parametrize(
    ("name", "category", "arity", "kind"),
    [
        ("nn.Linear", Category.DENSE, 1, "module"),
        ("nn.Conv2d", Category.CONVOLUTION, 1, "module"),
        ("F.relu", Category.ACTIVATION, 1, "function"),
        ("F.layer_norm", Category.NORMALISATION, None, "function"),
        ("torch.matmul", Category.DENSE, 2, "function"),
        ("torch.cumsum", Category.SCAN, 1, "function"),
        ("torch.fft.rfft", Category.FFT, 1, "function"),
        ("torch.linalg.norm", Category.REDUCTION, 1, "function"),
        ("torch.special.erfcx", Category.ELEMENTWISE, 1, "function"),
        ("nn.LSTM", Category.RECURRENT, None, "module"),
        ("F.mse_loss", Category.LOSS, 2, "function"),
        ("torch.lerp", Category.ELEMENTWISE, None, "function"),
    ],
)
def test_a_known_operator_has_its_category_kind_and_arity(
    committed: dict[str, Operator], name: str, category: Category, arity: int | None, kind: str
) -> None:
    assert (committed[name].category, committed[name].kind) == (category, kind)
    assert arity is None or committed[name].arity == arity


@pytest.mark.parametrize(
    "name",
    ["F.dropout", "nn.Dropout", "torch.bernoulli", "torch.randn", "nn.FractionalMaxPool2d", "F.gumbel_softmax", "nn.RReLU"],
)
def test_what_draws_random_numbers_is_stochastic(committed: dict[str, Operator], name: str) -> None:
    assert committed[name].stochastic


@pytest.mark.parametrize(
    "name",
    [
        "F.scaled_dot_product_attention",
        "F.multi_head_attention_forward",
        "F.rrelu",
        "nn.LSTM",
        "nn.MultiheadAttention",
        "nn.Linear",
    ],
)
def test_what_carries_the_tag_but_draws_nothing_is_not_stochastic(committed: dict[str, Operator], name: str) -> None:
    assert not committed[name].stochastic


def test_aliases_count_once_and_say_which_name_is_kept(committed: dict[str, Operator], left_out: dict[str, str]) -> None:
    pairs = {
        "torch.absolute": "torch.abs",
        "torch.special.expit": "torch.sigmoid",
        "torch.inverse": "torch.linalg.inv",
        "torch.conv1d": "F.conv1d",
    }
    assert {alias: left_out[alias] for alias in pairs} == {alias: f"alias of {name}" for alias, name in pairs.items()}
    assert all(name in committed and alias not in committed for alias, name in pairs.items())


def test_maximum_is_no_alias_of_the_reduction_max(committed: dict[str, Operator]) -> None:
    assert {"torch.max", "torch.maximum"} <= set(committed)


def test_no_deprecated_private_lazy_or_in_place_name_is_an_operator(
    committed: dict[str, Operator], left_out: dict[str, str]
) -> None:
    assert not [name for name in committed if name.endswith("_") or name.rpartition(".")[2].startswith(("_", "Lazy"))]
    assert {left_out[name] for name in ("torch.lu", "torch.qr", "torch.ger")} == {"deprecated"}


def test_functions_without_tensor_results_are_left_out(left_out: dict[str, str]) -> None:
    assert left_out["torch.equal"] == "returns bool, no tensor"


def test_builtins_have_a_signature_and_no_source_hash(committed: dict[str, Operator]) -> None:
    assert committed["torch.abs"].source_hash is None
    assert committed["torch.abs"].signature.startswith("abs(input")
    assert len(committed["nn.Linear"].source_hash or "") == 16


def test_dtypes_are_those_that_torch_really_takes(committed: dict[str, Operator]) -> None:
    assert {"float32", "bfloat16", "float16"} <= set(committed["nn.Linear"].dtypes)
    assert "complex64" not in committed["torch.fft.rfft"].dtypes
    assert set(committed["torch.bitwise_and"].dtypes) == {"int64", "bool"}


def test_every_category_rule_gives_a_member_for_names_nobody_listed() -> None:
    assert of_torch("torch.nonesuch") is Category.ELEMENTWISE
    assert of_torch("nn.Nonesuch") is Category.OTHER
