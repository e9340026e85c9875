"""Dataset and agent to the Hugging Face Hub, or to a local folder as they would be there.

hub.py is the only module that talks to the Hub; contents.py decides what may leave this machine.
"""

from ops6k.publish.hub import publish
from ops6k.publish.local import to_folder

__all__ = ["publish", "to_folder"]
