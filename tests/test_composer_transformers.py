"""Every operator of transformers that the composer re-expresses computes what the library's own class computes.

The library's weights are copied into ours by position; the mapping below is how the library builds its class.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from ops6k.fuse.composer.recipe import recipes

WIDTH, INNER = 24, 40
SEQ = (2, 9, WIDTH)


@dataclass(frozen=True)
class Pair:
    """The library's module, our expression for it (a call on the helper), and the inputs of both."""

    library: Callable[[], nn.Module]
    ours: str
    shapes: tuple[tuple[int, ...], ...] = (SEQ,)
    call: Callable[..., object] = lambda module, *inputs: module(*inputs)


def _model(name: str, cls: str) -> type[nn.Module]:
    from importlib import import_module

    return getattr(import_module(f"transformers.models.{name}.modeling_{name}"), cls)


def _act(cls: str) -> type[nn.Module]:
    from transformers import activations

    return getattr(activations, cls)


def _config(name: str, **values: object) -> object:
    import transformers

    return getattr(transformers, name)(**values)


def _mlp(name: str, cls: str, config: str, act: str = "silu", **more: object) -> Callable[[], nn.Module]:
    return lambda: _model(name, cls)(
        _config(config, hidden_size=WIDTH, intermediate_size=INNER, hidden_act=act, num_attention_heads=4, **more)
    )


def _llama(**more: object) -> object:
    config = _config(
        "LlamaConfig", hidden_size=WIDTH, num_attention_heads=4, num_key_value_heads=2, head_dim=8, attention_bias=False, **more
    )
    config._attn_implementation = "eager"
    return config


