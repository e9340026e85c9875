"""Stand-ins for the stages, of the same shape and quick: what the runner, the command line, DVC and the flow are tested with.

Every run appends the stage's name to `ran.log`. A file `fail-STAGE` in the project makes the stage fail as its text says
(the name of an error class); `TINY_SHARD_S`, or a file `shard_s`, is how long a shard of the screen takes.
"""

import json
import os
import random
import time
from pathlib import Path

from ops6k import errors, store
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate, Funnel, Match, Outcome, Reason, Report, Timing, Verdict, candidate_id


def _begin(stage: str, params: Params) -> None:
    with (params.root / "ran.log").open("a", encoding="utf-8") as log:
        log.write(f"{stage}\n")
    failure = params.root / f"fail-{stage}"
    if failure.exists():
        name = failure.read_text(encoding="utf-8").strip()
        if name.endswith("Once"):
            failure.unlink()
        raise getattr(errors, name.removesuffix("Once"))(f"{stage}: made to fail")


def harvest(params: Params, data: Path) -> Report:
    _begin("harvest", params)
    with store.whole_folder(params.path("seed_ops")) as folder:
        (folder / "torch.jsonl").write_text("".join(json.dumps({"name": f"F.op{i}"}) + "\n" for i in range(5)), encoding="utf-8")
    return Report("harvest", 6, 5, (Funnel("not_usable", 1),))


def fuse(params: Params, data: Path) -> Report:
    _begin("fuse", params)
    operators = [
        json.loads(line)["name"] for line in params.path("seed_ops/torch.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    draw = random.Random(params.seed)
    rows = []
    for number in range(params.fuse.candidates):
        ops = tuple(draw.sample(operators, draw.randint(1, 3)))
        code = f"# {number}\nimport torch\n\n\nclass Model(torch.nn.Module):\n    pass\n"
        rows.append(Candidate(candidate_id(ops, code), ops, code, "composer", params.seed, "float32", ("activation",)))
    with store.whole_folder(data / "candidates") as folder:
        store.write_rows(folder / "candidates.parquet", rows, Candidate)
    return Report("fuse", len(rows), len(rows))


def screen(params: Params, data: Path) -> Report:
    _begin("screen", params)
    candidates = store.read_rows(data / "candidates" / "candidates.parquet", Candidate)
    work = data / ".work" / "screen" / store.fingerprint(params.screen)
    verdicts = []
    with track("screen", len(candidates)) as progress:
        for number, start in enumerate(range(0, len(candidates), 2)):
            progress.begin(number)
            shard = work / f"{candidates[start].candidate_id}.parquet"
            if not shard.exists():
                time.sleep(_shard_s(params))
                store.write_rows(shard, [_judged(one, params) for one in candidates[start : start + 2]], Verdict)
            verdicts += store.read_rows(shard, Verdict)
            progress.advance(2, f"{sum(v.outcome == Outcome.ACCEPTED for v in verdicts)} accepted")
            progress.finish(number, f"accepted {sum(v.outcome == Outcome.ACCEPTED for v in verdicts[start:])}")
    with store.whole_folder(data / "verdicts") as folder:
        store.write_rows(folder / "verdicts.parquet", verdicts, Verdict)
    kept = sum(verdict.outcome == Outcome.ACCEPTED for verdict in verdicts)
    return Report("screen", len(verdicts), kept, (Funnel("out_of_range/too_fast", len(verdicts) - kept),))


def resize(params: Params, data: Path) -> Report:
    _begin("resize", params)
    with store.whole_folder(data / "resized") as folder:
        store.write_rows(folder / "candidates.parquet", [], Candidate)
    return Report("resize", 0, 0)


def rerun(params: Params, data: Path) -> Report:
    _begin("rescreen", params)
    with store.whole_folder(data / "rescreened") as folder:
        store.write_rows(folder / "verdicts.parquet", [], Verdict)
    return Report("rescreen", 0, 0)


def _shard_s(params: Params) -> float:
    slow = params.root / "shard_s"
    return float(slow.read_text(encoding="utf-8") if slow.exists() else os.environ.get("TINY_SHARD_S", "0"))


def _judged(candidate: Candidate, params: Params) -> Verdict:
    eager_ms = int(candidate.candidate_id[:4], 16) / 10_000
    low, high = params.screen.window_ms
    fits = low <= eager_ms <= high
    timing = Timing(eager_ms, eager_ms, eager_ms, eager_ms, eager_ms, eager_ms, 3, False)
    outcome, reason = (Outcome.ACCEPTED, None) if fits else (Outcome.OUT_OF_RANGE, Reason.TOO_FAST)
    return Verdict(candidate.candidate_id, outcome, reason, f"eager {eager_ms:.3f} ms", "timing", timing=timing)


def dedup(params: Params, data: Path) -> Report:
    _begin("dedup", params)
    verdicts = store.read_rows(data / "verdicts" / "verdicts.parquet", Verdict)
    rows = [
        Match(verdict.candidate_id, "text", 0.25, "level1/19_ReLU", "kernelbench", 1, None)
        for verdict in verdicts
        if verdict.outcome == Outcome.ACCEPTED
    ]
    with store.whole_folder(data / "matches") as folder:
        store.write_rows(folder / "matches.parquet", rows, Match)
    return Report("dedup", len(rows), len(rows), notes=(f"threshold {params.dedup.jaccard}",))


def assemble(params: Params, data: Path) -> Report:
    _begin("assemble", params)
    matches = store.read_rows(data / "matches" / "matches.parquet", Match)
    wanted = {match.candidate_id for match in matches}
    rows = [row for row in store.read_rows(data / "candidates" / "candidates.parquet", Candidate) if row.candidate_id in wanted]
    with store.whole_folder(data / "dataset") as folder:
        store.write_rows(folder / "data" / "train.parquet", rows[: params.assemble.rows], Candidate)
    return Report("assemble", len(rows), min(len(rows), params.assemble.rows))


def train(params: Params, data: Path) -> Report:
    _begin("train", params)
    rows = store.read_rows(data / "dataset" / "data" / "train.parquet", Candidate)
    with store.whole_folder(data / "agent") as folder:
        store.write_json(folder / "agent.json", {"tasks": len(rows), "seed": params.seed})
    return Report("train", len(rows), len(rows))


def report(params: Params, data: Path) -> Report:
    _begin("report", params)
    verdicts = store.read_rows(data / "verdicts" / "verdicts.parquet", Verdict)
    kept = sum(verdict.outcome == Outcome.ACCEPTED for verdict in verdicts)
    with store.whole_folder(data / "report") as folder:
        (folder / "index.html").write_text(f"<p>{kept} kept</p>\n", encoding="utf-8")
        store.write_json(folder / "metrics.json", {"screen": {"taken": len(verdicts), "kept": kept}})
        (folder / "plots").mkdir()
        (folder / "plots" / "funnel.csv").write_text(f"reason,count\naccepted,{kept}\n", encoding="utf-8")
        (folder / "plots" / "learning.csv").write_text("step,mean_reward\n0,0.5\n512,1.5\n", encoding="utf-8")
    return Report("report", len(verdicts), kept)
