"""`python -m ops6k.train`: fill the table of plan times on a machine with only torch, numpy, pyarrow and yaml; trains nothing."""

import argparse
import sys
from pathlib import Path

from ops6k import params
from ops6k.errors import Ops6kError
from ops6k.train import fill_times


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ops6k.train", description=__doc__)
    parser.add_argument("--params", type=Path, default=Path("params.yaml"))
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--deadline-s", type=float, help="begin no task after so many seconds")
    given = parser.parse_args()
    try:
        build = params.load(given.params, preset=given.preset, settings=given.settings)
        print(fill_times(build, given.data, given.deadline_s))
    except Ops6kError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