def _attention(module: nn.Module, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    future = torch.full((x.shape[1], x.shape[1]), -math.inf).triu(1)[None, None]
    return module(x, position_embeddings=(cos, sin), attention_mask=future)[0]


def _rotary(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    cos, sin = module(x, torch.arange(x.shape[2])[None].expand(x.shape[0], -1))
    return apply_rotary_pos_emb(x, x, cos, sin)[0]


def _moe() -> nn.Module:
    config = _config("MixtralConfig", hidden_size=WIDTH, intermediate_size=INNER, num_local_experts=4, num_experts_per_tok=2)
    config._experts_implementation = "eager"
    module = _model("mixtral", "MixtralSparseMoeBlock")(config)
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)
    return module


def _first(found: object) -> torch.Tensor:
    return found[0] if isinstance(found, tuple) else found


BERT = {"hidden_size": WIDTH, "intermediate_size": INNER, "num_attention_heads": 4}
PAIRS = {
    "NewGELUActivation": Pair(lambda: _act("NewGELUActivation")(), "NewGELUActivation()"),
    "QuickGELUActivation": Pair(lambda: _act("QuickGELUActivation")(), "quick_gelu_activation"),
    "FastGELUActivation": Pair(lambda: _act("FastGELUActivation")(), "fast_gelu_activation"),
    "ReLUSquaredActivation": Pair(lambda: _act("ReLUSquaredActivation")(), "relu_squared_activation"),
    "LaplaceActivation": Pair(lambda: _act("LaplaceActivation")(), "LaplaceActivation()"),
    "ClippedGELUActivation": Pair(lambda: _act("ClippedGELUActivation")(-0.1, 0.8), "ClippedGELUActivation(-0.1, 0.8)"),
    "SqrtSoftplusActivation": Pair(lambda: _act("SqrtSoftplusActivation")(), "sqrt_softplus_activation"),
    "XIELUActivation": Pair(lambda: _act("XIELUActivation")(dtype=torch.float32), "XIELUActivation()"),
    "LlamaRMSNorm": Pair(lambda: _model("llama", "LlamaRMSNorm")(WIDTH), "LlamaRMSNorm(WIDTH)"),
    "GemmaRMSNorm": Pair(lambda: _model("gemma", "GemmaRMSNorm")(WIDTH), "GemmaRMSNorm(WIDTH)"),
    "T5LayerNorm": Pair(lambda: _model("t5", "T5LayerNorm")(WIDTH), "T5LayerNorm(WIDTH)"),
    "OlmoLayerNorm": Pair(lambda: _model("olmo", "OlmoLayerNorm")(WIDTH), "olmo_layer_norm"),
    "CohereLayerNorm": Pair(lambda: _model("cohere", "CohereLayerNorm")(WIDTH), "CohereLayerNorm(WIDTH)"),
    "NemotronLayerNorm1P": Pair(lambda: _model("nemotron", "NemotronLayerNorm1P")(WIDTH), "NemotronLayerNorm1P(WIDTH)"),
    "MambaRMSNormGated": Pair(lambda: _model("mamba2", "MambaRMSNormGated")(WIDTH, 8), "MambaRMSNormGated(WIDTH, 8)", (SEQ, SEQ)),
    "Qwen3NextRMSNormGated": Pair(
        lambda: _model("qwen3_next", "Qwen3NextRMSNormGated")(WIDTH), "Qwen3NextRMSNormGated(WIDTH)", (SEQ, SEQ)
    ),
    "ConvNextV2GRN": Pair(lambda: _model("convnextv2", "ConvNextV2GRN")(WIDTH), "ConvNextV2GRN(WIDTH)", ((2, 5, 6, WIDTH),)),
    "Dinov2LayerScale": Pair(
        lambda: _model("dinov2", "Dinov2LayerScale")(_config("Dinov2Config", hidden_size=WIDTH)), "Dinov2LayerScale(WIDTH)"
    ),
    "LlamaMLP": Pair(_mlp("llama", "LlamaMLP", "LlamaConfig"), "LlamaMLP(WIDTH, INNER)"),
    "GemmaMLP": Pair(_mlp("gemma", "GemmaMLP", "GemmaConfig", "gelu_pytorch_tanh"), "GemmaMLP(WIDTH, INNER)"),
    "T5DenseGatedActDense": Pair(
        lambda: _model("t5", "T5DenseGatedActDense")(
            _config("T5Config", d_model=WIDTH, d_ff=INNER, feed_forward_proj="gated-gelu")
        ).eval(),
        "T5DenseGatedActDense(WIDTH, INNER)",
    ),
    "NemotronMLP": Pair(_mlp("nemotron", "NemotronMLP", "NemotronConfig", "relu2"), "NemotronMLP(WIDTH, INNER)"),
    "CLIPMLP": Pair(_mlp("clip", "CLIPMLP", "CLIPTextConfig", "quick_gelu"), "CLIPMLP(WIDTH, INNER)"),
    # The library takes two thirds of four widths, rounded up to eights.
    "EomtSwiGLUFFN": Pair(
        lambda: _model("eomt", "EomtSwiGLUFFN")(_config("EomtConfig", hidden_size=WIDTH, mlp_ratio=4)),
        "EomtSwiGLUFFN(WIDTH, 64)",
    ),
    "BertIntermediate": Pair(
        lambda: _model("bert", "BertIntermediate")(_config("BertConfig", **BERT)), "BertIntermediate(WIDTH, INNER)"
    ),
    "BertSelfOutput": Pair(
        lambda: _model("bert", "BertSelfOutput")(_config("BertConfig", **BERT)).eval(), "BertSelfOutput(WIDTH)", (SEQ, SEQ)
    ),
    "BertPooler": Pair(lambda: _model("bert", "BertPooler")(_config("BertConfig", **BERT)), "BertPooler(WIDTH)"),
    "BertPredictionHeadTransform": Pair(
        lambda: _model("bert", "BertPredictionHeadTransform")(_config("BertConfig", **BERT)), "BertPredictionHeadTransform(WIDTH)"
    ),
    "Conv1D": Pair(lambda: __import__("transformers.pytorch_utils").pytorch_utils.Conv1D(INNER, WIDTH), "Conv1D(INNER, WIDTH)"),
    "RegNetSELayer": Pair(lambda: _model("regnet", "RegNetSELayer")(WIDTH, 6), "RegNetSELayer(WIDTH, 6)", ((2, WIDTH, 7, 5),)),
    "PoolFormerPooling": Pair(
        lambda: _model("poolformer", "PoolFormerPooling")(3), "lambda x: pool_former_pooling(x, 3)", ((2, 4, 8, 9),)
    ),
    "HGNetV2LearnableAffineBlock": Pair(
        lambda: _model("hgnet_v2", "HGNetV2LearnableAffineBlock")(), "HGNetV2LearnableAffineBlock()", ((2, 4, 8, 9),)
    ),
    "FNetBasicFourierTransform": Pair(
        lambda: _model("fnet", "FNetBasicFourierTransform")(_config("FNetConfig", use_tpu_fourier_optimizations=False)),
        "fnet_basic_fourier_transform",
        call=lambda module, x: _first(module(x)),
    ),
    "Wav2Vec2FeatureProjection": Pair(
        lambda: _model("wav2vec2", "Wav2Vec2FeatureProjection")(
            _config("Wav2Vec2Config", conv_dim=(WIDTH,) * 7, hidden_size=INNER)
        ).eval(),
        "Wav2Vec2FeatureProjection(WIDTH, INNER)",
        call=lambda module, x: _first(module(x)),
    ),
    "Lfm2ShortConv": Pair(
        lambda: _model("lfm2", "Lfm2ShortConv")(_config("Lfm2Config", hidden_size=WIDTH, conv_L_cache=3, conv_bias=False), 0),
        "Lfm2ShortConv(WIDTH)",
        call=lambda module, x: getattr(module, "slow_forward", module)(x),
    ),
    "LlamaRotaryEmbedding": Pair(lambda: _model("llama", "LlamaRotaryEmbedding")(_llama()), "ROTARY", ((2, 4, 9, 8),), _rotary),
    "LlamaAttention": Pair(
        lambda: _model("llama", "LlamaAttention")(_llama(), 0),
        "LlamaAttention(WIDTH, 4, 2, 8)",
        (SEQ, (2, 9, 8), (2, 9, 8)),
        _attention,
    ),
    "MixtralSparseMoeBlock": Pair(
        _moe, "MixtralSparseMoeBlock(WIDTH, INNER, 4)", call=lambda module, x: _first(module(x)).reshape(x.shape)
    ),
    "SwinPatchMerging": Pair(
        lambda: _model("swin", "SwinPatchMerging")(WIDTH),
        "SwinPatchMerging(WIDTH)",
        ((2, 6, 8, WIDTH),),
        lambda module, x: module(x.flatten(1, 2), (6, 8)),
    ),
}


def _ours(label: str, text: str) -> Callable[..., torch.Tensor]:
    recipe = next(r for r in recipes() if r.op == f"transformers.{label}")
    names = {"torch": torch, "nn": nn, "F": nn.functional, "math": math, "WIDTH": WIDTH, "INNER": INNER}
    for _, source in recipe.define:
        exec(source, names)
    if text == "ROTARY":
        made = names["LlamaRotaryEmbedding"](8)
        return lambda x: names["rotate"](x, *made(x, torch.arange(x.shape[2])[None].expand(x.shape[0], -1)))
    return eval(text, names)


def _copy_weights(library: nn.Module, ours: object) -> None:
    """The library's parameters, made uneven, into ours: by name where the names agree, else in order."""
    theirs = dict(library.named_parameters())
    for weight in theirs.values():
        nn.init.normal_(weight, mean=0.2, std=0.4)
    if not isinstance(ours, nn.Module):
        assert not theirs
        return
    mine = dict(ours.named_parameters())
    pairs = (
        [(mine[name], theirs[name]) for name in mine]
        if mine.keys() == theirs.keys()
        else list(zip(mine.values(), theirs.values(), strict=True))
    )
    for to, source in pairs:
        assert to.numel() == source.numel()
        to.data.copy_(source.data.reshape(to.shape))


def test_every_transformers_recipe_is_compared():
    assert {f"transformers.{label}" for label in PAIRS} == {recipe.op for recipe in recipes() if recipe.is_transformers}


@pytest.mark.parametrize("label", PAIRS)
def test_our_words_compute_what_the_librarys_class_computes(label):
    pair = PAIRS[label]
    torch.manual_seed(0)
    library, ours = pair.library().eval(), _ours(label, pair.ours)
    _copy_weights(library, ours)
    inputs = [torch.randn(shape) for shape in pair.shapes]
    with torch.no_grad():
        expected = _first(pair.call(library, *inputs))
        found = ours(*inputs)
        assert expected.shape == found.shape and expected.std() > 1e-3
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
        # The comparison can fail: other inputs give another result.
        assert not torch.allclose(ours(*(x.flip(0) for x in inputs)), expected, rtol=1e-3, atol=1e-3)


def test_the_positions_of_weights_are_not_what_makes_them_agree():
    """Negative control: with one weight changed the comparison sees it."""
    library, ours = PAIRS["LlamaMLP"].library(), _ours("LlamaMLP", PAIRS["LlamaMLP"].ours)
    _copy_weights(library, ours)
    x = torch.randn(SEQ)
    ours.up_proj.weight.data[0] += 1.0
    assert not torch.allclose(ours(x), library(x), rtol=1e-3, atol=1e-3)


def test_no_composed_code_imports_transformers():
    assert SimpleNamespace(found=[name for r in recipes() for name, source in r.define if "import " in source]).found == []
