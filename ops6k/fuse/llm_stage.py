"""The stage when a model proposes: answers are cached by the source, so a killed run asks for nothing twice."""

from pathlib import Path

from ops6k.fuse.llm import LlmSource
from ops6k.fuse.made import Made, distinct, mix_note, write
from ops6k.fuse.sources import wanted
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate, Funnel


def asked(params: Params, data: Path) -> Made:
    """Asks for `fuse.candidates` tasks and writes data/candidates/; an identical answer counts once."""
    source = LlmSource(params, data / ".work" / "llm")
    rows = [wanted(params.mix, params.seed, index) for index in range(params.fuse.candidates)]
    came: list[Candidate] = []
    with track("fuse", len(rows)) as tracker:
        for candidate in source.propose(rows):
            came.append(candidate)
            tracker.advance(note=f"{source.cache.sent} requests sent")
    kept, repeated = distinct(came)
    write(data / "candidates", kept)
    dropped = (*source.rejections(), *((Funnel("duplicate/exact", repeated),) if repeated else ()))
    return Made(tuple(kept), len(rows), dropped, (mix_note(kept), *source.notes()))
