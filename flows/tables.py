"""What a run has come to, as rows and as a Markdown page: pure, of the stages' reports and of what they left. No Prefect here."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ops6k.params import Params
from ops6k.records import Outcome, Report

Row = dict[str, str | int | float | None]
_JUDGES = ("screen", "rescreen")


def funnel(reports: Mapping[str, Report]) -> list[Row]:
    """What each stage took and kept, then why it dropped the others."""
    rows: list[Row] = []
    for name, report in reports.items():
        lines = [("taken", report.taken), ("kept", report.kept)]
        lines += [(f.reason, f.count) for f in report.reasons if f.reason != Outcome.ACCEPTED]
        rows += [{"stage": name, "what": what, "count": count, "share": _share(count, report.taken)} for what, count in lines]
    return rows


def stages(reports: Mapping[str, Report], busy: Mapping[str, str]) -> list[Row]:
    """Every stage that was reached; one that ran and left no report did not end well."""
    names = [*reports, *(name for name in busy if name not in reports)]
    return [_stage(name, reports.get(name), busy.get(name)) for name in names]


def _stage(name: str, report: Report | None, busy: str | None) -> Row:
    state = "did not end" if report is None else "was up to date" if busy is None else "done"
    figures = (report.taken, report.kept, round(report.seconds, 1)) if report else (None, None, None)
    return {
        "stage": name,
        "state": state,
        **dict(zip(("taken", "kept", "seconds"), figures, strict=True)),
        "GPU busy": busy or "-",
    }


def totals(reports: Mapping[str, Report], params: Params, data: Path) -> list[Row]:
    """Yield so far, then what all runs in this folder asked of models."""
    judged = [reports[name] for name in _JUDGES if name in reports]
    taken, kept = sum(report.taken for report in judged), sum(report.kept for report in judged)
    rows: list[Row] = [{"what": "verdicts", "value": taken}, {"what": "accepted by the screen", "value": kept}]
    rows += [{"what": "yield of the screen", "value": _share(kept, taken)}]
    rows += [{"what": what, "value": reports[name].kept} for name, what in _LATER.items() if name in reports]
    return rows + _cost(params, data, kept)


_LATER = {"dedup": "left by dedup", "assemble": "rows of the data set"}


def _cost(params: Params, data: Path, accepted: int) -> list[Row]:
    folder = data / ".work" / "llm" / "charges"
    if not folder.is_dir():
        return [{"what": "asked of models", "value": "nothing"}]
    from ops6k.fuse.llm.budget import spent

    cost = spent(params.fuse.llm, folder)
    usd = f"{cost.usd:.4f}" if not cost.unpriced else f"{cost.usd:.4f}, and fuse.llm.prices lacks {', '.join(cost.unpriced)}"
    rows: list[Row] = [
        {"what": "requests to models, all runs", "value": cost.requests},
        {"what": "prompt tokens", "value": cost.prompt_tokens},
        {"what": "completion tokens", "value": cost.completion_tokens},
        {"what": "USD", "value": usd},
    ]
    priced = accepted and not cost.unpriced
    return rows + ([{"what": "USD per accepted task", "value": f"{cost.usd / accepted:.4f}"}] if priced else [])


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else "-"


def page(reports: Mapping[str, Report], busy: Mapping[str, str], params: Params, data: Path, published: Sequence[str]) -> str:
    """The report of a whole run."""
    found = _metrics(data / "report" / "metrics.json")
    places = {"Data set": data / "dataset", "Agent": data / "agent", "Report page": data / "report" / "index.html"}
    notes = [f"**{name}**: {note}" for name, report in reports.items() for note in report.notes]
    parts = (
        "# Ops6K build",
        _listed(f"{what}: `{path}`" for what, path in places.items() if path.exists()),
        _listed(published),
        _section("Agent", _listed(_headline(found.get("agent")))),
        _section("Rows", _table([{"split": split, "rows": rows} for split, rows in (found.get("splits") or {}).items()])),
        _section("Yield and cost", _table(totals(reports, params, data))),
        _section("Time", _table(stages(reports, busy))),
        _section("Funnel", _table(funnel(reports))),
        _section("Notes", _listed(notes)),
    )
    return "\n\n".join(part for part in parts if part)


def _metrics(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _headline(agent: dict | None) -> list[str]:
    """What the agent earns on held-out tasks beside what needs no agent; nothing where it was not scored."""
    if not agent or agent.get("mean_reward") is None:
        return []
    others = {"best_fixed_plan": "best fixed plan", "always_default": "always default compile", "oracle": "oracle"}
    against = [f"{name} {agent[key]:g}" for key, name in others.items() if agent.get(key) is not None]
    gap = agent.get("gap_closed")
    closed = "" if gap is None else f"; it closes {gap:.0%} of the gap between best fixed plan and oracle"
    return [f"mean reward on held-out tasks {agent['mean_reward']:g} ({', '.join(against)}){closed}"]


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = list(rows[0])
    cells = [head, ["---"] * len(head), *(["" if row[name] is None else str(row[name]) for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in line)} |" for line in cells)
