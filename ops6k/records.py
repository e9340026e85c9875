"""The records that travel between stages: frozen, typed, and the source of every Arrow schema.

Standard library only (the GPU side imports this). "Not measured" is None, never -1.
"""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

TOLERANCE = 1e-2
"""A verifier's, absolute and relative, where a row recommends none."""


class Outcome(StrEnum):
    """The class of a verdict."""

    ACCEPTED = "accepted"
    INVALID = "invalid"
    NONDETERMINISTIC = "nondeterministic"
    CONSTANT = "constant"
    OUT_OF_RANGE = "out_of_range"
    DUPLICATE = "duplicate"
    CONTAMINATED = "contaminated"
    UNSAFE = "unsafe"
    UNFINISHED = "unfinished"


class Reason(StrEnum):
    """Why a candidate was not accepted, as class/name."""

    SYNTAX = "invalid/syntax"
    STRUCTURE = "invalid/structure"
    LABEL = "invalid/label"
    UNUSED = "invalid/unused"
    GLOBALS = "invalid/globals"
    RUNTIME = "invalid/runtime"
    CRASH = "invalid/crash"
    DEVICE = "invalid/device"
    DYNAMIC_SHAPE = "invalid/dynamic_shape"
    OUTPUT_TYPE = "invalid/output_type"
    NON_FINITE = "invalid/non_finite"
    STATEFUL = "invalid/stateful"
    ILL_CONDITIONED = "invalid/ill_conditioned"
    NO_TOLERANCE = "invalid/no_tolerance"
    COMPILE = "invalid/compile"
    RANDOM_OP = "nondeterministic/random_op"
    REPEAT = "nondeterministic/repeat"
    INIT = "nondeterministic/init"
    CONSTANT_OUTPUT = "constant/output"
    FIXED_INPUTS = "constant/fixed_inputs"
    DEAD_INPUT = "constant/dead_input"
    IDENTITY = "constant/identity"
    LOW_ACTIVITY = "constant/low_activity"
    FREE_ANSWER = "constant/free_answer"
    REMOVABLE_OP = "constant/removable_op"
    INACTIVE_OP = "constant/inactive_op"
    TOO_FAST = "out_of_range/too_fast"
    TOO_SLOW = "out_of_range/too_slow"
    MEMORY = "out_of_range/memory"
    EXACT = "duplicate/exact"
    NEAR = "duplicate/near"
    BENCHMARK = "contaminated/benchmark"
    UNSAFE_CODE = "unsafe/code"
    UNSAFE_RUNTIME = "unsafe/runtime"
    TIMEOUT = "unfinished/timeout"
    OUT_OF_MEMORY = "unfinished/memory"

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.value.split("/")[0])

    @property
    def short(self) -> str:
        """The name after the slash."""
        return self.value.split("/")[1]


