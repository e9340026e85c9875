"""What the argument of a forward may be, by its name: a few tensors or values for each, most usual first.

Runs in a harvest worker; shapes are (BATCH, LENGTH, features) and the like, see configs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops6k.harvest.configs import BATCH, HEAD_DIM, HEADS, HIDDEN, LENGTH

if TYPE_CHECKING:
    import torch

SIZE = -1
"""In a shape: the features that the instance's first layer takes."""


@dataclass(frozen=True, slots=True)
class Floats:
    """Normal numbers in the dtype that is tried; zeros and ones where that is no float."""

    shape: tuple[int, ...]

    def made(self, size: int, dtype: "torch.dtype") -> object:
        import torch

        shape = [size if part == SIZE else part for part in self.shape]
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(*shape).to(dtype)
        return torch.randint(0, 2, shape).to(dtype)


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole numbers below `high`; in order along the last axis where high is 0."""

    high: int
    shape: tuple[int, ...]

    def made(self, size: int, dtype: "torch.dtype") -> object:
        import torch

        return torch.randint(0, self.high, self.shape) if self.high else torch.arange(self.shape[-1]).expand(self.shape)


@dataclass(frozen=True, slots=True)
class Pair:
    """Cosine and sine, or two of anything."""

    each: Floats

    def made(self, size: int, dtype: "torch.dtype") -> object:
        return self.each.made(size, dtype), self.each.made(size, dtype)


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is no tensor."""

    value: object

    def made(self, size: int, dtype: "torch.dtype") -> object:
        return self.value


@dataclass(frozen=True, slots=True)
class OfTheCall:
    """The dtype or the device of the call, or sequence bounds as a tensor."""

    what: str

    def made(self, size: int, dtype: "torch.dtype") -> object:
        import torch

        return {"dtype": dtype, "device": torch.device("cpu"), "bounds": torch.tensor([0, LENGTH], dtype=torch.int32)}[self.what]


Example = Floats | Whole | Pair | Plain | OfTheCall

_SEQUENCE, _ROWS, _IMAGE = Floats((BATCH, LENGTH, SIZE)), Floats((BATCH * LENGTH, SIZE)), Floats((BATCH, SIZE, 8, 8))
_HIDDEN_SEQUENCE = Floats((BATCH, LENGTH, HIDDEN))
_ROTATIONS: tuple[Example, ...] = (
    Pair(Floats((BATCH, LENGTH, HEAD_DIM))),
    Pair(Floats((BATCH, LENGTH, HEAD_DIM // 2))),
    Pair(Floats((LENGTH, HEAD_DIM))),
    _SEQUENCE,
    Floats((LENGTH, HEAD_DIM // 2)),
)
_ANY: tuple[Example, ...] = (_SEQUENCE, _HIDDEN_SEQUENCE, _ROWS, _IMAGE)
_PIXELS: tuple[Example, ...] = (Floats((BATCH, 3, 32, 32)), _IMAGE, _SEQUENCE, _ROWS)
_IDS = Whole(8, (BATCH, LENGTH))


def _rows(names: str, *examples: Example) -> dict[str, tuple[Example, ...]]:
    return dict.fromkeys(names.split(), examples)


_BY_NAME: dict[str, tuple[Example, ...]] = {
    **_rows("position_embeddings rotary_pos_emb rotary_emb image_rotary_emb", *_ROTATIONS),
    **_rows("position_ids", Whole(0, (BATCH, LENGTH)), Whole(0, (3, BATCH, LENGTH))),
    **_rows("cu_seqlens", OfTheCall("bounds")),
    **_rows("device", OfTheCall("device")),
    **_rows("dtype", OfTheCall("dtype")),
    **_rows("top_k_index selected_experts router_indices", Whole(HEADS, (BATCH * LENGTH, 2))),
    **_rows("top_k_weights routing_weights", Floats((BATCH * LENGTH, 2)), Floats((BATCH * LENGTH, HEADS))),
    **_rows("seq_len length seq_length query_length", Plain(LENGTH)),
    **_rows("height width h w patch_height patch_width", Plain(8)),
    **_rows("input_dimensions", Plain((8, 8))),
    **_rows("batch_size", Plain(BATCH)),
    **_rows("shape", Plain((BATCH, HIDDEN, 8, 8))),
    **_rows("layer_idx", Plain(0)),
    **_rows("layer_type", Plain("full_attention"), Plain("sliding_attention")),
    **_rows("pixel_values_videos", Floats((BATCH, 4, 3, 32, 32))),
    **_rows(
        """attention_mask past_key_values past_key_value cache_params cache padding_mask mask pixel_mask causal_mask head_mask alibi
        position_bias use_cache output_attentions layer_head_mask token_type_ids attn_mask observed_indicator key_padding_mask memory_mask""",
        Plain(None),
    ),
}

_FIRST: dict[str, Floats] = {
    "sequence": _SEQUENCE,
    "image": _IMAGE,
    "signal": Floats((BATCH, SIZE, 16)),
    "rows": _ROWS,
    "grid": Floats((BATCH, 8, 8, SIZE)),
    "heads": Floats((BATCH, HEADS, LENGTH, SIZE)),
    "patches": Floats((BATCH, 64, SIZE)),
    "hidden patches": Floats((BATCH, 64, HIDDEN)),
    "video": Floats((BATCH, SIZE, 4, 8, 8)),
    "wave": Floats((BATCH, 1024)),
    "vector": Floats((SIZE,)),
}


def examples(name: str, instance: object, *, first: bool) -> tuple[Example, ...]:
    """What an argument of an instance's forward may be."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.endswith("ids"):
        return (_IDS,)
    if name.startswith(("pixel", "image", "img")):
        return _PIXELS
    return _first(instance) if first else _ANY


def _first(instance: object) -> tuple[Example, ...]:
    """What a first argument of any other name may be; starts with what the first layer takes."""
    from torch import nn

    takes = {
        nn.Conv1d: "signal",
        nn.Conv2d: "image",
        nn.BatchNorm2d: "image",
        nn.Conv3d: "video",
        nn.Embedding: "ids",
        nn.Linear: "sequence",
    }
    kind = next((takes[type(layer)] for layer in instance.modules() if type(layer) in takes), "sequence")
    if kind == "ids":
        return (_IDS, *_FIRST.values())
    return (_FIRST[kind], *(example for name, example in _FIRST.items() if name != kind), _IDS)


def features(instance: object) -> int:
    """Features that the first layer takes; HIDDEN where no layer says."""
    for layer in instance.modules():
        if next(layer.parameters(recurse=False), None) is None:
            continue
        for name in ("in_features", "in_channels", "num_channels", "num_features"):
            if isinstance(getattr(layer, name, None), int):
                return getattr(layer, name)
    shapes = [parameter.shape for parameter in instance.parameters() if parameter.dim()]
    return shapes[0][-1] if shapes else HIDDEN
