"""Verified algebraic rewrites of a model's graph: capture it, rewrite it, run it, write it out."""
