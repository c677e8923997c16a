"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

TakeFiles = Annotated[
    list[Path],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="What to write, by extension: .npz .csv .glb .mp4 .gif .png (a strip of moments). May be repeated.",
        show_default=False,
    ),
]
Overlays = Annotated[bool, typer.Option("--overlays", help="Draw paths and targets into pictures and videos.")]
