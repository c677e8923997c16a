"""Handles: where bodies can be pushed. Actuators push at handles of their own; so does whatever touches what they move.

A handle is a row: the velocity of its first body along `linear`, less that of its second, plus their spins along
`angular`. A force at it acts on both bodies the same way. What touches is taken as holding: the ground under a foot is
as good as a joint, as long as it need not pull, nor grip more than friction can (see answers.py).
"""

import math

import numpy as np

from impel.control.actuators import Actuators, arm_of
from impel.control.goals import has_goals, is_idle
from impel.geometry.kinds import CAPSULE, CYLINDER, INNER, SPHERE
from impel.kernel import Floats, Floats2, Floats3, Integers, Integers2, kernel, struct
from impel.motion.rotations import add, axpy, cross, dot, get3, get3_at, get4, norm, rotate, scale, set3_at, sub
from impel.physics.bodies import Bodies
from impel.physics.broadphase import COUNT, LOAD, MET, NORMAL, POINT, SPREAD, STIFF
from impel.physics.coating import FRICTION
from impel.physics.contact import SLIDES
from impel.physics.friction import FORCE as RUB
from impel.physics.friction import TORQUE
from impel.physics.joints import ANGULAR_A, ANGULAR_B, FORCE, JOINT, LINEAR, MEMBER, Joints
from impel.stage.limbs import find_limbs, has_bent

# Columns of `row`.
ALONG, ABOUT_A, ABOUT_B, COLUMNS = 0, 3, 6, 9

# What a handle is. The friction of a contact and how it resists rolling stand after its normal.
ACTUATOR, LIMIT, PUSH, GRIP, TWIST, ROLL = range(6)

ROWS = 6  # handles of a sole: it pushes, grips in two directions, does not twist, and does not roll in two
MOST = 12 * ROWS  # handles of contacts and limits in one cluster
SETS = 8  # of what holds: six rounds of letting go, without friction, and nothing (see settling.py)
WIDE = 24  # loose things in one cluster
TOGETHER = 16  # actuators of several structures in one cluster
SURE = 0.9  # of what friction can hold: more is not relied on
LYING = 0.5  # cosine: a bar whose axis is farther than 60° from the normal lies on its side
FLAT = 0.2  # of the way to the middle: a patch that extends less to either side is no sole, but rolls
TINY = 1e-9
FIRMED = 5.0  # x: so much stiffer than on the mean is a coating that grew firmer as it was pressed in
# Of the base distance, and m: whose target is so much higher takes all its weight off what it stands on; and what is
# to be turned so much is no sole.
LIFT, LIFT_MOST = 0.1, 0.02
# rad, and of what a force at a handle does to its body: what has turned by less answers nearly as before. That is
# little beside the 5.8 times as much that still comes to rest (see answers.py).
TURNED = 0.03
# Times what friction can take off a slip while control is held: what slides faster goes on sliding, whatever is pulled.
GLIDES = 2.0
BEARS = 1.5  # times its weight: who is as strong can carry itself, and move


