"""Friction that is overcome: what grips holds until actuators push harder than it can, and then resists as it slips.

What holds an actor by friction is no wall. Where its path asks for more, and its strength is enough, its force rises
until what grips gives way; from then on friction is a load like its weight, known before it has to be learnt.
"""

import math

from impel.control.actuators import strength_of
from impel.control.law import TINY, forces_for
from impel.control.targets import ARRIVED
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, norm, scale, sub
from impel.physics.skyline import set_three, three
from impel.stage.handles import ACTUATORS, ALIVE, AT, GRIP, HANDLES, PUSH, SURE, TWIST
from impel.stage.holding import (
    DENIED,
    EXTRA,
    GAIN,
    LIMITED,
    REST,
    SMOOTH,
    hold_on,
    invert_answer,
    misses_much,
    rate_at,
    swiftest,
)

TOGETHER = 1.05  # times the push at which the first grip surely gives way: up to there others do so, too
RUBS = 0.005  # of what slips: by so much less or more it resists as hard as was reckoned with

# s: time constants with which friction is overcome, and with which its load is taken back where there is nowhere to go.
# A contact that just bears its body swings in 0.03 s.
SOON, BACK = 0.05, 0.01


@kernel
def keep_slipping(bodies, actuators, handles):
    """Note how friction bears the last forces, and let go of what these pushed beyond its grip: it may not have begun
    to slide yet. Is there anything?"""
    for k in range(handles.count[ACTUATORS]):
        set_three(handles.vectors[LIMITED], k, get3(actuators.applied, handles.actuator[k]))
    bear(handles, handles.vectors[LIMITED])
    slipping, pressed = False, 0.0
    for i in range(handles.count[ALIVE]):
        kind = handles.kind[handles.alive[handles.count[AT], i]]
        if kind == PUSH:
            pressed = max(handles.load[i], 0.0)
        elif kind in (GRIP, TWIST):
            h = handles.alive[handles.count[AT], i]
            most = handles.most_load[h] / SURE * pressed
            handles.rubs[h] = min(max(handles.load[i], -most), most)
            slipping |= on_firm(bodies, handles, h) and pressed > 0.0 and slip(handles, i, pressed)
    return slipping


@kernel(inline=True)
def on_firm(bodies, handles, h):
    """Whether a handle holds a body to one that never gives way."""
    return bodies.inverse_mass[handles.body[h, 0]] * bodies.inverse_mass[handles.body[h, 1]] == 0.0


@kernel
def slip(handles, i, pressed):
    """Let go of the i-th of what is alive if it is loaded with more than it can surely hold, and of the handle after it
    where two grip together; is it?"""
    h, pair = handles.alive[handles.count[AT], i], _is_first_grip(handles, i)
    size = math.hypot(handles.load[i], handles.load[i + 1] if pair else 0.0)
    if handles.live[h] == 0 or size <= handles.most_load[h] * max(pressed, 0.0):
        return False
    handles.live[h] = 0
    if pair:
        handles.live[h + 1] = 0
    return True


@kernel(inline=True)
def _is_first_grip(handles, i):
    """Whether the i-th of what is alive is the first of two handles with which a contact grips."""
    kind, alive = handles.kind, handles.alive[handles.count[AT]]
    return kind[alive[i]] == GRIP and i + 1 < handles.count[ALIVE] and kind[alive[i + 1]] == GRIP


@kernel
def part_from(handles, h):
    """What does not push does not grip either."""
    for k in range(h + 1, handles.count[HANDLES]):
        if handles.kind[k] <= PUSH or handles.source[k] != handles.source[h]:
            return
        handles.live[k] = 0
        resist_with(handles, k, 0.0)


@kernel
def bear(handles, force):
    """Leave in `load` what holds does about these forces of the actuators."""
    n, load, through = 3 * handles.count[ACTUATORS], handles.load, handles.through[handles.count[AT]]
    for i in range(handles.count[ALIVE]):
        load[i] = -through[n, i]
        for j in range(n):
            load[i] -= through[j, i] * force[j]


@kernel
def rub(bodies, actuators, handles, dt_last):
    """Let what slips resist the way that it is led, as hard as it is pressed; is that new?

    Where it hardly moves, and is not to, its friction may act either way, and is not reckoned with; nor is that of
    loose bodies on each other, which is felt and learnt: reckoned with, it would pinch a light one with all strength.
    From what it does now it gets there little by little: what holds is elastic, and a jerk would set it swinging.
    """
    slow, damping, new = math.inf, 0.0, False
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        slow = min(slow, ARRIVED * swiftest(actuators, a) * actuators.arm[a])
        damping = max(damping, actuators.damping[a])
    pressed, i, touches = 0.0, 0, False
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        while i < handles.count[ALIVE] and handles.alive[handles.count[AT], i] < h:
            i += 1
        kind = handles.kind[h]
        if kind == PUSH:
            touches = handles.live[h] == 1
            pressed = handles.load[i] if touches else 0.0
        if kind not in (GRIP, TWIST) or handles.live[h] == 1 or not touches or not on_firm(bodies, handles, h):
            continue
        most = handles.most_load[h] / SURE * max(pressed, 0.0)
        soon = (0.0 if handles.slides[h] == 1 else -math.expm1(-dt_last / SOON), math.exp(-dt_last / BACK))
        if kind == GRIP and handles.kind[h - 1] == PUSH:
            first, second = led_at(handles, h), led_at(handles, h + 1)
            led = math.hypot(first, second)
            goes = damping * math.hypot(rate_at(bodies, handles, h), rate_at(bodies, handles, h + 1))
            much, share = min(1.0, (led + goes) / slow), -most / max(led, slow)
            new |= _resist_anew(handles, h, share * first, soon, much, most)
            new |= _resist_anew(handles, h + 1, share * second, soon, much, most)
        elif kind == TWIST:
            arm = handles.most_load[h] / max(handles.most_load[h - 1], TINY)
            led, goes = arm * led_at(handles, h), damping * arm * abs(rate_at(bodies, handles, h))
            much = min(1.0, (abs(led) + goes) / slow)
            new |= _resist_anew(handles, h, -most * led / max(abs(led), slow), soon, much, most)
    return new


