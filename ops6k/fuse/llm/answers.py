"""The task in what a model wrote: code out of fences, labels out of a comment or JSON. Text in, records out; nothing runs here.

Whether the code is any good is the screen's to say: here only "no code at all" is a rejection.
"""

import ast
import json
import re
import textwrap
from dataclasses import dataclass

_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)",
    re.M | re.S,
)
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.S)
_LABELS = re.compile(r"^[ \t]*#?[ \t]*[\"']?ops[\"']?[ \t]*[:=][ \t]*(\[[^\]]*\])[ \t,]*$", re.M | re.I)
_LABELS_COMMENT = re.compile(r"^[ \t]*#[ \t]*ops[ \t]*[:=][ \t]*\[[^\]\n]*\][ \t]*\n", re.M | re.I)
_CODE_LINE = re.compile(r"^(import |from \w|class \w|def \w|@\w)", re.M)
_MODEL = re.compile(r"^class Model\b", re.M)
_PARTS = (_MODEL, re.compile(r"^def get_inputs\b", re.M), re.compile(r"^def get_init_inputs\b", re.M))
_MOST_TRIMMED_LINES = 40


@dataclass(frozen=True, slots=True)
class Proposal:
    """One task as a model wrote it."""

    code: str
    """Ends in one newline; the comment that names the labels is taken out."""
    ops: tuple[str, ...] | None
    """None where the answer names no labels."""

    @property
    def whole(self) -> bool:
        """Has a Model and both functions."""
        return all(part.search(self.code) for part in _PARTS)


def proposal(text: str) -> Proposal | None:
    """The task of one answer; None where there is no code.

    Of several complete programs the last counts: models correct themselves further down. Programs split over fences are
    joined. Text without fences is read from its first line of code.
    """
    text = _THOUGHT.sub("", text.replace("\r\n", "\n")).strip()
    tree = _json_object(text)
    if tree is not None:
        return _from_json(tree)
    blocks = [(match["language"].lower(), textwrap.dedent(match["body"])) for match in _FENCE.finditer(text)]
    programs = [body for language, body in blocks if language != "json" and _CODE_LINE.search(body)]
    for language, body in reversed(blocks):
        tree = _json_object(body.strip()) if language in ("json", "") else None
        if tree is not None and ("code" in tree or "tasks" in tree):
            return _from_json(tree)
    code = _best(programs) if programs else (None if blocks else _bare(text))
    if code is None:
        return None
    return Proposal(_tidy(code), _labels(code) or _labels(text) or _labels_in_json(blocks))


def proposals(text: str, count: int) -> list[Proposal]:
    """The tasks of one answer that was asked for `count` of them, in order; fewer where fewer are there."""
    if count == 1:
        return [found for found in [proposal(text)] if found is not None]
    text = _THOUGHT.sub("", text.replace("\r\n", "\n")).strip()
    fenced = [(match["language"].lower(), textwrap.dedent(match["body"])) for match in _FENCE.finditer(text)]
    for tree in (_json_object(body.strip()) for body in (text, *(body for language, body in fenced if language in ("json", "")))):
        if tree is not None and isinstance(tree.get("tasks"), list):
            return [found for task in tree["tasks"] if (found := _from_json(task)) is not None][:count]
    found = [Proposal(_tidy(body), _labels(body)) for language, body in fenced if language != "json" and _CODE_LINE.search(body)]
    whole = [one for one in found if one.whole]
    return whole[:count] or [one for one in [proposal(text)] if one is not None]


def _best(programs: list[str]) -> str:
    """The last complete program; else all that belongs to one, joined; else the last with a Model, else the longest."""
    complete = [code for code in programs if all(part.search(code) for part in _PARTS)]
    if complete:
        return complete[-1]
    joined = "\n\n".join(code.strip("\n") for code in programs)
    if all(part.search(joined) for part in _PARTS) and len(_MODEL.findall(joined)) == 1:
        return joined
    return next((code for code in reversed(programs) if _MODEL.search(code)), max(programs, key=len))


def _bare(text: str) -> str | None:
    """Code in text without fences: from its first code line, closing remarks cut off where that makes it parse."""
    begin = _CODE_LINE.search(text)
    if begin is None or not _MODEL.search(text):
        return None
    lines = text[begin.start() :].split("\n")
    for end in range(len(lines), max(0, len(lines) - _MOST_TRIMMED_LINES), -1):
        if _parses(code := "\n".join(lines[:end])):
            return code
    return "\n".join(lines)


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _tidy(code: str) -> str:
    return _LABELS_COMMENT.sub("", code).strip("\n").rstrip() + "\n"


def _labels(text: str) -> tuple[str, ...] | None:
    """Labels of the first `# ops: [...]` line."""
    match = _LABELS.search(text)
    if match is None:
        return None
    try:
        return _strings(ast.literal_eval(match[1]))
    except (SyntaxError, ValueError):
        return None


def _labels_in_json(blocks: list[tuple[str, str]]) -> tuple[str, ...] | None:
    for _, body in blocks:
        tree = _json_object(body.strip())
        if tree is not None and (labels := _strings(tree.get("ops"))):
            return labels
    return None


def _json_object(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return None
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def _from_json(tree: object) -> Proposal | None:
    """Structured output: {"ops": [...], "code": "..."} or the last of {"tasks": [...]}, the code perhaps in a fence of its own."""
    if not isinstance(tree, dict):
        return None
    if isinstance(tree.get("tasks"), list):
        return next((found for task in reversed(tree["tasks"]) if (found := _from_json(task)) is not None), None)
    code = tree.get("code")
    if not isinstance(code, str) or not code.strip():
        return None
    fenced = _FENCE.search(code)
    return Proposal(_tidy(fenced["body"] if fenced else code), _strings(tree.get("ops")))


def _strings(value: object) -> tuple[str, ...] | None:
    """The value as labels; None unless it is a non-empty list of non-empty strings."""
    if isinstance(value, list) and value and all(isinstance(part, str) and part.strip() for part in value):
        return tuple(part.strip() for part in value)
    return None