@struct
class Handles:
    """Room for one cluster: structures with actuators that touch each other, and what else touches them.

    Its H handles are those of its actuators, three each, and then those of what touches.
    """

    most: int  # actuators that fit in one cluster
    island_of: Integers  # (N,) -1 for bodies without joints
    floats: Integers  # (N,) 1 for bodies of structures that no joint ties to what cannot move
    acts: Integers  # (N,) 1 for bodies of structures that have actuators ...
    aims: Integers  # (N,) ... 1 for those of them that have goals ...
    swings: Integers  # (N,) ... and for those of them that a force may not suit any more once they have turned
    limbs: Integers2  # (L, 2) bodies between goals and what holds them, and that (see limbs.py)
    bow: Floats2  # (J, 9) scratch, as `row`: with what the joints of limbs are bent off their limits
    # State, of each limit: at which it is, -1 or 1, while it is bent off that; for which goal it last was; how often.
    bending: Floats  # (J,)
    bent_for: Floats  # (J,)
    bent: Floats  # (J,)
    # The cluster.
    count: Integers  # (13,) ACTUATORS ...; from SHAKY on of all clusters
    actuator: Integers  # (most,) its actuators
    island: Integers  # (I,) its islands of joints
    member: Integers  # (N,) its bodies
    seen: Integers  # (N,) 1 for wholes in it
    done: Integers  # (S,) 1 for structures that have been seen to in this step
    # Its handles.
    body: Integers2  # (H, 2)
    row: Floats2  # (H, 9) ALONG ...: how it moves ...
    push: Floats2  # (H, 9) ... and how a force at it acts: the same but for actuators that act elsewhere
    kind: Integers  # (H,) ACTUATOR ...
    source: Integers  # (H,) the actuator, the place of the limit in `joints.active`, or the pair
    live: Integers  # (H,) 1 while it holds
    carries: Integers  # (H,) 1 where something loose lies on a structure that is held
    most_load: Floats  # (H,) what it can hold, over what the contact is pressed with
    bears: Floats  # (H,) of the PUSH handle of a sole: with how much it is pressed now
    # Of friction under a body that lies by itself (see dragging.py); all 0 for others.
    dragged: Integers  # (H,) 1 + which of the actuators of the cluster meets it, or of how it tilts, any
    slides: Integers  # (H,) 1 while it slides
    sinks: Floats  # (H,) of the PUSH handle of such a body: how far it has sunk in
    rubs: Floats  # (H,) what it does to the first body; of PUSH handles, how hard the contact presses
    rate: Floats  # (H,) of what holds: how fast it moves
    bias: Floats  # (H,) its acceleration by gravity and by the motion there is, if nothing held it
    # How it answers.
    answer: Floats2  # (H, H) acceleration of one handle by a force at another; of what holds, the upper half
    # What the handles were when they were asked, and at which time, s (see `still_answers`).
    asked_kind: Integers  # (H,)
    asked_body: Integers2  # (H, 2)
    asked_row: Floats2  # (H, 9)
    asked_at: Floats  # (1,)
    yields: Floats  # (H,) by how much what holds there yields to a force of one
    # For as long as the answers stay, of each set of those that hold that was met last; the first is that of none.
    held: Integers  # (SETS,) how many hold, or -1 if nothing is known
    alive: Integers2  # (SETS, MOST) which
    support: Floats3  # (SETS, MOST, MOST) factor of how they answer
    through: Floats3  # (SETS, 3 most + 1, MOST) what they do about a force of each actuator, and about the bias
    settled: Floats3  # (SETS, 3 most, 3 most) how the actuators' handles answer then ...
    inverse: Floats3  # (SETS, 3 most, 3 most) ... and which forces accelerations take: N of that (see law.py)
    inverted: Integers  # (SETS,) 1 if that is known
    listed: Integers  # (MOST,) scratch: which are to hold
    load: Floats  # (MOST,) what each does
    # Of contacts that are let go in thought, by where they begin in `alive`: what their rows do to all that hold, to
    # each other (and of which set that is known), and for each column of `through`. How a contact then opens by
    # accelerations of its rows, and at most by a force of one of each actuator.
    parting: Floats2  # (ROWS, MOST)
    parted: Floats3  # (MOST, ROWS, ROWS)
    parted_at: Integers  # (MOST,)
    opens: Floats2  # (MOST, ROWS)
    lifts: Floats2  # (MOST, most)
    shares: Floats2  # (3 most + 1, ROWS)
    vectors: Floats2  # (13, 3 most) scratch
    dense: Floats3  # (4, 3 most, 3 most) scratch
    # Who damps whom until control is evaluated again: with how many, with whom, and by how much.
    company: Integers  # (A,)
    partner: Integers2  # (A, most)
    damper: Floats2  # (3A, 3 most)
    swift: Floats  # (A,) 1/kg or 1/(kg·m²): how easily each moves its body, at most, where nothing holds that
    # Who pushes at each body, as 2·handle + side: the last of them, and who comes before each.
    last: Integers  # (N,)
    previous: Integers2  # (H, 2)
    bracing: Floats2  # (R, H) what each row of the joints does about a force at each handle
    # Acceleration of each body ...
    fall: Floats2  # (N, 3)
    turning: Floats2  # (N, 3) ... and angular
    # The joints as they were before they were looked at half a step ahead.
    kept_rows: Floats2
    kept_factor: Floats

    STATE = ("bending", "bent_for", "bent")


