"""`python benchmarks/composer_speed.py [COUNT]`: candidates a second that the composer makes, without and with dry runs.

Composing is growing a graph (trial runs and probes at small sizes included) and writing it; with the dry run it is fitted to
the H200 and checked at real widths too. One process, one thread; the rate of two cores is twice that of a core's CPU time,
because stretches of a run share nothing. CPU time, so that other work on the machine counts little (shared caches still do).
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from ops6k import params, target
from ops6k.fuse.composer import fit
from ops6k.fuse.composer.batch import Composer, warm_up
from ops6k.fuse.composer.grow import full_pool, grow
from ops6k.fuse.composer.write import Writer, real_sizes
from ops6k.fuse.sources import Wanted, wanted

ROOT = Path(__file__).resolve().parents[1]


def composed(one: Wanted) -> bool:
    """Whether a graph was grown and written at the sizes drawn for it."""
    graph = grow(one, full_pool(one.seed))
    return graph is not None and bool(Writer(graph, one.dtype, str(one.index)).code(real_sizes(graph)))


def two_core_rate(make: Callable[[Wanted], bool], rows: list[Wanted]) -> float:
    """Successes a second of two cores' CPU time."""
    began = time.process_time()
    made = sum(make(row) for row in rows)
    return 2 * made / (time.process_time() - began)


def main(count: int) -> None:
    torch.set_num_threads(1)
    build = params.load(ROOT / "params.yaml")
    composer = Composer(target.load(ROOT / "data/targets/h200.yaml"), build.fuse.target_ms)
    rows = [wanted(build.mix, build.seed, index) for index in range(count)]
    warm_up()
    sum(map(composed, rows[:50]))
    print(f"{two_core_rate(composed, rows):.0f} a second of two cores, dry run left out (200 wanted)")
    calls: Counter[str] = Counter()
    dry_run = fit.dry_run_code

    def counted(*arguments: object) -> object:
        calls["dry runs"] += 1
        return dry_run(*arguments)

    fit.dry_run_code = counted
    rate = two_core_rate(lambda row: composer.one(row).candidate is not None, rows)
    print(f"{rate:.1f} a second of two cores, dry run included (15 wanted); {calls['dry runs'] / count:.2f} dry runs each")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
