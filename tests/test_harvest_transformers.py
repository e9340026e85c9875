"""Classes of transformers' modelling files: collapsed by body, named once, tried, and listed where they cannot be."""

from pathlib import Path

import pytest
import transformers

from ops6k.harvest import from_transformers, lines
from ops6k.harvest.categories import Category
from ops6k.harvest.class_sources import classes_in, operators
from ops6k.harvest.from_transformers import harvest_transformers
from ops6k.harvest.transformers_operators import NOT_IMPORTED, harvested
from ops6k.records import Operator

SEED_OPS = Path(__file__).resolve().parent.parent / "seed_ops"
SAMPLE = frozenset(
    f"transformers.{name}"
    for name in "LlamaRMSNorm LlamaMLP LlamaAttention LlamaRotaryEmbedding NewGELUActivation BertSelfAttention".split()
)

NORM = '''
class {name}(nn.Module):
    """{doc}"""

    def __init__(self, size{annotation}):
        super({name}, self).__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.weight * x {more}
'''


def norm(name: str, *, doc: str = "A norm.", annotation: str = "", more: str = "") -> str:
    return NORM.format(name=name, doc=doc, annotation=annotation, more=more)


@pytest.fixture(scope="module")
def committed() -> dict[str, Operator]:
    return {operator.name: operator for operator in lines.read(SEED_OPS / "transformers.jsonl")}


def test_identical_bodies_under_other_names_docstrings_and_annotations_collapse_to_the_first_by_module() -> None:
    later = classes_in(norm("BeeNorm", doc="Other words.", annotation=": int"), "transformers.models.bee.modeling_bee")
    first = classes_in(norm("AntNorm"), "transformers.models.ant.modeling_ant")
    labelled, parts, _ = operators([*later, *first], set())
    assert list(labelled) == ["transformers.AntNorm"]
    assert parts == 2


def test_of_identical_bodies_the_one_that_others_copy_from_is_kept() -> None:
    ant, bee, cat = (
        classes_in(norm(f"{name}Norm"), f"transformers.models.{name.lower()}.modeling_{name.lower()}")
        for name in ("Ant", "Bee", "Cat")
    )
    labelled, _, _ = operators([*ant, *bee, *cat], {("ant", "CatNorm"), ("bee", "CatNorm"), ("cow", "BeeNorm")})
    assert list(labelled) == ["transformers.CatNorm"]


def test_bodies_that_differ_in_one_token_stay_apart() -> None:
    labelled, _, _ = operators(
        classes_in(norm("AntNorm") + norm("BeeNorm", more="+ 1"), "transformers.models.ant.modeling_ant"), {}
    )
    assert list(labelled) == ["transformers.AntNorm", "transformers.BeeNorm"]


def test_one_class_name_for_several_bodies_is_told_apart_by_its_family() -> None:
    ant = classes_in(norm("Norm"), "transformers.models.ant.modeling_ant")
    bee = classes_in(norm("Norm", more="+ 1"), "transformers.models.bee.modeling_bee")
    labelled, _, _ = operators([*ant, *bee], set())
    assert list(labelled) == ["transformers.ant.Norm", "transformers.bee.Norm"]


def test_whole_models_and_what_derives_from_them_in_other_files_are_no_operators() -> None:
    base = classes_in("class AntPreTrainedModel(PreTrainedModel):\n    pass\n", "transformers.models.ant.modeling_ant")
    heir = classes_in("class BeeModel(AntPreTrainedModel):\n    pass\n", "transformers.models.bee.modeling_bee")
    plain = classes_in("class BeeOutput(dict):\n    pass\n", "transformers.models.bee.modeling_bee")
    assert operators([*base, *heir, *plain], set()) == ({}, 0, 2)


@pytest.mark.slow
def test_the_committed_lines_are_what_the_code_gives(committed: dict[str, Operator]) -> None:
    found = harvest_transformers(60.0, only=SAMPLE)
    assert {operator.name for operator in found.operators} == SAMPLE
    assert [operator for operator in found.operators if committed[operator.name] != operator] == []


@pytest.mark.slow
def test_a_file_that_does_not_import_is_listed_once_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    class_of_nothing = classes_in(norm("AntNorm") + norm("BeeNorm", more="+ 1"), "transformers.models.no_such.modeling_no_such")
    real = classes_in(
        (Path(transformers.__file__).parent / "models/llama/modeling_llama.py").read_text(encoding="utf-8"),
        "transformers.models.llama.modeling_llama",
    )
    real = [found for found in real if found.name == "LlamaRMSNorm"]
    monkeypatch.setattr(from_transformers, "_citations", lambda _: set())
    monkeypatch.setattr(from_transformers, "_classes", lambda _: [*class_of_nothing, *real])
    found = harvest_transformers(60.0)
    assert [operator.name for operator in found.operators] == ["transformers.LlamaRMSNorm"]
    (listed,) = found.skipped
    assert (listed.kind, listed.module) == ("file", "transformers.models.no_such.modeling_no_such")
    assert listed.note.startswith(f"{NOT_IMPORTED}ModuleNotFoundError")


@pytest.mark.parametrize(
    ("name", "category", "arity"),
    [
        ("transformers.LlamaRMSNorm", Category.NORMALISATION, 1),
        ("transformers.LlamaMLP", Category.DENSE, 1),
        ("transformers.LlamaAttention", Category.ATTENTION, 3),
        ("transformers.LlamaRotaryEmbedding", Category.POSITION, 2),
        ("transformers.NewGELUActivation", Category.ACTIVATION, 1),
        ("transformers.MixtralTopKRouter", Category.ROUTING, 1),
    ],
)
def test_a_known_class_has_its_category_and_arity(
    committed: dict[str, Operator], name: str, category: Category, arity: int
) -> None:
    assert (committed[name].category, committed[name].arity) == (category, arity)


def test_attention_without_dropout_is_not_stochastic_and_few_classes_are(committed: dict[str, Operator]) -> None:
    assert not committed["transformers.LlamaAttention"].stochastic
    assert not committed["transformers.BertSelfAttention"].stochastic
    assert sum(operator.stochastic for operator in committed.values()) < len(committed) / 20


def test_a_class_draws_random_numbers_in_training_and_is_called_stochastic() -> None:
    gumbel = harvested("transformers.models.wav2vec2.modeling_wav2vec2:Wav2Vec2GumbelVectorQuantizer")
    assert gumbel["usable"] and gumbel["stochastic"]


def test_documentation_of_a_class_is_its_own(committed: dict[str, Operator]) -> None:
    assert not [operator.name for operator in committed.values() if "Base class for all neural network modules" in operator.doc]