# Entries of `count`.
ACTUATORS, HANDLES, ISLANDS, MEMBERS, ALIVE, PRESSED, SLACK, SHAKY = range(8)
# 1 to ask anew; how many handles were asked last; 1 + the structure whose cluster it was; of what is kept below, which
# holds now, and which was the last to be written.
ANEW, ASKED, ASKER, AT, LAST = range(8, 13)


def make_handles(actuators: Actuators, solids: Bodies, joints: Joints | None) -> Handles:
    """Room for the largest structure, and for others that it may touch."""
    bodies = len(solids.mass)
    most = int(max(TOGETHER, np.bincount(actuators.structure).max()))
    most = min(most, len(actuators.body))
    island_of = np.full(bodies, -1, np.int64)
    if joints is not None:
        ends = joints.island[:, MEMBER]
        island_of[joints.members] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    rows = np.zeros(0) if joints is None else joints.rows
    limits = 0 if joints is None else len(joints.active)
    n, handles = 3 * most, 3 * most + MOST
    acts = np.isin(actuators.whole, actuators.whole[actuators.body])
    aims = np.diff(actuators.goals.first) > 0
    led = (actuators.pulled == 1) & aims  # by a point, to a goal
    return Handles(
        most=most,
        island_of=island_of,
        floats=_what_floats(actuators, solids, joints),
        acts=acts.astype(np.int64),
        aims=np.isin(actuators.whole, actuators.whole[actuators.body[aims]]).astype(np.int64),
        swings=(acts & ((island_of >= 0) | np.isin(np.arange(bodies), actuators.body[led]))).astype(np.int64),
        limbs=find_limbs(actuators, solids, joints),
        bow=np.zeros((limits, COLUMNS)),
        bending=np.zeros(limits),
        bent_for=np.full(limits, -1.0),
        bent=np.zeros(limits),
        count=np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
        actuator=np.zeros(most, np.int64),
        island=np.zeros(bodies, np.int64),
        member=np.zeros(bodies, np.int64),
        seen=np.zeros(bodies, np.int64),
        done=np.zeros(len(actuators.knows), np.int64),
        body=np.zeros((handles, 2), np.int64),
        row=np.zeros((handles, COLUMNS)),
        push=np.zeros((handles, COLUMNS)),
        kind=np.zeros(handles, np.int64),
        source=np.zeros(handles, np.int64),
        live=np.zeros(handles, np.int64),
        carries=np.zeros(handles, np.int64),
        most_load=np.zeros(handles),
        bears=np.zeros(handles),
        dragged=np.zeros(handles, np.int64),
        slides=np.zeros(handles, np.int64),
        sinks=np.zeros(handles),
        rubs=np.zeros(handles),
        rate=np.zeros(handles),
        bias=np.zeros(handles),
        answer=np.zeros((handles, handles)),
        asked_kind=np.zeros(handles, np.int64),
        asked_body=np.zeros((handles, 2), np.int64),
        asked_row=np.zeros((handles, COLUMNS)),
        asked_at=np.zeros(1),
        yields=np.zeros(handles),
        held=np.full(SETS, -1),
        alive=np.zeros((SETS, MOST), np.int64),
        support=np.zeros((SETS, MOST, MOST)),
        through=np.zeros((SETS, n + 1, MOST)),
        settled=np.zeros((SETS, n, n)),
        inverse=np.zeros((SETS, n, n)),
        inverted=np.zeros(SETS, np.int64),
        listed=np.zeros(MOST, np.int64),
        load=np.zeros(MOST),
        parting=np.zeros((ROWS, MOST)),
        parted=np.zeros((MOST, ROWS, ROWS)),
        parted_at=np.zeros(MOST, np.int64),
        opens=np.zeros((MOST, ROWS)),
        lifts=np.zeros((MOST, most)),
        shares=np.zeros((n + 1, ROWS)),
        vectors=np.zeros((13, n)),
        dense=np.zeros((4, n, n)),
        company=np.zeros(len(actuators.body), np.int64),
        swift=np.zeros(len(actuators.body)),
        partner=np.zeros((len(actuators.body), most), np.int64),
        damper=np.zeros((3 * len(actuators.body), n)),
        last=np.full(bodies, -1, np.int64),
        previous=np.zeros((handles, 2), np.int64),
        bracing=np.zeros((len(rows), handles)),
        fall=np.zeros((bodies, 3)),
        turning=np.zeros((bodies, 3)),
        kept_rows=np.zeros((len(rows), FORCE)),
        kept_factor=np.zeros(0 if joints is None else len(joints.factor)),
    )


