"""Fuse: up to five operators into candidate tasks, by an LLM or by the built-in composer, into data/candidates/."""

import time
from pathlib import Path

from ops6k.params import Params
from ops6k.records import Report


def run(params: Params, data: Path) -> Report:
    """The stage. Raises EndpointError where a model endpoint refuses, MissingInput without a target."""
    began = time.monotonic()
    if params.fuse.source == "llm":
        from ops6k.fuse.llm_stage import asked

        made = asked(params, data)
    else:
        from ops6k.fuse.composer.stage import composed

        made = composed(params, data)
    return made.report(time.monotonic() - began)
