"""What kind of computation an operator is: a closed set, decided by name.

Standard library only. The first rule that matches wins; names are labels without their prefix, lower case.
"""

import re
from enum import StrEnum


class Category(StrEnum):
    DENSE = "dense"
    CONVOLUTION = "convolution"
    POOLING = "pooling"
    NORMALISATION = "normalisation"
    ACTIVATION = "activation"
    SOFTMAX = "softmax"
    REDUCTION = "reduction"
    SCAN = "scan"
    INDEXING = "indexing"
    SORTING = "sorting"
    EMBEDDING = "embedding"
    PADDING = "padding"
    INTERPOLATION = "interpolation"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    LOSS = "loss"
    COMPARISON = "comparison"
    ELEMENTWISE = "elementwise"
    LINEAR_ALGEBRA = "linear_algebra"
    FFT = "fft"
    SHAPE = "shape"
    CREATION = "creation"
    RANDOM = "random"
    CAST = "cast"
    ROUTING = "routing"
    """Gates, routers and experts of mixtures."""
    POSITION = "position"
    """Rotary and other position encodings."""
    BLOCK = "block"
    """Several of the above: layers, encoders, heads."""
    OTHER = "other"


def _words(text: str) -> str:
    return rf"(?:{'|'.join(text.split())})"


# Of torch: whole names unless the pattern says otherwise.
_TORCH = (
    (r".*dropout\d*d?|feature_alpha_dropout|rrelu", Category.RANDOM),
    (
        _words(
            "rand randn randint rand_like randn_like randint_like randperm bernoulli multinomial normal poisson binomial gumbel_softmax"
        ),
        Category.RANDOM,
    ),
    (r".*conv\d*d|conv_tbc|conv_?transpose\d*d|convtranspose\d*d|unfold|fold", Category.CONVOLUTION),
    (r".*pool\d*d?", Category.POOLING),
    (_words("adaptivelogsoftmaxwithloss linear_cross_entropy"), Category.LOSS),
    (r".*loss|(?:binary_)?cross_entropy.*|kl_div", Category.LOSS),
    (r"log_?softmax|softmax2?d?|softmin|logsumexp", Category.SOFTMAX),
    (
        r"(?:sync)?(?:batch|instance|group|layer|rms)_?norm\d*d?|local_?response_?norm|crossmaplrn2d|normalize|renorm",
        Category.NORMALISATION,
    ),
    (r"multiheadattention|multi_head_attention_forward|scaled_dot_product_attention|transformer.*", Category.ATTENTION),
    (r"(?:rnn|lstm|gru)(?:cell|base)?", Category.RECURRENT),
    (r"embedding(?:_?bag)?|one_hot", Category.EMBEDDING),
    (r".*pad\d*d?", Category.PADDING),
    (_words("interpolate upsample upsamplingbilinear2d upsamplingnearest2d grid_sample affine_grid"), Category.INTERPOLATION),
    (
        _words("""linear bilinear mm bmm matmul addmm addbmm baddbmm addmv addr mv dot vdot inner outer einsum tensordot kron multi_dot vecdot grouped_mm
        chain_matmul cdist pdist cov corrcoef scaled_mm scaled_grouped_mm"""),
        Category.DENSE,
    ),
    (
        _words("""relu relu6 elu celu selu gelu glu silu mish sigmoid tanh hardtanh hardsigmoid hardswish hardshrink softshrink tanhshrink softplus softsign
        leaky_?relu prelu logsigmoid threshold"""),
        Category.ACTIVATION,
    ),
    (_words("cumsum cumprod cummax cummin logcumsumexp cumulative_trapezoid diff"), Category.SCAN),
    (
        _words("""sum mean prod std var std_mean var_mean amax amin aminmax max min argmax argmin all any nansum nanmean median nanmedian quantile nanquantile
        mode count_nonzero norm vector_norm dist trace trapezoid histc histogram histogramdd bincount hash_tensor segment_reduce
        cosine_?similarity pairwise_?distance gradient"""),
        Category.REDUCTION,
    ),
    (_words("sort argsort msort topk kthvalue unique unique_consecutive searchsorted bucketize isin"), Category.SORTING),
    (
        _words("""gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_put index_reduce masked_select masked_fill
        masked_scatter take take_along_dim put nonzero nonzero_static argwhere select_scatter slice_scatter diagonal_scatter as_strided_scatter where
        unravel_index combinations"""),
        Category.INDEXING,
    ),
    (
        _words("""eq ne lt le gt ge isclose allclose equal isnan isinf isfinite isneginf isposinf isreal signbit logical_and logical_or logical_xor
        logical_not is_nonzero"""),
        Category.COMPARISON,
    ),
    (
        _words("""zeros ones full empty arange linspace logspace eye zeros_like ones_like full_like empty_like empty_strided empty_permuted tril_indices
        triu_indices .*_window tensor as_tensor asarray scalar_tensor from_numpy frombuffer fftfreq rfftfreq complex polar vander sparse_.*tensor range
        cartesian_prod meshgrid"""),
        Category.CREATION,
    ),
    (
        _words(
            "fake_quantize_per_.* quantize_per_.* dequantize int_repr real imag view_as_complex view_as_real resolve_conj resolve_neg"
        ),
        Category.CAST,
    ),
    (
        _words("""cholesky.* det slogdet logdet inv inv_ex inverse pinv pinverse qr svd svdvals eig eigh eigvals eigvalsh lu.* ldl_.* solve.* lstsq geqrf ormqr
        orgqr householder_product triangular_solve matrix_.* cond tensorinv tensorsolve lobpcg pca_lowrank svd_lowrank cross"""),
        Category.LINEAR_ALGEBRA,
    ),
    (_words("stft istft"), Category.FFT),
    (
        _words("""cat stack hstack vstack dstack column_stack chunk split tensor_split hsplit vsplit dsplit unbind narrow select squeeze unsqueeze reshape
        permute transpose t adjoint movedim flatten unflatten ravel flip fliplr flipud rot90 roll repeat_interleave tile broadcast_to broadcast_tensors
        diag diagonal diag_embed diagflat block_diag tril triu atleast_.d expand view_copy as_strided clone detach pixel_?shuffle pixel_?unshuffle
        channel_?shuffle native_channel_shuffle identity numel"""),
        Category.SHAPE,
    ),
)

