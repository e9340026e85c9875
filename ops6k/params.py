"""params.yaml as typed, frozen records: unknown keys, wrong types and impossible values are one clear line.

Standard library and yaml only (the GPU side reads it). `preset` names an overlay from `presets:`; command line settings
(`--set screen.timeout_s=30`) come last.
"""

import dataclasses
import math
import os
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ops6k.errors import MissingInput, ParamsError
from ops6k.yaml_text import yaml_tree


@dataclass(frozen=True, slots=True)
class Within:
    """Bounds of a number, both allowed."""

    low: float
    high: float = math.inf


Positive = typing.Annotated[float, Within(1e-9)]
Share = typing.Annotated[float, Within(0.0, 1.0)]
Count = typing.Annotated[int, Within(1)]
CountOrNone = typing.Annotated[int, Within(0)]
Seed = typing.Annotated[int, Within(0, 2**32 - 1)]
"""What NumPy's generators take, and with them MinHash and the agent's training."""


def _increasing(name: str, pair: tuple[float, ...]) -> None:
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise ValueError(f"{name}: two numbers, the smaller first, not {list(pair)}")


@dataclass(frozen=True, slots=True)
class MixParams:
    """What the set is to be made of; shares sum to 1."""

    depth: dict[int, Share]
    dtype: dict[typing.Literal["float32", "bfloat16", "float16"], Share]
    transformers: Share
    """Share of rows that use an operator from transformers."""

    def __post_init__(self) -> None:
        for name in ("depth", "dtype"):
            total = sum(getattr(self, name).values())
            if abs(total - 1) > 1e-3:
                raise ValueError(f"{name}: shares sum to {total:g}, not 1")
        if not set(self.depth) <= set(range(1, 6)):
            raise ValueError(f"depth: 1 to 5, not {sorted(self.depth)}")


@dataclass(frozen=True, slots=True)
class HarvestParams:
    min_torch: CountOrNone = 350
    """Fewer usable torch operators stop the stage."""
    min_transformers: CountOrNone = 150
    call_timeout_s: Positive = 20.0
    """Wall time of the tries of one operator."""


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: typing.Annotated[float, Within(0.0)]
    output: typing.Annotated[float, Within(0.0)]


@dataclass(frozen=True, slots=True)
class LlmParams:
    base_url: str | None = None
    """None: OPENAI_BASE_URL, else the client's default."""
    model: str | None = None
    """None: OPS6K_MODEL."""
    temperature: typing.Annotated[float, Within(0.0, 2.0)] = 1.0
    max_output_tokens: Count = 4096
    """Of one task."""
    structured: typing.Literal["auto", "on", "off"] = "auto"
    """A JSON schema goes along; auto: until the endpoint refuses it."""
    tasks_per_request: typing.Annotated[int, Within(1, 20)] = 1
    repair: bool = True
    """What the text checks and the dry run reject goes back once, with the reason."""
    resize: bool = True
    """What the screen cannot bring into its window by size constants goes back once."""
    batch: bool = False
    """Through /v1/batches: cheaper, within a day."""
    concurrency: Count = 8
    timeout_s: Positive = 120.0
    requests_per_minute: Positive | None = None
    """None: as many as the endpoint takes."""
    tokens_per_minute: Positive | None = None
    max_requests: CountOrNone = 20000
    """Hard budgets over all runs; None: no limit."""
    max_tokens: CountOrNone | None = None
    max_usd: typing.Annotated[float, Within(0.0)] | None = None
    prices: dict[str, Price] = field(default_factory=dict)
    """By model."""
    batch_price: Share = 0.5
    """Price of a token in a batch, as a share."""


@dataclass(frozen=True, slots=True)
class FuseParams:
    source: typing.Literal["composer", "llm"] = "composer"
    candidates: Count = 12000
    target_ms: tuple[Positive, ...] = (1.2, 8.0)
    """Predicted eager times are spread over this range."""
    llm: LlmParams = field(default_factory=LlmParams)

    def __post_init__(self) -> None:
        _increasing("target_ms", self.target_ms)


