"""What would be uploaded, as folders on this machine."""

import shutil
from pathlib import Path

from ops6k import store
from ops6k.params import Params
from ops6k.publish.audited import refuse_faulty
from ops6k.publish.contents import What, parts


def to_folder(params: Params, data: Path, folder: Path, *, what: What = "all") -> list[str]:
    """Copies to folder/ops6k and folder/ops6k-agent, taking the place of earlier copies; returns a line for each.

    The same checks as for the Hub, but no token and no network.
    """
    lines = []
    checked = parts(data, what)
    refuse_faulty(checked, params, data)
    for part in checked:
        place = folder / part.repository
        with store.whole_folder(place) as aside:
            for file in part.files:
                (aside / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(part.folder / file, aside / file)
        lines.append(f"{part.folder} -> {place}: {len(part.files)} files")
    return lines