def _what_floats(actuators: Actuators, solids: Bodies, joints: Joints | None) -> Integers:
    """1 for each body whose structure has joints, but none to what cannot move: it can only stand, or fly."""
    floats = np.zeros(len(solids.mass), np.int64)
    if joints is not None:
        one, other = joints.each["a"], joints.each["b"]
        ends, partners = np.concatenate([one, other]), np.concatenate([other, one])
        floats[ends] = 1
        held = actuators.whole[ends[solids.inverse_mass[partners] == 0.0]]
        floats[np.isin(actuators.whole, held) | (solids.inverse_mass == 0.0)] = 0
    return floats


@kernel
def is_touched(joints, contacts, actuators, s):
    """Whether anything touches structure s, or a joint of it is at a limit."""
    linkage = actuators.linkage
    whole = actuators.whole[linkage.body[linkage.first[s]]]
    if contacts is not None:
        for p in range(contacts.near.info[COUNT]):
            if contacts.place[p, MET] > 0.0:
                for side in range(2):
                    if actuators.whole[contacts.pair[p, side]] == whole:
                        return True
    if joints is not None:
        for k in range(len(joints.each)):
            joint = joints.each[k]
            limited = joints.active[joint.index] != 0.0 or (joint.second >= 0 and joints.active[joint.second] != 0.0)
            if limited and (actuators.whole[joint.a] == whole or actuators.whole[joint.b] == whole):
                return True
    return False


@kernel
def gather_cluster(bodies, joints, contacts, actuators, handles, s):
    """List the actuators, bodies and islands of the cluster of structure s."""
    seen, count = handles.seen, handles.count
    for i in range(len(seen)):
        seen[i] = 0
    for k in range(SHAKY):
        count[k] = 0
    linkage = actuators.linkage
    _include(bodies, actuators, handles, actuators.whole[linkage.body[linkage.first[s]]])
    if contacts is not None:
        grows = True
        while grows:
            grows = False
            for p in range(contacts.near.info[COUNT]):
                if contacts.place[p, MET] > 0.0:
                    a, b = contacts.pair[p, 0], contacts.pair[p, 1]
                    one, other = seen[actuators.whole[a]], seen[actuators.whole[b]]
                    if one + other == 1:
                        grows |= _include(bodies, actuators, handles, actuators.whole[b if one == 1 else a])
    for i in range(len(bodies.mass)):
        if seen[actuators.whole[i]] == 1:
            handles.member[count[MEMBERS]] = i
            count[MEMBERS] += 1
    if joints is not None:
        for island in range(len(joints.island) - 1):
            if seen[actuators.whole[joints.members[joints.island[island, MEMBER]]]] == 1:
                handles.island[count[ISLANDS]] = island
                count[ISLANDS] += 1


@kernel
def _include(bodies, actuators, handles, whole):
    """Take bodies that hang together into the cluster, if there is room; what cannot move is no part of it."""
    count = handles.count
    if bodies.inverse_mass[whole] == 0.0:
        return False
    own = 0
    for a in range(len(actuators.body)):
        own += actuators.whole[actuators.body[a]] == whole
    if count[ACTUATORS] + own > handles.most or (own == 0 and count[HANDLES] == WIDE):
        return False
    handles.seen[whole] = 1
    for a in range(len(actuators.body)):
        if actuators.whole[actuators.body[a]] == whole and not is_idle(actuators.goals, a):
            handles.actuator[count[ACTUATORS]] = a
            count[ACTUATORS] += 1
    if own == 0:
        count[HANDLES] += 1  # so far, loose wholes
    return True


