"""The vocabulary of plans and what it says applies to a task."""

import json

import pytest
from train_tasks import CPU, family_tasks, task

from ops6k.train.plans import (
    ACTIONS,
    BACKENDS,
    REWRITES,
    Backend,
    Plan,
    Trait,
    UnknownPlan,
    plan_of,
    plans_for,
    schema,
    traits_of,
)


def names(of: object, *rewrites: str) -> set[str]:
    return {plan.name for plan in plans_for(of, rewrites, 100)}


@pytest.mark.parametrize(
    "plan", [Plan(), Plan(("fold_scale", "cancel_moves"), True, "eager"), Plan((), True), Plan(("idempotent",))]
)
def test_a_plan_is_found_by_its_name_and_by_its_decisions(plan: Plan):
    assert Plan.named(plan.name) == plan
    assert plan_of(plan.decisions) == plan


@pytest.mark.parametrize(
    "name", ["", "nothing", "channels_last", "default/default", "unknown/default", "cancel_moves,fold_scale/default"]
)
def test_a_name_that_no_plan_has_is_refused(name: str):
    with pytest.raises(UnknownPlan, match="no plan"):
        Plan.named(name)


def test_the_rewrites_are_those_that_there_are():
    from ops6k.train import rewrites

    assert tuple(rewrites.REWRITES) == REWRITES


def test_eager_and_default_compile_come_first_and_no_plan_twice():
    for of in [*family_tasks(10), task(0, environment=CPU)]:
        plans = plans_for(of, ("fold_scale", "idempotent"), 100)
        assert [plan.name for plan in plans[:2]] == ["eager", "default"]
        assert len(plans) == len(set(plans)) and plans_for(of, ("fold_scale", "idempotent"), 5) == plans[:5]


def test_rewrites_are_offered_together_and_each_alone():
    found = names(task(0), "idempotent", "fold_scale")
    assert {"fold_scale,idempotent/default", "fold_scale/default", "idempotent/default"} <= found
    assert not any("/" in name for name in names(task(0)))


def test_backends_for_convolutions_apply_to_convolutions_alone():
    assert "no_layout_optimization" in names(task(0, "nn.Conv2d"))
    assert "no_layout_optimization" not in names(task(0, "torch.matmul"))
    assert "channels_last/default" in names(task(0, "nn.Conv2d")) and "channels_last/default" not in names(task(0, "torch.exp"))


def test_backends_for_one_device_do_not_apply_on_the_other():
    on_cpu, on_gpu = names(task(0, "torch.matmul", environment=CPU)), names(task(0, "torch.matmul"))
    assert "freezing" in on_cpu and "freezing" not in on_gpu
    assert "cudagraphs" in on_gpu and "cudagraphs" not in on_cpu


@pytest.mark.parametrize(
    ("label", "trait"), [("nn.Conv2d", Trait.CONVOLUTION), ("nn.Conv2d", Trait.IMAGES), ("torch.matmul", Trait.MATMUL)]
)
def test_traits_are_read_from_operators_and_labels(label: str, trait: Trait):
    assert trait in traits_of(task(0, label))
    assert trait not in traits_of(task(0, "F.softmax"))


def test_inductor_knows_every_option_that_a_backend_sets():
    from torch._inductor import list_options

    options = {name for backend in BACKENDS.values() for name, _ in backend.options or ()}
    assert len(options) >= 8 and options <= set(list_options())


def test_a_definition_changes_with_what_is_run_and_not_with_its_description(monkeypatch: pytest.MonkeyPatch):
    before = Plan(backend="freezing").definition
    monkeypatch.setitem(BACKENDS, "freezing", Backend("freezing", "other words", (("freezing", True),)))
    assert Plan(backend="freezing").definition == before
    monkeypatch.setitem(BACKENDS, "freezing", Backend("freezing", "other words", (("freezing", False),)))
    assert Plan(backend="freezing").definition != before
    assert len({Plan(backend=name).definition for name in BACKENDS}) == len(BACKENDS)


def test_the_action_schema_is_json_and_has_the_actions_in_their_order():
    actions = json.loads(json.dumps(schema()))["actions"]
    assert tuple(action["name"] for action in actions) == ACTIONS
