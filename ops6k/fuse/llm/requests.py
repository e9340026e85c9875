"""What is asked, and the hash that stands for it."""

from dataclasses import dataclass

from ops6k import store


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    user: str

    @property
    def hash(self) -> str:
        return store.fingerprint(self.system, self.user)


@dataclass(frozen=True, slots=True)
class Request:
    """The whole of what an answer depends on. The endpoint's address is no part of it: the same model may move."""

    model: str
    temperature: float
    max_output_tokens: int
    prompt: Prompt

    @property
    def hash(self) -> str:
        return store.fingerprint(self)
