"""The commands behind ops6k/cli.py, by what a person wants: build, look, look after the project."""
