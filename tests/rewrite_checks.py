"""How the tests of rewrites compare a program with its model."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from rewrite_graphs import GENERATORS, several

from ops6k.screen.instances import tensors_of
from ops6k.train.rewrites import REWRITES, Program, capture, rewritten

GRAPHS = 100
TOGETHER = 5
"""Graphs in one capture, which takes 15 ms whatever is in it."""


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """One thread, no gradients, no log: pytest's handler makes torch.export write its trace, which took a third of the time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    logging.disable()
    with torch.no_grad():
        yield
    torch.set_default_dtype(torch.float32)
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


def check_100_random_graphs(name: str) -> None:
    """A rewrite alone, and now and then all of them, against the model; the rewrite must apply somewhere."""
    places = 0
    for seed in range(0, GRAPHS, TOGETHER):
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64 if seed % (4 * TOGETHER) == 0 else torch.float32)
        model, inputs = several([GENERATORS[name](np.random.default_rng(seed + i)) for i in range(TOGETHER)])
        program = capture(model.eval(), inputs)
        places += REWRITES[name].apply(program.copy().graph)
        assert_same(rewritten(program, [name]), model, inputs, (name, seed))
        if seed % (5 * TOGETHER) == 0:
            assert_same(rewritten(program, REWRITES), model, inputs, ("all", name, seed))
    assert places >= GRAPHS * 0.2, f"{name} applies in {places} places"
