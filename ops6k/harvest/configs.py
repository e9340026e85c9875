"""Small configurations of transformers' model families. Runs in a harvest worker."""

import copy
import inspect
import types
import typing
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from ops6k.harvest.trials import FAILURES

HIDDEN, HEADS, HEAD_DIM, LENGTH, BATCH = 64, 4, 16, 8, 2
"""Sizes that constructors, configurations and example tensors agree on."""

SIZES: dict[str, int] = {
    **dict.fromkeys(
        "hidden_size d_model n_embd embed_dim dim hidden_dim width model_dim embedding_size decoder_hidden_size".split(), HIDDEN
    ),
    **dict.fromkeys(
        "encoder_hidden_dim decoder_hidden_dim projection_dim encoder_embed_dim decoder_embed_dim emb_dim".split(), HIDDEN
    ),
    **dict.fromkeys(
        "text_dim vision_dim cross_attention_hidden_size num_channels_in encoder_hidden_size q_dim kv_dim".split(), HIDDEN
    ),
    **dict.fromkeys(
        "num_attention_heads num_heads n_head n_heads encoder_attention_heads decoder_attention_heads attention_heads".split(),
        HEADS,
    ),
    **dict.fromkeys("num_local_experts num_experts n_routed_experts moe_num_experts".split(), HEADS),
    **dict.fromkeys(
        "num_key_value_heads n_shared_experts num_experts_per_tok moe_topk moe_k top_k num_experts_per_token".split(), 2
    ),
    **dict.fromkeys("num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers depth".split(), 2),
    **dict.fromkeys(
        "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff ffn_hidden_size mlp_dim hidden_features".split(),
        2 * HIDDEN,
    ),
    **dict.fromkeys("decoder_intermediate_size dim_feedforward n_inner".split(), 2 * HIDDEN),
    **dict.fromkeys("moe_intermediate_size shared_expert_intermediate_size expert_ffn_hidden_size q_lora_rank".split(), 32),
    **dict.fromkeys(
        "head_dim d_kv kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim attention_head_size".split(), HEAD_DIM
    ),
    **dict.fromkeys("linear_key_head_dim linear_value_head_dim mamba_d_head mamba_head_dim".split(), HEAD_DIM),
    **dict.fromkeys("linear_num_key_heads linear_num_value_heads".split(), HEADS),
    **dict.fromkeys("vocab_size max_position_embeddings n_positions".split(), 96),
    **dict.fromkeys("n_group topk_group moe_n_group moe_topk_group num_expert_groups".split(), 1),
    "image_size": 32,
    "patch_size": 8,
    "num_labels": 3,
    # Scans fall back to reference code whose memory grows with all of these.
    "mamba_n_heads": 8,
    "mamba_d_state": 16,
    "mamba_chunk_size": 8,
    "chunk_size": 8,
    "state_size": 16,
    "ssm_state_size": 16,
    "window_size": 4,
}
_ZERO = ("drop", "jitter")
"""Parts of names of shares that make a module random: 0 here, so that what is left is the module's own."""


def configurations(module: ModuleType, annotation: object) -> Iterator[object]:
    """Small configurations that a class of the module may take: its annotation's first, then those that the module imports."""
    from transformers import PreTrainedConfig

    named = [kind for kind in _members(annotation) if inspect.isclass(kind) and issubclass(kind, PreTrainedConfig)]
    named = [kind for kind in named if kind is not PreTrainedConfig]
    imported = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, PreTrainedConfig) and kind is not PreTrainedConfig
    ]
    for kind in dict.fromkeys([*named, *imported]):
        config = _small(kind)
        if config is not None:
            # A copy: constructors may write into what they are given.
            yield copy.deepcopy(config)
            yield from _parts(config)


def is_configuration(annotation: object) -> bool:
    from transformers import PreTrainedConfig

    return any(inspect.isclass(kind) and issubclass(kind, PreTrainedConfig) for kind in _members(annotation))


def _members(annotation: object) -> tuple:
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if union else (annotation,)


@cache
def _small(kind: type) -> object | None:
    """An instance with small sizes, with fewer of them where the family refuses, as it comes where it refuses all."""
    values, parts = _small_values(kind), _small_parts(kind)
    without_layers = {name: value for name, value in values.items() if "layers" not in name}
    tried = (_if_taken(kind, values) for values in (values | parts, values, without_layers | parts, parts, {}))
    config = next((config for config in tried if config is not None), None)
    if config is not None:
        config._attn_implementation = "eager"
    return config


def _if_taken(kind: type, values: dict[str, object]) -> object | None:
    """A configuration with these values; None where the family refuses them."""
    from huggingface_hub.errors import StrictDataclassError

    try:
        return kind(**values)
    except (*FAILURES, StrictDataclassError):
        return None


def _small_values(kind: type) -> dict[str, int | float]:
    values: dict[str, int | float] = {}
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        default = parameter.default
        if name in SIZES and (default is None or (isinstance(default, int) and not isinstance(default, bool))):
            values[name] = SIZES[name]
        elif isinstance(default, float) and any(part in name for part in _ZERO):
            values[name] = 0.0
    if "kv_lora_rank" in values and "num_key_value_heads" in values:
        values["num_key_value_heads"] = HEADS  # latent attention has as many key heads as query heads
    return values


def _small_parts(kind: type) -> dict[str, object]:
    """The configurations inside a configuration, small; those of any family (AutoConfig) are left to it."""
    from transformers import PreTrainedConfig

    parts = {
        name: part
        for name, part in getattr(kind, "sub_configs", {}).items()
        if inspect.isclass(part) and issubclass(part, PreTrainedConfig)
    }
    return {name: copy.deepcopy(_small(part)) for name, part in parts.items() if part is not kind}


def _parts(config: object) -> Iterator[object]:
    """Configurations inside a configuration (text, vision, ...), made small."""
    from transformers import PreTrainedConfig

    for name in getattr(type(config), "sub_configs", {}):
        part = getattr(config, name, None)
        if isinstance(part, PreTrainedConfig):
            small = _small(type(part))
            if small is not None:
                yield copy.deepcopy(small)