@dataclass(frozen=True, slots=True)
class Operator:
    """One harvested operator, a line of seed_ops/*.jsonl."""

    name: str
    """As a label: nn.Linear, F.relu, torch.cumsum; transformers operators are transformers.<Class>."""
    library: str
    """torch or transformers."""
    version: str
    """Version of the library."""
    module: str
    """Import path of what defines it."""
    kind: str
    """module (an nn.Module class) or function."""
    category: str
    """What kind of operator it is: activation, norm, convolution, ..."""
    signature: str
    """Its call, as inspect or the documentation gives it."""
    doc: str
    """First line of its documentation, cut at 160 characters."""
    arity: int
    """Tensor arguments of the call that was tried."""
    ranks: tuple[int, ...]
    """Ranks of the first tensor argument that it was seen to accept."""
    dtypes: tuple[str, ...]
    """Floating-point types that it was seen to accept."""
    stochastic: bool
    """A call moves the generator's state, or repeats differ."""
    usable: bool
    """A call with example arguments succeeded and returned a tensor."""
    note: str
    """Why it is not usable, or empty."""
    source_hash: str | None
    """sha256 (16 hex digits) of its source; None for builtins."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task as proposed: never changed after it is written."""

    candidate_id: str
    ops: tuple[str, ...]
    code: str
    source: str
    """composer, or the model's name."""
    seed: int
    dtype: str
    categories: tuple[str, ...]
    prompt_hash: str | None = None
    parent: str | None = None
    round: int = 0
    """0 as first proposed; repaired and resized candidates count up."""

    @property
    def depth(self) -> int:
        return len(self.ops)

    @property
    def data_source(self) -> str:
        """As in the reference set: transformers, or torch#<number of operators>."""
        return "transformers" if any(op.startswith("transformers.") for op in self.ops) else f"torch#{len(self.ops)}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Measured times; the interval is a bootstrap interval (95 %) of the median eager device time."""

    eager_ms: float
    """Median device time of one eager forward, in ms."""
    eager_low_ms: float
    """Lower end of its interval, in ms."""
    eager_high_ms: float
    """Upper end of its interval, in ms."""
    eager_wall_ms: float
    """Median wall time of one eager forward, in ms."""
    compiled_ms: float
    """Median device time of one forward under torch.compile's default, in ms."""
    compiled_wall_ms: float
    """Its median wall time, in ms."""
    repeats: int
    """Paired measurements, eager and compiled interleaved."""
    launch_bound: bool
    """Wall time well over device time."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the dry run counted for one forward, nothing allocated."""

    bytes_moved: int
    """Read and written by every operator, views free."""
    io_bytes: int
    """Inputs + parameters + outputs once: what one fused kernel must move."""
    flops: int
    """Floating-point operations of matrix products and convolutions."""
    peak_bytes: int
    """Largest sum of live tensors, in bytes."""
    predicted_ms: float
    """Roofline estimate of eager on the target."""
    sol_ms: float
    """Fused lower bound on the target: max(io_bytes / bandwidth, flops / rate)."""
    fusion_headroom: float | None
    """predicted_ms / sol_ms: what fusing everything into one kernel could win at the target's rates; None where sol_ms is 0."""
    tier_gib: int | None
    """Smallest of 8, 16, 24, 48, 80 that holds the peak; None above."""
    operators: tuple[str, ...]
    """ATen operators in dataflow order; views, and arithmetic with a constant that changes nothing, dropped."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What the eager checks saw; shares are 0-1."""

    bitwise_repeatable: bool
    """Repeats on the same inputs agree bit for bit."""
    mode_dependent: bool
    """Train and eval outputs differ."""
    output_change: float
    """Smallest share, over the outputs, of elements that change beyond the verifier's tolerance with fresh inputs."""
    input_effect: tuple[float, ...]
    """Per argument: share of output elements that move when it alone is redrawn."""
    op_effect: float | None
    """Smallest share of output elements that any operator moves."""
    free_share: float | None
    """Largest share of elements that a free answer matches."""
    free_answer: str | None
    """Which free answer that was, such as zeros."""
    atol: float | None
    """Absolute tolerance recommended for verifying a kernel."""
    rtol: float | None
    """Relative tolerance recommended for verifying a kernel."""
    output_hash: str
    """Stands for the outputs on seeded inputs, to find tasks that compute the same."""
    flags: tuple[str, ...] = ()
    """Further remarks of the checks."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a verdict was reached."""

    target: str
    """Name of the committed target file."""
    device: str
    """Name of the GPU; `cpu` for a CPU of any kind."""
    driver: str | None
    """Version of the GPU driver."""
    torch: str
    """Version of torch."""
    triton: str | None
    """Version of triton."""
    python: str
    """Version of Python."""
    matmul_precision: str
    """torch.set_float32_matmul_precision of eager and compiled alike."""
    tf32: bool
    """Whether TF32 was allowed in matrix products and cuDNN."""


