"""What is asked, and the hash that stands for it."""

from dataclasses import dataclass
from typing import Literal

from ops6k import store


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    user: str
    version: str
    """Hash of the templates that it was made with."""

    @property
    def hash(self) -> str:
        return store.fingerprint(self.system, self.user)


@dataclass(frozen=True, slots=True)
class Request:
    """The whole of what an answer depends on. The endpoint's address is no part of it: the same model may move."""

    model: str
    temperature: float
    max_output_tokens: int
    """Of the whole answer."""
    structured: Literal["auto", "on", "off"]
    prompt: Prompt

    @property
    def hash(self) -> str:
        return store.fingerprint(self.model, self.temperature, self.max_output_tokens, self.structured, self.prompt.hash)

    @property
    def likely_tokens(self) -> int:
        """Prompt at four characters a token and the longest answer: what endpoints count against a limit per minute."""
        return (len(self.prompt.system) + len(self.prompt.user)) // 4 + self.max_output_tokens

    @property
    def most_prompt_tokens(self) -> int:
        """No tokenizer makes more of it: a token a byte, and what chat templates and a JSON schema add."""
        return len(self.prompt.system.encode()) + len(self.prompt.user.encode()) + 512
