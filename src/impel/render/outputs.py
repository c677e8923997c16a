"""A take written to a file of any kind, chosen by the file's name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from impel.files import Problem, check_writable, writing
from impel.takes.take import Take

EXTENSIONS = (".npz", ".csv", ".glb", ".mp4", ".gif", ".png")
SMALLEST, LARGEST = 16, 4096  # pixels


def check_output(path: str | Path) -> None:
    """Refuse an output that could not be written, before any time is spent on it."""
    path = Path(path)
    check_writable(path)
    if path.suffix.lower() not in EXTENSIONS:
        kind = f"{path.suffix} is unknown" if path.suffix else "has no ending"
        raise Problem(f"{path}: {kind}, expected one of {', '.join(EXTENSIONS)}")
    if path.suffix.lower() == ".mp4":
        from imageio_ffmpeg import get_ffmpeg_exe

        try:
            get_ffmpeg_exe()
        except RuntimeError:
            raise Problem(f"{path}: no ffmpeg was found to encode it; .gif needs none") from None


def write_take(
    take: Take,
    path: str | Path,
    *,
    overlays: Any = False,
    size: tuple[int, int] | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> None:
    """Write a take as its file's ending says: .npz .csv .glb .mp4 .gif, or .png for a strip of moments.

    A name ending in `.channels.csv` gets the measured channels instead of the motion. `overlays` draws paths and
    targets (or name them: paths, targets, trails); `size` is that of one picture; `progress(done, total)` is called
    after each picture.
    """
    check_output(path)
    name = Path(path).name.lower()
    extension = Path(name).suffix
    if extension in (".npz", ".csv", ".glb"):
        from impel.takes import save_npz, write_channels_csv, write_csv, write_glb

        if name.endswith(".channels.csv"):
            write_channels_csv(take, path)
        else:
            {".npz": save_npz, ".csv": write_csv, ".glb": write_glb}[extension](take, path)
        return

    if size is not None and not all(SMALLEST <= side <= LARGEST for side in size):
        raise Problem(f"size: expected {SMALLEST} to {LARGEST} pixels, got {size[0]} x {size[1]}")
    options: dict[str, Any] = {"overlays": overlays, "progress": progress} | ({"size": size} if size else {})
    if extension == ".png":
        from impel.render.sequences import strip

        write_png(strip(take, **options), path)
    else:
        from impel.render.movies import write_gif, write_mp4

        (write_mp4 if extension == ".mp4" else write_gif)(take, path, **options)


def write_png(picture: Any, path: str | Path) -> None:
    """Write a picture (height, width, 3) as a PNG."""
    from PIL import Image

    with writing(path) as temporary:
        Image.fromarray(picture).save(temporary, format="PNG", optimize=False)
