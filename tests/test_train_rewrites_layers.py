"""Rewrites of layers, each against 100 random small models, alone and with all others."""

import pytest
from rewrite_checks import FEWEST, on_100_random_graphs, quiet_single_thread

NAMES = ["fold_batch_norm", "fold_scale", "commute_pool", "reduce_linear", "merge_linear"]


@pytest.fixture(autouse=True)
def _quiet():
    with quiet_single_thread():
        yield


@pytest.mark.parametrize("name", NAMES)
def test_a_rewrite_gives_what_the_model_gives_on_100_random_graphs(name: str):
    places, disagreements = on_100_random_graphs(name)
    assert disagreements == []
    assert places >= FEWEST
