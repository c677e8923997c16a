"""How a foot moves through the air, where the body goes because of it, and where the knee is."""

import math

import numpy as np

from impel.gaits.walker import Floats, Rig
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, norm, scale, sub


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
def place_body(foot, floor, lame, limp, spare, sway, stature, cosine, sine, rig, body):
    """001, eqs. 2 and 3: lean away from lifted feet, stand as high as the spread of the legs allows.

    `foot` (n, 3) are the feet in the world, `floor` (n,) the ground under each; (cosine, sine) is the heading. To the
    degree `limp` the body leans off the lame leg by `spare`, however high its foot is; the paper's limp is (1, sway),
    and `spare` = 1 leaves the leg out. Writes the body's place to `body` (3,).
    """
    n = foot.shape[0]
    middle_x = 0.0
    middle_y = 0.0
    rest_x = 0.0
    rest_y = 0.0
    for i in range(n):
        middle_x += foot[i, 0]
        middle_y += foot[i, 1]
        rest_x += rig.rest[i, 0]
        rest_y += rig.rest[i, 1]
    middle_x /= n
    middle_y /= n
    rest_x /= n
    rest_y /= n
    x = 0.0
    y = 0.0
    for i in range(n):
        lean = sway * (1.0 - 1.0 / (foot[i, 2] - floor[i] + 1.0))
        if i == lame:
            lean += limp * (spare - lean)
        x += foot[i, 0] + lean * (middle_x - foot[i, 0])
        y += foot[i, 1] + lean * (middle_y - foot[i, 1])
    body[0] = x / n - (cosine * rest_x - sine * rest_y)
    body[1] = y / n - (sine * rest_x + cosine * rest_y)
    z = 0.0
    for i in range(n):
        dx = body[0] + cosine * rig.hip[i, 0] - sine * rig.hip[i, 1] - foot[i, 0]
        dy = body[1] + sine * rig.hip[i, 0] + cosine * rig.hip[i, 1] - foot[i, 1]
        z += floor[i] - rig.hip[i, 2]
        z += stature * math.sqrt(max(0.0, rig.stance * rig.stance - dx * dx - dy * dy))
    body[2] = z / n


@kernel(inline=True)
def flat_distance(x, y, other_x, other_y):
    """As seen from above. (`math.hypot` guards against overflow, which takes a quarter of all the time.)"""
    return math.sqrt((x - other_x) * (x - other_x) + (y - other_y) * (y - other_y))


@kernel(inline=True)
def hip_of(body, cosine, sine, hip, i):
    return (
        body[0] + cosine * hip[i, 0] - sine * hip[i, 1],
        body[1] + sine * hip[i, 0] + cosine * hip[i, 1],
        body[2] + hip[i, 2],
    )


@kernel
def _pose_legs(body, heading, foot, rig, hip, knee):
    for f in range(body.shape[0]):
        cosine = math.cos(heading[f])
        sine = math.sin(heading[f])
        for i in range(foot.shape[1]):
            at = hip_of(body[f], cosine, sine, rig.hip, i)
            end = (foot[f, i, 0], foot[f, i, 1], foot[f, i, 2])
            pole = (
                cosine * rig.pole[i, 0] - sine * rig.pole[i, 1],
                sine * rig.pole[i, 0] + cosine * rig.pole[i, 1],
                rig.pole[i, 2],
            )
            bend = find_knee(at, end, pole, rig.length[i, 0], rig.length[i, 1])
            for c in range(3):
                hip[f, i, c] = at[c]
                knee[f, i, c] = bend[c]


def pose_legs(rig: Rig, body: Floats, heading: Floats, foot: Floats) -> tuple[Floats, Floats]:
    """Hips and knees (F, n, 3) of frames with bodies (F, 3), headings (F,) in radians and feet (F, n, 3)."""
    hip = np.empty_like(foot)
    knee = np.empty_like(foot)
    _pose_legs(body, heading, foot, rig, hip, knee)
    return hip, knee
