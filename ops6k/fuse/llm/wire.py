"""The OpenAI protocol as bytes and headers: what a request says, what a reply means. Pure functions, no network."""

import json
import time
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING

from ops6k.fuse.llm.cache import Answer
from ops6k.fuse.llm.requests import Request

if TYPE_CHECKING:
    from openai import APIStatusError


@dataclass(frozen=True, slots=True)
class Dialect:
    """What servers of the protocol differ in; settled by their own complaints."""

    length_key: str = "max_completion_tokens"
    with_temperature: bool = True
    with_schema: bool = True
    """Where the request leaves it open (structured: auto)."""

    def after(self, complaint: str, structured: str) -> "Dialect | None":
        """The dialect to try after a 400; None where there is none left. Endpoints word their refusal of a schema in many ways."""
        if self.length_key == "max_completion_tokens" and self.length_key in complaint:
            return replace(self, length_key="max_tokens")
        if self.with_temperature and "temperature" in complaint:
            return replace(self, with_temperature=False)
        if self.with_schema and structured == "auto":
            return replace(self, with_schema=False)
        return None

    def sends_schema(self, request: Request) -> bool:
        return request.structured == "on" or (request.structured == "auto" and self.with_schema)


_TASK = {
    "type": "object",
    "properties": {"ops": {"type": "array", "items": {"type": "string"}}, "code": {"type": "string"}},
    "required": ["ops", "code"],
    "additionalProperties": False,
}
_TASKS = {
    "type": "object",
    "properties": {"tasks": {"type": "array", "items": _TASK}},
    "required": ["tasks"],
    "additionalProperties": False,
}
_FORMAT = {"type": "json_schema", "json_schema": {"name": "tasks", "strict": True, "schema": _TASKS}}


def body(request: Request, dialect: Dialect) -> dict[str, object]:
    """The fields of POST /chat/completions."""
    fields: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.prompt.system}, {"role": "user", "content": request.prompt.user}],
        dialect.length_key: request.max_output_tokens,
    }
    if dialect.with_temperature:
        fields["temperature"] = request.temperature
    if dialect.sends_schema(request):
        fields["response_format"] = _FORMAT
    return fields


@dataclass(frozen=True, slots=True)
class Sent:
    """How a request went out."""

    number: int
    """Of the try."""
    structured: bool
    batch: bool = False


def answer(content: bytes, request: Request, sent: Sent, latency_s: float | None) -> Answer | None:
    """The answer in a reply's bytes; None for nonsense. Read by hand: servers leave out fields that the library's types need."""
    try:
        tree = json.loads(content)
        choice = tree["choices"][0]
        message, usage = choice["message"], tree.get("usage") or {}
        text, refusal = message.get("content") or "", message.get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None
    if not isinstance(text, str) or not isinstance(usage, dict) or not (refusal is None or isinstance(refusal, str)):
        return None
    return Answer(
        request_hash=request.hash,
        number=sent.number,
        model=request.model,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        structured=sent.structured,
        batch=sent.batch,
        prompt_hash=request.prompt.hash,
        prompt_version=request.prompt.version,
        finish=str(choice.get("finish_reason") or "stop"),
        settled=True,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        latency_s=latency_s,
        text=text,
        refusal=refusal,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def retry_after_s(error: "APIStatusError") -> float | None:
    """Seconds that the endpoint asks to wait, as a number or until a date (RFC 9110, 10.2.3); None where it does not say."""
    headers = error.response.headers
    milliseconds = _number(headers.get("retry-after-ms"))
    wait_s = milliseconds / 1000 if milliseconds is not None else _number(headers.get("retry-after"))
    if wait_s is None and (date := parsedate_tz(headers.get("retry-after") or "")):
        wait_s = max(mktime_tz(date) - time.time(), 0.0)
    return wait_s if wait_s is not None and 0 <= wait_s < float("inf") else None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
