"""Own example arguments, for the operators of torch that its sample tables leave out. Runs in a harvest worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Shapes of the tensor arguments that come first, then the rest; build: a module's constructor arguments."""

    shapes: tuple[Shape, ...]
    rest: tuple = ()
    build: tuple | None = None
    low: int = -3
    """Least value of the tensors; 3 is the largest."""


@dataclass(frozen=True, slots=True)
class Made:
    """Arguments of one call."""

    args: tuple
    kwargs: dict
    build: tuple | None


_WINDOWS = ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window")
_MAPS = tuple((2, 4, *[8] * n) for n in (1, 2, 3))
_ANY = ((4,), (3, 4), (2, 3, 4), (2, 3, 4, 5))

_RECIPES: dict[str, tuple[Recipe, ...]] = {
    "F.conv_tbc": (Recipe(((8, 2, 4), (3, 4, 5), (5,))),),
    "F.dropout1d": (Recipe((_MAPS[0],)),),
    "F.fold": (Recipe(((2, 16, 9),), ((4, 4), 2)),),
    "F.gumbel_softmax": (Recipe(((3, 4),)),),
    "F.affine_grid": (Recipe(((2, 2, 3),), ((2, 3, 4, 4),)), Recipe(((2, 3, 4),), ((2, 3, 4, 4, 4),))),
    "F.grouped_mm": (Recipe(((2, 8, 16), (2, 16, 8))),),
    "nn.ChannelShuffle": tuple(Recipe((shape,), build=(2,)) for shape in _MAPS),
    "nn.CosineSimilarity": (Recipe(((3, 4), (3, 4)), build=()), Recipe(((2, 3, 4), (2, 3, 4)), build=())),
    "nn.PairwiseDistance": (Recipe(((3, 4), (3, 4)), build=()),),
    "nn.CrossMapLRN2d": (Recipe(((2, 4, 8, 8),), build=(3,)),),
    "nn.AlphaDropout": tuple(Recipe((shape,), build=()) for shape in _ANY),
    "nn.FeatureAlphaDropout": (Recipe((_MAPS[1],), build=()),),
    "nn.Dropout": tuple(Recipe((shape,), build=()) for shape in _ANY),
    "nn.Dropout1d": (Recipe((_MAPS[0],), build=()),),
    "nn.Dropout2d": (Recipe((_MAPS[1],), build=()),),
    "nn.Dropout3d": (Recipe((_MAPS[2],), build=()),),
    "nn.Flatten": tuple(Recipe((shape,), build=()) for shape in _ANY[1:]),
    "nn.Fold": (Recipe(((2, 16, 9),), build=((4, 4), 2)),),
    "nn.Hardsigmoid": tuple(Recipe((shape,), build=()) for shape in _ANY),
    "nn.Identity": tuple(Recipe((shape,), build=()) for shape in _ANY),
    "nn.PixelShuffle": (Recipe(((2, 4, 8, 8),), build=(2,)),),
    "nn.PixelUnshuffle": (Recipe(((2, 4, 8, 8),), build=(2,)),),
    "nn.RReLU": tuple(Recipe((shape,), build=()) for shape in _ANY),
    "nn.SyncBatchNorm": (Recipe(((2, 4, 8),), build=(4,)),),
    "nn.FractionalMaxPool2d": (Recipe((_MAPS[1],), build=(2, 3)),),
    "nn.FractionalMaxPool3d": (Recipe((_MAPS[2],), build=(2, 3)),),
    "nn.TripletMarginLoss": (Recipe(((3, 4), (3, 4), (3, 4)), build=()),),
    "nn.TripletMarginWithDistanceLoss": (Recipe(((3, 4), (3, 4), (3, 4)), build=()),),
    "nn.Unflatten": (Recipe(((3, 4),), build=(1, (2, 2))), Recipe(((2, 3, 4),), build=(2, (2, 2)))),
    "nn.Unfold": (Recipe(((2, 4, 8, 8),), build=(2,)),),
    "nn.Upsample": tuple(Recipe((shape,), build=(None, 2)) for shape in _MAPS),
    "torch.adjoint": tuple(Recipe((shape,)) for shape in _ANY[1:]),
    "torch.as_tensor": tuple(Recipe((shape,)) for shape in _ANY),
    "torch.asarray": tuple(Recipe((shape,)) for shape in _ANY),
    "torch.tensor": (Recipe((), ([1.5, 2.5],)),),
    "torch.detach": tuple(Recipe((shape,)) for shape in _ANY),
    "torch.fake_quantize_per_tensor_affine": tuple(Recipe((shape,), (0.1, 0, 0, 255)) for shape in _ANY),
    "torch.fft.fftfreq": (Recipe((), (8,)),),
    "torch.fft.rfftfreq": (Recipe((), (8,)),),
    "torch.poisson": tuple(Recipe((shape,), low=0) for shape in _ANY),
    "torch.rand": (Recipe((), (3, 4)),),
    "torch.randperm": (Recipe((), (8,)),),
    "torch.pca_lowrank": (Recipe(((6, 4),), (2,)), Recipe(((2, 6, 4),), (2,))),
    "torch.svd_lowrank": (Recipe(((6, 4),), (2,)), Recipe(((2, 6, 4),), (2,))),
    "torch.vander": (Recipe(((4,),)),),
    "torch.special.gammainc": tuple(Recipe((shape, shape), low=0) for shape in _ANY),
    "torch.special.gammaincc": tuple(Recipe((shape, shape), low=0) for shape in _ANY),
    **{f"F.lp_pool{n}d": (Recipe((_MAPS[n - 1],), (2, 2)),) for n in (1, 2, 3)},
    **{f"torch.{name}": (Recipe((), (8,)),) for name in _WINDOWS},
    **{
        f"torch.{name}": tuple(Recipe((shape,)) for shape in _ANY)
        for name in "is_complex is_conj is_floating_point is_inference is_neg is_signed get_device numel".split()
    },
    "torch.is_nonzero": (Recipe(((1,),)),),
}


