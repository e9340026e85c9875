"""Verified algebraic rewrites of a model's graph: capture it, rewrite it, run it, write it out.

Standard library and torch alone: the measuring child imports this. Each pass states an identity of real arithmetic in its
docstring, with its conditions and its proof; a property test compares it with the model on random graphs.
"""

from ops6k.train.rewrites.capture import NotCapturable, capture
from ops6k.train.rewrites.emit import emit
from ops6k.train.rewrites.program import Program
from ops6k.train.rewrites.table import REWRITES, Rewrite, applicable, rewritten

__all__ = ["REWRITES", "NotCapturable", "Program", "Rewrite", "applicable", "capture", "emit", "rewritten"]
