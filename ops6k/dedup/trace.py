"""ATen operators of sources from anywhere, by a dry run of each in the sandbox: nothing is allocated, nothing is trusted."""

from collections.abc import Sequence

from ops6k.progress import track
from ops6k.sandbox import Job
from ops6k.screen.shards import dry_runs

_TIMEOUT_S = 120.0
_MEMORY_GIB = 6.0


def aten_operators(codes: Sequence[str], workers: int = 2) -> list[tuple[str, ...] | None]:
    """ATen operators in dataflow order, views dropped, of each source; None where it does not run."""
    jobs = [Job(str(i), "ops6k.dedup.trace:dry_run_job", {"code": code}, _TIMEOUT_S, _MEMORY_GIB) for i, code in enumerate(codes)]
    found: list[tuple[str, ...] | None] = [None] * len(codes)
    with (
        dry_runs(workers) as sandbox,
        track("benchmark index", len(jobs)) as progress,
    ):
        for ended in sandbox.map(jobs):
            answer = ended.answer["operators"] if ended.answer else None
            found[int(ended.job_id)] = None if answer is None else tuple(answer)
            progress.advance(note=f"{sum(one is not None for one in found)} ran")
    return found


def dry_run_job(payload: dict) -> dict:
    """In the sandbox's child: the operators of one source. The target's rates do not matter to them."""
    from ops6k.screen.dry_run import DryRun, dry_run_code
    from ops6k.target import Target

    anywhere = Target("any", "cpu", None, "", 1, 1e6, "highest", False, 1.0, {"float32": 1.0}, 0.0, "never")
    ran = dry_run_code(with_init_inputs(payload["code"]), anywhere)
    return {"operators": list(ran.work.operators) if isinstance(ran, DryRun) else None}


def with_init_inputs(code: str) -> str:
    """The source with get_init_inputs, where it has none: some benchmarks (robust-kbench) leave it to the defaults of Model."""
    return code if "def get_init_inputs" in code else f"{code}\n\ndef get_init_inputs():\n    return []\n"
