"""The LLM source: prompts out, answers in, candidates kept. See client.py for the endpoint, prompts.py for what is asked."""

from ops6k.fuse.llm.estimate import dry
from ops6k.fuse.llm.source import LlmSource

__all__ = ["LlmSource", "dry"]