@kernel
def still_answers(bodies, actuators, handles, s):
    """Whether the same handles were asked not long ago, something touches, and neither bodies nor what a force at a
    handle does have turned much since. Where nothing touches, asking anew costs little."""
    count, since = handles.count, actuators.now[0] - handles.asked_at[0]
    if count[ANEW] == 1 or count[ASKER] != s + 1 or count[ASKED] != count[HANDLES]:
        return False
    if count[HANDLES] == 3 * count[ACTUATORS]:
        return False
    for n in range(count[MEMBERS]):
        spin = get3(bodies.spin, handles.member[n])
        if dot(spin, spin) * since * since > TURNED * TURNED:
            return False
    for h in range(count[HANDLES]):
        if handles.kind[h] != handles.asked_kind[h]:
            return False
        for side in range(2):
            i = handles.body[h, side]
            if i != handles.asked_body[h, side]:
                return False
            if i >= 0 and bodies.inverse_mass[i] > 0.0:
                along, about = get3_at(handles.row, h, ALONG), get3_at(handles.row, h, ABOUT_A + 3 * side)
                change = sub(along, get3_at(handles.asked_row, h, ALONG))
                change_about = sub(about, get3_at(handles.asked_row, h, ABOUT_A + 3 * side))
                if ease(bodies, i, change, change_about) > TURNED * TURNED * ease(bodies, i, along, about):
                    return False
    return True


@kernel(inline=True)
def ease(bodies, i, along, about):
    """How easily a body by itself gives way to a force, at most."""
    return bodies.inverse_mass[i] * dot(along, along) + max(get3(bodies.inverse_inertia, i)) * dot(about, about)


@kernel
def note_asked(actuators, handles, s):
    """Keep what is asked now; whatever was known of earlier answers is no longer."""
    count = handles.count
    count[ASKED], count[ASKER], handles.asked_at[0] = count[HANDLES], s + 1, actuators.now[0]
    for h in range(count[HANDLES]):
        handles.asked_kind[h] = handles.kind[h]
        handles.asked_body[h, 0], handles.asked_body[h, 1] = handles.body[h, 0], handles.body[h, 1]
        for c in range(COLUMNS):
            handles.asked_row[h, c] = handles.row[h, c]
    forget_sets(handles)


@kernel
def forget_sets(handles):
    """Whatever was known of what holds is no longer."""
    for at in range(SETS):
        handles.held[at], handles.inverted[at] = -1, 0
    for i in range(MOST):
        handles.parted_at[i] = 0


@kernel
def take_hold(bodies, joints, contacts, actuators, handles, ahead):
    """List the handles of the cluster."""
    handles.count[HANDLES] = 0
    for n in range(handles.count[ACTUATORS]):
        _hold_actuator(bodies, actuators, handles, handles.actuator[n], ahead)
    for n in range(handles.count[ISLANDS]):
        island = handles.island[n]
        for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
            for m in range(joints.each[k].limits):
                _hold_limit(joints, handles, k, m)
    if contacts is not None:
        for turn in range(2):  # first what touches those who act
            for p in range(contacts.near.info[COUNT]):
                if contacts.place[p, MET] > 0.0:
                    _hold_contact(bodies, contacts, actuators, handles, p, turn == 0, ahead)


@kernel(inline=True)
def _unit(k):
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def _add(handles, kind, source, a, b, along, about_a, about_b):
    """One more handle; returns its place."""
    h = handles.count[HANDLES]
    handles.count[HANDLES] = h + 1
    handles.kind[h], handles.source[h], handles.live[h] = kind, source, 1
    handles.body[h, 0], handles.body[h, 1] = a, b
    handles.bias[h] = handles.rubs[h] = handles.sinks[h] = 0.0
    handles.dragged[h] = handles.slides[h] = 0
    for rows in (handles.row, handles.push):
        set3_at(rows, h, ALONG, along)
        set3_at(rows, h, ABOUT_A, about_a)
        set3_at(rows, h, ABOUT_B, about_b)
    return h


