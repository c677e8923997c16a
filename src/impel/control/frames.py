"""Keys that lie in the frames of bodies and move with them (paper 000, section 4, extended).

Every control step finds them where their bodies are, and fits their paths anew. The target is carried along, and leads
its body as fast as it is carried. A key that is passed is pinned where it is; a path in time leaves it with the
velocity that it had there: who steps off a wagon does not stand still at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.paths import Paths, fit_path
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    get3,
    get4,
    logarithm,
    multiply,
    rotate,
    scale,
    set3,
    set4,
    sub,
    unrotate,
)
from impel.motion.splines import pose_at
from impel.motion.timed import VELOCITY, fit_clocked

ALONE = 0.5  # s after a touch: so long a body is not led on by one that it may be about to push again


@dataclass(frozen=True, kw_only=True)
class FramedKey:
    """A key of a path in the frame of a body."""

    key: int  # of the path
    body: int
    pinned_at: int | None  # the key of the path with which it is pinned as soon as that is passed; None: never


@struct
class Frames:
    """The F framed keys of A actuators, one actuator after the other."""

    first: Integers  # (A + 1,)
    key: Integers  # (F,) of its path
    body: Integers  # (F,)
    local: Floats2  # (F, 4) a place or an orientation, in the frame of the body
    pinned_at: Integers  # (F,) with which key of its path it is pinned; -1: never
    told: Floats2  # (K, 4) about the velocities at all keys of all paths, see motion/timed.py ...
    local_told: Floats2  # (F, 4) ... and of these, in the frame of the body
    mover: Integers  # (F,) the actuator that moves the body, or -1 ...
    turner: Integers  # (F,) ... and the one that turns it
    member: Integers  # (F,) which member of the linkage the body is, or -1
    share: Floats  # (A,) of the velocity of what carries its target, by which that leads
    # State.
    alone: Floats  # (A,) s since the body touched one that can be moved and carries a key
    pinned: Floats  # (F,) 1 if it is
    place: Floats2  # (F, 4) where that is ...
    velocity: Floats2  # (F, 3) ... and with which velocity it was passed; of turns, in the frame of the key
    rate: Floats2  # (F, 3) how fast it moved or turned when last seen

    STATE = ("alone", "pinned", "place", "velocity", "rate")


def make_frames(
    framed: Sequence[Sequence[FramedKey]],
    told: Sequence[NDArray[np.float64] | None],
    shares: Sequence[float],
    paths: Paths,
    movers: dict[int, int],
    turners: dict[int, int],
    members: dict[int, int],
) -> Frames:
    """`framed` are the framed keys of each actuator, whose places in `paths` are still those in their frames. `movers`
    and `turners` tell which actuator moves or turns a body, if its wish is known beforehand; `members`, which bodies
    hang together with such."""
    rows = [(a, each) for a, keys in enumerate(framed) for each in keys]
    all_told = np.zeros((len(paths.keys), 4))
    for a, given in enumerate(told):
        if given is not None:
            all_told[paths.first_key[a] : paths.first_key[a + 1]] = given
    where = np.array([paths.first_key[a] + each.key for a, each in rows], np.int64)
    n = len(rows)
    return Frames(
        first=np.cumsum([0, *(len(keys) for keys in framed)], dtype=np.int64),
        key=np.array([each.key for _, each in rows], np.int64),
        body=np.array([each.body for _, each in rows], np.int64),
        local=paths.keys[where].reshape(n, 4).copy(),
        pinned_at=np.array([-1 if each.pinned_at is None else each.pinned_at for _, each in rows], np.int64),
        told=all_told,
        local_told=all_told[where].reshape(n, 4).copy(),
        mover=np.array([movers.get(each.body, -1) for _, each in rows], np.int64),
        turner=np.array([turners.get(each.body, -1) for _, each in rows], np.int64),
        member=np.array([members.get(each.body, -1) for _, each in rows], np.int64),
        share=np.array(shares, float),
        alone=np.full(len(framed), np.inf),
        pinned=np.zeros(n),
        place=np.zeros((n, 4)),
        velocity=np.zeros((n, 3)),
        rate=np.zeros((n, 3)),
    )


@kernel
def is_framed(frames, a):
    return frames.first[a + 1] > frames.first[a]


@kernel
def place_keys(bodies, paths, clocks, frames, a):
    """Put the framed keys of an actuator where they are now, and fit its path to them."""
    first, begin, end = paths.first_key[a], paths.first_segment[a], paths.first_segment[a + 1]
    turns, loops = paths.turns[a] == 1, paths.loops[a] == 1
    for f in range(frames.first[a], frames.first[a + 1]):
        k = first + frames.key[f]
        if frames.pinned[f] == 1.0:
            set4(paths.keys, k, get4(frames.place, f))
            set3(frames.told, k, get3(frames.velocity, f))
            frames.told[k, 3] = VELOCITY
            continue
        q, local = get4(bodies.orientation, frames.body[f]), get4(frames.local, f)
        if turns:
            set4(paths.keys, k, multiply(q, local))
            set4(frames.told, k, get4(frames.local_told, f))
        else:
            x = add(get3(bodies.position, frames.body[f]), rotate(q, (local[0], local[1], local[2])))
            set3(paths.keys, k, x)
            set4(frames.told, k, get4(frames.local_told, f))
            if frames.local_told[f, 3] >= 2.0:  # a direction
                set3(frames.told, k, rotate(q, get3(frames.local_told, f)))
    keys = paths.keys[first : paths.first_key[a + 1]]
    segments = paths.segments[begin:end]
    if clocks.timed[a] == 1:
        fit_clocked(keys, clocks.span[begin:end], frames.told[first : paths.first_key[a + 1]], segments, turns, loops)
    else:
        fit_path(keys, segments, turns, loops)


@kernel
def place_all_keys(bodies, actuators):
    """Put all framed keys where they are now: before anybody looks at their paths."""
    for a in range(len(actuators.body)):
        if is_framed(actuators.frames, a):
            place_keys(bodies, actuators.paths, actuators.clocks, actuators.frames, a)


@kernel
def carry_targets(bodies, actuators, dt_last):
    """Take the targets on paths with framed keys along with these, and note how fast that is."""
    paths, frames, clocks = actuators.paths, actuators.frames, actuators.clocks
    for a in range(len(actuators.body)):
        if not is_framed(frames, a):
            continue
        turns = paths.turns[a] == 1
        row = paths.segments[paths.first_segment[a] + int(actuators.segment[a])]
        pose, tangent = pose_at(row, actuators.u[a], turns)
        was, carried, onward = get4(actuators.pose, a), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        known = known_motion(bodies, actuators, a, tangent, dt_last)
        if dt_last > 0.0 and frames.alone[a] > ALONE:
            moved = (pose[0] - was[0], pose[1] - was[1], pose[2] - was[2])
            if turns:
                moved = logarithm(multiply(pose, conjugate(was)))
            carried, onward = scale(moved, frames.share[a] / dt_last), scale(known, frames.share[a])
            carried = axpy(0.5 * dt_last, onward, carried)  # from the middle of the last step to now
        set3(clocks.carried, a, carried)
        set3(clocks.velocity, a, carried)
        set3(clocks.onward, a, onward)
        set4(actuators.pose, a, pose)
        set3(actuators.tangent, a, tangent)


@kernel
def known_motion(bodies, actuators, a, tangent, dt_last):
    """The acceleration of a target by what carries it, as far as that is known beforehand: of bodies that follow keys,
    and of those that actuators drive. What is measured of others would feed on itself."""
    frames, clocks, paths = actuators.frames, actuators.clocks, actuators.paths
    turns, count = paths.turns[a] == 1, paths.first_key[a + 1] - paths.first_key[a]
    here = int(actuators.segment[a])
    there, u = (here + 1) % count, actuators.u[a]
    gone = u * u * (3.0 - 2.0 * u)
    onward, change = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    pace = 0.0
    if clocks.timed[a] == 1:
        pace = clocks.pace[a] / clocks.span[paths.first_segment[a] + here]
    for f in range(frames.first[a], frames.first[a + 1]):
        last = get3(frames.rate, f)
        rate, by_body = motion_of(bodies, actuators, f, paths.first_key[a] + frames.key[f], turns, last, dt_last)
        set3(frames.rate, f, rate)
        if frames.pinned[f] == 1.0:
            continue
        if frames.key[f] == here:
            onward = axpy(1.0 - gone, by_body, onward)
            change = axpy(-1.0, rate, change)
        if frames.key[f] == there:
            onward = axpy(gone, by_body, onward)
            change = add(change, rate)
    # The way along the path is carried, too, and leads from what is carried so to what is carried otherwise.
    swerve = scale(change, 6.0 * u * (1.0 - u) * pace * (1.0 if turns else 2.0))
    if turns:
        swerve = add(swerve, cross(get3(clocks.carried, a), scale(tangent, pace)))
    return add(onward, swerve)


@kernel
def motion_of(bodies, actuators, f, k, turns, last, dt_last):
    """How fast the body of a framed key moves that, or turns it, and its acceleration, as far as that is known."""
    frames = actuators.frames
    body, mover, turner = frames.body[f], frames.mover[f], frames.turner[f]
    spin = get3(bodies.spin, body)
    turning = get3(actuators.wish, turner) if turner >= 0 else (0.0, 0.0, 0.0)
    arm = sub(get3(actuators.paths.keys, k), get3(bodies.position, body))
    rate = spin if turns else add(get3(bodies.velocity, body), cross(spin, arm))
    if bodies.inverse_mass[body] == 0.0:
        return rate, scale(sub(rate, last), 1.0 / dt_last if dt_last > 0.0 else 0.0)
    if turns:
        return rate, turning
    if mover < 0:
        return rate, swung(bodies, actuators, frames.member[f], get3(actuators.paths.keys, k))
    return rate, add(get3(actuators.wish, mover), add(cross(turning, arm), cross(spin, cross(spin, arm))))


@kernel
def swung(bodies, actuators, k, place):
    """The acceleration of a place in a body that joints hold: as all that it hangs on is turned and moved, or none if
    one of these goes as it likes."""
    linkage, onward = actuators.linkage, (0.0, 0.0, 0.0)
    while k >= 0:
        body, turn = linkage.body[k], linkage.turn[k]
        if turn < 0 or actuators.against[turn] >= 0:
            return 0.0, 0.0, 0.0
        pivot = add(get3(bodies.position, body), rotate(get4(bodies.orientation, body), get3(linkage.pivot, k)))
        arm, spin = sub(place, pivot), get3(bodies.spin, body)
        onward = add(onward, add(cross(get3(actuators.wish, turn), arm), cross(spin, cross(spin, arm))))
        if linkage.parent[k] < 0 and linkage.held[k] == 0:
            if linkage.move[k] < 0:
                return 0.0, 0.0, 0.0
            onward = add(onward, get3(actuators.wish, linkage.move[k]))
        place, k = pivot, linkage.parent[k]
    return onward


@kernel
def pin_keys(bodies, actuators):
    """Pin the framed keys that have been passed; their paths go on from there."""
    paths, frames, clocks = actuators.paths, actuators.frames, actuators.clocks
    for a in range(len(actuators.body)):
        if not is_framed(frames, a) or paths.loops[a] == 1:
            continue
        here, turns, found = int(actuators.segment[a]), paths.turns[a] == 1, False
        passed = here + 1 if actuators.u[a] == 1.0 else here
        for f in range(frames.first[a], frames.first[a + 1]):
            if frames.pinned[f] == 0.0 and 0 <= frames.pinned_at[f] <= passed:
                pin(bodies, paths, clocks, frames, a, f, turns)
                found = True
        if found:
            place_keys(bodies, paths, clocks, frames, a)
            row = paths.segments[paths.first_segment[a] + here]
            pose, tangent = pose_at(row, actuators.u[a], turns)
            set4(actuators.pose, a, pose)
            set3(actuators.tangent, a, tangent)


@kernel
def pin(bodies, paths, clocks, frames, a, f, turns):
    """Keep a key where it is, and the velocity with which a target leaves it."""
    k, body = paths.first_key[a] + frames.key[f], frames.body[f]
    place = get4(paths.keys, k)
    s = paths.first_segment[a] + min(frames.key[f], paths.first_segment[a + 1] - paths.first_segment[a] - 1)
    _, tangent = pose_at(paths.segments[s], 0.0, turns)
    own, spin = scale(tangent, 1.0 / clocks.span[s]), get3(bodies.spin, body)
    if turns:
        velocity = unrotate(place, add(own, spin))
    else:
        arm = sub((place[0], place[1], place[2]), get3(bodies.position, body))
        velocity = add(own, add(get3(bodies.velocity, body), cross(spin, arm)))
    frames.pinned[f] = 1.0
    set4(frames.place, f, place)
    set3(frames.velocity, f, velocity)
