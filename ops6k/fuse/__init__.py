"""Fuse: up to five operators into candidate tasks."""