@dataclass(frozen=True, slots=True)
class ScreenParams:
    window_ms: tuple[Positive, ...] = (1.0, 100.0)
    """Eager device time; a candidate whose whole interval lies outside is out of range."""
    tolerance: Positive = 1e-2
    """The verifier's atol and rtol: what constancy is judged at."""
    timeout_s: Positive = 120.0
    """Wall time of one candidate, compile included; past it the verdict is unfinished."""
    memory_gib: Positive = 24.0
    """Largest predicted peak that may run; above it the candidate is out of range."""
    workers: CountOrNone = 0
    """Children at once; 0: one per core."""
    shard_rows: Count = 16
    resize_rounds: CountOrNone = 2
    """How often a task outside the window is resized and judged again."""
    replay_times: str | None = None
    """A verdicts folder whose measured times are used instead of measuring, candidate by candidate."""

    def __post_init__(self) -> None:
        _increasing("window_ms", self.window_ms)


_DEDUP_RULES: dict[str, typing.Literal["reject", "flag"]] = {
    "benchmark/canonical": "reject",
    "benchmark/graph": "reject",
    "benchmark/text": "reject",
    "benchmark/contains": "flag",
    "benchmark/operators": "flag",
    "set/exact": "reject",
    "set/canonical": "reject",
    "set/graph": "reject",
    "set/text": "reject",
}


@dataclass(frozen=True, slots=True)
class DedupParams:
    benchmarks: tuple[str, ...] = ("data/benchmarks/kernelbench.parquet",)
    jaccard: Share = 0.9
    """Exact Jaccard similarity of canonical 5-grams from which text counts as near."""
    num_perm: typing.Annotated[int, Within(16, 4096)] = 128
    seed: Seed = 1
    rules: dict[str, typing.Literal["reject", "flag"]] = field(default_factory=lambda: dict(_DEDUP_RULES))
    """What a match does, by where/channel (the channels: ops6k/dedup/decide.py)."""
    sized_depth: CountOrNone = 2
    """Up to so many operators, another class of sizes is another task of the set; never against a benchmark."""
    size_factor: typing.Annotated[float, Within(1.0)] = 8.0
    """Sizes within this factor are of one class; attributes (numbers under 16, fractions) must be equal."""

    def __post_init__(self) -> None:
        if set(self.rules) != set(_DEDUP_RULES):
            odd = sorted(set(self.rules) ^ set(_DEDUP_RULES))[0]
            raise ValueError(
                f"rules: {odd!r} is {'unknown' if odd in self.rules else 'missing'}; needed: {', '.join(_DEDUP_RULES)}"
            )


@dataclass(frozen=True, slots=True)
class AssembleParams:
    rows: Count = 6000
    splits: tuple[Share, ...] = (0.9, 0.05, 0.05)
    """train, validation, test."""
    short: typing.Literal["allow", "stop"] = "stop"
    """What to do when there are fewer accepted tasks than rows."""

    def __post_init__(self) -> None:
        if len(self.splits) != 3 or abs(sum(self.splits) - 1) > 1e-3:
            raise ValueError(f"splits: three shares that sum to 1, not {list(self.splits)}")


@dataclass(frozen=True, slots=True)
class TrainParams:
    tasks: Count = 400
    """At most so many tasks are measured under plans."""
    plans: typing.Annotated[int, Within(2)] = 20
    """At most so many plans a task; the first two are eager and default compile."""
    steps: Count = 20000
    """Environment steps of PPO."""
    seeds: Count = 3
    """Agents trained on the same tasks: figures are their mean, the best one is published."""
    folds: Count = 1
    """Above 1 every measured task is also judged by agents that saw none of its cluster: so many times as much training."""
    repeats: typing.Annotated[int, Within(3)] = 15
    """Paired repeats of one measurement."""
    replay_times: str | None = None
    """A plan_times.parquet whose times are used instead of measuring."""
    problems: str | None = None
    """A folder of .py files in KernelBench form: measured and judged, never trained on."""


@dataclass(frozen=True, slots=True)
class PublishParams:
    to: str | None = None
    """Hub organisation or user; None publishes nothing."""
    private: bool = True


@dataclass(frozen=True, slots=True)
class Params:
    preset: str
    seed: Seed
    target: str
    mix: MixParams
    harvest: HarvestParams
    fuse: FuseParams
    screen: ScreenParams
    dedup: DedupParams
    assemble: AssembleParams
    train: TrainParams
    publish: PublishParams
    root: Path = Path()
    """The folder of params.yaml: relative paths start there."""

    def path(self, relative: str | Path) -> Path:
        return self.root / relative


