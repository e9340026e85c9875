"""`python -m ops6k.screen`: fill verdict shards on a machine with only torch, numpy, pyarrow and yaml."""

import argparse
import sys
from pathlib import Path

from ops6k import params
from ops6k.errors import Ops6kError
from ops6k.rounds import FIRST, SECOND
from ops6k.screen import Slice, fill_shards


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ops6k.screen", description=__doc__)
    parser.add_argument("--params", type=Path, default=Path("params.yaml"))
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--deadline-s", type=float, help="begin no candidate after so many seconds")
    parser.add_argument(
        "--slice", default="0/1", metavar="K/N", help="every N-th shard from number K on, counted from 0: a Slurm array's"
    )
    parser.add_argument("--again", action="store_true", help="the second round: data/resized/ instead of data/candidates/")
    given = parser.parse_args()
    try:
        typed = params.load(given.params, preset=given.preset, settings=given.settings)
        shards = fill_shards(typed, given.data, SECOND if given.again else FIRST, given.deadline_s, Slice.parsed(given.slice))
    except Ops6kError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{sum(shard.done for shard in shards)} of {len(shards)} shards are done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
