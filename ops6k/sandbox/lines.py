"""What the caller writes to the fork server, a line each (a job's id and its token, or modules to import), and a word that it answers."""

IMPORT = "import "
"""Begins a line that names modules, separated by commas, and no job."""
KILLED = "killed"
"""How a child ended that died by signal 9 without the server: itself, a person, or the kernel short of memory."""
