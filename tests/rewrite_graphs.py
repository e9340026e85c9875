"""Random small models for the tests of rewrites: by pass, models on which it may or may not apply."""

import itertools
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

Drawn = tuple[nn.Module, list[torch.Tensor]]
Generator = np.random.Generator


class Body(nn.Module):
    """A model with these parts (modules and parameters; tensors become buffers) and this forward."""

    def __init__(self, forward: Callable, **parts: object) -> None:
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self.body = forward

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.body(self, *inputs)


def several(drawn: list[Drawn]) -> Drawn:
    """One model that runs them side by side, each on inputs of its own."""
    counts = np.cumsum([0, *(len(inputs) for _, inputs in drawn)])

    def forward(m: Body, *inputs: torch.Tensor) -> tuple:
        return tuple(part(*inputs[counts[i] : counts[i + 1]]) for i, part in enumerate(m.models))

    return Body(forward, models=nn.ModuleList(model for model, _ in drawn)), [x for _, inputs in drawn for x in inputs]


def pick(rng: Generator, *choices: object) -> object:
    return choices[rng.integers(len(choices))]


def size(rng: Generator, low: int = 1, high: int = 6) -> int:
    return int(rng.integers(low, high + 1))


def number(rng: Generator) -> float:
    """Negative as often as positive, away from zero."""
    return float(pick(rng, -1.0, 1.0) * rng.uniform(0.3, 2.0))


def shifted_norm(norm: nn.Module) -> nn.Module:
    """A batch norm with statistics and weights of its own."""
    with torch.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.25, 4.0)
        if norm.affine:
            norm.weight.normal_()
            norm.bias.normal_()
    return norm


def layer(rng: Generator) -> tuple[nn.Module, torch.Tensor, int, int]:
    """A linear, convolution or transposed convolution, an input, its output channels, and its spatial axes."""
    bias, groups, spatial = bool(rng.integers(2)), pick(rng, 1, 1, 2), pick(rng, 0, 1, 2)
    inner, outer = 2 * size(rng, 1, 2), 2 * size(rng, 1, 3)
    if spatial == 0:
        leading = [size(rng) for _ in range(size(rng, 1, 2))]
        return nn.Linear(inner, outer, bias=bias), torch.randn(*leading, inner), outer, 0
    kind = pick(rng, (nn.Conv1d, nn.Conv2d), (nn.ConvTranspose1d, nn.ConvTranspose2d))[spatial - 1]
    made = kind(inner, outer, size(rng, 1, 3), stride=size(rng, 1, 2), padding=size(rng, 0, 1), groups=groups, bias=bias)
    return made, torch.randn(size(rng, 1, 3), inner, *[size(rng, 4, 7)] * spatial), outer, spatial


def for_batch_norm(rng: Generator) -> Drawn:
    made, x, channels, spatial = layer(rng)
    if spatial == 0:
        x = x.reshape(-1, x.shape[-1]) if rng.integers(2) else x
        channels = channels if x.dim() == 2 else x.shape[1]
    norm = shifted_norm([nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d][spatial](channels, affine=bool(rng.integers(4))))
    also = rng.integers(4) == 0
    return Body(lambda m, x: (lambda y: (m.norm(y), y * 2) if also else F.silu(m.norm(y)))(m.layer(x)), layer=made, norm=norm), [
        x
    ]


def _steps(rng: Generator, channels: int, spatial: int, axes: int) -> list[Callable]:
    """Arithmetic with numbers, and with parameters of one element, of one a channel, or along another axis."""
    where = [channels, *[1] * spatial]
    odd = [channels] if spatial else [1] * axes
    vectors = [nn.Parameter(torch.rand(shape) + 0.5) for shape in ([1], [], where, where, where, odd)]
    found = []
    for _ in range(size(rng, 1, 3)):
        c = pick(rng, number(rng), number(rng), *vectors)
        op = pick(rng, "mul", "div", "add", "sub", "rsub", "alpha", "neg")
        found.append((op, c))
    return found


def _stepped(y: torch.Tensor, steps: list) -> torch.Tensor:
    for op, c in steps:
        if op == "mul":
            y = y * c
        elif op == "div":
            y = y / c
        elif op == "add":
            y = c + y
        elif op == "sub":
            y = y - c
        elif op == "rsub":
            y = c - y
        elif op == "alpha":
            y = torch.add(y, c, alpha=-1.5)
        else:
            y = -y
    return y


