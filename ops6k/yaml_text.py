"""YAML that a person wrote: what is wrong with it is one line."""

import yaml

from ops6k.errors import ParamsError


def yaml_tree(text: str, place: object) -> object:
    """What a YAML text says; raises ParamsError with the place. safe_load lets errors of Python's own conversions through."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise ParamsError(f"{place}: not YAML: {' '.join(str(error).split())[:300]}") from None
