"""Two outputs side by side, at the verifier's tolerance or a tight one. Tensors of any dtype, tuples of them."""

import functools
import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

TIGHT = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 1e-2, torch.float16: 1e-3}
"""Relative tolerance of a repeat that is not bit for bit (the order of floating-point sums)."""


BLOCK = 2**24
"""Elements that are compared at once."""
PART = 2**18
"""Most elements of a large tensor that stand for all of it where a share is estimated."""


def as_tuple(output: object) -> tuple[torch.Tensor, ...]:
    return (output,) if isinstance(output, torch.Tensor) else tuple(output)


def beyond(got: torch.Tensor, wanted: torch.Tensor, atol: float, rtol: float) -> torch.Tensor:
    """Elements of `got` further from `wanted` than atol + rtol * |wanted|, bool, the shape of both. NaN equals NaN."""
    if got.shape != wanted.shape:
        return torch.ones_like(wanted, dtype=torch.bool)
    wide = torch.float64 if wanted.dtype == torch.float64 else torch.float32
    got, wanted = got.to(wide), wanted.to(wide)
    # Few passes over memory, in place: this is what a screen does most.
    far = ~((got - wanted).abs_() <= wanted.abs().mul_(rtol).add_(atol))
    return far & ~((got == wanted) | (got.isnan() & wanted.isnan())) if bool(far.any()) else far


def changed_share(got: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> float:
    """Share (0-1) of elements that differ beyond the tolerance, integers too: what the laxest verifier would notice."""
    if got.shape != wanted.shape:
        return 1.0
    changed = sum(int(beyond(*parts, tolerance, tolerance).sum()) for parts in blocks(got, wanted))
    return changed / max(wanted.numel(), 1)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How one output differs from the one wanted, to a verifier."""

    refused: int
    """Elements that it does not take."""
    worst_refused: float
    """Largest difference among them; a difference that is not a number counts as 0, here and below."""
    worst: float
    """Largest difference of all."""


def disagreement(got: torch.Tensor, wanted: torch.Tensor, atol: float, rtol: float) -> Disagreement:
    """The verifier's rule, one for screen, reward and measuring: every element within the tolerance, integers and booleans equal
    (a tolerance is for rounding). Shapes and dtypes are the caller's to compare."""
    got, wanted = got.detach(), wanted.detach()
    if wanted.is_complex():
        got, wanted = torch.view_as_real(got), torch.view_as_real(wanted)
    refused, worst_refused, worst = 0, 0.0, 0.0
    for have, want in blocks(got, wanted):
        far = refused_of(have, want, atol, rtol)
        off = (have.double() - want.double()).abs_().nan_to_num_(0.0)
        worst = max(worst, float(off.max()))
        if bool(far.any()):
            refused += int(far.sum())
            worst_refused = max(worst_refused, float(off[far].max()))
    return Disagreement(refused, worst_refused, worst)


def refused_of(got: torch.Tensor, wanted: torch.Tensor, atol: float, rtol: float) -> torch.Tensor:
    """Elements of `got` that a verifier does not take, bool, the shape of both."""
    return beyond(got, wanted, atol, rtol) if wanted.is_floating_point() else got != wanted


def blocks(first: torch.Tensor, second: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Both flat, a part at a time: wide copies of all of them would be the peak of memory."""
    first, second = first.reshape(-1), second.reshape(-1)
    for start in range(0, second.numel(), BLOCK):
        yield first[start : start + BLOCK], second[start : start + BLOCK]


def identical(first: tuple[torch.Tensor, ...], second: tuple[torch.Tensor, ...]) -> bool:
    """Bit for bit, NaN equal to NaN. In blocks where tensors are not plainly equal."""
    return all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and (torch.equal(a, b) or all(bool(((x == y) | ((x != x) & (y != y))).all()) for x, y in blocks(a, b)))
        for a, b in zip(first, second, strict=True)
    )


def tightly_equal(first: tuple[torch.Tensor, ...], second: tuple[torch.Tensor, ...]) -> bool:
    """Within what the order of sums explains, measured against the largest value of each output."""
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape:
            return False
        if a.numel() == 0 or torch.equal(a, b):
            continue
        scale = max(*(float(x.abs().max()) for x, _ in blocks(a, b)), 1e-6)
        worst = max(float((x.double() - y.double()).abs().max()) for x, y in blocks(a, b))
        if not worst <= TIGHT.get(a.dtype, 0.0) * scale:
            return False
    return True


def part_of(x: torch.Tensor) -> torch.Tensor:
    """At most PART elements, spread over all axes: what shares and means are estimated on. The same places for the same shape."""
    lengths = list(x.shape)
    while math.prod(lengths) > PART:
        longest = lengths.index(max(lengths))
        lengths[longest] = -(-lengths[longest] // 2)
    for axis in sorted(range(x.dim()), key=lambda i: lengths[i] / max(x.shape[i], 1)):
        if lengths[axis] < x.shape[axis]:
            x = x.index_select(axis, _places(x.shape[axis], lengths[axis], str(x.device)))
    return x


@functools.lru_cache(maxsize=256)
def _places(length: int, count: int, device: str) -> torch.Tensor:
    """count indices below length, one at random in each of as many equal stretches: no phase of what repeats along an axis."""
    step = length / count
    offsets = torch.rand(count, generator=torch.Generator("cpu").manual_seed(length), device="cpu", dtype=torch.float64)
    return ((torch.arange(count, device="cpu", dtype=torch.float64) + offsets) * step).long().clamp_(max=length - 1).to(device)


def output_hash(output: tuple[torch.Tensor, ...]) -> str:
    """16 hex digits that stand for the bytes of all outputs.

    Computed on the device from integer sums, plain and weighted by position: they do not depend on the order of summation,
    and gigabytes need not be copied to the host.
    """
    digest = hashlib.sha256()
    for tensor in output:
        digest.update(str((tuple(tensor.shape), tensor.dtype, *_integer_sums(tensor.detach()))).encode())
    return digest.hexdigest()[:16]


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """The elements' bits as integers, flat."""
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.element_size()]).flatten()


def _integer_sums(tensor: torch.Tensor) -> tuple[int, int]:
    """Sum and position-weighted sum of the elements' bits as integers, modulo 2^64."""
    bits = bits_of(tensor)
    plain = weighted = 0
    for start in range(0, bits.numel(), BLOCK):
        part = bits[start : start + BLOCK].to(torch.int64)
        places = torch.arange(start + 1, start + 1 + part.numel(), device=part.device)
        plain, weighted = plain + int(part.sum()), weighted + int((part * places).sum())
    return plain % 2**64, weighted % 2**64
