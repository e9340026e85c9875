"""The table of plans and what it says applies to a task."""

import json

import pytest
from train_tasks import CPU, family_tasks, task

from ops6k.train.plans import PLANS, Plan, Trait, applicable, schema, traits_of


def names(of: object) -> set[str]:
    return {plan.name for plan in applicable(of)}


def test_at_least_seven_plans_have_names_of_their_own_and_run_something_of_their_own():
    assert len(PLANS) >= 7
    assert len({plan.name for plan in PLANS}) == len(PLANS) == len({plan.definition for plan in PLANS})


def test_eager_and_default_compile_apply_to_every_task():
    for of in [*family_tasks(10), task(0, environment=CPU)]:
        assert {"eager", "default"} <= names(of)


def test_plans_for_convolutions_apply_to_convolutions_alone():
    assert "no_layout_optimization" in names(task(0, "nn.Conv2d"))
    assert "no_layout_optimization" not in names(task(0, "torch.matmul"))
    assert "channels_last" not in names(task(0, "torch.exp"))


def test_plans_for_one_device_do_not_apply_on_the_other():
    on_cpu, on_gpu = names(task(0, "torch.matmul", environment=CPU)), names(task(0, "torch.matmul"))
    assert "freezing" in on_cpu and "freezing" not in on_gpu
    assert "cudagraphs" in on_gpu and "cudagraphs" not in on_cpu


@pytest.mark.parametrize(
    ("label", "trait"), [("nn.Conv2d", Trait.CONVOLUTION), ("nn.Conv2d", Trait.IMAGES), ("torch.matmul", Trait.MATMUL)]
)
def test_traits_are_read_from_operators_and_labels(label: str, trait: Trait):
    assert trait in traits_of(task(0, label))
    assert trait not in traits_of(task(0, "F.softmax"))


def test_inductor_knows_every_option_that_a_plan_sets():
    from torch._inductor import list_options

    options = {name for plan in PLANS for name, _ in plan.options}
    assert options and options <= set(list_options())


def test_a_definition_changes_with_what_is_run_and_not_with_its_description():
    plan = Plan("a", "one thing", options=(("freezing", True),))
    assert Plan("a", "other words", options=(("freezing", True),)).definition == plan.definition
    assert Plan("a", "one thing", options=(("freezing", False),)).definition != plan.definition


def test_the_action_schema_is_json_and_ends_in_stop():
    actions = json.loads(json.dumps(schema()))["actions"]
    assert [action["name"] for action in actions] == [*(plan.name for plan in PLANS), "stop"]
