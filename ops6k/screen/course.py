"""The way of one candidate through text, dry run and run, as jobs of the sandbox; and, if it falls outside the window, of
its resized children after it."""

from dataclasses import dataclass, field, replace

from ops6k.records import Candidate, Outcome, Reason, Timing, Verdict, Work, candidate_id
from ops6k.sandbox import Ended, Job
from ops6k.screen.finding import Finding
from ops6k.screen.limits import Limits
from ops6k.screen.text import text_finding
from ops6k.store import from_plain, to_plain
from ops6k.target import Target

DRY_RUN_TIMEOUT_S = 20.0
DRY_RUN_GIB = 2.0
HOST_GIB = 4.0
"""Host memory of a child beside its tensors: torch, a compiler, its caches."""
HOST_COPIES = 8
"""Times the peak that a child may hold on a CPU, beside that."""
CONTEXT_GIB = 0.6
"""Of a CUDA context and its libraries, a child. Beside it a child holds its weights and inputs; what runs, it borrows from a pool."""

SPARE_PEAKS = 2.0
"""Times its peak that a task which ran out of the device's memory is admitted with at its second try."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What every candidate of one screening is judged by."""

    target: Target
    limits: Limits
    resize_rounds: int
    times: dict[str, Timing] = field(default_factory=dict)
    """Recorded times by candidate_id: used instead of measuring."""
    judge_labels: bool = True
    dry_run_only: bool = False
    """What text and dry run let pass is done, without a verdict: nothing is allocated, no device is needed."""


