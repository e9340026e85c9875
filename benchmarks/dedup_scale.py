"""How long dedup takes on generated tasks: a whole set against a benchmark and itself, and a million canonical texts in bulk.

    python benchmarks/dedup_scale.py set [--rows 6000] [--references 270]
    python benchmarks/dedup_scale.py bulk [--rows 1000000]
    python benchmarks/dedup_scale.py text [--rows 1000000]    # the same from sources: their canonical forms are made here, on all cores
    python benchmarks/dedup_scale.py agree [--rows 20000]     # bulk against one task at a time: the same ones must stand

Prints one line of JSON with seconds and the peak of resident memory. Nothing is run: the tasks are text.
"""

import argparse
import json
import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from ops6k.dedup.canonical import canonical
from ops6k.dedup.decide import Subject, compare
from ops6k.dedup.index import Reference
from ops6k.dedup.neighbours import Growing
from ops6k.dedup.program import digest
from ops6k.dedup.sharded import Texts, kept_first, near_pairs
from ops6k.params import DedupParams

PARAMS = DedupParams()
OPERATORS = "relu gelu silu mish softplus tanh sigmoid elu selu hardswish softsign logsigmoid erf sin cos exp".split()
LAYERS = ("nn.Linear({w}, {w})", "nn.LayerNorm({w})", "nn.GroupNorm(8, {w})", "nn.BatchNorm1d({w})", "nn.RMSNorm({w})")

TASK = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
{made}

    def forward(self, x):
{used}
        return x

def get_inputs():
    return [torch.randn({batch}, {width})]

def get_init_inputs():
    return [{width}]
"""


def task(draw: random.Random) -> str:
    """A task of 2 to 7 layers with an operator after each."""
    width = draw.choice((64, 128, 256, 512, 1024))
    made, used = [], []
    for number in range(draw.randint(2, 7)):
        made.append(f"        self.l{number} = {draw.choice(LAYERS).format(w=width)}")
        used.append(f"        x = torch.{draw.choice(OPERATORS)}(self.l{number}(x))")
        if draw.random() < 0.4:
            used.append(f"        x = x {draw.choice('+-*')} {draw.random():.3f}")
    return TASK.format(made="\n".join(made), used="\n".join(used), batch=draw.choice((16, 32, 64)), width=width)


def subjects(count: int, seed: int) -> list[Subject]:
    draw = random.Random(seed)
    return [Subject(f"{seed}-{i}", ("a", "b", "c"), task(draw), None) for i in range(count)]


def reference(subject: Subject) -> Reference:
    form = canonical(subject.code)
    shingles = tuple(form.shingles.tolist())
    return Reference(subject.candidate_id, 1, "generated", None, form.digest, shingles, form.operators, form.flow, None, 1)


def whole_set(rows: int, references: int) -> dict[str, object]:
    """The stage's own comparison, canonical forms included."""
    theirs = [reference(subject) for subject in subjects(references, seed=1)]
    ours = subjects(rows, seed=2)
    begun = time.perf_counter()
    found = compare(ours, theirs, PARAMS)
    seconds = time.perf_counter() - begun
    rejected = len({match.candidate_id for match in found.matches if match.reason})
    return {"rows": rows, "references": references, "seconds": round(seconds, 1), "rejected": rejected}


def texts(rows: int, seed: int) -> Texts:
    """Canonical texts as the bulk comparison takes them: 20 to 150 hashes each, a third near an earlier one.

    Drawn as hashes: parsing is linear in the rows and can be spread over machines at will.
    """
    draw = np.random.default_rng(seed)
    sets: list[np.ndarray] = []
    for number in range(rows):
        if number and draw.random() < 1 / 3:
            one = sets[draw.integers(0, number)].copy()
            changed = draw.integers(0, max(one.size // 8, 1))
            one[:changed] = draw.integers(0, 2**32, changed, dtype=np.uint32)
        else:
            one = draw.integers(0, 2**32, draw.integers(20, 150), dtype=np.uint32)
        sets.append(np.unique(one))
    return Texts.of(sets)


def bulk(rows: int) -> dict[str, object]:
    made = texts(rows, seed=3)
    before = peak_gib()
    begun = time.perf_counter()
    pairs = near_pairs(made, PARAMS.jaccard, PARAMS.num_perm, PARAMS.seed)
    stands = kept_first(pairs, len(made))
    seconds = time.perf_counter() - begun
    return {
        "rows": rows,
        "hashes": int(made.values.size),
        "seconds": round(seconds, 1),
        "pairs": int(pairs.left.size),
        "stand": int(stands.sum()),
        "generator_gib": before,
    }


def canonical_hashes(numbers: range) -> list[tuple[np.ndarray, int]]:
    """5-grams of the canonical forms of generated sources, and a hash of their operators; a number gives always the same source."""
    forms = (canonical(task(random.Random(f"text/{number}"))) for number in numbers)
    return [(form.shingles, int(digest(" ".join(form.operators))[:8], 16)) for form in forms]


def text(rows: int, chunk: int = 2000) -> dict[str, object]:
    """Sources to what stands: canonical forms, near pairs, decisions. Writing the sources is in it too."""
    begun = time.perf_counter()
    chunks = [range(start, min(start + chunk, rows)) for start in range(0, rows, chunk)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = [one for part in pool.map(canonical_hashes, chunks) for one in part]
    made = Texts.of([shingles for shingles, _ in found])
    kinds = np.array([kind for _, kind in found], np.uint32)
    del found
    forms_s = time.perf_counter() - begun
    pairs = near_pairs(made, PARAMS.jaccard, PARAMS.num_perm, PARAMS.seed, kinds=kinds)
    stands = kept_first(pairs, len(made))
    return {
        "rows": rows,
        "hashes": int(made.values.size),
        "forms_s": round(forms_s, 1),
        "seconds": round(time.perf_counter() - begun, 1),
        "pairs": int(pairs.left.size),
        "stand": int(stands.sum()),
    }


def agree(rows: int) -> dict[str, object]:
    """Raises SystemExit where the two ways differ."""
    made = texts(rows, seed=4)
    stands = kept_first(near_pairs(made, PARAMS.jaccard, PARAMS.num_perm, PARAMS.seed), rows)
    growing = Growing(PARAMS.jaccard, PARAMS.num_perm, PARAMS.seed)
    differing = 0
    for number in range(rows):
        is_kept = not any(score >= PARAMS.jaccard for _, score in growing.near(made[number]))
        differing += is_kept != stands[number]
        if is_kept:
            growing.add(made[number])
    if differing:
        raise SystemExit(f"{differing} of {rows} differ")
    return {"rows": rows, "stand": int(stands.sum()), "differing": 0}


def peak_gib() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("set", "bulk", "text", "agree"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--references", type=int, default=270)
    given = parser.parse_args()
    run = {
        "set": lambda: whole_set(given.rows or 6000, given.references),
        "bulk": lambda: bulk(given.rows or 1_000_000),
        "text": lambda: text(given.rows or 1_000_000),
        "agree": lambda: agree(given.rows or 20_000),
    }[given.what]
    print(json.dumps(run() | {"processor_s": round(time.process_time(), 1), "peak_gib": peak_gib()}))


if __name__ == "__main__":
    main()
