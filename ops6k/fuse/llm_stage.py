"""The stage when a model proposes: asked, judged as answers come, what was rejected asked for once more.

Answers are kept by the source, so a killed run asks for nothing twice. A candidate that was repaired stays beside its
repair: the screen has the last word on both.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ops6k.fuse.llm import LlmSource
from ops6k.fuse.made import Made, distinct, mix_note, write
from ops6k.fuse.sources import wanted
from ops6k.params import Params
from ops6k.progress import Tracker, track
from ops6k.records import Candidate, Funnel


def asked(params: Params, data: Path) -> Made:
    """Asks for `fuse.candidates` tasks and writes data/candidates/; an identical answer counts once."""
    source = LlmSource(params, data / ".work" / "llm")
    rows = [wanted(params.mix, params.seed, index) for index in range(params.fuse.candidates)]
    came: list[Candidate] = []
    notes: tuple[str, ...] = ()
    with track("fuse", len(rows)) as tracker:
        proposed = _shown(source.propose(rows), came, source, tracker)
        if params.fuse.llm.repair:
            notes = _with_repairs(params, source, proposed, came, tracker)
        else:
            list(proposed)
    kept, repeated = distinct(came)
    write(data / "candidates", kept)
    dropped = (*source.rejections(), *((Funnel("duplicate/exact", repeated),) if repeated else ()))
    taken = len(kept) + sum(funnel.count for funnel in dropped)
    return Made(tuple(kept), taken, dropped, (mix_note(kept), *source.notes(), *notes))


def _with_repairs(
    params: Params, source: LlmSource, proposed: Iterable[Candidate], came: list[Candidate], tracker: Tracker
) -> tuple[str, ...]:
    from ops6k.fuse.llm.trial import rejected
    from ops6k.screen.shards import rules_of

    rules = rules_of(params)
    bad = list(rejected(_once(proposed), rules))
    if not bad:
        return ()
    tracker.total += len(bad)
    repaired: list[Candidate] = []
    still_bad = list(rejected(_once(_shown(source.repaired(bad), repaired, source, tracker)), rules))
    came += repaired
    sound = len({c.candidate_id for c in repaired}) - len(still_bad)
    return (f"{len(bad)} candidates failed text checks or dry run and went back; {sound} of {len(repaired)} repairs pass them",)


def _once(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Without exact repetitions."""
    seen: set[str] = set()
    for candidate in candidates:
        if candidate.candidate_id not in seen:
            seen.add(candidate.candidate_id)
            yield candidate


def _shown(candidates: Iterable[Candidate], came: list[Candidate], source: LlmSource, tracker: Tracker) -> Iterator[Candidate]:
    for candidate in candidates:
        came.append(candidate)
        tracker.advance(note=f"{source.store.budget.requests} requests sent")
        yield candidate
