"""A walk as bodies that can be drawn and bumped into: as a take, or as keys for bodies that follow them in a scene."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from impel.files import Problem
from impel.gaits.energy import TERMS
from impel.gaits.gait import AMPLITUDE, PACE, TICK
from impel.gaits.legs import pose_legs
from impel.gaits.walk import Walk
from impel.gaits.walker import Floats, rig_of
from impel.takes.resampling import resampled
from impel.takes.take import Take

GROUND_WIDTH = 4.0  # m, of the stairs and obstacles as drawn
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
    walker = walk.walker
    rig = rig_of(walker)
    body, heading, foot = walk.body[::every], walk.heading[::every], walk.foot[::every]
    hip, knee = pose_legs(rig, body, heading, foot)
    cosine, sine = np.cos(heading), np.sin(heading)
    turn = np.zeros((len(body), 3, 3))
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = cosine, -sine, sine, cosine, 1.0
    # The legs bend in the plane of hip, foot and pole, whose normal is their y axis: it never flips as they straighten.
    normal = np.cross(foot - hip, np.einsum("fij,nj->fni", turn, rig.pole))
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    upper = _along(hip - knee, normal)
    lower = _along(knee - foot, normal)
    yaw = np.stack([np.cos(heading / 2), 0 * heading, 0 * heading, np.sin(heading / 2)], axis=-1)
    still = np.zeros_like(yaw)
    still[:, 0] = 1.0
    names, shapes, colors = ["body"], [dict(walker.body.shape)], [walker.body.color]
    positions, orientations = [body], [yaw]
    radius = walker.thickness
    for i, (name, leg) in enumerate(walker.legs.items()):
        names += [f"{name}.upper", f"{name}.lower", f"{name}.foot"]
        shapes += [{"capsule": {"radius": radius, "length": length}} for length in (leg.upper, leg.lower)]
        shapes.append({"sphere": walker.sole})
        colors += [walker.color] * 3
        positions += [(hip[:, i] + knee[:, i]) / 2, (knee[:, i] + foot[:, i]) / 2, foot[:, i]]
        orientations += [upper[:, i], lower[:, i], still]
    place = np.stack(positions, axis=1)
    place[:, :, 2] += walker.sole  # the walk is of the soles, the bodies stand on them
    return Tracks(names, shapes, colors, walk.time[::every], place, np.stack(orientations, axis=1))


def _along(z: Floats, y: Floats) -> Floats:
    """Orientations (F, n, 4) whose local z lies along z and whose local y is y, turning without a jump."""
    z = z / np.linalg.norm(z, axis=-1, keepdims=True)
    x = np.cross(y, z)
    r = np.stack([x, y, z], axis=-1)
    m00, m11, m22 = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    # Of the four ways to read a quaternion off a matrix, the one that divides by its greatest part (Shepperd 1978).
    ways = np.stack([m00 + m11 + m22, m00 - m11 - m22, m11 - m00 - m22, m22 - m00 - m11], axis=-1)
    best = np.argmax(ways, axis=-1)
    yx, xy = r[..., 1, 0], r[..., 0, 1]
    zx, xz = r[..., 2, 0], r[..., 0, 2]
    zy, yz = r[..., 2, 1], r[..., 1, 2]
    rows = np.stack(
        [
            np.stack([1 + ways[..., 0], zy - yz, xz - zx, yx - xy], axis=-1),
            np.stack([zy - yz, 1 + ways[..., 1], yx + xy, xz + zx], axis=-1),
            np.stack([xz - zx, yx + xy, 1 + ways[..., 2], zy + yz], axis=-1),
            np.stack([yx - xy, xz + zx, zy + yz, 1 + ways[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    q = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    flips = np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips, axis=0)[..., None]
    return q


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
    edges = walk.ground.edges()
    bottom = float(edges[:, 1].min())
    names: list[str] = ["floor"]
    shapes: list[dict[str, Any]] = [{"plane": {}}]
    places = [[0.0, 0.0, bottom, 1.0, 0.0, 0.0, 0.0]]
    x, y, heading = map(float, walk.way[0])
    # The first and the last piece have no end; as drawn they reach well beyond the walk.
    starts = np.append(edges[:, 0], max(edges[-1, 0], float(walk.along.max())) + GROUND_WIDTH)
    starts[0] = min(edges[1, 0], 0.0) - GROUND_WIDTH if len(edges) > 1 else 0.0
    for k, top in enumerate(edges[:, 1]):
        if top > bottom:
            names.append(f"ground.{k}")
            shapes.append({"box": [float(starts[k + 1] - starts[k]), GROUND_WIDTH, float(top) - bottom]})
            along = float(starts[k] + starts[k + 1]) / 2
            at = [x + math.cos(heading) * along, y + math.sin(heading) * along, (bottom + float(top)) / 2]
            places.append([*at, math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)])
    colors = [FLOOR_COLOR] + [GROUND_COLOR] * (len(names) - 1)
    return names, shapes, colors, np.array(places)
