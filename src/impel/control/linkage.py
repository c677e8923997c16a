"""What an actuator really has to move: its body, what hangs on it, and how these move each other.

An actuator that knows only its own body's inertia is far too weak for what it carries: on a three-link arm it feels up
to 42 times as much, swings for ever and makes the correction unstable. Measured on that arm (γ = 5, ω_n 4.5 to 20 per
second, steps of Δt/4, the whole arm turned at once), overshoot should be 4 %:

    own inertia about the joint         54-90 %, never settles, sags for ever
    and carried bodies as points        50-60 %, settles in 12.5/ω_n; unstable with a tip five times as heavy
    carried bodies as one rigid piece   30-50 %, settles in 10/ω_n; unstable at ω_n = 20
    inverse dynamics                     4 %, settles in 2.9/ω_n, with any masses

So the wished accelerations of all bodies of a structure are turned into forces together, along a tree that spans its
joints (Newton-Euler: accelerations outwards, forces inwards). It is still one independent actuator per body: a body
without one is taken as hanging on its joint without turning, and gives way. The same sums over the motion that really
happened tell the load that each actuator met.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.kernel import Floats2, Floats3, kernel, struct
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import (
    add,
    axpy,
    cross,
    dot,
    get3,
    get4,
    rotate,
    scale,
    set3,
    sub,
    unrotate,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BALL, HINGE, WELD = range(3)


class Placed(Protocol):
    """What is needed of `physics.bodies.Bodies` to set things up."""

    @property
    def position(self) -> Floats: ...
    @property
    def orientation(self) -> Floats: ...
    @property
    def mass(self) -> Floats: ...
    @property
    def inertia(self) -> Floats: ...


class Tie(NamedTuple):
    """A joint between bodies a and b, in world coordinates at the start."""

    a: int
    b: int
    at: ArrayLike
    kind: int = BALL  # BALL, HINGE or WELD
    axis: ArrayLike = (0.0, 0.0, 1.0)  # of a hinge


@struct
class Linkage:
    """M members: the bodies of every structure that has an actuator, parents before children."""

    body: Integers  # (M,)
    parent: Integers  # (M,) a member, or -1 for roots
    held: Integers  # (M,) 1 for a root that is tied to something immovable
    root: Integers  # (M,) the member that its structure hangs on
    drifts: Integers  # (M,) 1 if nothing holds or moves that root
    joint: Integers  # (M,) BALL, HINGE or WELD: the tie to the parent
    axis: Floats2  # (M, 3) of a hinge to the parent, in the body's frame
    pivot: Floats2  # (M, 3) the tie to the parent, in the body's frame; its own centre for free roots
    anchor: Floats2  # (M, 3) the same place in the parent's frame
    move: Integers  # (M,) the actuator that moves this root, or -1
    turn: Integers  # (M,) the actuator that turns this body, or -1
    mass: Floats  # (M,) of the body and all that it carries
    lever: Floats2  # (M, 3) mass times arm about the pivot, in the body's frame
    inertia: Floats3  # (M, 3, 3) about the pivot, in the body's frame; here too carried bodies count as points
    # Scratch of one step.
    acceleration: Floats2  # (M, 3)
    turning: Floats2  # (M, 3) angular acceleration
    driven: Floats2  # (M, 3) spin that an actuator answers for
    force: Floats2  # (M, 3) rates of momentum of the body; after `gather`, of all that it carries
    torque: Floats2  # (M, 3) the same about the centre of mass; after `gather`, about the pivot


def make_linkage(bodies: Placed, ties: Iterable[Tie], move: dict[int, int], turn: dict[int, int]) -> Linkage:
    """Span the structures that have actuators; `move` and `turn` say which actuator acts on which body.

    Trees grow from what is immovable, else from a moved body, so that a force pulls all that hangs on its body, else
    from the heaviest body that nothing turns: on that the others stand.
    """
    neighbours: dict[int, list[tuple[int, Tie]]] = {}
    for tie in ties:
        neighbours.setdefault(tie.a, []).append((tie.b, tie))
        neighbours.setdefault(tie.b, []).append((tie.a, tie))

    def stand_of(body: int) -> int:
        structure = [body]
        for i in structure:  # grows while it is read
            structure += {j for j, _ in neighbours.get(i, ()) if np.isfinite(bodies.mass[j])} - set(structure)
        return max(structure, key=lambda i: (i not in turn, bodies.mass[i]))

    immovable = [int(i) for i in np.flatnonzero(~np.isfinite(bodies.mass))]
    above: dict[int, tuple[int, Tie | None]] = {}
    trees: list[list[int]] = []
    for start in [*immovable, *sorted(move), *map(stand_of, sorted(turn))]:
        if start in above:
            continue
        above[start] = (-1, None)
        tree = [start]
        for i in tree:  # grows while it is read: parents first
            for other, tie in neighbours.get(i, ()):
                if other not in above and np.isfinite(bodies.mass[other]):
                    above[other] = (i, tie)
                    tree.append(other)
        trees.append([i for i in tree if np.isfinite(bodies.mass[i])])
    members = [i for tree in trees if any(i in move or i in turn for i in tree) for i in tree]
    return _fill(bodies, members, above, move, turn)


def _fill(
    bodies: Placed,
    members: Sequence[int],
    above: dict[int, tuple[int, Tie | None]],
    move: dict[int, int],
    turn: dict[int, int],
) -> Linkage:
    m = len(members)
    index = {body: k for k, body in enumerate(members)}
    axes = matrix_from_quaternion(bodies.orientation)
    rows: dict[str, Any] = {name: np.full(m, -1, np.int64) for name in ("parent", "move", "turn")}
    rows |= {name: np.zeros(m, np.int64) for name in ("held", "joint", "root", "drifts")}
    vectors: dict[str, Any] = {
        name: np.zeros((m, 3))
        for name in ("axis", "pivot", "anchor", "acceleration", "turning", "driven", "force", "torque")
    }
    for k, body in enumerate(members):
        parent, tie = above[body]
        rows["turn"][k] = turn.get(body, -1)
        rows["root"][k] = k
        if tie is None:
            rows["move"][k] = move.get(body, -1)
            rows["drifts"][k] = body not in move
            continue
        at = np.asarray(tie.at, float)
        rows["joint"][k] = tie.kind
        vectors["axis"][k] = axes[body].T @ (np.asarray(tie.axis, float) / np.linalg.norm(tie.axis))
        vectors["pivot"][k] = axes[body].T @ (at - bodies.position[body])
        if parent in index:
            rows["parent"][k] = index[parent]
            rows["root"][k] = rows["root"][index[parent]]
            rows["drifts"][k] = rows["drifts"][index[parent]]
            vectors["anchor"][k] = axes[parent].T @ (at - bodies.position[parent])
        else:
            rows["held"][k] = 1
    body_of = np.array(members, np.int64)
    mass, lever, inertia = _carried(bodies, body_of, axes, rows, vectors)
    return Linkage(body=body_of, mass=mass, lever=lever, inertia=inertia, **rows, **vectors)


def _carried(
    bodies: Placed, body: Integers, axes: Floats, rows: dict[str, Integers], vectors: dict[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Mass, first and second moment about the pivot of each member and what it carries, constant in its frame.

    A carried body turns as it likes, so it counts as a point where it hangs, unless it is welded.
    """
    m = len(body)
    mass = bodies.mass[body].copy()
    first = np.zeros((m, 3))
    second = np.zeros((m, 3, 3))
    for k in range(m - 1, -1, -1):
        # So far the moments of what it carries, about its centre; now its own, then about the pivot.
        second[k] += np.diag(bodies.inertia[body[k]])
        second[k] += _shift(mass[k], first[k], -vectors["pivot"][k])
        first[k] -= mass[k] * vectors["pivot"][k]
        above = rows["parent"][k]
        if above < 0:
            continue
        anchor = vectors["anchor"][k]
        if rows["joint"][k] == WELD:
            turn = axes[body[above]].T @ axes[body[k]]
            second[above] += turn @ second[k] @ turn.T + _shift(mass[k], turn @ first[k], anchor)
            first[above] += turn @ first[k] + mass[k] * anchor
        else:
            second[above] += _shift(mass[k], np.zeros(3), anchor)
            first[above] += mass[k] * anchor
        mass[above] += mass[k]
    return mass, first, second


