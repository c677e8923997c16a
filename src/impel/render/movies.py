"""Takes as moving pictures: `.mp4` by the ffmpeg that comes with imageio-ffmpeg, `.gif` by Pillow."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import Problem, writing
from impel.render.picture import Picture
from impel.render.sequences import Overlays, Progress, exposures, film_of
from impel.takes.take import Take

VIDEO, ANIMATION = (768, 432), (480, 270)  # pixels
VIDEO_RATE, ANIMATION_RATE = 30, 20  # frames a second at most
QUALITY = 14  # x264's constant rate factor: visually lossless
EFFORT = "veryfast"  # x264's preset: by SSIM as good as "faster" at 17, in 0.7 of the time, a quarter larger
SHIVER = 10.0  # of 255 levels: the spread of the fixed dither that hides a GIF's few colours


def write_mp4(
    take: Take,
    path: str | Path,
    *,
    size: tuple[int, int] = VIDEO,
    overlays: Overlays = False,
    progress: Progress | None = None,
) -> None:
    """H.264 in real time, at the take's own rate or an even part of it."""
    frames, rate = _thinned(take, VIDEO_RATE)
    size = (size[0] // 2 * 2, size[1] // 2 * 2)  # yuv420p halves both
    with writing(path) as temporary:
        command = _ffmpeg_command(temporary, size, rate)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ffmpeg:
            assert ffmpeg.stdin is not None
            assert ffmpeg.stderr is not None
            try:
                for picture in exposures(film_of(take, size, overlays), frames, overlays, progress):
                    ffmpeg.stdin.write(picture.tobytes())
                ffmpeg.stdin.close()
            except BrokenPipeError:
                pass  # it says why below
            except BaseException:
                ffmpeg.kill()
                raise
            complaint = ffmpeg.stderr.read().decode(errors="replace").strip()
            if ffmpeg.wait() != 0:
                raise Problem(f"{path}: ffmpeg could not encode it: {complaint.splitlines()[-1] if complaint else ''}")


def write_gif(
    take: Take,
    path: str | Path,
    *,
    size: tuple[int, int] = ANIMATION,
    overlays: Overlays = False,
    progress: Progress | None = None,
) -> None:
    """A GIF that loops, with one palette for all frames so that still things stay still."""
    from PIL import Image

    frames, rate = _thinned(take, ANIMATION_RATE)
    film = film_of(take, size, overlays)
    palette = _palette(list(exposures(film, frames[:: max(1, len(frames) // 8)], overlays)))
    shiver = _bayer(size)[..., None] * SHIVER
    images = [
        Image.fromarray(np.clip(picture + shiver, 0, 255).astype(np.uint8)).quantize(
            palette=palette, dither=Image.Dither.NONE
        )
        for picture in exposures(film, frames, overlays, progress)
    ]
    # GIF counts in hundredths: round the moments, not the durations, so that the whole keeps its length.
    ticks = np.round(np.arange(len(frames) + 1) * 100 / rate).astype(int)
    with writing(path) as temporary:
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=(10 * np.diff(ticks)).tolist(),
            loop=0,
            optimize=False,
        )


def _thinned(take: Take, most: float) -> tuple[range, float]:
    """Every n-th frame, so that there are at most so many a second; and how many there are then."""
    stride = max(1, int(np.ceil(take.fps / most - 1e-6)))
    return range(0, len(take.time), stride), take.fps / stride


def _palette(pictures: list[Picture]) -> Any:
    """256 colours for all pictures; rare ones count for more than their area, or small bodies would turn grey."""
    from PIL import Image

    colors, counts = np.unique(np.concatenate(pictures).reshape(-1, 3) >> 2 << 2, axis=0, return_counts=True)
    weighted = np.repeat(colors, np.ceil(np.sqrt(counts)).astype(int), axis=0)
    return Image.fromarray(weighted[None]).quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=3)


def _bayer(size: tuple[int, int]) -> Any:
    """An 8 x 8 ordered dither, -1/2 to 1/2, repeated over the picture."""
    cell = np.zeros((1, 1))
    for _ in range(3):
        cell = np.block([[4 * cell, 4 * cell + 2], [4 * cell + 3, 4 * cell + 1]])
    width, height = size
    return np.tile(cell / 64 - 0.5, (height // 8 + 1, width // 8 + 1))[:height, :width]


def _ffmpeg_command(path: Path, size: tuple[int, int], rate: float) -> list[str]:
    from imageio_ffmpeg import get_ffmpeg_exe

    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.8g}", "-i", "-"]
    encoder = ["-c:v", "libx264", "-crf", str(QUALITY), "-preset", EFFORT, "-pix_fmt", "yuv420p"]
    colors = ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709", "-color_primaries", "bt709"]
    colors += ["-color_trc", "bt709"]
    # The same bytes on every run: no dates, no versions, and a number of threads that is not the machine's.
    steady = ["-threads", "2", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1"]
    return [get_ffmpeg_exe(), "-loglevel", "error", "-y", *raw, *encoder, *colors, *steady, "-movflags", "+faststart",
            str(path)]  # fmt: skip
