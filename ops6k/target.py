"""The machine that a build is for: a committed file, data/targets/NAME.yaml, made once by `ops6k calibrate`.

Standard library, torch and yaml only. The composer fits sizes to a target, the screen refuses to run on a machine that
does not match it, and work folders are keyed by it, so that shards made on the GPU machine are found done anywhere.
"""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

from ops6k.errors import MissingInput, ParamsError, TargetMismatch
from ops6k.yaml_text import yaml_tree

TIERS_GIB = (8, 16, 24, 48, 80)


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    device: str
    """cpu or cuda."""
    device_name: str | None
    """As torch.cuda.get_device_name says; None for a CPU: any will do."""
    torch: str
    """major.minor that the rates were measured with."""
    threads: int
    """Threads of one child on the CPU."""
    memory_gib: float
    matmul_precision: str
    """torch.set_float32_matmul_precision: highest means full float32."""
    tf32: bool
    bandwidth_gbs: float
    """10^9 bytes a second, read and written, of a large elementwise operator."""
    gflops: dict[str, float]
    """10^9 FLOP a second of a large matrix product, by dtype."""
    overhead_us: float
    """Microseconds of one small operator, launch included."""
    measured: str
    """Machine and date."""
    slowdown: dict[str, float] = field(default_factory=dict)
    """Times that an ATen operator takes of what the rates say, by its name; "other" for those not listed, 1 without."""

    def rate(self, dtype: str) -> float:
        """FLOP a second; float32's where the dtype was not measured."""
        return 1e9 * self.gflops.get(dtype, self.gflops["float32"])

    def slower(self, operator: str) -> float:
        """Times that an operator takes of what the rates say."""
        return self.slowdown.get(operator, self.slowdown.get("other", 1.0))


def load(path: Path) -> Target:
    """The target in a file; raises MissingInput or ParamsError with the file's name."""
    try:
        tree = yaml_tree(path.read_text(encoding="utf-8"), f"target {path}")
    except OSError as error:
        raise MissingInput(f"target {path}: {error.strerror}; `ops6k calibrate --name NAME` makes one for this machine") from None
    except UnicodeDecodeError as error:
        raise ParamsError(f"target {path}: not YAML: {error}") from None
    names = {field.name for field in dataclasses.fields(Target)}
    tree = {"slowdown": {}} | tree if isinstance(tree, dict) else tree
    if not isinstance(tree, dict) or set(tree) != names:
        raise ParamsError(f"target {path}: must have exactly the keys {', '.join(sorted(names))}")
    rates = tree["gflops"] if isinstance(tree["gflops"], dict) else {}
    slowdown = tree["slowdown"] if isinstance(tree["slowdown"], dict) else {"slowdown": None}
    numbers = {**slowdown, **{name: tree[name] for name in ("threads", "memory_gib", "bandwidth_gbs", "overhead_us")}, **rates}
    odd = next((name for name, value in numbers.items() if not isinstance(value, int | float) or not value > 0), None)
    if odd or "float32" not in rates:
        raise ParamsError(f"target {path}: {odd or 'gflops.float32'} must be a number above 0")
    return Target(**tree)


def require_machine(target: Target) -> None:
    """Raises TargetMismatch where this machine is not the target's."""
    import torch

    version = ".".join(torch.__version__.split(".")[:2])
    if target.device == "cuda":
        if not torch.cuda.is_available():
            raise TargetMismatch(
                f"target {target.name} wants {target.device_name}; this machine has no CUDA device (see `target` in params.yaml)"
            )
        found = torch.cuda.get_device_name()
        if found != target.device_name:
            raise TargetMismatch(
                f"target {target.name} wants {target.device_name}, this machine has {found}; `ops6k calibrate` makes a target for it"
            )
    if version != target.torch:
        raise TargetMismatch(
            f"target {target.name} was measured with torch {target.torch}, installed is {version}; `ops6k calibrate` makes a target for it"
        )
