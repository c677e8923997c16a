"""Where the bodies of a walker are, given its feet and its body: the body itself, then upper leg, lower leg and foot of
each leg."""

import math
from typing import Any, NamedTuple

from impel.gaits.legs import find_knee, frame_of, hip_of, turned
from impel.gaits.walker import Walker
from impel.kernel import kernel
from impel.motion.rotations import add, cross, get3, get4, norm, scale, set3, set4, sub


class WalkerBody(NamedTuple):
    name: str
    shape: dict[str, Any]  # as in a scene
    color: str


def parts_of(walker: Walker) -> list[WalkerBody]:
    parts = [WalkerBody("body", dict(walker.body.shape), walker.body.color)]
    for name, leg in walker.legs.items():
        for part, length in (("upper", leg.upper), ("lower", leg.lower)):
            shape = {"capsule": {"radius": walker.thickness, "length": length}}
            parts.append(WalkerBody(f"{name}.{part}", shape, walker.color))
        parts.append(WalkerBody(f"{name}.foot", {"sphere": walker.sole}, walker.color))
    return parts


@kernel(inline=True)
def _quaternion(x, y, z):
    """Of a frame with these axes. Of the four ways to read it off, the one that divides by the greatest part (Shepperd
    1978)."""
    trace = x[0] + y[1] + z[2]
    if trace >= max(x[0], y[1], z[2]):
        w = 1.0 + trace
        q = (w, y[2] - z[1], z[0] - x[2], x[1] - y[0])
    elif x[0] >= max(y[1], z[2]):
        w = 1.0 + x[0] - y[1] - z[2]
        q = (y[2] - z[1], w, x[1] + y[0], z[0] + x[2])
    elif y[1] >= z[2]:
        w = 1.0 + y[1] - x[0] - z[2]
        q = (z[0] - x[2], x[1] + y[0], w, y[2] + z[1])
    else:
        w = 1.0 + z[2] - x[0] - y[1]
        q = (x[1] - y[0], z[0] + x[2], y[2] + z[1], w)
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size)


@kernel(inline=True)
def _put(position, orientation, row, before, at, q):
    """Write a pose down, as the one of two quaternions that is nearer to the one before, if there is one."""
    if before >= 0:
        old = get4(orientation, before)
        if old[0] * q[0] + old[1] * q[1] + old[2] * q[2] + old[3] * q[3] < 0.0:
            q = (-q[0], -q[1], -q[2], -q[3])
    set3(position, row, at)
    set4(orientation, row, q)


@kernel
def pose_parts(body, heading, roll, pitch, foot, rig, lift, position, orientation, row, apart, before):
    """Write the poses of all parts to rows that are `apart` from each other, from `row` on; those of a moment ago begin
    at `before`, or -1. `lift` is added to all heights: the walk is of the soles, and the bodies stand on them."""
    frame = frame_of(math.cos(heading), math.sin(heading), roll, pitch)
    up = (0.0, 0.0, lift)
    ahead, left, top = (frame[0], frame[3], frame[6]), (frame[1], frame[4], frame[7]), (frame[2], frame[5], frame[8])
    _put(position, orientation, row, before, add(get3_of(body), up), _quaternion(ahead, left, top))
    for i in range(foot.shape[0]):
        hip = hip_of(body, frame, rig.hip, i)
        end = get3(foot, i)
        pole = turned(frame, rig.pole, i)
        knee = find_knee(hip, end, pole, rig.length[i, 0], rig.length[i, 1])
        # It bends in the plane of hip, foot and pole, whose normal is its y axis: it never flips as it straightens.
        normal = cross(sub(end, hip), pole)
        normal = scale(normal, 1.0 / norm(normal))
        for part in range(3):
            at = row + (1 + 3 * i + part) * apart
            was = before + (1 + 3 * i + part) * apart if before >= 0 else -1
            if part == 2:
                _put(position, orientation, at, -1, add(end, up), (1.0, 0.0, 0.0, 0.0))
            else:
                first = hip if part == 0 else knee
                second = knee if part == 0 else end
                along = sub(first, second)
                along = scale(along, 1.0 / norm(along))
                middle = add(scale(add(first, second), 0.5), up)
                _put(position, orientation, at, was, middle, _quaternion(cross(normal, along), normal, along))


@kernel(inline=True)
def get3_of(body):
    return (body[0], body[1], body[2])


@kernel
def pose_all(body, heading, tilt, foot, rig, lift, position, orientation):
    """The same for many moments (F, ...), each with a block of rows of its own."""
    parts = 1 + 3 * foot.shape[1]
    for f in range(body.shape[0]):
        row, before = f * parts, (f - 1) * parts if f > 0 else -1
        pose_parts(
            body[f], heading[f], tilt[f, 0], tilt[f, 1], foot[f], rig, lift, position, orientation, row, 1, before
        )
