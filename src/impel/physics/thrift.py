"""Steps that joints did not stand well, but that are as short as can be, gain no energy.

A light body that whips round between heavy ones would need steps of nanoseconds. In longer ones its energy dips and
comes back with a little more, or less: it may come back to what it was before, and that is all.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import dot, get3
from impel.physics.joint_forces import stored_now
from impel.physics.joints import JOINT, MEMBER
from impel.physics.rattle import FINE_LOST, driven, motion, pushed, slow_down


@kernel
def gain_nothing(bodies, joints, before, joints_before, gravity):
    """After a step that was taken: let islands in which it was poor have no more energy than before the first of such
    steps, unless somebody pushes them. So it is until they have come back: often by a step that is not poor itself."""
    for island in range(len(joints.island) - 1):
        poor = joints.poor[island] == 1.0
        if (not poor and joints.worth[island] == math.inf) or _is_helped(bodies, before, joints, island):
            joints.worth[island] = math.inf
            continue
        last = _energy(before, joints_before, island, gravity)
        if joints.worth[island] == math.inf:
            joints.worth[island] = last
        now = _energy(bodies, joints, island, gravity)
        moving = motion(bodies, joints, island)
        if now > joints.worth[island]:
            gain = now - joints.worth[island]
            slow_down(bodies, joints, island, math.sqrt(1.0 - gain / max(moving, gain)))
        if not poor and now - last < FINE_LOST * moving:
            joints.worth[island] = math.inf


@kernel
def swings_freely(bodies, joints):
    """Was the step poor for an island that nobody pushes, and that neither friction nor springs calm? Its energy is to
    last."""
    free = False
    if joints is not None:
        for island in range(len(joints.island) - 1):
            rubs = False
            for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
                rubs |= joints.each[k].soft >= 0
            free |= joints.poor[island] == 1.0 and not rubs and not pushed(bodies, joints, island)
    return free


@kernel
def _is_helped(bodies, before, joints, island):
    """Does anything but gravity and its own springs act on an island, or hold a part of it asleep?"""
    if pushed(bodies, joints, island) or driven(bodies, joints, island):
        return True
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        now, then = get3(bodies.force, i), get3(before.force, i)
        if bodies.asleep[i] == 1.0 or dot(now, now) + dot(then, then) > 0.0:
            return True
    return False


@kernel
def _energy(bodies, joints, island, gravity):
    """Of motion, height and springs, in J."""
    total = motion(bodies, joints, island)
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        total -= bodies.mass[i] * dot(gravity, get3(bodies.position, i))
    return total + stored_now(joints.soft, joints, joints.island[island, JOINT], joints.island[island + 1, JOINT])
