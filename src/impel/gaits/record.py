"""A walk as bodies that can be drawn and bumped into: as a take, or as keys for bodies that follow them in a scene."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from impel.files import Problem
from impel.gaits.energy import TERMS
from impel.gaits.gait import AMPLITUDE, PACE, TICK
from impel.gaits.ground import TOP
from impel.gaits.looks import looks_of
from impel.gaits.posing import parts_of, pose_all
from impel.gaits.walk import Walk
from impel.gaits.walker import Floats, rig_of
from impel.takes.pieces import surface_of
from impel.takes.resampling import resampled
from impel.takes.take import Take

GROUND_COLOR = "#b8b0a2"
FLOOR_COLOR = "#d8d8d4"


@dataclass
class Tracks:
    """A walker's bodies, key-framed at every tick: first its body, then upper leg, lower leg and foot of each leg."""

    names: list[str]  # (N,)
    shapes: list[dict[str, Any]]  # (N,) as in a scene
    colors: list[str]  # (N,)
    times: Floats  # (F,) s, every 1/240
    positions: Floats  # (F, N, 3)
    orientations: Floats  # (F, N, 4)


def tracks(walk: Walk, *, every: int = 1) -> Tracks:
    """Key-frames of all the walker's bodies, every tick or every few."""
    parts = parts_of(walk.walker)
    series = (np.ascontiguousarray(each[::every]) for each in (walk.body, walk.heading, walk.tilt, walk.foot))
    body, heading, tilt, foot = series
    position, orientation = (np.empty((len(body) * len(parts), size)) for size in (3, 4))
    pose_all(body, heading, tilt, foot, rig_of(walk.walker), walk.walker.sole, position, orientation)
    return Tracks(
        [part.name for part in parts],
        [part.shape for part in parts],
        [part.color for part in parts],
        walk.time[::every],
        position.reshape(len(body), len(parts), 3),
        orientation.reshape(len(body), len(parts), 4),
    )


def as_take(walk: Walk, *, fps: float = 60) -> Take:
    """The walk as a take: the walker's bodies, the floor, steps and obstacles, footfalls as events."""
    rate = round(1 / TICK)
    if not fps > 0:
        raise Problem(f"fps: must be greater than 0, got {fps:g}")
    if rate % fps:  # frames that are not among the walk's own
        return resampled(as_take(walk, fps=rate), fps)
    every = round(rate / fps)
    keys = tracks(walk, every=every)
    frames = len(keys.times)
    names, shapes, colors, places = _ground(walk)
    at = np.broadcast_to(places[:, :3], (frames, len(names), 3))
    turned = np.broadcast_to(places[:, 3:], (frames, len(names), 4))
    surfaces: dict[str, Floats] = {}
    for k, pieces in enumerate(looks_of(walk.walker)):
        if pieces:
            keys.shapes[k], seen = surface_of(pieces)
            surfaces |= seen
    spent = walk.energy[::every]
    channels = {"energy": spent.sum(axis=1)}
    channels |= {f"energy.{term}": spent[:, k] for k, term in enumerate(TERMS)}
    channels["height"] = walk.body[::every, 2]
    channels["amplitude"] = walk.genes[::every, AMPLITUDE]
    channels["pace"] = walk.genes[::every, PACE]
    channels["feet down"] = (~walk.lifted[::every]).sum(axis=1).astype(np.float64)
    line = walk.way[::10]
    return Take(
        time=keys.times,
        names=keys.names + names,
        position=np.concatenate([keys.positions, at], axis=1),
        orientation=np.concatenate([keys.orientations, turned], axis=1),
        shapes=keys.shapes + shapes,
        colors=keys.colors + colors,
        events=footfalls(walk),
        channels=channels,
        surfaces=surfaces,
        paths={"way": np.column_stack([line[:, :2], np.zeros(len(line))])},
    )


def footfalls(walk: Walk) -> list[dict[str, Any]]:
    """Each landing of a foot as an event of a take, in order; the subject is the leg."""
    legs = list(walk.walker.legs)
    return [
        {"time": time, "kind": "footfall", "subject": legs[leg], "details": {"at": _point(walk, time, leg)}}
        for time, leg in walk.footfalls()
    ]


def _point(walk: Walk, time: float, leg: int) -> list[float]:
    return [round(float(v), 6) for v in walk.foot[round(time / TICK), leg]]


def _ground(walk: Walk) -> tuple[list[str], list[dict[str, Any]], list[str], Floats]:
    """The floor, and boxes for what is higher, each with its place and orientation (N, 7)."""
    bottom = float(walk.surfaces[0, TOP])
    names: list[str] = ["floor"]
    shapes: list[dict[str, Any]] = [{"plane": {}}]
    places = [[0.0, 0.0, bottom, 1.0, 0.0, 0.0, 0.0]]
    for k, row in enumerate(walk.surfaces[1:], 1):
        x, y, cosine, sine, half_length, half_width, top, _ = map(float, row)
        names.append(f"ground.{k}")
        shapes.append({"box": [2 * half_length, 2 * half_width, top - bottom]})
        half = math.atan2(sine, cosine) / 2
        places.append([x, y, (bottom + top) / 2, math.cos(half), 0.0, 0.0, math.sin(half)])
    colors = [FLOOR_COLOR] + [GROUND_COLOR] * (len(names) - 1)
    return names, shapes, colors, np.array(places)
