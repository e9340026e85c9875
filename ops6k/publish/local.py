"""What would be uploaded, as folders on this machine."""

import filecmp
import shutil
from pathlib import Path

from ops6k import store
from ops6k.params import Params
from ops6k.publish.audited import refuse_faulty
from ops6k.publish.contents import Part, What, changes, parts


def to_folder(params: Params, data: Path, folder: Path, *, what: What = "all") -> list[str]:
    """Copies to folder/ops6k and folder/ops6k-agent, taking the place of earlier copies that differ; returns lines for a person.

    The same checks and the same lines as for the Hub, but no token and no network.
    """
    lines = []
    checked = parts(data, what)
    refuse_faulty(checked, params, data)
    for part in checked:
        place = folder / part.repository
        changed = _changes(part, place)
        if changed:
            _copy(part, place)
        lines += [f"  {change}" for change in changed]
        lines.append(f"{part.folder} -> {place}: {f'{len(part.files)} files' if changed else 'nothing changed'}")
    return lines


def _changes(part: Part, place: Path) -> list[str]:
    """Hidden files at the place count for nothing."""
    found = {path.relative_to(place): path for path in place.rglob("*") if path.is_file()}
    there = {name.as_posix(): path for name, path in found.items() if not any(word.startswith(".") for word in name.parts)}
    sizes = {name: path.stat().st_size for name, path in there.items()}
    return list(changes(part, sizes, lambda name: filecmp.cmp(part.folder / name, there[name], shallow=False)))


def _copy(part: Part, place: Path) -> None:
    with store.whole_folder(place) as aside:
        for file in part.files:
            (aside / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(part.folder / file, aside / file)