@dataclass(frozen=True, slots=True)
class PhaseSeconds:
    """Wall seconds of each phase of one screen, waiting for others not counted; None where it was not reached."""

    dry_run: float | None = None
    eager: float | None = None
    compile: float | None = None
    timing: float | None = None
    lock: float | None = None
    """Of timing: with the device to itself."""
    device: float | None = None
    """Of eager and compile: at work on the device beside others; None on a CPU."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one candidate. reason is None when accepted."""

    candidate_id: str
    outcome: Outcome
    reason: Reason | None
    message: str
    """What was seen, in one line: the evidence a person reads."""
    phase: str
    """text, dry_run, eager, compile, timing: where it was decided."""
    work: Work | None = None
    checks: Checks | None = None
    timing: Timing | None = None
    environment: Environment | None = None
    seconds: PhaseSeconds | None = None
    forward_ms: float | None = None
    """Wall time of one forward alone on the device, in ms, where the eager checks ended there: far beyond the window."""


@dataclass(frozen=True, slots=True)
class Match:
    """The nearest neighbour of one candidate in one channel."""

    candidate_id: str
    channel: str
    score: float
    reference: str
    """Name of a benchmark problem, or candidate_id of an earlier row."""
    benchmark: str | None
    """Name of the benchmark; None for a neighbour inside the set."""
    level: int | None
    reason: Reason | None
    """Set where this match rejects the candidate."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """The nearest benchmark problem of a published row."""

    nearest: str
    """Name of the benchmark problem."""
    benchmark: str
    """Name of the benchmark."""
    score: float
    """Similarity, 0-1; 1 is the same canonical code or graph."""
    channel: str
    """What was compared: canonical, graph, text; contains or operators where none of these matched."""


@dataclass(frozen=True, slots=True)
class Validation:
    """One screening of a published row: where, and what became of it there."""

    target: str
    """Name of the target."""
    device: str
    """Name of the GPU; `cpu` for a CPU of any kind."""
    driver: str | None
    """Version of the GPU driver."""
    torch: str
    """Version of torch."""
    triton: str | None
    """Version of triton."""
    outcome: Outcome
    """accepted, or the class of the verdict."""
    reason: Reason | None
    """Null where it passed."""
    message: str
    """What was seen."""
    eager_ms: float | None
    """Median device time of one eager forward, in ms."""
    compiled_ms: float | None
    """Median device time of one forward under torch.compile's default, in ms."""


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the published set."""

    task_id: str
    """16 hex digits of the sha256 of the code."""
    ops: tuple[str, ...]
    """Declared operators, each checked against the code."""
    data_source: str
    """As in the reference set: transformers, or torch#<number of operators>."""
    code: str
    """The module Model, get_inputs() and get_init_inputs(), in KernelBench form."""
    depth: int
    """Number of declared operators."""
    categories: tuple[str, ...]
    """Categories of the operators, in their order."""
    dtype: str
    """Floating-point type that the task computes in."""
    source: str
    """composer (built in), or the model's name."""
    prompt_hash: str | None
    """sha256 of the prompt that made it."""
    parent: str | None
    """candidate_id that it was repaired or resized from."""
    round: int
    """0 as first proposed; repaired and resized tasks count up."""
    seed: int
    """Seed of the proposal."""
    cluster: str
    """Near neighbours share it; a split never cuts it."""
    timing: Timing
    """Measured times."""
    work: Work
    """What the dry run counted for one forward."""
    checks: Checks
    """What the eager checks saw."""
    similarity: Similarity | None
    """The nearest benchmark problem."""
    environment: Environment
    """Where it was screened."""
    validations: tuple[Validation, ...]
    """All screenings, the first one first: which machines and versions the row passed on."""
    licence: str
    """SPDX identifier."""
    attribution: str
    """Whom to credit."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many of a stage's items ended with one reason."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a stage did, written beside its output as report.json."""

    stage: str
    taken: int
    kept: int
    reasons: tuple[Funnel, ...] = ()
    notes: tuple[str, ...] = ()
    """Lines for a person."""
    seconds: float = 0.0


def candidate_id(ops: tuple[str, ...], code: str) -> str:
    """16 hex digits that stand for labels and code."""
    return hashlib.sha256(json.dumps([list(ops), code]).encode()).hexdigest()[:16]


def task_id(code: str) -> str:
    """16 hex digits of the code's sha256."""
    return hashlib.sha256(code.encode()).hexdigest()[:16]
