"""What actuators cannot know by themselves: what touches their bodies, and how the joints make them feel each other."""

import math

from impel.control.actuators import JOINTS, LOOSE, NOTHING, press_less
from impel.kernel import kernel
from impel.motion.rotations import dot, get3, get3_at, norm, scale, set3
from impel.physics.bodies import spin_of
from impel.physics.joint_rows import resist
from impel.physics.joints import MEMBER
from impel.physics.response import acceleration_of, heed_limits, ignore_limits, turning_of
from impel.physics.skyline import factor, get_tile, plus, product, set_tile, solve

BLOCKED = 0.002  # over the easiest: a direction in which bodies give way less is not pulled. At full stretch an arm's
# tip would need ever larger forces to go farther, and none of them would help.
FIRM = 1e-5  # of what it would be without joints: a body that gives way less does not move but for rounding
SUPPORT = 0.2  # what is lighter, over what would stand on it, is no ground to stand on ...
STILL = 0.1  # m/s: ... nor is what is loose and moves faster: it tumbles
STEEP = 0.5  # cosine: on a slope up to 60° things stand, on a steeper one they lean against it


@kernel
def feel(bodies, joints, contacts, actuators, gravity):
    """Tell the actuators all that."""
    feel_contact(bodies, contacts, actuators, gravity)
    feel_joints(bodies, joints, actuators, actuators.crews, gravity)


@kernel
def feel_contact(bodies, contacts, actuators, gravity):
    """What touches the bodies of the actuators, and what hangs on them."""
    for a in range(len(actuators.body)):
        actuators.held_by[a] = JOINTS if actuators.anchored[a] == 1 else NOTHING
        actuators.standing[a] = 0.0
    if contacts is None:
        return
    for p in range(len(contacts.touching)):
        if contacts.touching[p] != 0.0:
            for side in range(2):
                one, other = actuators.whole[contacts.pair[p, side]], actuators.whole[contacts.pair[p, 1 - side]]
                normal = scale(get3_at(contacts.place, p, 3), 1.0 - 2.0 * side)
                for a in range(len(actuators.body)):
                    if actuators.whole[actuators.body[a]] == one and one != other:
                        feel_one(
                            bodies, actuators, a, contacts.pair[p, side], contacts.pair[p, 1 - side], normal, gravity
                        )
    for a in range(len(actuators.body)):
        if actuators.standing[a] > 0.0:
            actuators.leaning[a] = min(actuators.standing[a] / actuators.weight[a], 1.0)


@kernel
def feel_one(bodies, actuators, a, body, by, normal, gravity):
    """A body that actuator a moves is touched by another, which pushes it along the normal.

    Of a structure only those bodies stand that are touched themselves: legs may fold.
    """
    if actuators.firm[by] == 0:
        actuators.held_by[a] = LOOSE
    else:
        press_less(bodies, actuators, a, normal)
    supports = bodies.mass[by] > SUPPORT * actuators.weight[a]
    if actuators.firm[by] == 0:
        supports &= norm(get3(bodies.velocity, by)) < STILL
    if supports and dot(normal, gravity) < -STEEP * norm(gravity):
        actuators.standing[a] += bodies.mass[body]


@kernel
def feel_joints(bodies, joints, actuators, crews, gravity):
    """How the bodies of each crew answer to its actuators and to gravity."""
    if crews is None:
        return
    for c in range(len(crews.island)):
        island = crews.island[c]
        limited = ignore_limits(bodies, joints, island)
        for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
            set3(crews.free, joints.members[k], gravity)
        resist(joints, island, crews.free, crews.free_turning)
        for d in range(crews.first[c], crews.first[c + 1]):
            set3(crews.fall, d, answer_of(bodies, joints, actuators, crews, island, d))
        for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
            set3(crews.free, joints.members[k], (0.0, 0.0, 0.0))
        for d in range(crews.first[c], crews.first[c + 1]):
            crews.ease[d] = 0.0
            for axis in range(3):
                push(bodies, joints, actuators, crews, c, d, axis)
        weigh_crew(crews, c)
        if limited:
            heed_limits(bodies, joints, island)


@kernel
def push(bodies, joints, actuators, crews, c, d, axis):
    """Write one column of tiles: how the bodies of a crew answer to worker d along one axis; and how easily its own."""
    island = crews.island[c]
    body = actuators.body[crews.worker[d]]
    if actuators.paths.turns[crews.worker[d]] == 1:
        torque = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
        set3(crews.free_turning, body, spin_of(bodies, body, torque))
        unheld = crews.free_turning[body, axis]
    else:
        unheld = bodies.inverse_mass[body]
        crews.free[body, axis] = unheld
    resist(joints, island, crews.free, crews.free_turning)
    for e in range(crews.first[c], crews.first[c + 1]):
        answer = answer_of(bodies, joints, actuators, crews, island, e)
        for k in range(3):
            crews.answer[3 * (crews.row[e, 1] + d) + k, axis] = answer[k]
    own = crews.answer[3 * (crews.row[d, 1] + d) + axis, axis]
    crews.ease[d] = max(crews.ease[d], own, FIRM * unheld)
    set3(crews.free, body, (0.0, 0.0, 0.0))
    set3(crews.free_turning, body, (0.0, 0.0, 0.0))


@kernel
def answer_of(bodies, joints, actuators, crews, island, d):
    """What happens to the body of worker d."""
    body = actuators.body[crews.worker[d]]
    if actuators.paths.turns[crews.worker[d]] == 1:
        return turning_of(joints, island, crews.free_turning, body)
    return acceleration_of(bodies, joints, island, crews.free, body)


@kernel
def weigh_crew(crews, c):
    """The inertia of a crew, W·(W² + λ²)⁻¹ of its answers W: their inverse, but for directions that are blocked.

    Forces and torques, accelerations and angular ones are made comparable first: each worker feels its body, where
    that gives way most easily, as one.
    """
    begin, end = crews.first[c], crews.first[c + 1]
    for d in range(begin, end):
        for e in range(begin, end):
            both = 1.0 / math.sqrt(crews.ease[d] * crews.ease[e])
            for k in range(3):
                at = 3 * (crews.row[d, 1] + e) + k
                set3(crews.answer, at, scale(get3(crews.answer, at), both))
    for d in range(begin, end):
        for e in range(begin, d + 1):
            tile = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for i in range(begin, end):
                one, other = get_tile(crews.answer, crews.row[d, 1] + i), get_tile(crews.answer, crews.row[e, 1] + i)
                tile = plus(tile, 1.0, product(one, other))
            set_tile(crews.square, crews.row[d, 1] + e, tile)
        for k in range(3):
            crews.square[3 * (crews.row[d, 1] + d) + k, k] += BLOCKED * BLOCKED
    factor(crews.square, crews.row, begin, end, 0.0)
    for d in range(begin, end):
        for k in range(3):
            for e in range(begin, end):
                for i in range(3):
                    crews.column[3 * e + i] = crews.answer[3 * (crews.row[e, 1] + d) + i, k]
            solve(crews.square, crews.row, begin, end, crews.column)
            for e in range(begin, end):
                both = 1.0 / math.sqrt(crews.ease[d] * crews.ease[e])
                for i in range(3):
                    crews.inertia[3 * (crews.row[e, 1] + d) + i, k] = both * crews.column[3 * e + i]
