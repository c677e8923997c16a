"""Lines and dots over a picture: paths, targets and trails, plain in front of things, faint behind them."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.render.action import moving_bodies
from impel.render.ghosts import ghost, pointed_at
from impel.render.scenery import Film
from impel.takes.goals import GoalMark, goals_of, place_of
from impel.takes.take import Floats, Take, owner_of, path_at

KINDS = ("paths", "targets", "goals", "trails")
USUAL = ("paths", "targets", "goals")  # what `overlays=True` means
INK = "#343b45"  # for what belongs to no body
HIDDEN = 0.28  # of the ink is seen through what hides it
LINE, OUTLINE, DOT = 2.0, 1.6, 4.5  # pixels: widths, radius; in a picture of 360 lines, larger ones in proportion
GOAL, TEXT = 4.0, 11.0  # pixels, too: the radius of a goal, the height of its time
MISSED = "#c1121f"
MOST_TIMED = 4  # goals ahead of a body whose times are written
SAME = 1e-6  # s: a frame that is so much earlier is at the time
TRAIL = 1.0  # s
STEP = 2.0  # pixels: shorter pieces of a line are joined


def chosen_overlays(overlays: bool | Collection[str]) -> tuple[str, ...]:
    """`True` is paths, targets and goals; a list names what is wanted of these and trails."""
    if isinstance(overlays, bool):
        return USUAL if overlays else ()
    for name in overlays:
        if name not in KINDS:
            raise Problem(f"overlays: {name}: unknown, expected {', '.join(KINDS)}")
    return tuple(overlays)


def draw_overlays(film: Film, frame: int, picture: NDArray[np.uint8], depth: Any, overlays: Collection[str]) -> None:
    """Draw into the picture; `depth` (height, width) is one over the distance of what is seen."""
    take, unit = film.take, max(film.size[1] / 360, 0.75)
    if "trails" in overlays:
        first = max(0, frame - round(TRAIL * take.fps))
        for body in np.flatnonzero(moving_bodies(take)):
            age = np.linspace(0.0, 0.8, frame - first + 1)
            _line(
                film, frame, picture, depth, take.position[first : frame + 1, body], take.colors[body], LINE * unit, age
            )
    if "paths" in overlays:
        for name in take.paths:
            path = path_at(take, name, frame)
            if path.shape[1] == 3:
                _path(film, frame, picture, depth, name, path, LINE * unit)
    if "goals" in overlays:
        _goals(film, frame, picture, depth, unit)
    if "targets" in overlays:
        for name, track in take.tracks.items():
            ink = ink_of(take, name)
            if track.shape[1] == 4:  # a turn: its way belongs to the body, and moves with it
                way = name.removesuffix(".target")
                path = path_at(take, way, frame) if way in take.paths else track
                _path(film, frame, picture, depth, way, path, LINE * unit)
                if not np.all(np.abs(track[frame]) <= 2):
                    continue
                inside, rim = ghost(film, frame, name, track[frame], OUTLINE * unit)
                _blend(picture, 0.12 * inside, ink)
                _blend(picture, 0.8 * rim, ink)
            for point in pointed_at(film, frame, name, track[frame : frame + 1]):
                x, y, distance = film.shot_at(frame).seen(frame, point, film.size)
                if distance > 0:
                    _dot(picture, depth, x, y, distance, ink, DOT * unit)


def _goals(film: Film, frame: int, picture: NDArray[np.uint8], depth: Any, unit: float) -> None:
    """Goals: rings that are filled once they are met, red where they were missed; each body's next with their times."""
    take, shot = film.take, film.shot_at(frame)
    timed: dict[str, int] = {}
    for mark in goals_of(take):
        met_at = frame if _is_held(take, mark) else min(frame, round(mark.time * take.fps))  # what is held rides on
        point = place_of(take, mark, met_at)
        if point is None:
            continue
        x, y, distance = shot.seen(frame, point[None], film.size)[0]
        if not distance > 0:
            continue
        ink, due = ink_of(take, mark.subject), take.time[frame] >= mark.time - SAME
        if due and mark.met is not None:
            _dot(picture, depth, x, y, distance, ink if mark.met else MISSED, GOAL * unit)
            continue
        _ring(picture, depth, x, y, distance, ink, GOAL * unit, OUTLINE * unit)
        timed[mark.subject] = timed.get(mark.subject, 0) + 1
        if timed[mark.subject] <= MOST_TIMED:
            _write(
                picture, x + 1.6 * GOAL * unit, y - 1.6 * GOAL * unit, f"{round(mark.time, 2):g} s", ink, TEXT * unit
            )


def _is_held(take: Take, mark: GoalMark) -> bool:
    goal = take.keys[mark.subject][mark.number]
    return bool(isinstance(goal, dict) and goal.get("hold"))


