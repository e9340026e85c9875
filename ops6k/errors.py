"""Errors that are ours, the machine's or the user's: raised, and turned into one line by the command line.

What a candidate does wrong is never one of these: it is a Verdict.
"""


class Ops6kError(Exception):
    """Something that the person at the keyboard can mend; str() is the one line that says what and how."""


class ParamsError(Ops6kError):
    """params.yaml has an unknown key, a wrong type or a value out of its range."""


class MissingInput(Ops6kError):
    """A stage's input is not there or cannot be read; names the file and the stage that makes it."""


class TargetMismatch(Ops6kError):
    """This machine is not the one that the target file describes."""


class EndpointError(Ops6kError):
    """The model endpoint refuses or answers nonsense."""


class HubError(Ops6kError):
    """The Hugging Face Hub refuses, or no token is set."""


class WorkerError(Ops6kError):
    """The machine is at fault: no device, no disk, a sandbox that cannot start."""


class AlreadyBuilding(Ops6kError):
    """Another build holds the data folder's lock."""
