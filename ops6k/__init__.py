"""Ops6K: the open pipeline that makes training tasks for GPU-kernel agents."""

__version__ = "0.1.0"
