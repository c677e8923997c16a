"""Friction that is overcome: an actor's body that lies by itself on something firm is dragged along.

A link leans on the grip of a foot; a body that has no joints has nothing to lean on it for. Where its path leads along
the ground, and nothing but friction is in the way, its force rises until the grip gives way. From then on friction is a
load like its weight: what the contact does now is known, and need not be learnt.
"""

import math

from impel.control.actuators import strength_of
from impel.control.law import forces_for
from impel.control.targets import ARRIVED
from impel.kernel import kernel
from impel.motion.rotations import add, dot, get3_at, norm, scale
from impel.physics.skyline import set_three, three
from impel.stage.handles import ABOUT_A, ACTUATORS, ALIVE, ALONG, GRIP, HANDLES, PUSH, ROLL, SURE, TWIST
from impel.stage.holding import ALL, DENIED, DRAG, FORCE, GAIN, REST, SMOOTH, hold_on, invert_answer, swiftest

# Of the acceleration at base distance: who misses more of its wish is hindered.
HINDERED = 0.1

SOON = 0.05  # s: time constant with which a grip is overcome; a contact that just bears its body swings in 0.03 s


@kernel
def feel_friction(actuators, handles):
    """Reckon with friction under bodies that lie by themselves: what slides does not hold, and resists as it does now;
    the rest is taken as bearing the last forces of the actuators. Is there anything?"""
    n, lies = 3 * handles.count[ACTUATORS], False
    for i in range(n):
        handles.vectors[DRAG, i] = 0.0
    for h in range(n, handles.count[HANDLES]):
        lies |= handles.dragged[h] > 0
    if not lies:
        return False
    at = hold_on(actuators, handles, ALL)
    through, pressed = handles.through[at], 0.0
    for i in range(handles.count[ALIVE]):
        h = handles.alive[at, i]
        load = -through[n, i]
        for j in range(n):
            load -= through[j, i] * actuators.applied[handles.source[j], j % 3]
        if handles.kind[h] == PUSH:
            pressed = handles.rubs[h] = max(load, 0.0)
        elif handles.dragged[h] > 0 and handles.slides[h] == 0 and handles.kind[h] != ROLL:
            most = handles.most_load[h] / SURE * pressed
            handles.rubs[h] = min(max(load, -most), most)
    for h in range(n, handles.count[HANDLES]):
        if handles.slides[h] == 1:
            _meet(actuators, handles, h, handles.rubs[h])
    return True


@kernel
def _meet(actuators, handles, h, force):
    """Let a handle do this to its bodies instead of holding, and an actuator do as much against it: of the two together
    only a moment is left."""
    k, about = handles.dragged[h] - 1, ABOUT_A if handles.kind[h] == TWIST else ALONG
    against = scale(get3_at(handles.row, h, about), -force)
    if handles.body[h, 0] != actuators.body[handles.actuator[k]]:
        against = scale(against, -1.0)
    set_three(handles.vectors[DRAG], k, add(against, three(handles.vectors[DRAG], k)))
    give(handles, h, force)
    for g in range(handles.count[HANDLES]):
        by = (handles.answer[g, 3 * k], handles.answer[g, 3 * k + 1], handles.answer[g, 3 * k + 2])
        handles.bias[g] += dot(by, against)


@kernel
def give(handles, h, force):
    """Let a handle do this to its bodies instead of holding."""
    handles.live[h] = 0
    for g in range(handles.count[HANDLES]):
        handles.bias[g] += force * (handles.answer[g, h] if g <= h else handles.answer[h, g])


@kernel
def overcome(actuators, handles, dt_last):
    """Where friction, and nothing else, keeps actuators from what their paths ask for, let go of what grips a body that
    lies by itself, if their strengths can overcome it. Is there anything?"""
    n, more, left, denied = (
        3 * handles.count[ACTUATORS], handles.vectors[GAIN], handles.vectors[REST], handles.vectors[DENIED],
    )  # fmt: skip
    smooth = hold_on(actuators, handles, SMOOTH)
    invert_answer(handles, smooth)
    for i in range(n):
        left[i] = denied[i]
    forces_for(handles.settled[smooth], handles.inverse[smooth], n, left, more)
    slow = 0.0
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        if norm(three(left, k)) > HINDERED * swiftest(actuators, a) * math.sqrt(actuators.felt_inertia[a]):
            return False
        slow = max(slow, ARRIVED * swiftest(actuators, a) * actuators.arm[a])
    found, pressed, soon = False, 0.0, -math.expm1(-dt_last / SOON)
    for h in range(n, handles.count[HANDLES]):
        kind = handles.kind[h]
        if kind == PUSH:
            pressed = handles.rubs[h]
        if handles.dragged[h] == 0 or handles.live[h] == 0:
            continue
        most = handles.most_load[h] / SURE * pressed
        if kind == GRIP and handles.kind[h - 1] == PUSH:
            first, second = _led(actuators, handles, h), _led(actuators, handles, h + 1)
            led = math.hypot(first, second)
            if led > slow and _can(actuators, handles, h, most):
                _meet(actuators, handles, h, _rising(handles, h, -most * first / led, soon))
                _meet(actuators, handles, h + 1, _rising(handles, h + 1, -most * second / led, soon))
                found = True
        elif kind == TWIST:
            led, arm = _led(actuators, handles, h), handles.most_load[h] / handles.most_load[h - 1]
            if abs(led) * arm > slow and _can(actuators, handles, h, most):
                _meet(actuators, handles, h, _rising(handles, h, -math.copysign(most, led), soon))
                found = True
    return found


@kernel
def _led(actuators, handles, h):
    """How a handle would accelerate by the forces that are missing."""
    led = 0.0
    for j in range(3 * handles.count[ACTUATORS]):
        size = math.sqrt(actuators.felt_inertia[handles.source[j]])
        led += handles.answer[h, j] * size * handles.vectors[GAIN, j]
    return led


@kernel(inline=True)
def _rising(handles, h, most, soon):
    """From what friction does now it gets there little by little: what holds is elastic, and a jerk would set it
    swinging."""
    return handles.rubs[h] + soon * (most - handles.rubs[h])


@kernel
def _can(actuators, handles, h, most):
    """Whether the strength of the actuator that meets friction at a handle is enough for that, and for its wish; if
    not, which would be is noted."""
    k = handles.dragged[h] - 1
    a = handles.actuator[k]
    wish = max(norm(three(handles.vectors[FORCE], k)), norm(three(handles.vectors[GAIN], k)))
    needs = most + math.sqrt(actuators.felt_inertia[a]) * wish
    if needs <= strength_of(actuators, a) + actuators.automatic[a] * most:
        return True
    actuators.gripped[a] = max(actuators.gripped[a], needs)
    return False


@kernel
def spare_for_friction(actuators, handles):
    """What overcomes friction comes on top of an automatic strength, as what presses does."""
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        actuators.pressing[a] += actuators.automatic[a] * norm(three(handles.vectors[DRAG], k))
