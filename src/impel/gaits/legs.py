"""How a foot moves through the air, where the hips of a tilted body are, and where the knee is."""

import math

import numpy as np

from impel.gaits.walker import Floats, Rig
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, norm, scale, set3, sub


@kernel(inline=True)
def swing(u, smooth):
    """How far along (0 to 1) and how high (0 to 1) a foot is when the part u of its time in the air is over."""
    if smooth:  # a cycloid under a raised cosine: starts and lands at rest
        turn = 2.0 * math.pi * u
        return u - math.sin(turn) / (2.0 * math.pi), 0.5 - 0.5 * math.cos(turn)
    return u * u, math.sin(math.pi * u)  # 001, eq. 1


@kernel(inline=True)
def mean_progress(smooth):
    """The mean of `swing`'s progress over the time in the air."""
    return 0.5 if smooth else 1.0 / 3.0


@kernel(inline=True)
def find_knee(hip, foot, pole, upper, lower):
    """Where the knee is, on the pole's side of the line from hip to foot; a foot out of reach straightens the leg."""
    line = sub(foot, hip)
    distance = norm(line)
    along = scale(line, 1.0 / distance)
    share = (upper * upper - lower * lower + distance * distance) / (2.0 * distance)
    bend = math.sqrt(max(0.0, upper * upper - share * share))
    side = axpy(-dot(pole, along), along, pole)
    return axpy(bend / norm(side), side, axpy(share, along, hip))


@kernel(inline=True)
def flat_distance(x, y, other_x, other_y):
    """As seen from above. (`math.hypot` guards against overflow, which takes a quarter of all the time.)"""
    return math.sqrt((x - other_x) * (x - other_x) + (y - other_y) * (y - other_y))


@kernel(inline=True)
def frame_of(cosine, sine, roll, pitch):
    """A body's axes, row by row: turned about z by its heading, then about its y by the pitch, then about its x."""
    cp, sp = math.cos(pitch), math.sin(pitch)
    cr, sr = math.cos(roll), math.sin(roll)
    return (
        cosine * cp, cosine * sp * sr - sine * cr, cosine * sp * cr + sine * sr,
        sine * cp, sine * sp * sr + cosine * cr, sine * sp * cr - cosine * sr,
        -sp, cp * sr, cp * cr,
    )  # fmt: skip


@kernel(inline=True)
def turned(frame, rows, i):
    """The i-th vector of a body's frame, as it lies in the world."""
    x, y, z = rows[i, 0], rows[i, 1], rows[i, 2]
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@kernel(inline=True)
def hip_of(body, frame, hip, i):
    x, y, z = turned(frame, hip, i)
    return body[0] + x, body[1] + y, body[2] + z


@kernel
def _pose_legs(body, heading, tilt, foot, rig, hip, knee, pole):
    for f in range(body.shape[0]):
        frame = frame_of(math.cos(heading[f]), math.sin(heading[f]), tilt[f, 0], tilt[f, 1])
        for i in range(foot.shape[1]):
            at = hip_of(body[f], frame, rig.hip, i)
            side = turned(frame, rig.pole, i)
            bend = find_knee(at, get3(foot[f], i), side, rig.length[i, 0], rig.length[i, 1])
            set3(hip[f], i, at)
            set3(knee[f], i, bend)
            set3(pole[f], i, side)


def pose_legs(rig: Rig, body: Floats, heading: Floats, tilt: Floats, foot: Floats) -> tuple[Floats, Floats, Floats]:
    """Hips, knees and the sides that knees point to (F, n, 3) of frames with bodies (F, 3), headings (F,) in radians,
    rolls and pitches (F, 2) and feet (F, n, 3)."""
    hip, knee, pole = np.empty_like(foot), np.empty_like(foot), np.empty_like(foot)
    _pose_legs(body, heading, tilt, foot, rig, hip, knee, pole)
    return hip, knee, pole
