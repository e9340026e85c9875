"""Where an export goes: whole or not at all, and never in the place of what is no earlier export."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ops6k.errors import Ops6kError
from ops6k.store import whole_folder

# Hidden, so that `load_dataset(FOLDER)` does not take it for data.
MARKER = ".ops6k-export"


@contextmanager
def export_folder(out: Path, *, renewable: bool) -> Iterator[Path]:
    """A folder to fill, which then stands at `out`. renewable: the next export may take its place.

    Raises Ops6kError where `out` is a file, or a folder with files that no renewable export left.
    """
    place = out.resolve()  # `.` has no name to write aside under
    _require_free(place, out)
    with whole_folder(place) as folder:
        yield folder
        if renewable:
            (folder / MARKER).write_text("Made by `ops6k export`, which may replace this folder.\n", encoding="utf-8")


def _require_free(place: Path, named: Path) -> None:
    """A folder is replaced whole, so a mistyped --out must not cost a home folder, nor an agent its kernel."""
    above = next((parent for parent in (place, *place.parents) if parent.exists()), place)
    if above.exists() and not above.is_dir():
        raise Ops6kError(f"{named}: {above} is a file, and the export is a folder; give another --out")
    if place.is_dir() and not (place / MARKER).is_file() and any(place.iterdir()):
        raise Ops6kError(f"{named}: holds files that an export would replace; give another --out or remove it first")
