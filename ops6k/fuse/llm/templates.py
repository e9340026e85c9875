"""The Jinja templates of prompts/: an unknown variable is an error, not an empty place."""

from pathlib import Path

from ops6k.errors import MissingInput, ParamsError


class Templates:
    def __init__(self, folder: Path) -> None:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        self.folder = folder
        self._environment = Environment(
            loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    def render(self, name: str, **values: object) -> str:
        """The text; raises MissingInput without the file, ParamsError where the template is wrong."""
        from jinja2 import TemplateError, TemplateNotFound

        try:
            return self._environment.get_template(name).render(values).strip() + "\n"
        except TemplateNotFound:
            raise MissingInput(f"{self.folder / name}: no such template") from None
        except TemplateError as error:
            line = f" line {error.lineno}" if getattr(error, "lineno", None) else ""
            raise ParamsError(f"{self.folder / name}{line}: {error.message}") from None
