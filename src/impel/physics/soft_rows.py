"""Rows that yield: what springs and friction make of the equations along what a joint leaves free.

A spring acts by implicit midpoint: its force in a step is that in the middle between the places before and after it,
with the speed between them. Both halves of the step get the same impulse, along the directions at the start and at the
end. This is what follows from the Lagrangian of the step, so energy does not drift, and no stiffness makes it unstable.
"""

from impel.kernel import kernel
from impel.physics.joints import AIM, ANCHOR, GIVE, GIVEN, JOINT, NOW, STUCK, YIELD
from impel.physics.skyline import ZERO


@kernel(inline=True)
def is_held(joints, k, g):
    """Whether a joint is held in its soft rows, at a limit or by friction."""
    if joints.grip[g, STUCK] != 0.0:
        return True
    return joints.soft[g].count == 1 and joints.active[joints.each[k].index] != 0.0


@kernel
def soft_residual(soft, joints, g, i):
    """How far soft row i of a joint that is at no limit is from being met; rows that only slip always are."""
    if soft is None:
        return 0.0
    grip = joints.grip[g]
    if grip[STUCK] != 0.0:
        return grip[NOW + i] - grip[ANCHOR + i]
    if not grip[YIELD] > 0.0:
        return 0.0
    residual = grip[NOW + i] - grip[AIM + i]
    for n in range(soft[g].count):
        yielding = grip[YIELD] * grip[GIVE + 3 * i + n]
        residual += yielding * (joints.impulse[soft[g].row + n] - grip[GIVEN + n])
    return residual


@kernel
def soften(soft, joints, island):
    """Let the rows of springs yield: add their share to the diagonal of an island's matrix."""
    if soft is None:
        return
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0 and joints.grip[g, GIVE] > 0.0 and not is_held(joints, k, g):
            t = soft[g].row // 3
            first = soft[g].row - 3 * t
            for i in range(soft[g].count):
                for n in range(soft[g].count):
                    at = 9 * (joints.envelope[t, ZERO] + t) + 3 * (first + i) + first + n
                    joints.factor[at] += joints.grip[g, GIVE + 3 * i + n]
