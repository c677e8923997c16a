"""Structures of jointed bodies: who hangs on whom, and the linear-time case of the law of actuators.

An actuator that knows only its own body's inertia is far too weak for what it carries: on a three-link arm it feels up
to 42 times as much, swings for ever and makes the correction unstable. Measured on that arm (γ = 5, ω_n 4.5 to 20 per
second, steps of Δt/4, the whole arm turned at once), overshoot should be 4 %:

    own inertia about the joint         54-90 %, never settles, sags for ever
    and carried bodies as points        50-60 %, settles in 12.5/ω_n; unstable with a tip five times as heavy
    carried bodies as one rigid piece   30-50 %, settles in 10/ω_n; unstable at ω_n = 20
    inverse dynamics                     4 %, settles in 2.9/ω_n, with any masses

So the wished accelerations of all bodies of a structure are turned into forces together. Where the structure is a tree,
all of whose freedoms are driven, and nothing touches it, that is done along the tree (Newton-Euler: accelerations
outwards, forces inwards), and the same sums over the motion that really happened tell the load that each actuator met.
Everywhere else the joints and what touches them are asked (`stage.answers`): where both apply, both give the same
motion.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.kernel import Floats, Floats2, Floats3, Integers, kernel, struct
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, rotate, scale, set3, sub, unrotate

BALL, HINGE, WELD, OTHER, ROPE = range(5)


class Solids(Protocol):
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
    kind: int = BALL
    axis: ArrayLike = (0.0, 0.0, 1.0)  # of a hinge
    end: ArrayLike = (0.0, 0.0, 0.0)  # of a rope, on b
    begins: bool = True  # whether it is there from the start ...
    lasts: bool = True  # ... and for good
    turning: float = 0.0  # N·m: friction where it turns ...
    sliding: float = 0.0  # N: ... and where it slides


@struct
class Linkage:
    """M members: the bodies of S structures that have actuators, structure by structure, parents before children."""

    first: Integers  # (S + 1,) where the members of each structure begin
    driven: Integers  # (S,) 1 for a tree, all of whose freedoms are driven
    swings: Integers  # (S,) 1 if a part of it turns as it likes
    body: Integers  # (M,)
    parent: Integers  # (M,) a member, or -1 for roots
    held: Integers  # (M,) 1 for a root that is tied to something immovable
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
    force: Floats2  # (M, 3) rates of momentum of the body; after `gather`, of all that it carries
    torque: Floats2  # (M, 3) the same about the centre of mass; after `gather`, about the pivot


def wholes(count: int, ties: Iterable[Tie], movable: NDArray[np.bool_]) -> Integers:
    """(N,) the same number for bodies that hang together, by whatever; what cannot move ties nothing together."""
    whole = np.arange(count)
    for tie in ties:
        if movable[tie.a] and movable[tie.b]:
            whole[whole == whole[tie.a]] = whole[tie.b]
    return whole


def make_linkage(bodies: Solids, ties: Sequence[Tie], move: dict[int, int], turn: dict[int, int]) -> Linkage:
    """Span the structures that have actuators; `move` and `turn` say which actuator acts on which body.

    Trees grow from what is immovable, else from a moved body, so that a force pulls all that hangs on its body, else
    from the heaviest body that nothing turns: on that the others stand.
    """
    movable = np.isfinite(bodies.mass)
    whole = wholes(len(bodies.mass), ties, movable)
    neighbours: dict[int, list[tuple[int, Tie]]] = {}
    for tie in ties:
        if tie.kind != ROPE and tie.begins:
            neighbours.setdefault(tie.a, []).append((tie.b, tie))
            neighbours.setdefault(tie.b, []).append((tie.a, tie))
    above: dict[int, tuple[int, Tie | None]] = {}
    structures: list[list[int]] = []
    for number in dict.fromkeys(int(whole[body]) for body in [*move, *turn]):
        own = [int(i) for i in np.flatnonzero((whole == number) & movable)]
        starts = [(i, tie) for i in own for j, tie in neighbours.get(i, ()) if not movable[j]]
        roots: list[tuple[int, Tie | None]] = [*starts, *((i, None) for i in own if i in move)]
        roots += [(i, None) for i in sorted(own, key=lambda i: (i in turn, -bodies.mass[i]))]
        members: list[int] = []
        for root, root_tie in roots:  # one is enough but for what only ropes, or joints to come, tie together
            if root in above:
                continue
            above[root] = (-1, root_tie)
            tree = [root]
            for i in tree:  # grows while it is read: parents first
                for other, tie in neighbours.get(i, ()):
                    if other not in above and movable[other]:
                        above[other] = (i, tie)
                        tree.append(other)
            members += tree
        structures.append(members)
    tied = [sum(whole[i] == whole[s[0]] for tie in ties for i in {tie.a, tie.b} if movable[i]) for s in structures]
    passing = {int(whole[i]) for tie in ties if not (tie.begins and tie.lasts) for i in (tie.a, tie.b)}
    driven = [
        _all_driven(s, above, move, turn, n) and int(whole[s[0]]) not in passing for s, n in zip(structures, tied)
    ]
    swings = [any(not _is_told(i, above, turn) for i in s[1:]) for s in structures]
    ropes = [tie for tie in ties if tie.kind == ROPE and movable[tie.a] and movable[tie.b]]
    hung = _hung(ropes, structures, above, move, bodies.mass)
    hung += _taken(ties, neighbours, bodies.mass)
    return _fill(bodies, structures, driven, swings, above, move, turn, hung)


def _taken(
    ties: Sequence[Tie], neighbours: dict[int, list[tuple[int, Tie]]], mass: Floats
) -> list[tuple[int, ArrayLike, float]]:
    """What bodies may come to carry when joints are made: where, and how much, with all that hangs on that."""
    found = []
    for tie in (tie for tie in ties if not tie.begins):
        for one, place, other in ((tie.a, tie.at, tie.b), (tie.b, tie.end, tie.a)):
            group = [other]
            for i in group:  # grows while it is read
                group += {each for each, _ in neighbours.get(i, ()) if each not in group}
            if one not in group and all(np.isfinite(mass[i]) for i in (one, *group)):
                found.append((one, place, float(mass[group].sum())))
    return found


def _hung(
    ropes: Sequence[Tie],
    structures: list[list[int]],
    above: dict[int, tuple[int, Tie | None]],
    move: dict[int, int],
    mass: Floats,
) -> list[tuple[int, ArrayLike, float]]:
    """The bodies on which others hang by ropes alone: where, and how much."""
    root: dict[int, int] = {}
    for i in (i for members in structures for i in members):  # parents first
        root[i] = root.get(above[i][0], i)
    ends = [(one, place, other) for t in ropes for one, place, other in ((t.a, t.at, t.b), (t.b, t.end, t.a))]

    def hangs(body: int) -> bool:
        return above[root[body]][1] is None and root[body] not in move

    def weight(body: int, seen: frozenset[int]) -> float:
        own = [i for i in root if root[i] == root[body]]
        below = [other for one, _, other in ends if one in own and hangs(other) and root[other] not in seen]
        return float(mass[own].sum()) + sum(weight(other, seen | {root[other]}) for other in below)

    return [
        (one, place, weight(other, frozenset([root[one], root[other]])))
        for one, place, other in ends
        if one in root and hangs(other) and not hangs(one)
    ]


def _is_told(body: int, above: dict[int, tuple[int, Tie | None]], turn: dict[int, int]) -> bool:
    """Whether a body is turned, or welded to what is, or to what all the others hang on."""
    while body not in turn and above[body][0] >= 0:
        parent, tie = above[body]
        if tie is None or tie.kind != WELD:
            return False
        body = parent
    return True


def _all_driven(
    members: list[int], above: dict[int, tuple[int, Tie | None]], move: dict[int, int], turn: dict[int, int], ends: int
) -> bool:
    """Whether a structure, in which so many ends of joints meet, is a tree that can only move as it is told."""
    root, tie = members[0], above[members[0]][1]
    if tie is None:
        root_told = len(members) == 1 or (root in move and root in turn)
    else:
        root_told = root in turn and tie.kind in (BALL, HINGE)
    rest = [above[i][1] for i in members[1:]]
    tree = all(t is not None and t.kind in (BALL, HINGE, WELD) for t in rest)
    told = all(i in turn or (t is not None and t.kind == WELD) for i, t in zip(members[1:], rest))
    moved = sum(i in move for i in members) == (root in move and tie is None)
    return root_told and tree and told and moved and ends == 2 * len(rest) + (tie is not None)


def _fill(
    bodies: Solids,
    structures: list[list[int]],
    driven: list[bool],
    swings: list[bool],
    above: dict[int, tuple[int, Tie | None]],
    move: dict[int, int],
    turn: dict[int, int],
    hung: list[tuple[int, ArrayLike, float]],
) -> Linkage:
    members = [i for structure in structures for i in structure]
    m = len(members)
    index = {body: k for k, body in enumerate(members)}
    axes = matrix_from_quaternion(bodies.orientation)
    rows: dict[str, Any] = {name: np.full(m, -1, np.int64) for name in ("parent", "move", "turn")}
    rows |= {name: np.zeros(m, np.int64) for name in ("held", "joint")}
    names = ("axis", "pivot", "anchor", "acceleration", "turning", "force", "torque")
    vectors: dict[str, Any] = {name: np.zeros((m, 3)) for name in names}
    for k, body in enumerate(members):
        parent, tie = above[body]
        rows["turn"][k] = turn.get(body, -1)
        if tie is None:
            rows["move"][k] = move.get(body, -1)
            continue
        at = np.asarray(tie.at, float)
        rows["joint"][k] = tie.kind
        vectors["axis"][k] = axes[body].T @ (np.asarray(tie.axis, float) / np.linalg.norm(tie.axis))
        vectors["pivot"][k] = axes[body].T @ (at - bodies.position[body])
        if parent in index:
            rows["parent"][k] = index[parent]
            vectors["anchor"][k] = axes[parent].T @ (at - bodies.position[parent])
        else:
            rows["held"][k] = 1
    body_of = np.array(members, np.int64)
    loads = [
        (index[body], axes[body].T @ (np.asarray(at, float) - bodies.position[body]), weight)
        for body, at, weight in hung
        if body in index
    ]
    mass, lever, inertia = _carried(bodies, body_of, axes, rows, vectors, loads)
    return Linkage(
        first=np.cumsum([0, *map(len, structures)], dtype=np.int64),
        driven=np.array(driven, np.int64),
        swings=np.array(swings, np.int64),
        body=body_of,
        mass=mass,
        lever=lever,
        inertia=inertia,
        **rows,
        **vectors,
    )


def _carried(
    bodies: Solids,
    body: Integers,
    axes: Floats,
    rows: dict[str, Integers],
    vectors: dict[str, Floats],
    hung: list[tuple[int, Floats, float]],
) -> tuple[Floats, Floats, Floats]:
    """Mass, first and second moment about the pivot of each member and what it carries, constant in its frame.

    A carried body turns as it likes, so it counts as a point where it hangs, unless it is welded; so do those on ropes,
    and what may be taken later.
    """
    m = len(body)
    mass = bodies.mass[body].copy()
    first = np.zeros((m, 3))
    second = np.zeros((m, 3, 3))
    for k, at, load in hung:
        mass[k] += load
        first[k] += load * at
        second[k] += _shift(load, np.zeros(3), at)
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


@kernel
def wished_rates(bodies, linkage, s, wish, up, point, ahead):
    """Rates of momentum that the wished accelerations of the actuators ask for, outwards from the root of structure s.

    `up` is the acceleration that would hold what falls; `point` where each moved body is to be moved. Levers are those
    of a moment so much `ahead`, half a step for the mean of a step.
    """
    for k in range(linkage.first[s], linkage.first[s + 1]):
        body = linkage.body[k]
        parent = linkage.parent[k]
        q, spin = get4(bodies.orientation, body), get3(bodies.spin, body)
        turning = (0.0, 0.0, 0.0)
        if linkage.turn[k] >= 0:
            turning = get3(wish, linkage.turn[k])
        if linkage.joint[k] == HINGE and (parent >= 0 or linkage.held[k] == 1):
            axis = rotate(q, get3(linkage.axis, k))
            across = (0.0, 0.0, 0.0) if parent < 0 else _across(axis, _turned_along(bodies, linkage, k, axis))
            turning = axpy(dot(axis, turning), axis, across)
        elif linkage.joint[k] == WELD and parent >= 0:
            turning = get3(linkage.turning, parent)
        torque = add(_times_inertia(q, get3(bodies.inertia, body), turning), cross(spin, get3(bodies.momentum, body)))
        acceleration = up
        if linkage.move[k] >= 0:
            arm = _later(q, spin, scale(get3(point, linkage.move[k]), -1.0), ahead)
            acceleration = add(add(up, get3(wish, linkage.move[k])), _swing(arm, turning, spin))
        if parent >= 0:
            above = linkage.body[parent]
            above_spin = get3(bodies.spin, above)
            anchor = _later(get4(bodies.orientation, above), above_spin, get3(linkage.anchor, k), ahead)
            acceleration = add(
                get3(linkage.acceleration, parent), _swing(anchor, get3(linkage.turning, parent), above_spin)
            )
        if parent >= 0 or linkage.held[k] == 1:
            arm = _later(q, spin, scale(get3(linkage.pivot, k), -1.0), ahead)
            acceleration = add(acceleration, _swing(arm, turning, spin))
        set3(linkage.turning, k, turning)
        set3(linkage.acceleration, k, acceleration)
        set3(linkage.force, k, scale(acceleration, bodies.mass[body]))
        set3(linkage.torque, k, torque)


@kernel(inline=True)
def _turned_along(bodies, linkage, k, axis):
    """How a hinge makes its body's spin change with that of the parent: besides turning along, its axis turns."""
    parent = linkage.parent[k]
    above_spin = get3(bodies.spin, linkage.body[parent])
    own = scale(axis, dot(axis, sub(get3(bodies.spin, linkage.body[k]), above_spin)))
    return add(get3(linkage.turning, parent), cross(above_spin, own))