@kernel(inline=True)
def _resist_anew(handles, h, force, soon, much, most):
    force = much * soon[0] * (force - handles.rubs[h]) + (much + (1.0 - much) * soon[1]) * handles.rubs[h]
    if abs(force - handles.resists[h]) <= RUBS * most:
        return False
    resist_with(handles, h, force)
    return True


@kernel
def led_at(handles, h):
    """How a handle is about to accelerate."""
    led, force = handles.bias[h], handles.vectors[EXTRA]
    for j in range(3 * handles.count[ACTUATORS]):
        led += handles.answer[h, j] * force[j]
    for i in range(handles.count[ALIVE]):
        g = handles.alive[handles.count[AT], i]
        led += (handles.answer[h, g] if h <= g else handles.answer[g, h]) * handles.load[i]
    return led


@kernel
def resist_with(handles, h, force):
    """Let a handle that does not hold do this to its bodies instead."""
    more = force - handles.resists[h]
    handles.resists[h] = force
    if more != 0.0:
        for g in range(handles.count[HANDLES]):
            handles.bias[g] += more * (handles.answer[g, h] if g <= h else handles.answer[h, g])


@kernel
def overcome(actuators, handles):
    """Where friction, and nothing else, keeps actuators from what their paths ask for, let go of what grips, as far as
    their strengths overcome it: what gives way first when their forces rise. Is there anything?"""
    n, more, left, denied = (
        3 * handles.count[ACTUATORS], handles.vectors[GAIN], handles.vectors[REST], handles.vectors[DENIED],
    )  # fmt: skip
    smooth = hold_on(actuators, handles, SMOOTH)
    invert_answer(handles, smooth)
    for i in range(n):
        left[i] = denied[i]
    forces_for(handles.settled[smooth], handles.inverse[smooth], n, left, more)
    hindered = False
    for k in range(handles.count[ACTUATORS]):
        hindered |= misses_much(actuators, handles, k, sub(three(denied, k), three(left, k)))
    if not hindered:
        return False
    load, rise, most = handles.load, handles.parting[0], math.inf
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        rising = scale(three(more, k), math.sqrt(actuators.whole_inertia[a]))
        set_three(more, k, rising)
        force = three(handles.vectors[LIMITED], k)
        strength = strength_of(actuators, a)
        most = min(most, _first_root(dot(force, force) - strength * strength, dot(force, rising), dot(rising, rising)))
    for i in range(handles.count[ALIVE]):
        rise[i] = 0.0
        for j in range(n):
            rise[i] -= handles.through[handles.count[AT], j, i] * more[j]
    first = math.inf
    for i in range(handles.count[ALIVE]):
        first = min(first, _gives_way(handles, i, load, rise))
    if not first < most:
        if first < math.inf:
            _tell_what_would_do(actuators, handles, more, TOGETHER / SURE * first)
        return False
    for i in range(handles.count[ALIVE]):
        load[i] += TOGETHER / SURE * first * rise[i]
    pressed = 0.0
    for i in range(handles.count[ALIVE]):
        kind = handles.kind[handles.alive[handles.count[AT], i]]
        if kind == PUSH:
            pressed = load[i]
        elif kind in (GRIP, TWIST):
            slip(handles, i, pressed)
    return True


@kernel
def _tell_what_would_do(actuators, handles, more, times):
    """Note which strengths would let forces rise by so many times `more`."""
    for k in range(handles.count[ACTUATORS]):
        a, rising = handles.actuator[k], three(more, k)
        if norm(rising) > 0.0:
            needed = norm(axpy(times, rising, three(handles.vectors[LIMITED], k)))
            actuators.gripped[a] = needed if needed > strength_of(actuators, a) else 0.0


@kernel
def _gives_way(handles, i, load, rise):
    """How many times `rise` must be added to what loads the i-th of what is alive until that slips, if it grips."""
    h = handles.alive[handles.count[AT], i]
    kind, first = handles.kind[h], _is_first_grip(handles, i)
    if kind != TWIST and not first:
        return math.inf
    push = i
    while handles.kind[handles.alive[handles.count[AT], push]] != PUSH:
        push -= 1
    most, more = handles.most_load[h] * max(load[push], 0.0), handles.most_load[h] * rise[push]
    c, b, a = load[i] ** 2 - most**2, load[i] * rise[i] - most * more, rise[i] ** 2 - more**2
    if first:
        c, b, a = c + load[i + 1] ** 2, b + load[i + 1] * rise[i + 1], a + rise[i + 1] ** 2
    return _first_root(c, b, a)


@kernel(inline=True)
def _first_root(c, b, a):
    """Where c + 2·b·x + a·x², which begins below zero, reaches it, if ever."""
    root = b * b - a * c
    if root < 0.0 or not b + math.sqrt(root) > 0.0:
        return math.inf
    return max(-c, 0.0) / (b + math.sqrt(root))


@kernel
def any_slips(handles):
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        if handles.kind[h] in (GRIP, TWIST) and handles.live[h] == 0:
            return True
    return False


@kernel
def any_sticks(handles):
    """Whether friction holds something, though it was not relied on to."""
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        if handles.kind[h] in (GRIP, TWIST) and handles.live[h] + handles.slides[h] == 0:
            return True
    return False