def for_scale(rng: Generator) -> Drawn:
    made, x, channels, spatial = layer(rng)
    steps = _steps(rng, channels, spatial, x.dim())
    steps = [s for s in steps if not (isinstance(s[1], nn.Parameter) and spatial and s[1].dim() == 1 and s[1].numel() > 1)]
    also, moved = rng.integers(4) == 0, rng.integers(3) == 0
    parts = {f"c{i}": c for i, (_, c) in enumerate(steps) if isinstance(c, nn.Parameter)}

    def forward(m: Body, x: torch.Tensor) -> object:
        y = m.layer(x)
        z = y.transpose(0, -1) * 0.5 if moved else y
        mine = [(op, getattr(m, f"c{i}", c)) for i, (op, c) in enumerate(steps)]
        z = _stepped(z.transpose(0, -1) if moved else z, mine)
        return (z, y) if also else z

    return Body(forward, layer=made, **parts), [x]


def for_reduce(rng: Generator) -> Drawn:
    inner, outer = size(rng), size(rng)
    x = torch.randn(*[size(rng) for _ in range(size(rng, 1, 3))], inner)
    dims = sorted({int(rng.integers(-x.dim(), x.dim())) % x.dim() for _ in range(size(rng, 1, 2))})
    dims = [dim - x.dim() for dim in dims] if rng.integers(2) else dims
    keepdim, whole, also = bool(rng.integers(2)), rng.integers(6) == 0, rng.integers(5) == 0
    over = pick(rng, torch.sum, torch.mean, torch.amax)

    def forward(m: Body, x: torch.Tensor) -> object:
        y = m.layer(x) if "layer" in m._modules else x @ m.weight
        z = over(y) if whole and over is not torch.amax else over(y, dim=dims, keepdim=keepdim)
        return (z, y) if also else z

    if rng.integers(3) == 0:
        return Body(forward, weight=nn.Parameter(torch.randn(inner, outer))), [x]
    return Body(forward, layer=nn.Linear(inner, outer, bias=bool(rng.integers(2)))), [x]


def for_merge(rng: Generator) -> Drawn:
    widths = [size(rng, 1, 8) for _ in range(4)]
    layers = [nn.Linear(a, b, bias=bool(rng.integers(2))) for a, b in itertools.pairwise(widths)]
    between = pick(rng, None, None, None, torch.relu)

    def forward(m: Body, x: torch.Tensor) -> torch.Tensor:
        y = m.first(x)
        y = between(y) if between else y
        return m.third(m.second(y))

    x = torch.randn(size(rng), widths[0])
    return Body(forward, first=layers[0], second=layers[1], third=layers[2]), [x]


def for_diagonal(rng: Generator) -> Drawn:
    n, m, batch = size(rng, 2), size(rng, 2), size(rng)
    kind = int(rng.integers(8))
    offset = pick(rng, 0, 0, 0, 1)
    triangle, reach = pick(rng, torch.tril, torch.triu), size(rng, 0, 9) - 4
    d = nn.Parameter(torch.randn(n)) if kind != 3 else nn.Parameter(torch.randn(batch, n))
    forwards = (
        lambda s, x: x @ torch.diag(s.d),
        lambda s, x: torch.diag(s.d) @ x.transpose(-1, -2),
        lambda s, x: x @ torch.eye(n),
        lambda s, x: torch.bmm(x, torch.diag_embed(s.d)),
        lambda s, x: x[0, 0] @ torch.diag(s.d),
        lambda s, x: torch.diag(s.d).t() @ x[0, 0],
        lambda s, x: F.linear(x, torch.diag(s.d)) + s.d,
        lambda s, x: triangle(x * s.d, reach),
    )
    if offset and kind == 0:
        d = nn.Parameter(torch.randn(n - 1))
        return Body(lambda s, x: x @ torch.diag(s.d, 1), d=d), [torch.randn(batch, m, n)]
    return Body(forwards[kind], d=d), [torch.randn(batch, m, n)]


