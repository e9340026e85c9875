"""Answers on disk, one file a request, so that nothing is paid twice; and the count of requests sent, so that a budget holds.

A kill loses at most what is in flight: an answer's file appears whole, a request is counted before it is sent.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ops6k import store


@dataclass(frozen=True, slots=True)
class Answer:
    """One raw answer, as stored."""

    request_hash: str
    model: str
    temperature: float
    max_output_tokens: int
    prompt_hash: str
    finish: str
    """As the endpoint says: stop, length (cut), content_filter, ..."""
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_s: float
    text: str
    refusal: str | None


class AnswerCache:
    """The answers in a folder. Delete it to ask for everything anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ledger = folder / "requests.log"
        self.sent = len(self._ledger.read_bytes().splitlines()) if self._ledger.exists() else 0
        """Requests sent so far, over all runs."""

    def path(self, request_hash: str) -> Path:
        return self.folder / f"{request_hash}.json"

    def get(self, request_hash: str) -> Answer | None:
        """The stored answer; None where there is none or its file is damaged (then it is asked for again)."""
        try:
            return store.from_plain(Answer, json.loads(self.path(request_hash).read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def put(self, answer: Answer) -> None:
        store.write_json(self.path(answer.request_hash), store.to_plain(answer))

    def count(self, request_hash: str) -> None:
        """Notes one request in the ledger, before it is sent: what is in flight when a kill comes has cost money too."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(f"{request_hash}\n")
        self.sent += 1
