"""How busy the GPUs were while something ran, as `nvidia-smi` says: its utilization.gpu, the share of time in which a kernel ran."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from threading import Event, Thread

_QUERY = ("--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits")
_ANSWERS_WITHIN_S = 30.0


@dataclass
class Busy:
    """Samples so far. As text: `GPU 0 83 %, GPU 1 0 %`, or why there is no figure."""

    percents: dict[str, list[float]] = field(default_factory=dict)
    """By the GPU's index."""
    why_not: str = "too short to measure"

    def __str__(self) -> str:
        if not self.percents:
            return self.why_not
        return ", ".join(f"GPU {index} {fmean(percents):.0f} %" for index, percents in sorted(self.percents.items()))

    def sample(self, smi: str) -> None:
        """Asks once. What nvidia-smi does not say, as on a GPU that is cut into instances, is no figure."""
        try:
            done = subprocess.run([smi, *_QUERY], capture_output=True, text=True, timeout=_ANSWERS_WITHIN_S, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            self.why_not = f"nvidia-smi gave no figure: {error}"
            return
        for line in done.stdout.splitlines():
            index, _, percent = (part.strip() for part in line.partition(","))
            if percent.isdecimal():
                self.percents.setdefault(index, []).append(float(percent))
            else:
                self.why_not = f"nvidia-smi says {percent or line}"


@contextmanager
def watched(every_s: float = 2.0) -> Iterator[Busy]:
    """Samples from `every_s` seconds on, in a thread, while the block runs."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        yield Busy(why_not="no GPU")
        return
    busy, ended = Busy(), Event()

    def ask() -> None:
        while not ended.wait(every_s):
            busy.sample(smi)

    asking = Thread(target=ask, name="nvidia-smi", daemon=True)
    asking.start()
    try:
        yield busy
    finally:
        ended.set()
        asking.join()
