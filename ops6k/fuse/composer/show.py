"""`python -m ops6k.fuse.composer.show COUNT [TARGET]`: rate, yield and coverage of the composer, and one task to read."""

import sys
import time
from collections import Counter
from pathlib import Path

from ops6k import params, target
from ops6k.fuse.composer.batch import Composer
from ops6k.fuse.composer.grow import full_pool, grow
from ops6k.fuse.composer.recipe import recipes
from ops6k.fuse.sources import wanted


def show(count: int, target_file: Path, start: int = 0) -> None:
    """Prints what `count` candidates took and why graphs were given up; one process, one thread."""
    import torch

    torch.set_num_threads(1)
    build = params.load(Path("params.yaml"))
    composer = Composer(target.load(target_file), build.fuse.target_ms)
    rows = [wanted(build.mix, build.seed, index) for index in range(start, start + count)]
    composer.one(rows[0])  # imports and first kernels are not the composer's
    began, cpu = time.monotonic(), time.process_time()
    proposals = [composer.one(row) for row in rows]
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    began_growing = time.process_time()
    grown = sum(grow(row, full_pool(build.seed)) is not None for row in rows)
    growing = time.process_time() - began_growing
    made = [p for p in proposals if p.candidate]
    refused = [reason for p in proposals for reason in p.refused]
    used = Counter(op for p in made for op in p.candidate.ops)
    print(
        f"{len(made)} of {count} composed in {seconds:.1f} s ({cpu / count * 1e3:.0f} ms of CPU each); {grown} grown at {growing / count * 1e3:.1f} ms each"
    )
    print(f"{len(made) / (len(made) + len(refused)):.1%} of composed graphs passed dry run, fit and the check at real widths")
    print(f"{len(used)} of {len({r.op for r in recipes()})} operators used; commonest {used.most_common(5)}")
    for reason, number in Counter(text.rpartition(": ")[2] for text in refused).most_common(10):
        print(f"{number:5d} {reason}")
    print(f"\n# {', '.join(made[-1].candidate.ops)}: {made[-1].predicted_ms:.2f} ms predicted\n{made[-1].candidate.code}")


if __name__ == "__main__":
    show(int(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "data/targets/h200.yaml"))
