"""Each rewrite against 100 random small models, alone and with all others."""

import logging

import numpy as np
import pytest
import torch
from rewrite_graphs import GENERATORS

from ops6k.screen.instances import tensors_of
from ops6k.train.rewrites import REWRITES, Program, capture, rewritten

GRAPHS = 100


@pytest.fixture(autouse=True)
def _one_thread_without_gradients():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    logging.disable()  # pytest's handler makes torch.export write its trace: it took a third of the time
    with torch.no_grad():
        yield
    logging.disable(logging.NOTSET)
    torch.set_num_threads(threads)


def assert_same(program: Program, model: torch.nn.Module, inputs: list[torch.Tensor], what: object) -> None:
    """What a program gives is what the model gives, within 1e-4."""
    given = [x.clone() for x in inputs]
    wanted = [x.clone() for x in tensors_of(model(*inputs))]
    got = tensors_of(program.module(model)(*inputs))
    assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in wanted], what
    for have, want in zip(got, wanted, strict=True):
        torch.testing.assert_close(have, want, atol=1e-4, rtol=1e-4, equal_nan=True, msg=lambda text: f"{what}: {text}")
    assert all(map(torch.equal, inputs, given)), what


def test_every_rewrite_has_a_generator_of_graphs():
    assert list(GENERATORS) == list(REWRITES)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_rewrite_gives_what_the_model_gives_on_100_random_graphs(name: str):
    fired = 0
    for seed in range(GRAPHS):
        torch.manual_seed(seed)
        model, inputs = GENERATORS[name](np.random.default_rng(seed))
        program = capture(model.eval(), inputs)
        made = rewritten(program, [name])
        fired += bool(REWRITES[name].apply(program.copy().graph))
        assert_same(made, model, inputs, (name, seed))
        if seed % 5 == 0:
            assert_same(rewritten(program, REWRITES), model, inputs, ("all", name, seed))
    assert GRAPHS * 0.2 <= fired < GRAPHS, f"{name} applies to {fired} of {GRAPHS}"
