"""Raw answers on disk, so that nothing is paid twice."""

from dataclasses import dataclass
from pathlib import Path

from ops6k.fuse.llm.journal import Journal


@dataclass(frozen=True, slots=True)
class Answer:
    """One raw answer, as stored."""

    request_hash: str
    number: int
    """Of the try (ops6k.fuse.llm.budget.Charge)."""
    model: str
    temperature: float
    max_output_tokens: int
    structured: bool
    """A JSON schema was sent along."""
    batch: bool
    prompt_hash: str
    prompt_version: str
    finish: str
    """As the endpoint says: stop, length (cut), content_filter, ..."""
    settled: bool
    """False: it was cut, and the request asked again."""
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_s: float | None
    """None for a part of a batch."""
    text: str
    refusal: str | None


class AnswerCache:
    """The answers in a folder. Delete it to ask for everything anew."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder, Answer)
        self._settled = {answer.request_hash: answer for answer in self.journal.rows if answer.settled}

    def get(self, request_hash: str) -> Answer | None:
        return self._settled.get(request_hash)

    def put(self, answer: Answer) -> None:
        self.journal.append(answer)
        if answer.settled:
            self._settled[answer.request_hash] = answer