@kernel
def _hold_actuator(bodies, actuators, handles, a, ahead):
    body = actuators.body[a]
    nothing = (0.0, 0.0, 0.0)
    if actuators.paths.turns[a] == 1:
        other = actuators.against[a]
        for k in range(3):
            about_other = nothing if other < 0 else scale(_unit(k), -1.0)
            _add(handles, ACTUATOR, a, body, other, nothing, _unit(k), about_other)
        return
    arm, spin = arm_of(bodies, actuators, a, ahead), get3(bodies.spin, body)
    swing = cross(spin, cross(spin, arm))
    for k in range(3):
        h = _add(handles, ACTUATOR, a, body, -1, _unit(k), cross(arm, _unit(k)), nothing)
        handles.bias[h] = dot(swing, _unit(k))
        if actuators.pulled[a] == 0:
            set3_at(handles.push, h, ABOUT_A, nothing)


@kernel
def _hold_limit(joints, handles, k, m):
    joint = joints.each[k]
    j, r = joint.index if m == 0 else joint.second, joint.limit + m
    if handles.bending[j] != 0.0 and has_bent(joints, k, m, handles.bending[j]):
        handles.bending[j] = 0.0
    if (joints.active[j] == 0.0 and handles.bending[j] == 0.0) or not _room(handles, 1):
        return
    along, about_a = get3_at(joints.rows, r, LINEAR), get3_at(joints.rows, r, ANGULAR_A)
    _add(handles, LIMIT, j, joint.a, joint.b, along, about_a, get3_at(joints.rows, r, ANGULAR_B))
    if joints.active[j] != 0.0:
        handles.count[PRESSED] = 1


@kernel(inline=True)
def _room(handles, more):
    return handles.count[HANDLES] + more <= 3 * handles.count[ACTUATORS] + MOST


@kernel
def _hold_contact(bodies, contacts, actuators, handles, p, of_actors, ahead):
    """The handles of a pair that touches: it pushes, it grips, and a sole does not roll."""
    a, b = contacts.pair[p, 0], contacts.pair[p, 1]
    inside_a, inside_b = handles.seen[actuators.whole[a]] == 1, handles.seen[actuators.whole[b]] == 1
    if not (inside_a or inside_b) or not _room(handles, ROWS):
        return
    if (bodies.inverse_mass[a] > 0.0 and not inside_a) or (bodies.inverse_mass[b] > 0.0 and not inside_b):
        return
    if contacts.touching[p] == 0.0 and handles.aims[a] + handles.aims[b] > 0:
        return  # what is only near does not keep anybody from a goal
    if bodies.inverse_mass[a] * bodies.inverse_mass[b] == 0.0 and (_is_led(actuators, a) or _is_led(actuators, b)):
        return
    acts = _acts(actuators, handles, actuators.whole[a]) or _acts(actuators, handles, actuators.whole[b])
    if acts != of_actors:
        return
    normal = get3_at(contacts.place, p, NORMAL)
    point = get3_at(contacts.place, p, POINT)
    arm_a, arm_b = sub(point, get3(bodies.position, a)), sub(point, get3(bodies.position, b))
    first, second = _across(bodies, contacts, p, a, b, normal)
    begin = _add(handles, PUSH, p, a, b, normal, cross(arm_a, normal), cross(normal, arm_b))
    if contacts.touching[p] != 0.0:  # not only near
        handles.count[PRESSED] = 1
    friction = SURE * contacts.material[p, FRICTION]
    for tangent in (first, second):
        h = _add(handles, GRIP, p, a, b, tangent, cross(arm_a, tangent), cross(tangent, arm_b))
        handles.most_load[h] = friction
    nothing = (0.0, 0.0, 0.0)
    wide = _spread(contacts.place, p, first) + _spread(contacts.place, p, second)
    sole = FLAT * min(contacts.extent[a, INNER], contacts.extent[b, INNER])
    handles.bears[begin] = contacts.place[p, LOAD] if contacts.touching[p] != 0.0 and wide > sole * sole else 0.0
    if wide > sole * sole:  # or the foot of a thin leg, which turns easily about its own axis, would seem to be held
        h = _add(handles, TWIST, p, a, b, nothing, normal, scale(normal, -1.0))
        handles.most_load[h] = 2.0 / 3.0 * friction * math.sqrt(wide)
    rolls = max(_rolls(contacts.shapes.kind[a], bodies, a, normal), _rolls(contacts.shapes.kind[b], bodies, b, normal))
    for k in range(rolls, 2):  # a bar rolls about the first direction, a ball about both
        about, across = (first, second) if k == 0 else (second, first)
        spread = _spread(contacts.place, p, across)
        if spread > sole * sole and not _tilted(actuators, a, about) and not _tilted(actuators, b, about):
            h = _add(handles, ROLL, p, a, b, nothing, about, scale(about, -1.0))
            handles.most_load[h] = SURE * math.sqrt(3.0 * spread)  # half the width: where it begins to tilt
    alone = _lies_alone(bodies, handles, a, b) or _lies_alone(bodies, handles, b, a)
    if alone and contacts.touching[p] != 0.0:
        _feel_friction(bodies, contacts, actuators, handles, p, begin)
    elif contacts.touching[p] != 0.0 and _glides(bodies, contacts, handles, p, begin + 1, 2.0 * ahead):
        for h in range(begin + 1, handles.count[HANDLES]):
            handles.live[h] = 1 if handles.kind[h] == ROLL else 0


