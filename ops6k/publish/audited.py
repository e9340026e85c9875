"""The audit that a data set must pass before it leaves: text, labels, dry runs, copies and duplicates once more, from its files."""

import os
from collections.abc import Sequence
from pathlib import Path

from ops6k.audit import audit
from ops6k.errors import HubError
from ops6k.params import Params
from ops6k.publish.contents import Part


def refuse_faulty(parts: Sequence[Part], params: Params, data: Path) -> None:
    """Raises HubError with the first fault where the audit of a data set finds any; what was looked at is kept below data/.work."""
    workers = params.screen.workers or os.cpu_count() or 1
    for folder in (part.folder for part in parts if part.kind == "dataset"):
        faults = audit(str(folder), params, data / ".work" / "audit", workers=workers).faults
        if faults:
            raise HubError(
                f"{folder}: the audit finds {len(faults)} faults, nothing was published; the first: {faults[0].place}: "
                f"{faults[0].kind}: {faults[0].message}; `ops6k audit {folder}` lists all"
            )
