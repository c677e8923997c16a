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
        help="What to write, by extension: .npz .csv .glb .mp4 .gif .png (a strip of moments). "
        "Missing folders are made. May be repeated.",
        show_default=False,
    ),
]
Fps = Annotated[
    float | None,
    typer.Option(
        "--fps",
        min=1,
        max=1000,
        metavar="RATE",
        help="Frames a second in what is written, such as Blender's 24; the motion stays the same.",
        show_default=False,
    ),
]
Overlays = Annotated[bool, typer.Option("--overlays", help="Draw paths and targets into pictures and videos.")]
