"""The second round: what the screen found out of range, and could not resize by size constants, asked for once more."""

from pathlib import Path

from ops6k import rounds
from ops6k.fuse.made import Made, distinct, write
from ops6k.params import FuseParams, Params
from ops6k.progress import track
from ops6k.records import Candidate, Funnel, Verdict


def asked_again(params: Params, data: Path) -> Made:
    """Writes data/resized/, empty where nothing goes back; an answer that there was before counts as a repetition."""
    why_not = _why_nothing_goes_back(params.fuse)
    back = [] if why_not else list(rounds.out_of_range(data))
    if back:
        made = _asked(back, params, data)
    else:
        made = Made((), 0, (), (f"nothing goes back to a model: {why_not or 'nothing of it is out of range'}",))
    write(data / rounds.SECOND.proposed, made.candidates)
    return made


def _why_nothing_goes_back(fuse: FuseParams) -> str | None:
    if fuse.source == "composer":
        return "the composer fits its tasks before they are screened"
    return None if fuse.llm.resize else "fuse.llm.resize is off"


def _asked(back: list[tuple[Candidate, Verdict]], params: Params, data: Path) -> Made:
    from ops6k.fuse.llm import LlmSource

    source = LlmSource(params, data / ".work" / "llm")
    came = []
    with track("resize", len(back)) as tracker:
        for candidate in source.resized(back):
            came.append(candidate)
            tracker.advance(note=f"{source.store.budget.requests} requests sent")
    known = {one.candidate_id for one in rounds.candidates(data, (rounds.FIRST,))}
    fresh, _ = distinct(candidate for candidate in came if candidate.candidate_id not in known)
    repeated = len(came) - len(fresh)
    dropped = (*source.rejections(), *((Funnel("duplicate/exact", repeated),) if repeated else ()))
    return Made(tuple(fresh), len(back), dropped, source.notes())