@kernel
def _glides(bodies, contacts, handles, p, grip, dt):
    """Whether a link slides on something firm so fast that friction cannot hold it for as long as control is held."""
    a, b = handles.body[grip, 0], handles.body[grip, 1]
    if bodies.inverse_mass[a] * bodies.inverse_mass[b] > 0.0 or max(handles.island_of[a], handles.island_of[b]) < 0:
        return False
    load, stopped = contacts.place[p, LOAD], 0.0  # m/s, at most
    for h in (grip, grip + 1):
        for side in range(2):
            along, about = get3_at(handles.row, h, ALONG), get3_at(handles.row, h, ABOUT_A + 3 * side)
            stopped += ease(bodies, handles.body[h, side], along, about) * handles.most_load[h] * load * dt
    return math.hypot(rate_at(bodies, handles, grip), rate_at(bodies, handles, grip + 1)) > GLIDES * stopped


@kernel
def _lies_alone(bodies, handles, i, other):
    """Whether a body of an actor has no joints, and lies on something firm. (Goals have other means.)"""
    alone = handles.acts[i] == 1 and handles.island_of[i] < 0 and handles.aims[i] == 0
    return alone and bodies.inverse_mass[other] == 0.0


@kernel
def _feel_friction(bodies, contacts, actuators, handles, p, begin):
    """Note which actuators can meet friction at a contact, whose handles begin there, and what it does if it slides."""
    load, grip, twist = contacts.place[p, LOAD], begin + 1, begin + 3
    handles.sinks[begin] = FIRMED * load / max(contacts.place[p, STIFF], TINY)
    for n in range(handles.count[ACTUATORS]):
        a = handles.actuator[n]
        if actuators.body[a] in (handles.body[grip, 0], handles.body[grip, 1]) and actuators.against[a] < 0:
            turns = actuators.paths.turns[a] == 1
            for h in range(grip, handles.count[HANDLES]):
                if handles.kind[h] == ROLL or turns == (handles.kind[h] == TWIST):
                    handles.dragged[h] = n + 1
    rub, torque = get3_at(contacts.friction, p, RUB), contacts.friction[p, TORQUE]
    slip = math.hypot(rate_at(bodies, handles, grip), rate_at(bodies, handles, grip + 1))
    if handles.dragged[grip] > 0 and norm(rub) > handles.most_load[grip] * load and slip > SLIDES:
        for h in range(grip, twist):
            handles.slides[h], handles.rubs[h] = 1, dot(rub, get3_at(handles.row, h, ALONG))
    if handles.count[HANDLES] > twist and handles.kind[twist] == TWIST and handles.dragged[twist] > 0:
        slip = abs(rate_at(bodies, handles, twist)) * handles.most_load[twist] / max(handles.most_load[grip], TINY)
        if abs(torque) > handles.most_load[twist] * load and slip > SLIDES:
            handles.slides[twist], handles.rubs[twist] = 1, torque