def _shift(mass: float, first: Floats, by: Floats) -> Floats:
    """What the inertia about the origin grows by when everything is moved `by`."""
    both = np.outer(first, by)
    both = both + both.T + mass * np.outer(by, by)
    return np.trace(both) * np.eye(3) - both


@kernel(inline=True)
def _passed_on(joint, axis, v):
    """The part of a turn, or of a torque, that a joint passes on."""
    if joint == BALL:
        return 0.0, 0.0, 0.0
    if joint == WELD:
        return v
    return axpy(-dot(axis, v), axis, v)


@kernel
def wished_rates(bodies, linkage, wish):
    """Rates of momentum that the wished accelerations of the actuators ask for, outwards from the roots.

    What swings by itself asks for nothing: to pull inwards for its whirling would make it whirl faster and faster
    (a chain pulled by its head flew off at 20 times the wished speed).
    """
    for k in range(len(linkage.body)):
        body = linkage.body[k]
        parent = linkage.parent[k]
        q = get4(bodies.orientation, body)
        spin = (0.0, 0.0, 0.0)
        turning = (0.0, 0.0, 0.0)
        torque = (0.0, 0.0, 0.0)
        if linkage.turn[k] >= 0:
            spin = get3(bodies.spin, body)
            turning = get3(wish, linkage.turn[k])
        elif parent >= 0:
            axis = rotate(q, get3(linkage.axis, k))
            spin = _passed_on(linkage.joint[k], axis, get3(linkage.driven, parent))
            turning = _passed_on(linkage.joint[k], axis, get3(linkage.turning, parent))
        if linkage.turn[k] >= 0 or (parent >= 0 and linkage.joint[k] != BALL):
            torque = add(
                _times_inertia(q, get3(bodies.inertia, body), turning), cross(spin, get3(bodies.momentum, body))
            )
        acceleration = (0.0, 0.0, 0.0)
        if linkage.move[k] >= 0:
            acceleration = get3(wish, linkage.move[k])
        if parent >= 0:
            above = linkage.body[parent]
            anchor = rotate(get4(bodies.orientation, above), get3(linkage.anchor, k))
            acceleration = add(
                get3(linkage.acceleration, parent),
                _swing(anchor, get3(linkage.turning, parent), get3(linkage.driven, parent)),
            )
        if parent >= 0 or linkage.held[k] == 1:
            arm = rotate(q, scale(get3(linkage.pivot, k), -1.0))
            acceleration = add(acceleration, _swing(arm, turning, spin))
        set3(linkage.turning, k, turning)
        set3(linkage.driven, k, spin)
        set3(linkage.acceleration, k, acceleration)
        set3(linkage.force, k, scale(acceleration, bodies.mass[body]))
        set3(linkage.torque, k, torque)


