"""Many frames of a take at once: a strip of moments, the frames of a film."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.cores import available_cores
from impel.render.action import is_told, moving_bodies
from impel.render.ghosts import pointed_at
from impel.render.overlays import chosen_overlays
from impel.render.picture import Picture, expose, looks_the_same, plate_of, still_from
from impel.render.scenery import Film, prepare
from impel.render.setting import canvas_bytes, canvas_for
from impel.takes.take import Take, path_at

Overlays = bool | Collection[str]
Progress = Callable[[int, int], Any]  # called with how many pictures are done, and of how many

PANEL = (480, 270)
MOMENTS = 6
TOLD = 3.0  # times as much a hit counts of who was told what to do
SOFT, APART = 0.2, 0.2  # of the hardest hit: softer ones need not be seen; s: nor those so soon before or after
GAP = 6  # pixels between the panels of a strip
PAPER = (255, 255, 255)
STRETCH = 24  # frames that may have a plate in common
MEMORY = 500_000_000  # bytes, to draw several pictures at the same time


def film_of(take: Take, size: tuple[int, int], overlays: Overlays = False) -> Film:
    """A take made ready for pictures of that size; paths are kept in view if they are drawn."""
    if "paths" not in chosen_overlays(overlays) or not take.paths:
        return prepare(take, size)
    # Where a turn leads is seen only once the bodies' sizes are known.
    film = prepare(take, size)
    shown = [(frame, name) for name, path in take.paths.items() for frame in _looks(path)]
    points = np.concatenate([pointed_at(film, frame, name, path_at(take, name, frame)) for frame, name in shown])
    return prepare(take, size, also=points[np.isfinite(points).all(axis=-1)])


def _looks(path: NDArray[np.float64]) -> list[int]:
    """The frames at which a path is looked at: a few of one that moves."""
    return np.unique(np.linspace(0, len(path) - 1, MOMENTS).astype(int)).tolist() if path.ndim == 3 else [0]


def picture(take: Take, time: float, *, size: tuple[int, int] = (960, 540), overlays: Overlays = False) -> Picture:
    """The take at a moment, in seconds from its start."""
    frame = int(np.argmin(np.abs(take.time - take.time[0] - time)))
    return expose(film_of(take, size, overlays), frame, chosen_overlays(overlays))


def moments(take: Take, count: int = MOMENTS, stage: NDArray[np.bool_] | None = None) -> list[int]:
    """Frames that tell the motion: half evenly in time, half where most is moving; the first and the last included.

    Those nearest to the hardest hits show them. `stage` (F, N) tells whose motion counts, and when; left out, all does.
    """
    if len(take.time) <= count:
        return list(range(len(take.time)))
    moving = moving_bodies(take)
    with np.errstate(invalid="ignore"):
        shift = np.linalg.norm(np.diff(take.position[:, moving], axis=0), axis=-1)
        turn = 1 - np.abs(np.sum(take.orientation[1:, moving] * take.orientation[:-1, moving], axis=-1))
    if stage is not None:
        shift, turn = (np.where(stage[1:, moving], change, 0.0) for change in (shift, turn))
    pace = np.nan_to_num(np.concatenate([shift, np.sqrt(np.maximum(turn, 0))], axis=1)).sum(axis=1)
    told = np.linspace(0, 1, len(take.time))
    if pace.sum() > 0:
        seen = np.isfinite(take.position).all(axis=-1) & (True if stage is None else stage)
        places = take.position[seen]
        nothing = 0.05 * float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0  # a mere settling
        weight = 0.5 * pace.sum() / (pace.sum() + nothing)
        told = (1 - weight) * told + weight * np.concatenate([[0], np.cumsum(pace)]) / pace.sum()
    frames = np.searchsorted(told, np.linspace(0, 1, count) - 1e-9)
    frames[-1] = len(take.time) - 1
    with np.errstate(invalid="ignore"):
        blows = np.nan_to_num(np.linalg.norm(np.diff(take.position[:, moving], n=2, axis=0), axis=-1))
    if stage is not None:
        blows = np.where(stage[1:-1, moving], blows, 0.0)
    shown: list[int] = []
    for hit in _hardest_hits(take, blows.sum(axis=1), max(1, count // 3)):
        free = np.flatnonzero(~np.isin(frames, [0, len(take.time) - 1, *shown]))
        if len(free):
            frames[free[np.argmin(np.abs(frames[free] - hit))]] = hit
            shown.append(hit)
    return np.unique(frames).tolist()


def _hardest_hits(take: Take, blows: NDArray[np.float64], count: int) -> list[int]:
    """The frames just after bodies began to touch, where most changed its way (`blows`, (F - 2,)); not all in a row.

    What those hit that were told what to do counts for more. What touches from the start is no hit.
    """
    felt: dict[int, float] = {}
    for event in take.events:
        frame = int(np.searchsorted(take.time, event["time"]))
        if event["kind"] == "contact begins" and 1 < frame < len(take.time) - 1:
            # A hit within a frame is felt in the second differences before and after it.
            blow = float(blows[frame - 2 : frame + 1].max())
            told = any(is_told(take, str(name)) for name in (event["subject"], event["details"].get("with", "")))
            felt[frame] = max(felt.get(frame, 0.0), blow * (TOLD if told else 1.0))
    hits: list[int] = []
    for frame in sorted(felt, key=lambda frame: -felt[frame]):
        apart = all(abs(frame - hit) > APART * take.fps for hit in hits)
        if apart and len(hits) < count and felt[frame] > SOFT * max(felt.values()):
            hits.append(frame)
    return hits


def strip(
    take: Take,
    *,
    count: int = MOMENTS,
    times: Sequence[float] | None = None,
    columns: int | None = None,
    size: tuple[int, int] = PANEL,
    overlays: Overlays = False,
    progress: Progress | None = None,
) -> Picture:
    """Moments of a take side by side, with their times; `size` is that of one of them.

    `times` chooses the moments, in seconds; left out, `count` of them tell the motion.
    """
    film = film_of(take, size, overlays)
    if times is None:
        frames = moments(take, count, film.stage)
    else:
        frames = [int(np.argmin(np.abs(take.time - t))) for t in times]
    columns = columns or (len(frames) if len(frames) <= 3 else -(-len(frames) // 2))
    width, height = size
    rows = -(-len(frames) // columns)
    sheet = np.empty((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), np.uint8)
    sheet[:] = PAPER
    for i, shown in enumerate(exposures(film, frames, overlays, progress)):
        top, left = i // columns * (height + GAP), i % columns * (width + GAP)
        sheet[top : top + height, left : left + width] = _labelled(shown, f"{take.time[frames[i]]:.2f} s")
    return sheet


def exposures(
    film: Film, frames: Iterable[int], overlays: Overlays = False, progress: Progress | None = None
) -> Iterator[Picture]:
    """Pictures of the frames in order, drawn on several cores as far as memory allows."""
    frames, drawn = list(frames), chosen_overlays(overlays)
    workers = max(1, min(available_cores(), len(frames), MEMORY // canvas_bytes(film.size)))
    canvases = [canvas_for(film.size) for _ in range(workers + 1)]
    waiting: deque[Future[Picture]] = deque()
    plate, fresh = None, 0  # and from where on another one is due
    with ThreadPoolExecutor(workers) as pool:
        try:
            latest: Future[Picture] | None = None
            for done in range(len(frames)):
                while len(waiting) < workers and done + len(waiting) < len(frames):
                    k = done + len(waiting)
                    if latest is None or drawn or not looks_the_same(film, frames[k - 1], frames[k]):
                        if k >= fresh:
                            stretch = still_from(film, frames[k : k + STRETCH])
                            plate, fresh = plate_of(film, stretch, canvases[-1], plate), k + len(stretch)
                        latest = pool.submit(expose, film, frames[k], drawn, canvases[k % workers], plate)
                    waiting.append(latest)
                yield waiting.popleft().result()
                if progress:
                    progress(done + 1, len(frames))
        finally:
            for future in waiting:
                future.cancel()


def _labelled(shown: Picture, text: str) -> Picture:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(shown)
    draw = ImageDraw.Draw(image, "RGBA")
    unit = shown.shape[0] / 270
    font = ImageFont.load_default(size=15 * unit)
    left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
    x, y, pad = 10 * unit, shown.shape[0] - 12 * unit - (bottom - top), 5 * unit
    draw.rounded_rectangle(
        (x - pad, y - pad, x + right - left + pad, y + bottom - top + pad), radius=pad, fill=(255, 255, 255, 170)
    )
    draw.text((x - left, y - top), text, font=font, fill=(40, 46, 54, 255))
    return np.asarray(image)