@dataclass
class Course:
    """One candidate and its resized children. `jobs` are made one at a time; `done` says when all verdicts are there."""

    number: int
    candidate: Candidate
    rules: Rules
    verdicts: list[Verdict] = field(default_factory=list)
    derived: list[Candidate] = field(default_factory=list)
    step: str = "text"
    work: Work | None = None
    resident_bytes: int = 0
    seconds: dict | None = None
    flags: tuple[str, ...] = ()
    lock: str = ""
    pool: str = ""
    pool_gib: float = 0.0
    tries: int = 1
    jobs_made: int = 0

    @property
    def done(self) -> bool:
        return self.step == "done"

    def first(self) -> Job | None:
        """The first job, or None where the text decides."""
        finding = text_finding(self.candidate.code, self.candidate.ops if self.rules.judge_labels else None)
        if finding is not None:
            self._conclude(self._rejection(finding, "text"))
            return None
        return self._dry_run()

    def next(self, ended: Ended) -> Job | None:
        """What follows from a job's end: the next job, or None when this candidate is done."""
        if self.step == "resize":
            return self._after_resize(ended)
        if ended.answer is None:
            return self._after_loss(ended)
        try:
            return self._answered(ended.answer)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            return self._forged(f"its child's answer is none of ours: {type(error).__name__}")

    def _answered(self, answer: dict) -> Job | None:
        """A child's answer is what code beside a candidate wrote: it is believed only as far as it fits the question."""
        if "verdict" not in answer:
            self.work, self.seconds, self.flags = from_plain(Work, answer["work"]), answer["seconds"], tuple(answer["flags"])
            self.resident_bytes = min(int(answer["resident_bytes"]), self.work.io_bytes)
            if self.rules.dry_run_only:
                self.step = "done"
                return None
            return self._run()
        verdict = from_plain(Verdict, answer["verdict"])
        if verdict.candidate_id != self.candidate.candidate_id:
            return self._forged("its child answered for another candidate")
        if verdict.outcome is Outcome.ACCEPTED and (self.step != "run" or None in (verdict.timing, verdict.checks, verdict.work)):
            return self._forged("its child called it accepted without having run it")
        return self._judged(verdict)

    def _forged(self, message: str) -> None:
        self._conclude(self._rejection(Finding(Reason.UNSAFE_RUNTIME, message), self.step))

    def _judged(self, verdict: Verdict) -> Job | None:
        if verdict.reason is Reason.OUT_OF_MEMORY and self.step == "run" and self.tries < 3:
            return self._with_more_memory() if self.tries == 1 else self._alone()
        self.verdicts.append(verdict)
        if verdict.reason in (Reason.TOO_FAST, Reason.TOO_SLOW) and len(self.derived) < self.rules.resize_rounds:
            return self._resize(verdict)
        self.step = "done"
        return None

    def _after_loss(self, ended: Ended) -> Job | None:
        """A child that was killed or died: resource limits get the whole machine once, a crash is the candidate's."""
        if ended.how in ("timeout", "memory") and self.step == "run" and self.tries < 3:
            return self._alone()
        reason = {"timeout": Reason.TIMEOUT, "memory": Reason.OUT_OF_MEMORY, "crashed": Reason.CRASH}[ended.how]
        message = f"{ended.how} in {ended.phase or self.step} after {ended.seconds:.0f} s ({ended.detail})"
        self._conclude(self._rejection(Finding(reason, message), ended.phase or self.step))
        return None

    def _with_more_memory(self) -> Job:
        """Once more when there is room for all that it may hold: others go on, where a job alone waits until all have ended."""
        self.tries += 1
        job = self._run()
        return replace(job, device_gib=job.device_gib + SPARE_PEAKS * self.work.peak_bytes / 2**30)

    def _alone(self) -> Job:
        """With the whole machine, for the last time."""
        self.tries = 3
        return replace(self._run(), alone=True)

    def _conclude(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self.step = "done"

    def _rejection(self, finding: Finding, phase: str) -> Verdict:
        return Verdict(
            self.candidate.candidate_id, finding.reason.outcome, finding.reason, finding.message, phase, work=self.work
        )

    def _job(self, function: str, payload: dict, timeout_s: float, memory_gib: float) -> Job:
        self.jobs_made += 1
        shared = {"candidate_id": self.candidate.candidate_id, "code": self.candidate.code, "target": to_plain(self.rules.target)}
        return Job(f"{self.number}-{self.jobs_made}", function, shared | payload, timeout_s, memory_gib)

    def _dry_run(self) -> Job:
        self.step = "dry_run"
        timeout_s = min(DRY_RUN_TIMEOUT_S, self.rules.limits.timeout_s)
        payload = {
            "limits": to_plain(self.rules.limits),
            "ops": list(self.candidate.ops),
            "judge_labels": self.rules.judge_labels,
        }
        return self._job("ops6k.screen.judge:dry_run_candidate", payload, timeout_s, DRY_RUN_GIB)

    def _run(self) -> Job:
        self.step = "run"
        resident_gib = self.resident_bytes / 2**30
        timing = self.rules.times.get(self.candidate.candidate_id)
        payload = {
            "ops": list(self.candidate.ops),
            "limits": to_plain(self.rules.limits),
            "work": to_plain(self.work),
            "seconds": self.seconds,
            "flags": list(self.flags),
            "share": {"lock": self.lock, "pool": self.pool, "pool_bytes": int(self.pool_gib * 2**30)},
            "resident_bytes": self.resident_bytes,
            "timing": to_plain(timing) if timing else None,
        }
        on_device = self.rules.target.device != "cpu"
        host_gib = HOST_GIB if on_device else HOST_GIB + HOST_COPIES * self.work.peak_bytes / 2**30
        job = self._job("ops6k.screen.judge:run_candidate", payload, self.rules.limits.timeout_s, host_gib)
        return replace(job, device_gib=resident_gib + (CONTEXT_GIB if on_device else 0))

    def _resize(self, verdict: Verdict) -> Job:
        self.step = "resize"
        low, high = self.rules.limits.window_ms
        predicted = verdict.work.predicted_ms
        measured = verdict.timing.eager_ms if verdict.timing else verdict.forward_ms or predicted
        wanted_ms = low * 3 if verdict.reason is Reason.TOO_FAST else high / 5
        payload = {"wanted_ms": wanted_ms, "correction": measured / predicted, "memory_gib": self.rules.limits.memory_gib}
        return self._job("ops6k.screen.resize:resize_candidate", payload, DRY_RUN_TIMEOUT_S, DRY_RUN_GIB)

    def _after_resize(self, ended: Ended) -> Job | None:
        code = (ended.answer or {}).get("code")
        if not isinstance(code, str) or code == self.candidate.code:
            self.step = "done"
            return None
        parent = self.candidate
        new_id = candidate_id(parent.ops, code)
        self.candidate = replace(parent, candidate_id=new_id, code=code, parent=parent.candidate_id, round=parent.round + 1)
        self.derived.append(self.candidate)
        self.work, self.seconds, self.tries = None, None, 1
        return self.first()
