"""Pushes and pulls from outside, as a scene or a person at play gives them."""

import math

import numpy as np

from impel.geometry.kinds import Solid
from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, rotate, scale, set3, sub
from impel.physics.bodies import Bodies, weighted
from impel.physics.sleep import rouse
from impel.scene.pushes import ROUNDING, Push

TIME, PLACE = 0, 1  # columns of `way`


@struct
class Pushes:
    """K pushes; the other ends of those with a spring go along a way."""

    body: Integers  # (K,)
    point: Floats2  # (K, 3) from the centre of mass, in the frame of the principal axes
    begin: Floats  # (K,) s
    end: Floats  # (K,) s
    force: Floats2  # (K, 3) N
    stiffness: Floats  # (K,) N/m, of a spring; else 0
    damping: Floats  # (K,) N·s/m
    first: Integers  # (K + 1,) where the places of each way begin
    way: Floats2  # (places, 4) TIME, PLACE


def make_pushes(pushes: list[Push], index: dict[str, int], solids: list[Solid], bodies: Bodies) -> Pushes | None:
    if not pushes:
        return None
    body = np.array([index[push.body] for push in pushes], np.int64)
    wholes = [solids[i] for i in body]
    points = [matrix_from_quaternion(w.rotation).T @ (np.array(p.point) - w.offset) for p, w in zip(pushes, wholes)]
    lasting = [2 * math.sqrt((push.spring or 0.0) * bodies.mass[i]) for push, i in zip(pushes, body)]
    ways = [push.to or [] for push in pushes]
    return Pushes(
        body=body,
        point=np.array(points, float),
        begin=np.array([push.from_ for push in pushes]),
        end=np.array([math.inf if push.until is None else push.until for push in pushes]),
        force=np.array([push.force or (0.0, 0.0, 0.0) for push in pushes], float),
        stiffness=np.array([push.spring or 0.0 for push in pushes]),
        damping=np.array([c if push.damping is None else push.damping for push, c in zip(pushes, lasting)]),
        first=np.cumsum([0, *map(len, ways)], dtype=np.int64),
        way=np.array([place for way in ways for place in way], float).reshape(-1, 4),
    )


@kernel
def push_bodies(bodies, pushes, gravity, time, dt):
    """Add the pushes of a step: each by the share of it in which it acts, so that its impulse is exact."""
    for k in range(len(pushes.body)):
        acts = min(pushes.end[k], time + dt) - max(pushes.begin[k], time)
        if acts < ROUNDING:
            continue
        share = acts / dt if acts < dt - ROUNDING else 1.0
        i = pushes.body[k]
        if bodies.asleep[i] == 1.0:
            rouse(bodies, i)
        bodies.calm[i] = 0.0
        arm = rotate(get4(bodies.orientation, i), get3(pushes.point, k))
        force = get3(pushes.force, k)
        if pushes.stiffness[k] > 0.0:
            force = _pull(bodies, pushes, k, arm, gravity, time, dt)
        force = scale(force, share)
        set3(bodies.push, i, add(get3(bodies.push, i), force))
        set3(bodies.twist, i, add(get3(bodies.twist, i), cross(arm, force)))


@kernel
def _pull(bodies, pushes, k, arm, gravity, time, dt):
    """The mean force of a spring over a step, in which it changes what it pulls: stable however stiff it is.

    The body counts as free; what holds it only makes it heavier.
    """
    i, stiffness, damping = pushes.body[k], pushes.stiffness[k], pushes.damping[k]
    here, there = _led(pushes, k, time), _led(pushes, k, time + dt)
    gap = sub(here, add(get3(bodies.position, i), arm))
    rate = sub(scale(sub(there, here), 1.0 / dt), add(get3(bodies.velocity, i), cross(get3(bodies.spin, i), arm)))
    fall = axpy(bodies.inverse_mass[i], get3(bodies.force, i), gravity)
    stretch = axpy(-0.25 * dt * dt, fall, axpy(0.5 * dt, rate, gap))
    wanted = axpy(damping, axpy(-0.5 * dt, fall, rate), scale(stretch, stiffness))
    yields = 0.5 * dt * damping + 0.25 * dt * dt * stiffness
    a = axpy(yields, _answer(bodies, i, arm, (1.0, 0.0, 0.0)), (1.0, 0.0, 0.0))
    b = axpy(yields, _answer(bodies, i, arm, (0.0, 1.0, 0.0)), (0.0, 1.0, 0.0))
    c = axpy(yields, _answer(bodies, i, arm, (0.0, 0.0, 1.0)), (0.0, 0.0, 1.0))
    bc = cross(b, c)  # (a b c)·force = wanted, by Cramer's rule
    force = dot(wanted, bc), dot(a, cross(wanted, c)), dot(a, cross(b, wanted))
    return scale(force, 1.0 / dot(a, bc))


@kernel
def _answer(bodies, i, arm, force):
    """The acceleration of a point of a free body by a force there."""
    turning = weighted(get4(bodies.orientation, i), get3(bodies.inverse_inertia, i), cross(arm, force))
    return axpy(bodies.inverse_mass[i], force, cross(turning, arm))


@kernel
def _led(pushes, k, time):
    """Where the other end of a spring is: straight from place to place, at rest before the first and after the last."""
    way, first, last = pushes.way, pushes.first[k], pushes.first[k + 1] - 1
    row = first
    while row < last and way[row + 1, TIME] <= time + ROUNDING:
        row += 1
    x = (way[row, PLACE], way[row, PLACE + 1], way[row, PLACE + 2])
    if row == last or time <= way[row, TIME] + ROUNDING:
        return x
    y = (way[row + 1, PLACE], way[row + 1, PLACE + 1], way[row + 1, PLACE + 2])
    return axpy((time - way[row, TIME]) / (way[row + 1, TIME] - way[row, TIME]), sub(y, x), x)


@kernel
def any_push(pushes, begin, end):
    """Whether any push acts between two times."""
    if pushes is not None:
        for k in range(len(pushes.body)):
            if min(pushes.end[k], end) - max(pushes.begin[k], begin) >= ROUNDING:
                return True
    return False
