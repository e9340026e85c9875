"""Near pairs in bulk: the same signatures and the same decisions as one task at a time, in one process or in several."""

from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pytest
from datasketch import MinHash

from ops6k.dedup.neighbours import Growing
from ops6k.dedup.sharded import Pairs, Texts, band_groups, kept_first, near_pairs, signatures
from ops6k.dedup.shingles import jaccard

THRESHOLD, NUM_PERM, SEED = 0.9, 128, 1


def families(count: int, size: int = 20) -> list[np.ndarray]:
    """Sets of about 100 hashes in families whose members differ a little or much; every family has equal members too."""
    random = np.random.default_rng(5)
    sets = []
    for _ in range(count // size):
        base = random.integers(0, 2**32, 100, dtype=np.uint32)
        for member in range(size):
            changed = random.integers(0, 25) if member > 2 else 0
            one = base.copy()
            one[:changed] = random.integers(0, 2**32, changed, dtype=np.uint32)
            sets.append(np.unique(one))
    return [sets[i] for i in random.permutation(len(sets))]


def one_at_a_time(sets: list[np.ndarray]) -> list[bool]:
    """What stands by neighbours.Growing, as the stage uses it: only what stands is compared with."""
    growing, stands = Growing(THRESHOLD, NUM_PERM, SEED), []
    for one in sets:
        stands.append(not any(score >= THRESHOLD for _, score in growing.near(one)))
        if stands[-1]:
            growing.add(one)
    return stands


def test_signatures_are_those_of_datasketch() -> None:
    sets = [*families(40), np.array([0], np.uint32), np.arange(70_000, dtype=np.uint32)]
    signed = signatures(Texts.of(sets), NUM_PERM, SEED)
    for one, row in zip(sets, signed, strict=True):
        sketch = MinHash(num_perm=NUM_PERM, seed=SEED, hashfunc=int, scheme="affine32")
        sketch.update_batch(one.tolist())
        assert np.array_equal(sketch.hashvalues, row)


def test_the_pairs_are_those_of_brute_force_each_once() -> None:
    sets = families(400)
    found = near_pairs(Texts.of(sets), THRESHOLD, NUM_PERM, SEED)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    brute = {(i, j): s for j in range(len(sets)) for i in range(j) if (s := jaccard(sets[i], sets[j])) >= THRESHOLD}
    assert len(brute) > 200
    assert len(pairs) == len(set(pairs))
    assert dict(zip(pairs, found.scores.tolist(), strict=True)) == brute


def test_texts_of_two_kinds_are_no_pair_and_those_of_one_are_all_found() -> None:
    texts = Texts.of(families(400))
    kinds = np.random.default_rng(6).integers(0, 3, len(texts)).astype(np.uint32)
    every = near_pairs(texts, THRESHOLD, NUM_PERM, SEED)
    found = near_pairs(texts, THRESHOLD, NUM_PERM, SEED, kinds=kinds)
    alike = kinds[every.left] == kinds[every.right]
    assert 0 < alike.sum() < alike.size
    assert np.array_equal(found.left, every.left[alike]) and np.array_equal(found.right, every.right[alike])


def test_what_stands_is_what_stands_one_at_a_time() -> None:
    sets = families(1000)
    stands = kept_first(near_pairs(Texts.of(sets), THRESHOLD, NUM_PERM, SEED), len(sets))
    assert 50 < stands.sum() < len(sets) - 50
    assert stands.tolist() == one_at_a_time(sets)


@pytest.mark.slow
def test_bands_on_several_processes_decide_the_same() -> None:
    texts = Texts.of(families(400))
    here = near_pairs(texts, THRESHOLD, NUM_PERM, SEED)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = near_pairs(texts, THRESHOLD, NUM_PERM, SEED, over_bands=pool.map)
    assert np.array_equal(here.left, there.left)
    assert np.array_equal(here.right, there.right)
    assert np.array_equal(here.scores, there.scores)


def test_large_groups_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = Texts.of(families(200))
    whole = near_pairs(texts, THRESHOLD, NUM_PERM, SEED)
    monkeypatch.setattr("ops6k.dedup.sharded._PAIRS", 3)
    monkeypatch.setattr("ops6k.dedup.sharded._VALUES", 150)
    blocks = near_pairs(texts, THRESHOLD, NUM_PERM, SEED)
    assert np.array_equal(whole.left, blocks.left)
    assert np.array_equal(whole.right, blocks.right)


def test_groups_of_a_band_agree_in_every_column() -> None:
    columns = np.array([[1, 2], [3, 4], [1, 2], [3, 5], [1, 2], [3, 4]], np.uint32)
    members, bounds = band_groups(columns)
    groups = {tuple(members[a:b]) for a, b in pairwise(bounds)}
    assert groups == {(0, 2, 4), (1, 5)}


def test_what_is_near_a_fallen_one_alone_stands() -> None:
    """0 takes 1; 2 is near 1 only."""
    chain = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.9]))
    assert kept_first(chain, 4).tolist() == [True, False, True, True]


def test_no_texts_have_no_pairs_and_an_empty_one_is_refused() -> None:
    assert near_pairs(Texts.of([]), THRESHOLD, NUM_PERM, SEED).left.size == 0
    with pytest.raises(ValueError, match="set 1 is empty"):
        Texts.of([np.array([1], np.uint32), np.array([], np.uint32)])
