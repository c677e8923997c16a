"""Pairs in haste: contacts that do not stand a step as long as it suits most are looked at twice, four times ... in it.

A body is kicked and moved as often as the hastiest of its contacts asks for. What the slower ones press is held in
between, as a force and a moment about the origin; when such a contact is looked at again, both bodies get what is
missing of the mean of then and now. By itself each contact is integrated as by Verlet's scheme with its own step; what
is at rest stays at rest; and momentum is kept, linear and angular.

Contacts of bodies with joints are never in haste, nor those of soft or undamped bodies near each other, which keep
account of the work that is done in a step (`friction.give_back`): where they do not stand a step, it is too long. Nor
are any where there are actuators, whose forces are held over a step.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, get3, get3_at, scale, set3, set3_at, sub
from impel.physics.bodies import drift_one, kick_one, spin_of
from impel.physics.broadphase import COUNT, EASE, HASTE
from impel.physics.coating import keeps_account
from impel.physics.friction import WRENCH
from impel.physics.sleep import is_still

STIFFNESS_BOUND = 0.75  # a step is too long when this x stiffness x dt² / mass > 1, that is dt > 1.2/ω. (The fastest
# swing of a heap is 1.1 times the largest sum over the contacts of a body; damped, it is stable up to dt = 1.4/ω.)
# Where some are in haste all go as fast as they can, not only a few: with that bound alone heaps would never rest.
CARE = 2.0  # x what is felt, then
RISING = 4.0  # x what is felt, where it was too much: what is pressed in is so for longer than a step
FALLING = 2.5  # x what is felt, where longer steps must still do ...
SOON = 8  # ... for so many steps

NO_USE, HURRY, HALVE = range(3)  # what to do about a step that contact did not stand


@kernel(inline=True)
def part_of(dt, haste):
    """The part of a step that a pair, or a body, in so much haste takes at once."""
    return dt / (1 << int(haste))


@kernel(inline=True)
def is_too_long(need, dt):
    """Whether a step is longer than 1/√need."""
    return need * dt * dt > 1.0


@kernel
def look_for_haste(bodies, contacts):
    """The most haste there is; notes how often each body has to move."""
    most = 0.0
    for i in range(len(bodies.mass)):
        contacts.finest[i] = 0.0
    for p in range(contacts.near.info[COUNT]):
        contacts.share[p, 0] = contacts.share[p, 1] = contacts.urge[p] = 0.0
        haste = contacts.haste[p, HASTE]
        if haste > 0.0:
            a, b = contacts.pair[p, 0], contacts.pair[p, 1]
            if not (is_still(bodies, a) and is_still(bodies, b)):
                contacts.finest[a] = max(contacts.finest[a], haste)
                contacts.finest[b] = max(contacts.finest[b], haste)
                most = max(most, haste)
    return most


@kernel(inline=True)
def wrench_on(bodies, contacts, p, side):
    """What a pair did to one of its bodies when it was looked at last: a force, and its torque where the body is."""
    sign = 1.0 - 2.0 * side
    force = scale(get3_at(contacts.friction, p, WRENCH), sign)
    moment = scale(get3_at(contacts.friction, p, WRENCH + 3), sign)
    return force, sub(moment, cross(get3(bodies.position, contacts.pair[p, side]), force))


@kernel
def let_go_of(bodies, contacts, p):
    """Take away what a pair was held to do, before it is looked at again in the midst of a step."""
    for side in range(2):
        i = contacts.pair[p, side]
        force, torque = wrench_on(bodies, contacts, p, side)
        set3(bodies.force, i, sub(get3(bodies.force, i), force))
        set3(bodies.torque, i, sub(get3(bodies.torque, i), torque))


@kernel
def owe(bodies, contacts, p, dt, by):
    """Add what both bodies are owed for a part of the step, `by` times what the pair does or did."""
    for side in range(2):
        i = contacts.pair[p, side]
        late = 0.5 * by * (part_of(dt, contacts.haste[p, HASTE]) - part_of(dt, contacts.finest[i]))
        if late != 0.0:
            force, torque = wrench_on(bodies, contacts, p, side)
            set3_at(contacts.owed, i, 0, axpy(late, force, get3_at(contacts.owed, i, 0)))
            set3_at(contacts.owed, i, 3, axpy(late, torque, get3_at(contacts.owed, i, 3)))


@kernel
def begin_parts(bodies, contacts, gravity, drag, dt):
    """The first half-kick of all, each for its own part of the step."""
    for i in range(len(bodies.mass)):
        for k in range(6):
            contacts.owed[i, k] = 0.0
        if bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            half = 0.5 * part_of(dt, contacts.finest[i])
            kick_one(bodies, i, gravity, math.exp(-drag * half), half)


@kernel
def drift_parts(bodies, contacts, dt, haste):
    """Move those that are in so much haste by their part of the step, under what is held."""
    for i in range(len(bodies.mass)):
        finest = contacts.finest[i]
        if finest > 0.0 and finest >= haste and bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            x = get3(bodies.position, i)
            drift_one(bodies, i, part_of(dt, finest))
            way = sub(get3(bodies.position, i), x)
            set3(bodies.torque, i, sub(get3(bodies.torque, i), cross(way, get3(bodies.force, i))))


@kernel
def kick_parts(bodies, contacts, gravity, drag, dt, haste):
    """At the end of a part of the step, kick those that are in so much haste: with what they are owed, and for their
    next part, unless it was the last."""
    for i in range(len(bodies.mass)):
        if contacts.finest[i] >= haste and bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            half = 0.5 * part_of(dt, contacts.finest[i])
            decay = math.exp(-drag * half)
            kick_one(bodies, i, gravity, decay, half)
            if contacts.finest[i] > 0.0:
                _pay(bodies, contacts, i)
            if haste > 0.0:
                kick_one(bodies, i, gravity, decay, half)


@kernel
def _pay(bodies, contacts, i):
    owed = get3_at(contacts.owed, i, 0)
    set3(bodies.velocity, i, axpy(bodies.inverse_mass[i], owed, get3(bodies.velocity, i)))
    momentum = add(get3(bodies.momentum, i), get3_at(contacts.owed, i, 3))
    set3(bodies.momentum, i, momentum)
    set3(bodies.spin, i, spin_of(bodies, i, momentum))
    for k in range(6):
        contacts.owed[i, k] = 0.0


@kernel(inline=True)
def _weight(contacts, p, side, dt):
    """How much of what a body stands a pair would take in a step of dt with the haste that it is wished."""
    part = part_of(dt, contacts.wish[p])
    return STIFFNESS_BOUND * contacts.share[p, side] * part * part


@kernel
def _weigh(bodies, contacts, dt):
    """Sum up for each body what its pairs would take of what it stands in a step of dt."""
    for i in range(len(bodies.mass)):
        contacts.weight[i] = contacts.heaviest[i] = 0.0
    for p in range(contacts.near.info[COUNT]):
        if contacts.share[p, 0] + contacts.share[p, 1] == 0.0:
            continue
        for side in range(2):
            i = contacts.pair[p, side]
            weight = _weight(contacts, p, side, dt)
            contacts.weight[i] += weight
            contacts.heaviest[i] = max(contacts.heaviest[i], weight)


@kernel
def _wish(bodies, contacts, dt, most, care, rising):
    """Wish all pairs as much haste, up to `most`, as a step of dt asks for: the heaviest of each body that would not
    stand it, again and again. Bodies must stand it `care` times, those that would not at first `rising` times. Tells
    what to do."""
    _weigh(bodies, contacts, dt)
    for i in range(len(bodies.mass)):
        contacts.care[i] = rising if care * contacts.weight[i] > 1.0 else care
        if bodies.inverse_mass[i] == 0.0 or bodies.asleep[i] == 1.0:
            contacts.care[i] = 0.0
    _look_who_is_bound(bodies, contacts)
    raised, bound, again = False, False, True
    while again and not bound:
        again = False
        for p in range(contacts.near.info[COUNT]):
            if contacts.share[p, 0] + contacts.share[p, 1] + contacts.urge[p] == 0.0:
                continue
            more = is_too_long(contacts.urge[p], part_of(dt, contacts.wish[p]))
            for side in range(2):
                i = contacts.pair[p, side]
                if contacts.care[i] * contacts.weight[i] > 1.0:
                    more = more or _weight(contacts, p, side, dt) > 0.5 * contacts.heaviest[i]
            if more and contacts.wish[p] < most:
                contacts.wish[p] += 1.0
                raised = again = True
                for side in range(2):
                    bound = bound or contacts.bound[contacts.pair[p, side]] == 1.0
        _weigh(bodies, contacts, dt)
    if not raised:
        return NO_USE
    return HURRY if not bound and _most_are_slow(contacts) else HALVE


@kernel
def _look_who_is_bound(bodies, contacts):
    """Note who cannot be in haste."""
    for i in range(len(bodies.mass)):
        contacts.bound[i] = 1.0 if bodies.restless[i] == 1 and bodies.inverse_mass[i] > 0.0 else 0.0
    for p in range(contacts.near.info[COUNT]):
        if keeps_account(contacts.material, p):
            for side in range(2):
                i = contacts.pair[p, side]
                if bodies.inverse_mass[i] > 0.0:
                    contacts.bound[i] = 1.0


@kernel
def _most_are_slow(contacts):
    """Whether no more than three quarters would be in haste: a step that suits fewer does not pay."""
    touch, hasty = 0, 0
    for p in range(contacts.near.info[COUNT]):
        if contacts.share[p, 0] + contacts.share[p, 1] > 0.0:
            touch += 1
        if contacts.wish[p] > 0.0:
            hasty += 1
    return 4 * hasty <= 3 * touch


@kernel
def advise(bodies, contacts, dt, most):
    """What to do about a step of dt that contact did not stand; wishes haste up to `most` to those to blame."""
    for p in range(contacts.near.info[COUNT]):
        contacts.wish[p] = contacts.haste[p, HASTE]
    return _wish(bodies, contacts, dt, most, CARE, RISING)


@kernel
def hurry(contacts):
    """Give those in haste what they were wished."""
    for p in range(contacts.near.info[COUNT]):
        if contacts.wish[p] != contacts.haste[p, HASTE]:
            contacts.haste[p, HASTE] = contacts.wish[p]
            contacts.haste[p, EASE] = 0.0


@kernel
def halve_haste(contacts):
    """The step is to be half as long for all."""
    for p in range(contacts.near.info[COUNT]):
        contacts.haste[p, HASTE] = max(0.0, contacts.haste[p, HASTE] - 1.0)
        contacts.haste[p, EASE] = 0.0


@kernel
def double_haste(bodies, contacts, dt, most):
    """Let the step be twice as long, dt, for most, not for those whom it would not suit; would it suit most?"""
    for p in range(contacts.near.info[COUNT]):
        haste = contacts.haste[p, HASTE]
        contacts.wish[p] = haste + 1.0 if haste > 0.0 else 0.0
    wished = _wish(bodies, contacts, dt, most, 1.0, 1.0)
    if wished == HALVE:
        return False
    hasty = wished == HURRY
    for p in range(contacts.near.info[COUNT]):
        hasty = hasty or contacts.wish[p] > 0.0
    if hasty and (_wish(bodies, contacts, dt, most, CARE, FALLING) == HALVE or not _most_are_slow(contacts)):
        return False
    hurry(contacts)
    return True


@kernel
def look_back(bodies, contacts, dt, most):
    """After a good step in which some were in haste: let others join them that felt too much of it, and those that were
    in more haste than need be for a while be in less. And note how its contacts damp each body, see STRONGEST."""
    hasty = False
    for i in range(len(bodies.mass)):
        contacts.damped[i] = contacts.damping[i]
    for p in range(contacts.near.info[COUNT]):
        contacts.wish[p] = contacts.haste[p, HASTE]
        hasty = hasty or contacts.wish[p] > 0.0
    if not hasty:
        return
    if _wish(bodies, contacts, dt, most, CARE, CARE) == HURRY:
        hurry(contacts)
    for p in range(contacts.near.info[COUNT]):
        contacts.wish[p] = contacts.haste[p, HASTE]
    _weigh(bodies, contacts, dt)
    for p in range(contacts.near.info[COUNT]):
        haste = contacts.haste[p, HASTE]
        if haste == 0.0:
            continue
        a, b = contacts.pair[p, 0], contacts.pair[p, 1]
        more_a, more_b = 3.0 * _weight(contacts, p, 0, dt), 3.0 * _weight(contacts, p, 1, dt)
        stands = FALLING * (contacts.weight[a] + more_a) <= 1.0 or bodies.inverse_mass[a] == 0.0
        stands = stands and (FALLING * (contacts.weight[b] + more_b) <= 1.0 or bodies.inverse_mass[b] == 0.0)
        if stands and not is_too_long(FALLING * contacts.urge[p], 2.0 * part_of(dt, haste)):
            contacts.haste[p, EASE] += 1.0
            if contacts.haste[p, EASE] >= SOON:
                contacts.haste[p, HASTE] = contacts.wish[p] = haste - 1.0
                contacts.haste[p, EASE] = 0.0
                contacts.weight[a] += more_a
                contacts.weight[b] += more_b
        else:
            contacts.haste[p, EASE] = 0.0
