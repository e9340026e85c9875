"""What the caller writes to the fork server, a line each: a job's id and its token, or modules to import."""

IMPORT = "import "
"""Begins a line that names modules, separated by commas, and no job."""