@kernel(inline=True)
def _swing(arm, turning, spin):
    """Acceleration of the end of an arm relative to its beginning."""
    return add(cross(turning, arm), cross(spin, cross(spin, arm)))


@kernel(inline=True)
def _times_inertia(q, inertia, v):
    w = unrotate(q, v)
    return rotate(q, (inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2]))


@kernel
def measured_rates(bodies, linkage, last_velocity, last_momentum, dt_last):
    """Rates of momentum over the last step: exact means, whatever the bodies did."""
    for k in range(len(linkage.body)):
        body = linkage.body[k]
        change = sub(get3(bodies.velocity, body), get3(last_velocity, k))
        set3(linkage.force, k, scale(change, bodies.mass[body] / dt_last))
        change = sub(get3(bodies.momentum, body), get3(last_momentum, k))
        set3(linkage.torque, k, scale(change, 1.0 / dt_last))


@kernel
def gather(bodies, linkage, ago):
    """Sum up rates of momentum inwards: what must act on each member from outside, about its pivot.

    `ago`: the rates are those of a moment so long ago (half a step, for means over a step).
    """
    for k in range(len(linkage.body) - 1, -1, -1):
        parent = linkage.parent[k]
        if parent < 0 and linkage.held[k] == 0:
            continue
        body = linkage.body[k]
        q = get4(bodies.orientation, body)
        force = get3(linkage.force, k)
        arm = _earlier(q, get3(bodies.spin, body), scale(get3(linkage.pivot, k), -1.0), ago)
        torque = add(get3(linkage.torque, k), cross(arm, force))
        set3(linkage.torque, k, torque)
        if parent >= 0:
            above = linkage.body[parent]
            above_q = get4(bodies.orientation, above)
            anchor = _earlier(above_q, get3(bodies.spin, above), get3(linkage.anchor, k), ago)
            onwards = cross(anchor, force)
            if linkage.turn[k] < 0:
                onwards = add(onwards, _passed_on(linkage.joint[k], rotate(q, get3(linkage.axis, k)), torque))
            set3(linkage.force, parent, add(get3(linkage.force, parent), force))
            set3(linkage.torque, parent, add(get3(linkage.torque, parent), onwards))
    for k in range(len(linkage.body)):
        if linkage.drifts[k] == 1:  # the whole drifts as it must, and only what differs from that takes torques
            root = linkage.root[k]
            body = linkage.body[k]
            q = get4(bodies.orientation, body)
            lever = _earlier(q, get3(bodies.spin, body), get3(linkage.lever, k), ago)
            drift = scale(get3(linkage.force, root), 1.0 / linkage.mass[root])
            set3(linkage.torque, k, sub(get3(linkage.torque, k), cross(lever, drift)))


@kernel(inline=True)
def _earlier(q, spin, arm, ago):
    """An arm of a body, in the world's frame, where it was some time ago."""
    arm = rotate(q, arm)
    return axpy(-ago, cross(spin, arm), arm)
