"""How a ball joint has turned: lean and twist about its axis, and all of it as a rotation vector.

Everything is measured from the turn q of b in the frame of a, in the joint's own axes, of which z is the axis.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, logarithm, norm, rotate, scale, sub

POLE = 1e-6  # 1 + cosine of the lean: as good as turned over, where no twist can be told


@kernel(inline=True)
def lean_of(q):
    """The angle between the axis of a and that of b."""
    return 2.0 * math.atan2(math.sqrt(q[1] * q[1] + q[2] * q[2]), math.sqrt(q[0] * q[0] + q[3] * q[3]))


@kernel(inline=True)
def twist_of(q):
    """How far b has turned about its axis, but for full turns: what is left if it is leant back the shortest way."""
    return 2.0 * math.atan2(q[3], q[0])


@kernel(inline=True)
def lean_rate(z_a, z_b):
    """The spin of a against b, times this, is the rate of the lean. There is none while b does not lean."""
    across = cross(z_b, z_a)
    return scale(across, 1.0 / max(norm(across), 1e-300))


@kernel(inline=True)
def twist_rate(z_a, z_b):
    """The same for the twist."""
    both = axpy(1.0, z_a, z_b)
    return scale(both, -1.0 / max(1.0 + dot(z_a, z_b), POLE))


@kernel(inline=True)
def turn_near(q, last):
    """The rotation vector of q: of the two ways round, that which is nearer to the last."""
    turn = logarithm(q)
    angle = norm(turn)
    if angle > 0.0:
        other = scale(turn, 1.0 - 2.0 * math.pi / angle)
        here, there = sub(turn, last), sub(other, last)
        if dot(there, there) < dot(here, here):
            turn = other
    return turn


@kernel
def turn_rate(frame, turn, axis):
    """The spin of b against a, times this, is the rate of one number of the rotation vector; `frame` is that of a."""
    e = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
    angle2 = dot(turn, turn)
    if angle2 < 1e-4:
        bend = 1.0 / 12.0 + angle2 / 720.0
    else:
        angle = math.sqrt(angle2)
        bend = (1.0 - 0.5 * angle / math.tan(0.5 * angle)) / angle2
    once = cross(turn, e)
    return rotate(frame, axpy(bend, cross(turn, once), axpy(0.5, once, e)))
