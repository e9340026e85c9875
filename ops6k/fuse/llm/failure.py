"""What can go wrong with an endpoint, read from what the client library raises. Nothing here waits or asks."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ops6k.errors import EndpointError
from ops6k.fuse.llm.wire import retry_after_s

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError

_SECRET = re.compile(r"\b(sk|hf)[-_][\w-]{8,}")


class Lack(StrEnum):
    """Why a request has no answer."""

    BUDGET = "answer/budget"
    UNREACHABLE = "answer/unreachable"
    BUSY = "answer/busy"
    """Time-outs, 429 and 5xx to the end of patience."""
    NONSENSE = "answer/nonsense"
    """Not JSON, or without a choice."""
    DECLINED = "answer/declined"
    """The endpoint would not take this request (400, 413, 422)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on trying."""

    tries: int = 8
    """Of one request, on time-outs, 429, 5xx and broken connections."""
    nonsense_tries: int = 3
    """Of one request, on nonsense, cut answers, and an endpoint that was never reached."""
    give_up: int = 3
    """Requests in a row without an answer after which the endpoint is given up."""
    first_s: float = 0.5
    """First pause; doubles with every try, less up to half at random."""
    longest_s: float = 60.0
    """No pause is longer, whatever Retry-After says."""
    slowest_per_minute: float = 6.0
    """Requests; 429s slow the asking no further than this, what is left to do is Retry-After's."""
    poll_s: float = 20.0
    """Between two looks at a batch."""

    def tries_of(self, lack: Lack, *, reached: bool) -> int:
        if lack is Lack.DECLINED:
            return 1
        never_there = lack is Lack.UNREACHABLE and not reached
        return self.nonsense_tries if never_there or lack is Lack.NONSENSE else self.tries

    def backoff_s(self, tried: int, jitter: float) -> float:
        """jitter: 0 to 1."""
        return min(self.longest_s, self.first_s * 2 ** (tried - 1) * (0.5 + jitter / 2))


@dataclass(frozen=True, slots=True)
class Failure:
    lack: Lack
    message: str
    wait_s: float | None = None
    """As Retry-After asks."""
    is_free: bool = False
    """It surely cost nothing: refused before a token was made."""
    is_limit: bool = False
    """A 429."""


def not_connected(error: "APIConnectionError") -> Failure:
    never_sent = type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")
    return Failure(Lack.UNREACHABLE, f"cannot be reached: {error.__cause__ or error}", is_free=never_sent)


def said_by(error: "APIStatusError") -> str:
    """What the endpoint says, wherever it puts it: the library reads {"error": {"message": ...}}, other servers answer with
    {"detail": ...} or {"error": "..."}, of which its own message is a bare code."""
    body = error.body
    if isinstance(body, dict) and not isinstance(body.get("message"), str):
        body = next((body[key] for key in ("detail", "error", "msg") if body.get(key)), body)
        return f"{error.status_code} {body}"
    return f"{error.status_code} {body if isinstance(body, str) else error.message}"


def fatal(error: "APIStatusError") -> str | None:
    """What no later try mends, for a person; None where one may."""
    code, said = error.status_code, said_by(error)
    if code in (401, 403):
        return f"refuses the key: {said}; set OPENAI_API_KEY"
    if code == 404:
        return f"does not know the model or the path: {said}; see fuse.llm.model and fuse.llm.base_url"
    if code == 429 and error.code == "insufficient_quota":
        return f"the account's quota is used up: {said}"
    return None


def refused(error: "APIStatusError") -> Failure:
    code, said = error.status_code, said_by(error)
    if code in (408, 409, 429) or code >= 500:
        return Failure(Lack.BUSY, said, retry_after_s(error), is_free=True, is_limit=code == 429)
    return Failure(Lack.DECLINED, said, is_free=True)


def broken(base_url: str, message: str) -> EndpointError:
    """One line with scheme, host and path of the endpoint: a URL may carry a password, a message a key."""
    url, key = urlsplit(base_url), os.environ.get("OPENAI_API_KEY")
    address = f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}{url.path}".rstrip("/")
    message = message.replace(key, "***") if key else message
    return EndpointError(f"endpoint {address}: {_SECRET.sub('***', ' '.join(message.split()))[:300]}")