def ink_of(take: Take, name: str) -> str:
    """The colour of the body that a path or track `body.move...` belongs to, deepened to stand out from it."""
    owner = owner_of(take, name)
    if owner is None:
        return INK
    color = take.colors[owner]
    return "#" + "".join(f"{int(0.62 * int(color[i : i + 2], 16)):02x}" for i in (1, 3, 5))


def _path(
    film: Film, frame: int, picture: NDArray[np.uint8], depth: Any, name: str, path: Floats, width: float
) -> None:
    line = pointed_at(film, frame, name, path)
    _line(film, frame, picture, depth, line, ink_of(film.take, name), width, np.full(len(line), 0.9))


def _line(
    film: Film, frame: int, picture: Any, depth: Any, points: Floats, color: str, width: float, alpha: Floats
) -> None:
    """A polyline with round joints; `alpha` at each of its points."""
    seen = film.shot_at(frame).seen(frame, points, film.size)
    near = 0.02 * float(np.linalg.norm(film.shot_at(frame).middle[frame] - film.shot_at(frame).eye[frame]))
    keep = np.isfinite(seen).all(axis=-1) & (seen[:, 2] > near)
    height, columns = depth.shape
    ink = np.zeros(depth.shape, np.float32)
    reach = width / 2 + 1
    start = 0
    while start < len(seen) - 1:
        end = start + 1
        a = seen[start]
        while end < len(seen) - 1 and keep[end] and np.hypot(*(seen[end, :2] - a[:2])) < STEP:
            end += 1
        b = seen[end]
        if keep[start] and keep[end]:
            low, high = np.minimum(a, b) - reach, np.maximum(a, b) + reach
            left, top = max(0, int(low[0])), max(0, int(low[1]))
            right, bottom = min(columns, int(high[0]) + 2), min(height, int(high[1]) + 2)
            if left < right and top < bottom:
                window = slice(top, bottom), slice(left, right)
                cover = _segment(a, b, window, depth[window], width) * (alpha[start] + alpha[end]) / 2
                np.maximum(ink[window], cover, out=ink[window])
        start = end
    _blend(picture, ink, color)


def _segment(a: Any, b: Any, window: tuple[slice, slice], depth: Any, width: float) -> Any:
    """How much of each pixel of the window a straight piece covers, less where something is nearer."""
    y = np.arange(window[0].start, window[0].stop)[:, None] + 0.5
    x = np.arange(window[1].start, window[1].stop)[None, :] + 0.5
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / max(dx * dx + dy * dy, 1e-9), 0.0, 1.0)
    away = np.hypot(x - a[0] - along * dx, y - a[1] - along * dy)
    cover = np.clip(width / 2 + 0.5 - away, 0.0, 1.0)
    nearness = (1 - along) / a[2] + along / b[2]
    return np.where(nearness * 1.002 >= depth, cover, HIDDEN * cover)


def _dot(picture: Any, depth: Any, x: float, y: float, distance: float, color: str, radius: float) -> None:
    """A disc with a white rim."""
    rows, columns = depth.shape
    away = np.hypot(np.arange(columns)[None, :] + 0.5 - x, np.arange(rows)[:, None] + 0.5 - y)
    rim = np.clip(radius + 0.35 * radius + 0.5 - away, 0.0, 1.0)
    if not rim.any():
        return
    row, column = min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)
    shown = 1.0 if 1.002 / distance >= depth[row, column] else 2 * HIDDEN
    _blend(picture, shown * rim, "#ffffff")
    _blend(picture, shown * np.clip(radius + 0.5 - away, 0.0, 1.0), color)


def _ring(
    picture: Any, depth: Any, x: float, y: float, distance: float, color: str, radius: float, width: float
) -> None:
    """A ring that what is inside shines through."""
    rows, columns = depth.shape
    away = np.hypot(np.arange(columns)[None, :] + 0.5 - x, np.arange(rows)[:, None] + 0.5 - y)
    cover = np.clip(width / 2 + 0.5 - np.abs(away - radius), 0.0, 1.0)
    row, column = min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)
    _blend(picture, (1.0 if 1.002 / distance >= depth[row, column] else 2 * HIDDEN) * cover, color)


def _write(picture: Any, x: float, y: float, text: str, color: str, size: float) -> None:
    from PIL import Image, ImageDraw, ImageFont

    rows, columns, _ = picture.shape
    cover = Image.new("L", (columns, rows))
    ImageDraw.Draw(cover).text((x, y), text, font=ImageFont.load_default(size=size), fill=255, anchor="ls")
    _blend(picture, np.asarray(cover, np.float32) / 255, color)


def _blend(picture: Any, cover: Any, color: str) -> None:
    rows, columns = np.flatnonzero(cover.any(axis=1)), np.flatnonzero(cover.any(axis=0))
    if len(rows) == 0:
        return
    window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    share = cover[window][..., None]
    ink = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    picture[window] = np.round(picture[window] * (1 - share) + ink * share).astype(np.uint8)
