"""What one screen judges by: the parameters that reach a child, as plain values."""

from dataclasses import dataclass

from ops6k.params import ScreenParams
from ops6k.target import Target


@dataclass(frozen=True, slots=True)
class Limits:
    window_ms: tuple[float, ...] | None
    """None: the run-time window is not judged."""
    tolerance: float
    memory_gib: float
    timeout_s: float


def limits_of(params: ScreenParams, target: Target, *, window: bool = True) -> Limits:
    memory_gib = min(params.memory_gib, target.memory_gib)
    return Limits(params.window_ms if window else None, params.tolerance, memory_gib, params.timeout_s)
