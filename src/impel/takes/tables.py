"""Takes as `.csv`, for a spreadsheet: one table of the bodies' motion, another of everything measured."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import writing
from impel.takes.take import Take


def write_csv(take: Take, path: str | Path) -> None:
    """One row per frame and body: where it is (m) and how it is turned (degrees, Blender's XYZ order).

    Angles run on past 180 degrees, and past 90 about y, instead of jumping: a plotted column is a smooth line. Only a
    body that passes close by 90 degrees about y, but not through it, turns fast about x and z in these angles.
    """
    from impel.motion.orientations import euler_from_quaternions

    euler = euler_from_quaternions(take.orientation)
    numbers = np.concatenate([take.position, euler], axis=-1).tolist()
    header = ["frame", "time", "body", "x", "y", "z", "turn x", "turn y", "turn z"]
    _write(
        path,
        header,
        (
            [frame, _short(time), name, *map(_short, values)]
            for frame, (time, bodies) in enumerate(zip(take.time.tolist(), numbers))
            for name, values in zip(take.names, bodies)
        ),
    )


def write_channels_csv(take: Take, path: str | Path) -> None:
    """One row per frame: every channel in a column of its own, every track in three (orientations in degrees)."""
    from impel.motion.orientations import euler_from_quaternions

    header = ["frame", "time", *take.channels, *(f"{name}.{axis}" for name in take.tracks for axis in "xyz")]
    tracks = [
        euler_from_quaternions(np.where(np.abs(track) <= 2, track, np.nan)) if track.shape[1] == 4 else track
        for track in take.tracks.values()
    ]
    rows = np.column_stack([take.time, *take.channels.values(), *tracks]).tolist()
    _write(path, header, ([frame, *map(_short, row)] for frame, row in enumerate(rows)))


def _short(value: float) -> str:
    return f"{value:.9g}"  # a nanometre in a metre


def _write(path: str | Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
