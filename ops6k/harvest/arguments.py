"""Arguments for the constructors and calls of transformers' classes, by the names of their parameters. Runs in a harvest worker."""

import inspect
from collections.abc import Callable, Iterator
from itertools import islice, product

from ops6k.harvest.configs import HIDDEN, LENGTH, SIZES
from ops6k.harvest.examples import Example, examples

COMBINATIONS = 24
"""Tried calls of one instance."""

_CONSTRUCTOR: dict[str, object] = {
    **SIZES,
    **dict.fromkeys(
        """in_channels out_channels channels num_channels in_features out_features input_dim output_dim in_dim out_dim embedding_dim input_size
        output_size normalized_shape n num_features inner_dim context_dim query_dim key_dim value_dim in_size out_size input_channels
        output_channels in_channel out_channel hidden_channels dims dimension input_dims output_dims feature_size c_in c_out d_in d_out nx nf
        input_hidden_size hidden_size_output fpn_channels current_channels num_embeddings num_positions residual_channels""".split(),
        HIDDEN,
    ),
    **dict.fromkeys(
        "layer_idx layer_id padding_idx stage_idx block_idx conv_idx index stage_index layer_number idx stage layer_index".split(),
        0,
    ),
    **dict.fromkeys("eps norm_eps layer_norm_eps variance_epsilon layer_norm_epsilon rms_norm_eps".split(), 1e-6),
    **dict.fromkeys(
        "dropout drop_path drop_rate attention_dropout attn_dropout drop_path_rate hidden_dropout_prob pooler_dropout drop".split(),
        0.0,
    ),
    **dict.fromkeys("hidden_act activation act activation_function act_fn act_layer activation_fn".split(), "gelu"),
    **dict.fromkeys("kernel_size conv_kernel_size".split(), 3),
    **dict.fromkeys(
        "stride dilation groups factor group_size mlp_ratio scale scale_factor sequence_reduction_ratio num_classes num_blocks".split(),
        1,
    ),
    **dict.fromkeys("window_size n_points num_levels n_levels".split(), 4),
    **dict.fromkeys("padding".split(), 1),
    "input_resolution": (8, 8),
    "grid_size": (4, 4),
    "base": 10000.0,
    "theta": 10000.0,
    "length": LENGTH,
    "max_val": 1.0,
    "min": -1.0,
    "max": 1.0,
    "bias": True,
    "output_padding": 0,
    "num_conv_pos_embeddings": 16,
    "downsample": None,
    "threshold": 1.0,
    "reduced_channels": 16,
    "pool_size": 3,
}

# Given although they have a default: without them many calls have nothing to work on.
_WORTH_GIVING = frozenset(
    "position_embeddings position_ids rotary_pos_emb rotary_emb encoder_hidden_states cu_seqlens key_value_states gate input_ids".split()
)


class MissingValueError(TypeError):
    """A parameter for which no value is known."""


def constructor_values(kind: type, config: object | None) -> dict[str, object]:
    """Arguments for every parameter without default, sizes that default to None, and layer_idx; raises MissingValueError."""
    values: dict[str, object] = {}
    for name, parameter in _parameters(kind.__init__):
        if name == "config" or name.endswith("_config"):
            if config is not None and (name == "config" or parameter.default is inspect.Parameter.empty):
                values[name] = config
        elif parameter.default is inspect.Parameter.empty or name == "layer_idx" or (parameter.default is None and name in SIZES):
            values[name] = _constructor_value(name, config)
    return values


def _constructor_value(name: str, config: object | None) -> object:
    found = getattr(config, name, None)
    if isinstance(found, int | float | str) and not name.startswith(("layer_i", "num_layers")):
        return found
    if name not in _CONSTRUCTOR:
        raise MissingValueError(f"no value known for the constructor's argument {name!r}")
    return _CONSTRUCTOR[name]


def calls_of(instance: object) -> Iterator[dict[str, Example]]:
    """Keyword arguments of calls to try, by the parameters of forward; at most COMBINATIONS."""
    names: list[str] = []
    choices: list[tuple[Example | None, ...]] = []
    for name, parameter in _parameters(type(instance).forward):
        required = parameter.default is inspect.Parameter.empty
        if required or name in _WORTH_GIVING:
            found = examples(name, instance, first=not names)
            names.append(name)
            choices.append(found if required else (None, *found))
    # The first parameter varies fastest: its shape is what is least known.
    for combination in islice(product(*reversed(choices)), COMBINATIONS):
        given = zip(names, reversed(combination), strict=True)
        yield {name: example for name, example in given if example is not None}


def _parameters(function: Callable) -> list[tuple[str, inspect.Parameter]]:
    """Named parameters, without self, *args and **kwargs."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = list(inspect.signature(function).parameters.items())[1:]
    return [(name, parameter) for name, parameter in found if parameter.kind not in variadic]