# Of transformers: found anywhere in the class name, in this order (a RotaryEmbedding is no embedding, an MoeGate no activation).
_TRANSFORMERS = (
    (r"dropout|droppath|stochasticdepth", Category.RANDOM),
    (
        r"rotary|rope(?!n)|positionembed|positionalembed|positionalencod|sinusoid|relativeposition|posemb|position",
        Category.POSITION,
    ),
    (r"router|topkgate|moegate|experts?$|experts?mlp|sparsemoe|moe$|moeblock|switchtransformers.*mlp|gate$", Category.ROUTING),
    (r"attention$|attn$|selfattention|crossattention|attentionlayer|attentionpool|attention", Category.ATTENTION),
    (r"loss$|criterion", Category.LOSS),
    (r"norm\d*d?$|norm$|layernorm|rmsnorm|batchnorm|norm(?:gated|alization)", Category.NORMALISATION),
    (r"(?:layer|block|stage|encoder|decoder|stack|model|backbone|transformer)$", Category.BLOCK),
    (
        r"mlp$|ffn|feedforward|intermediate$|output$|densereludense|densegated|dense$|linear|proj(?:ection|ector)?$|mlp|head$|adapter",
        Category.DENSE,
    ),
    (r"lstm|gru\b|rnn", Category.RECURRENT),
    (r"activation|gelu|relu|silu|swish|mish|tanh|sigmoid|snake", Category.ACTIVATION),
    (r"embed", Category.EMBEDDING),
    (r"conv", Category.CONVOLUTION),
    (r"pool", Category.POOLING),
    (r"upsample|interpolat", Category.INTERPOLATION),
    (r"pad$", Category.PADDING),
    (r"softmax", Category.SOFTMAX),
)


def of_torch(name: str) -> Category:
    """The category of a label: nn.Linear, F.relu, torch.cumsum, torch.fft.rfft, torch.linalg.inv."""
    base = name.rpartition(".")[2].lower()
    for pattern, category in _TORCH:
        if re.fullmatch(pattern, base):
            return category
    if name.startswith("torch.fft."):
        return Category.FFT
    if name.startswith("torch.linalg."):
        return Category.LINEAR_ALGEBRA
    return Category.OTHER if name.startswith("nn.") else Category.ELEMENTWISE


def of_class(name: str) -> Category:
    """The category of a class of transformers, by its name without the family's prefix where the rules allow."""
    base = name.rpartition(".")[2].lower()
    for pattern, category in _TRANSFORMERS:
        if re.search(pattern, base):
            return category
    return Category.OTHER