def load(file: Path, *, preset: str | None = None, settings: Iterable[str] = ()) -> Params:
    """The parameters of a build. settings: `section.key=value`, value in YAML. Raises ParamsError, MissingInput."""
    try:
        tree = yaml_tree(file.read_text(encoding="utf-8"), file)
    except OSError as error:
        raise MissingInput(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ParamsError(f"{file}: not YAML: {error}") from None
    if not isinstance(tree, dict):
        raise ParamsError(f"{file}: must hold a mapping, holds {type(tree).__name__}")
    presets = tree.pop("presets", None) or {}
    if not isinstance(presets, dict) or not all(isinstance(over, dict) for over in presets.values()):
        raise ParamsError(f"{file}: presets must be a mapping of mappings")
    tree["preset"] = preset or os.environ.get("OPS6K_PRESET") or tree.get("preset", "full")
    if not isinstance(tree["preset"], str):
        raise ParamsError(f"{file}: preset must be a name, is {tree['preset']!r}")
    if tree["preset"] != "full":
        if tree["preset"] not in presets:
            raise ParamsError(f"{file}: preset {tree['preset']!r} is none of full, {', '.join(presets)}")
        _overlay(tree, presets[tree["preset"]])
    for setting in settings:
        _overlay(tree, _setting(setting))
    if "root" in tree:
        raise ParamsError(f"{file}: unknown key 'root'")
    tree["root"] = str(file.resolve().parent)
    return _typed(Params, tree, str(file.name))


def _setting(text: str) -> dict:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise ParamsError(f"--set {text}: write section.key=value")
    if key == "preset":
        raise ParamsError(f"--set {text}: use --preset")
    tree = yaml_tree(value, f"--set {text[:100]}")
    for part in reversed(key.split(".")):
        tree = {part: tree}
    return tree


def _overlay(tree: dict, over: dict) -> None:
    for key, value in over.items():
        # A mix is replaced whole: shares of two mixes do not add up.
        if isinstance(value, dict) and isinstance(tree.get(key), dict) and key not in ("depth", "dtype"):
            _overlay(tree[key], value)
        else:
            tree[key] = value


def _typed(kind: object, value: object, place: str) -> object:
    """The value as the type says; raises ParamsError that names the place."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind, value, place)
    if origin is typing.Annotated:
        return _within(_typed(args[0], value, place), args[1], place)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _typed(next(a for a in args if a is not types.NoneType), value, place)
    if origin is typing.Literal:
        if isinstance(value, bool) and {"on", "off"} <= set(args):
            value = "on" if value else "off"  # YAML reads the bare words as booleans
        if value not in args:
            raise ParamsError(f"{place}: {value!r} is none of {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ParamsError(f"{place}: must be a list, is {value!r}")
        return tuple(_typed(args[0], part, f"{place}[{i}]") for i, part in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            raise ParamsError(f"{place}: must be a mapping, is {value!r}")
        return {_typed(args[0], k, place): _typed(args[1], v, f"{place}.{k}") for k, v in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ParamsError(f"{place}: must be {kind.__name__}, is {value!r}")
    return value


def _within(number: float, bounds: Within, place: str) -> float:
    if not bounds.low <= number <= bounds.high or math.isinf(number):
        above = f" to {bounds.high:.10g}" if math.isfinite(bounds.high) else " or more"
        raise ParamsError(f"{place}: must be {bounds.low:g}{above}, is {number}")
    return number


def _record(kind: type, value: object, place: str) -> object:
    if not isinstance(value, dict):
        raise ParamsError(f"{place}: must be a mapping, is {value!r}")
    hints = typing.get_type_hints(kind, include_extras=True)
    unknown = sorted(str(key) for key in set(value) - set(hints))
    if unknown:
        raise ParamsError(f"{place}: unknown key {unknown[0]!r}; known: {', '.join(k for k in hints if k != 'root')}")
    for part in dataclasses.fields(kind):
        needed = part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
        if needed and part.name not in value:
            raise ParamsError(f"{place}: key {part.name!r} is missing")
    try:
        return kind(
            **{
                key: _typed(hints[key], part, f"{place}: {key}" if ":" not in place else f"{place}.{key}")
                for key, part in value.items()
            }
        )
    except ValueError as error:
        raise ParamsError(f"{place}: {error}") from None