@kernel
def rate_at(bodies, handles, h):
    """How fast a handle moves."""
    a, b = handles.body[h, 0], handles.body[h, 1]
    along = get3(bodies.velocity, a)
    turn = dot(get3(bodies.spin, a), get3_at(handles.row, h, ABOUT_A))
    if b >= 0:
        along = sub(along, get3(bodies.velocity, b))
        turn += dot(get3(bodies.spin, b), get3_at(handles.row, h, ABOUT_B))
    return dot(along, get3_at(handles.row, h, ALONG)) + turn


@kernel
def _acts(actuators, handles, whole):
    acts = False
    for n in range(handles.count[ACTUATORS]):
        acts |= actuators.whole[actuators.body[handles.actuator[n]]] == whole
    return acts


@kernel
def _rolls(kind, bodies, i, normal):
    """How many ways a body can roll on what it touches: any for a ball, about its axis for a lying bar."""
    if kind == SPHERE:
        return 2
    if kind in (CAPSULE, CYLINDER):
        axis = rotate(get4(bodies.orientation, i), (0.0, 0.0, 1.0))
        if abs(dot(axis, normal)) < LYING:
            return 1
    return 0


@kernel
def _across(bodies, contacts, p, a, b, normal):
    """Two directions in the plane of contact: along a bar that lies there, else along the patch's longest extent."""
    first = (0.0, 0.0, 0.0)
    for i in (a, b):
        kind = contacts.shapes.kind[i]
        if kind in (CAPSULE, CYLINDER) and bodies.inverse_mass[i] > 0.0:
            first = rotate(get4(bodies.orientation, i), (0.0, 0.0, 1.0))
    first = axpy(-dot(first, normal), normal, first)
    if norm(first) < LYING:
        helper = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.7 else (0.0, 1.0, 0.0)
        u = cross(normal, helper)
        u = scale(u, 1.0 / norm(u))
        v = cross(normal, u)
        uu, vv = _spread(contacts.place, p, u), _spread(contacts.place, p, v)
        w = add(u, v)
        uv = 0.5 * (_spread(contacts.place, p, w) - uu - vv)
        angle = 0.5 * math.atan2(2.0 * uv, uu - vv)
        first = axpy(math.cos(angle), u, scale(v, math.sin(angle)))
    first = scale(first, 1.0 / norm(first))
    return first, cross(normal, first)


@kernel
def _spread(place, p, direction):
    """Mean square of how far a patch extends in a direction."""
    x, y, z = direction
    (xx, xy, xz), (yy, yz, zz) = get3_at(place, p, SPREAD), get3_at(place, p, SPREAD + 3)
    return max(0.0, xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z))


@kernel
def _is_led(actuators, body):
    """Whether goals say where a body is and how it is turned, and it is strong enough to bear itself: then it does not
    lean on the ground, whose friction would tip it over."""
    moves, turns = False, False
    for n in range(len(actuators.body)):
        if actuators.body[n] == body and has_goals(actuators.goals, n) and not is_idle(actuators.goals, n):
            turns |= actuators.paths.turns[n] == 1
            moves |= actuators.paths.turns[n] == 0 and actuators.strength[n] > BEARS * actuators.weight[n]
    return moves and turns


@kernel
def _tilted(actuators, body, about):
    """Whether what stands is to be turned over."""
    tilted = False
    for n in range(len(actuators.body)):
        if actuators.body[n] == body and actuators.paths.turns[n] == 1 and actuators.against[n] < 0:
            tilted |= abs(dot(get3(actuators.offset, n), about)) > LIFT * actuators.base[n]
    return tilted


@kernel
def lift_of(actuators, a, gravity):
    """Which share of its weight to take off what it stands on: rolling and sliding need weight, leaping does not."""
    if actuators.paths.turns[a] == 1:
        return 0.0
    height = -dot(get3(actuators.offset, a), gravity) / max(norm(gravity), TINY)
    return min(max(height / min(LIFT * actuators.base[a], LIFT_MOST), 0.0), 1.0)
