"""The other rewrites, each against 100 random small models, alone and with all others."""

import pytest
from rewrite_checks import FEWEST, on_100_random_graphs, quiet_single_thread
from rewrite_graphs import GENERATORS

from ops6k.train.rewrites import REWRITES

NAMES = ["shift_invariance", "idempotent", "cancel_moves", "common_subexpressions", "hoist_invariants", "diagonal_matmul"]


@pytest.fixture(autouse=True)
def _quiet():
    with quiet_single_thread():
        yield


def test_every_rewrite_has_a_generator_of_graphs():
    assert list(GENERATORS) == list(REWRITES)


@pytest.mark.parametrize("name", NAMES)
def test_a_rewrite_gives_what_the_model_gives_on_100_random_graphs(name: str):
    places, disagreements = on_100_random_graphs(name)
    assert disagreements == []
    assert places >= FEWEST
