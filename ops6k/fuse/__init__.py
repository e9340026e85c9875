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
    return made.report("fuse", time.monotonic() - began)


def resize(params: Params, data: Path) -> Report:
    """The stage: what a model made and the screen found out of range goes back to it once; data/resized/ may be empty.

    Nothing of the composer's does: it fits its tasks before they are screened. Raises as `run`.
    """
    began = time.monotonic()
    from ops6k.fuse.resized import asked_again

    return asked_again(params, data).report("resize", time.monotonic() - began)
