"""Texts as sets of hashed token runs, and the exact Jaccard similarity of such sets."""

from collections.abc import Sequence

import numpy as np
import xxhash

SHINGLE_TOKENS = 5


def shingles(tokens: list[str]) -> np.ndarray:
    """Hashes of every five tokens in a row, sorted and distinct; one hash where there are fewer."""
    count = max(len(tokens) - SHINGLE_TOKENS + 1, 1)
    hashes = (xxhash.xxh32_intdigest(" ".join(tokens[i : i + SHINGLE_TOKENS]).encode("utf-8", "replace")) for i in range(count))
    return np.unique(np.fromiter(hashes, np.uint32, count))


def jaccard(left: np.ndarray, right: np.ndarray) -> float:
    """Exact Jaccard similarity of two sorted, distinct arrays; two empty ones are not alike."""
    return float(jaccards(left, [right])[0])


def jaccards(one: np.ndarray, others: Sequence[np.ndarray]) -> np.ndarray:
    """Exact Jaccard similarity of one sorted, distinct array with each of others, (N,) float64."""
    sizes = np.array([other.size for other in others])
    values = np.concatenate(others)
    at = np.minimum(np.searchsorted(one, values), max(one.size - 1, 0))
    present = one[at] == values if one.size else np.zeros(values.size, bool)
    common = np.bincount(np.repeat(np.arange(len(others)), sizes), present, len(others))
    return common / np.maximum(one.size + sizes - common, 1)