def has_recipe(label: str) -> bool:
    return label in _RECIPES or label in _special()


def recipe(label: str, dtype: str) -> Iterator[Made]:
    """Arguments of every example call of an operator, in one dtype; none where it has no recipe."""
    import torch

    kind = getattr(torch, dtype)
    for item in _RECIPES.get(label, ()):
        # What takes no tensor is made once, in the default dtype.
        if item.shapes or dtype == "float32":
            yield Made((*(_tensor(shape, kind, item.low) for shape in item.shapes), *item.rest), {}, item.build)
    if label in _special():
        yield _special()[label](kind)


def _tensor(shape: Shape, dtype: torch.dtype, low: int = -3) -> torch.Tensor:
    from torch.testing import make_tensor

    return make_tensor(
        shape, dtype=dtype, device="cpu", low=None if dtype.is_complex else low, high=None if dtype.is_complex else 4
    )


def _special() -> dict[str, Callable[[torch.dtype], Made]]:
    """Where one argument is of another dtype than the rest."""
    import torch
    from torch import nn

    def pooled(n: int, dtype: torch.dtype) -> tuple:
        pool = getattr(nn, f"MaxPool{n}d")(2, return_indices=True)
        return pool(_tensor(_MAPS[n - 1], dtype))

    def decoder(dtype: torch.dtype) -> Made:
        layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, dtype=dtype)
        return Made((_tensor((4, 2, 8), dtype), _tensor((5, 2, 8), dtype)), {}, (layer, 1))

    ids, offsets = torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2])
    return {
        **{f"nn.MaxUnpool{n}d": lambda dtype, n=n: Made(pooled(n, dtype), {}, (2,)) for n in (1, 2, 3)},
        "nn.AdaptiveLogSoftmaxWithLoss": lambda dtype: Made((_tensor((4, 8), dtype), ids), {}, (8, 20, [5, 10])),
        "nn.EmbeddingBag": lambda dtype: Made((ids, offsets), {}, (10, 3)),
        "nn.TransformerDecoder": decoder,
        "torch.fake_quantize_per_channel_affine": lambda dtype: Made(
            (_tensor((2, 3, 4), dtype), torch.full((3,), 0.1), torch.zeros(3, dtype=torch.int32), 1, 0, 255), {}, None
        ),
        "torch.lobpcg": lambda dtype: Made((torch.diag(torch.arange(1, 13).to(dtype)), 2), {"X": _tensor((12, 2), dtype)}, None),
    }
