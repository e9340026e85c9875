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
FEWEST = 20
"""Places in them where the rewrite must apply, or its test would show nothing."""
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


def disagreement(program: Program, model: torch.nn.Module, inputs: list[torch.Tensor]) -> str:
    """How a program's outputs differ from the model's by more than 1e-4, or its inputs from what they were; empty where they do not."""
    given = [x.clone() for x in inputs]
    wanted = [x.clone() for x in tensors_of(model(*inputs))]
    got = tensors_of(program.module(model)(*inputs))
    forms = [[(tuple(x.shape), x.dtype) for x in outputs] for outputs in (got, wanted)]
    if forms[0] != forms[1]:
        return f"gives {forms[0]}, not {forms[1]}"
    if not all(map(torch.equal, inputs, given)):
        return "changes its inputs"
    try:
        torch.testing.assert_close(got, wanted, atol=1e-4, rtol=1e-4, equal_nan=True)
    except AssertionError as error:
        return str(error)
    return ""


def on_100_random_graphs(name: str) -> tuple[int, list[str]]:
    """In how many places a rewrite applies, and where a model is another under it, or (tried now and then) under all of them."""
    places, disagreements = 0, []
    for seed in range(0, GRAPHS, TOGETHER):
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64 if seed % (4 * TOGETHER) == 0 else torch.float32)
        model, inputs = several([GENERATORS[name](np.random.default_rng(seed + i)) for i in range(TOGETHER)])
        program = capture(model.eval(), inputs)
        places += REWRITES[name].apply(program.copy().graph)
        for names in [[name], list(REWRITES)] if seed % (5 * TOGETHER) == 0 else [[name]]:
            if said := disagreement(rewritten(program, names), model, inputs):
                disagreements.append(f"{names} seed {seed}: {said}")
    return places, disagreements
