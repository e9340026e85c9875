"""One name for one operator: nn.ReLU, F.relu, torch.relu and x.relu() are the same thing.

Standard library only. Used by the text checks (labels against code), the composer, the harvest and the similarity index.
"""

_PREFIXES = (
    "torch.nn.functional.",
    "torch.nn.",
    "torch.special.",
    "torch.linalg.",
    "torch.fft.",
    "torch.",
    "nn.functional.",
    "nn.",
    "F.",
    "Tensor.",
)

# Squashed names that differ between a module and the function that it calls, and between two spellings of one function.
_ALIASES = {
    "bce": "binarycrossentropy",
    "bcewithlogits": "binarycrossentropywithlogits",
    "nll2d": "nll",
    "upsample": "interpolate",
    "upsamplingbilinear2d": "interpolate",
    "upsamplingnearest2d": "interpolate",
    "multiheadattention": "multiheadattentionforward",
    "syncbatchnorm": "batchnorm",
    "concat": "cat",
    "concatenate": "cat",
    "absolute": "abs",
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "truedivide": "div",
    "negative": "neg",
    "clip": "clamp",
    "greater": "gt",
    "greaterequal": "ge",
    "less": "lt",
    "lessequal": "le",
    "notequal": "ne",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "moveaxis": "movedim",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "arccosh": "acosh",
    "arcsinh": "asinh",
    "arctanh": "atanh",
    "fix": "trunc",
    "ger": "outer",
    "inverse": "inv",
    "logdet": "logdet",
    "expit": "sigmoid",
    "gammaln": "lgamma",
    "psi": "digamma",
}
_ALIASES |= {f"{kind}norm{n}d": f"{kind}norm" for kind in ("batch", "instance") for n in (1, 2, 3)}
_ALIASES |= {f"{kind}pad{n}d": "pad" for kind in ("zero", "constant", "reflection", "replication", "circular") for n in (1, 2, 3)}

_NOT_LOSSES = ("loss", "adaptivelogsoftmaxwithloss")

OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "div", "FloorDiv": "floordivide", "Mod": "remainder", "Pow": "pow",
    "MatMult": "matmul", "BitAnd": "bitwiseand", "BitOr": "bitwiseor", "BitXor": "bitwisexor", "LShift": "bitwiseleftshift",
    "RShift": "bitwiserightshift", "USub": "neg", "Invert": "bitwisenot",
    "Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge",
}  # fmt: skip
"""Python's operator nodes (ast class names) as operator keys."""

ARITHMETIC = frozenset(
    "add sub mul div neg floordivide remainder eq ne lt le gt ge logicaland logicalor logicalnot bitwiseand bitwiseor bitwisenot rsub pow square".split()
)
"""Plain arithmetic and comparison: may be declared or not."""

SHAPE = frozenset(
    """view reshape permute transpose t mt flatten unflatten squeeze unsqueeze expand expandas broadcastto contiguous movedim chunk split
    splitwithsizes tensorsplit unbind narrow select size dim numel to type typeas float half bfloat16 double int long bool detach clone
    viewas reshapeas stack cat ndim shape item device dtype unfold adjoint h getitem zeros ones full empty arange zeroslike oneslike fulllike emptylike newzeros
    newones newfull newempty tensor astensor dataptr isfloatingpoint iscomplex parameter buffer registerbuffer identity unsafechunk hsplit vsplit
    dsplit swapdims ravel flip repeat repeatinterleave tile diagonal real imag viewascomplex viewasreal linspace eye tril triu tuple list range len""".split()
)
"""Views, casts, shape and constructor operations: may be declared or not."""

CONTAINERS = frozenset("module sequential modulelist moduledict parameterlist parameterdict identity container".split())
"""Compute nothing: no label may be one of these alone."""


def key(label: str) -> str:
    """The one name of an operator, lower case without underscores: key('nn.MSELoss') == key('F.mse_loss') == 'mse'.

    transformers operators keep their class name with its prefix: they are re-expressed in a task's own code.
    """
    if label.startswith("transformers."):
        return label.lower()
    name = label
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            name = name[len(prefix) :]
            break
    name = name.split(".")[-1].rstrip("_").lower().replace("_", "")
    if name.endswith("loss") and name not in _NOT_LOSSES:
        name = name[:-4]
    name = name.removesuffix("withindices")
    return _ALIASES.get(name, name)
