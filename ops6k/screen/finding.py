"""What a check has against a candidate, and the one place where a candidate's exception becomes that."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ops6k.records import Reason
from ops6k.screen.watch import watching

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to reject, and what was seen."""

    reason: Reason
    message: str


def attempt(run: Callable[[], T], otherwise: Reason = Reason.RUNTIME, *, watched: bool = True) -> "T | Finding":
    """What `run` returns, or the finding that its exception amounts to.

    watched: what the code reaches for meanwhile is noted (ops6k.screen.watch); not where torch's compiler works beside it.

    This is the only broad `except` of the system: candidate code may raise anything, SystemExit included.
    """
    try:
        with watching() if watched else contextlib.nullcontext():
            return run()
    except BaseException as error:  # noqa: BLE001 - the one place for it
        return Finding(_reason(error, otherwise), one_line(error))


# The caching allocator of CUDA asks NVML when it is out of memory, and says only that NVML is not to be had in a jail.
_OUT_OF_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "CUDA out of memory",
    "nvmlInit_v2_",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    # A lone surrogate can be written to no file.
    return f"{type(error).__name__}: {text}"[:400].encode("utf-8", "backslashreplace").decode()


def _reason(error: BaseException, otherwise: Reason) -> Reason:
    # By name: these classes live in private modules of torch that move between versions.
    name, text = type(error).__name__, str(error)
    if isinstance(error, MemoryError) or name == "OutOfMemoryError" or any(phrase in text for phrase in _OUT_OF_MEMORY):
        return Reason.OUT_OF_MEMORY
    if (
        name == "FakeTensorDeviceMismatchError"
        or "Expected all tensors to be on the same device" in text
        or "Device Propagation" in text
        or "is not on the expected device" in text
    ):
        return Reason.DEVICE
    if name == "DynamicOutputShapeException":
        return Reason.DYNAMIC_SHAPE
    if name in ("GuardOnDataDependentSymNode", "DataDependentOutputException", "FailOnRecompileLimitHit"):
        return Reason.COMPILE
    return otherwise