def for_idempotent(rng: Generator) -> Drawn:
    def clamp(x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(x, *ends)

    ends = sorted((number(rng), number(rng)))
    operators = (
        torch.relu, torch.relu, clamp, clamp, torch.abs, torch.exp, torch.sigmoid, F.relu6, torch.neg, torch.neg, torch.tanh,
        torch.floor, torch.square, lambda x: torch.maximum(x, torch.zeros(())), lambda x: x.clamp(min=0.5), lambda x: x * 0.5,
        lambda x: F.hardtanh(x, -0.5, 0.25), lambda x: torch.maximum(x, x), lambda x: x.t(), lambda x: x + 1.0,
    )  # fmt: skip
    chosen = [operators[rng.integers(len(operators))] for _ in range(size(rng, 2, 5))]
    also = rng.integers(4) == 0

    def forward(m: Body, x: torch.Tensor) -> object:
        seen = []
        for operator in chosen:
            x = operator(x)
            seen.append(x)
        return tuple(seen[-2:]) if also else x

    return Body(forward), [torch.randn(size(rng), size(rng))]


def for_pool(rng: Generator) -> Drawn:
    channels, spatial = 2 * size(rng, 1, 2), pick(rng, 1, 2)
    window, stride, padding = size(rng, 2, 3), size(rng, 1, 3), size(rng, 0, 1)
    counted, ceil, c = bool(rng.integers(2)), bool(rng.integers(2)), number(rng)
    average = {"ceil_mode": ceil, "count_include_pad": counted}
    last = list(range(-spatial, 0))
    pools = (
        lambda x: getattr(F, f"max_pool{spatial}d")(x, window, stride, padding, ceil_mode=ceil),
        lambda x: getattr(F, f"max_pool{spatial}d")(x, window, stride, padding, ceil_mode=ceil),
        lambda x: getattr(F, f"avg_pool{spatial}d")(x, window, stride, padding, **average),
        lambda x: getattr(F, f"avg_pool{spatial}d")(x, window, stride, padding, **average),
        lambda x: getattr(F, f"adaptive_avg_pool{spatial}d")(x, 2),
        lambda x: getattr(F, f"adaptive_max_pool{spatial}d")(x, 2),
        lambda x: x.mean(last, keepdim=bool(ceil)),
        lambda x: x.amax(last),
        lambda x: x.amin(1),
    )
    points = (
        torch.relu, torch.sigmoid, F.leaky_relu, F.elu, torch.abs, F.silu, lambda x: x * c, lambda x: x / c, lambda x: x + c,
        lambda x: c - x, lambda x: x.square().sqrt(), lambda x: x.clamp(-1, c if c > 0 else 1.0), torch.tanh,
    )  # fmt: skip
    pool, kind = pick(rng, *pools), int(rng.integers(4))
    point, also = pick(rng, *points), rng.integers(5) == 0
    conv = (nn.Conv1d, nn.Conv2d)[spatial - 1](channels, size(rng), 1, bias=bool(rng.integers(2)))
    v = nn.Parameter(torch.randn(channels, *[1] * spatial))

    def forward(m: Body, x: torch.Tensor) -> object:
        y = m.conv(x) if kind == 0 else x + m.v if kind == 1 else x * m.v if kind == 2 else point(x)
        return (pool(y), y) if also else pool(y)

    return Body(forward, conv=conv, v=v), [torch.randn(size(rng, 1, 3), channels, *[size(rng, 6, 9)] * spatial)]


def for_moves(rng: Generator) -> Drawn:
    def step(x: torch.Tensor, which: int, k: int) -> torch.Tensor:
        d, e = k % x.dim(), (k + 1) % x.dim()
        half = x.shape[d] // 2
        steps = (
            lambda: x.transpose(d, e),
            lambda: x.permute(*range(1, x.dim()), 0),
            lambda: x.reshape(-1, 4),
            lambda: x.flatten(),
            lambda: x.unsqueeze(d),
            lambda: x.contiguous(),
            lambda: x.clone(),
            lambda: x.flip(d),
            lambda: x.roll(k - 2, d),
            lambda: torch.cat([x, x + 1], d).split(x.shape[d], d)[k % 2],
            lambda: torch.cat([x * 2, x], d).narrow(d, x.shape[d] * (k % 2), x.shape[d]),
            lambda: torch.cat(torch.chunk(x, 2, d), d),
            lambda: torch.cat(torch.chunk(x, 2, d)[::-1], d),
            lambda: torch.cat([x, x], d)[(slice(None),) * d + (slice(half, half + x.shape[d]),)],
            lambda: x.sin(),
        )
        return steps[which]()

    chosen = [(int(rng.integers(15)), int(rng.integers(5))) for _ in range(size(rng, 2, 6))]
    doubled = [pair for pair in chosen for _ in range(1 if pair[0] in (4, 9, 10) else 2)]
    if rng.integers(4) == 0:  # single moves with work between them
        doubled = [pair for which in (0, 7, 8) for pair in ((which, size(rng, 0, 1)), (14, 0))]
    also = rng.integers(4) == 0

    def forward(m: Body, x: torch.Tensor) -> object:
        y = x
        for i, (which, k) in enumerate(doubled):
            x = step(x, which, k)
            y = x if i == len(doubled) // 2 else y
        return (x, y) if also else x

    return Body(forward), [torch.randn(2, 4, 6)]


def for_shift(rng: Generator) -> Drawn:
    shape = [size(rng, 2, 5) for _ in range(3)]
    dim, keepdim = int(rng.integers(-3, 3)), bool(rng.integers(2))
    lengths = [pick(rng, 1, length) for length in shape]
    if rng.integers(3):
        lengths[dim] = 1
    c, kind, sign = number(rng), int(rng.integers(7)), pick(rng, 1, -1)
    other = torch.randn(lengths)

    def forward(m: Body, x: torch.Tensor, y: torch.Tensor) -> object:
        z = (x + y if sign > 0 else x - y) if kind != 1 else x + c
        heads = (
            lambda: torch.softmax(z, dim),
            lambda: torch.softmax(z, dim),
            lambda: torch.log_softmax(z, dim),
            lambda: torch.logsumexp(z, dim, keepdim),
            lambda: torch.log(torch.softmax(x, dim)),
            lambda: F.layer_norm(z, z.shape[-1:]),
            lambda: (torch.logsumexp(y - x, dim, keepdim), y.sum()),
        )
        return heads[kind]()

    return Body(forward), [torch.randn(shape), other]


def for_common(rng: Generator) -> Drawn:
    linear, n = nn.Linear(4, 4), size(rng, 2, 5)
    operators = (torch.sin, torch.exp, linear, lambda x: x * 2, lambda x: x * 2.0, lambda x: x + True, lambda x: x.sum(0))
    pairs = [(operators[rng.integers(len(operators))], operators[rng.integers(len(operators))]) for _ in range(n)]
    random = rng.integers(4) == 0

    def forward(m: Body, x: torch.Tensor) -> object:
        total = torch.zeros(4)
        for first, second in pairs:
            total = total + second(first(x))
        noise = torch.rand_like(x) * 0 + torch.rand_like(x) * 0 if random else 0
        return total + noise, torch.sin(x), torch.sin(x)

    return Body(forward, linear=linear), [torch.randn(3, 4)]


def for_hoist(rng: Generator) -> Drawn:
    kind = int(rng.integers(5))
    forwards = (
        lambda m, x: x @ (m.w * m.w.sum()).t(),
        lambda m, x: F.linear(x, F.normalize(m.w, dim=1), m.b.exp()),
        lambda m, x: (x * m.b, m.w.tril().sum(0)),
        lambda m, x: x @ m.w + torch.arange(4.0) * m.b,
        lambda m, x: x * x + m.b,
    )
    return Body(forwards[kind], w=nn.Parameter(torch.randn(4, 4)), b=torch.randn(4)), [torch.randn(size(rng), 4)]


GENERATORS: dict[str, Callable[[Generator], Drawn]] = {
    "fold_batch_norm": for_batch_norm,
    "fold_scale": for_scale,
    "shift_invariance": for_shift,
    "idempotent": for_idempotent,
    "diagonal_matmul": for_diagonal,
    "commute_pool": for_pool,
    "reduce_linear": for_reduce,
    "merge_linear": for_merge,
    "cancel_moves": for_moves,
    "common_subexpressions": for_common,
    "hoist_invariants": for_hoist,
}
