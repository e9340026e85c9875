"""Options that several commands share, and what they stand for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ops6k.params import Params, load

if TYPE_CHECKING:
    from rich.console import Console

Preset = Annotated[
    str | None,
    typer.Option("--preset", help="Overlay of params.yaml to use: demo, paper or full.", show_default="as params.yaml says"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one parameter, e.g. screen.timeout_s=30; may be repeated."),
]
ParamsFile = Annotated[Path, typer.Option("--params", metavar="FILE", help="File of parameters; its folder is the project.")]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder of results.", show_default="data beside params.yaml")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew; answers of an LLM that were paid for are kept.")]
Device = Annotated[
    Literal["cpu", "cuda"] | None, typer.Option("--device", help="Where to run.", show_default="cuda if there is one")
]
RunnerName = Annotated[
    Literal["here", "ray"], typer.Option("--runner", help="Where the screen's shards are made: here, or on a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="With --runner ray: the cluster.", show_default="$RAY_ADDRESS, or this machine"),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="URL", help="With --runner ray: file://, s3:// or gs:// folder that nodes share shards through."
    ),
]

DEFAULT = Path("params.yaml")


def loaded(params: Path, preset: str | None, settings: list[str] | None, data: Path | None) -> tuple[Params, Path]:
    """Parameters and the folder of results."""
    return load(params, preset=preset, settings=settings or ()), data or params.parent / "data"


def console_for(*, stderr: bool = False) -> "Console":
    """Where to print what is more than plain text; long lines are left whole."""
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=True)


def device_here() -> str:
    """cuda if there is one, else cpu."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