@kernel(inline=True)
def _across(axis, v):
    return axpy(-dot(axis, v), axis, v)


@kernel(inline=True)
def _swing(arm, turning, spin):
    """Acceleration of the end of an arm relative to its beginning."""
    return add(cross(turning, arm), cross(spin, cross(spin, arm)))


@kernel(inline=True)
def _times_inertia(q, inertia, v):
    w = unrotate(q, v)
    return rotate(q, (inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2]))


@kernel
def measured_rates(bodies, linkage, s, up, last_velocity, last_momentum, dt_last):
    """Rates of momentum over the last step, beyond those by gravity: exact means, whatever the bodies did."""
    for k in range(linkage.first[s], linkage.first[s + 1]):
        body = linkage.body[k]
        change = sub(get3(bodies.velocity, body), get3(last_velocity, k))
        set3(linkage.force, k, scale(axpy(1.0 / dt_last, change, up), bodies.mass[body]))
        change = sub(get3(bodies.momentum, body), get3(last_momentum, k))
        set3(linkage.torque, k, scale(change, 1.0 / dt_last))


@kernel
def gather(bodies, linkage, s, ahead):
    """Sum up rates of momentum inwards: what must act on each member of structure s from outside, about its pivot.

    `ahead`: the rates are those of a moment so much later (or earlier: half a step ago, for means over the last one).
    """
    for k in range(linkage.first[s + 1] - 1, linkage.first[s] - 1, -1):
        parent = linkage.parent[k]
        if parent < 0 and linkage.held[k] == 0:
            continue
        body = linkage.body[k]
        q = get4(bodies.orientation, body)
        force = get3(linkage.force, k)
        arm = _later(q, get3(bodies.spin, body), scale(get3(linkage.pivot, k), -1.0), ahead)
        torque = add(get3(linkage.torque, k), cross(arm, force))
        passed = torque
        if linkage.turn[k] >= 0:
            passed = (0.0, 0.0, 0.0)
            if linkage.joint[k] == HINGE:  # across its axis it is turned by what it hangs on
                axis = rotate(q, get3(linkage.axis, k))
                passed = _across(axis, torque)
                torque = scale(axis, dot(axis, torque))
        set3(linkage.torque, k, torque)
        if parent >= 0:
            above = linkage.body[parent]
            anchor = _later(get4(bodies.orientation, above), get3(bodies.spin, above), get3(linkage.anchor, k), ahead)
            set3(linkage.force, parent, add(get3(linkage.force, parent), force))
            onwards = add(passed, cross(anchor, force))
            set3(linkage.torque, parent, add(get3(linkage.torque, parent), onwards))


@kernel(inline=True)
def _later(q, spin, arm, ahead):
    """An arm of a body, in the world's frame, where it will be some time ahead."""
    arm = rotate(q, arm)
    return axpy(ahead, cross(spin, arm), arm)
