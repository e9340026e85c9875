"""The one place where candidate code runs: killable children of a fork server, used by fuse, screen and train alike.

Imports the standard library only; what the children preload is named by the caller.
"""

from ops6k.sandbox.client import Ended, Job, Sandbox

__all__ = ["Ended", "Job", "Sandbox"]
