"""What holds a cluster of handles, as long as it can, and how its actuators answer then (see answers.py)."""

import math

from impel.control.law import factor_dense, factor_rows, felt_inertia, invert, solve_dense
from impel.kernel import kernel
from impel.motion.rotations import dot, get3, get3_at, sub
from impel.stage.handles import (
    ABOUT_A,
    ABOUT_B,
    ACTUATORS,
    ALIVE,
    ALONG,
    AT,
    GRIP,
    HANDLES,
    LAST,
    LIMIT,
    MEMBERS,
    MOST,
    ROLL,
    ROWS,
    SETS,
    TWIST,
    ease,
    forget_sets,
)

# What holds: nothing, the first of sets; all that is live; that without friction; or only what ties loads to actors.
NOTHING, ALL, SMOOTH, LOADS = range(4)

# Of how a handle answers itself: by so much yields what holds it, so that rows that say nothing new share their load
# alike. By less, rounding would decide who bears it.
LEAST = 3e-8
# Of how the bodies of a handle would answer alone: what joints leave less of is rounding, as of a limit in a linkage
# that has jammed. Whatever was to hold there would do so with any force.
JAMMED = 1e-10
# Where a link stands on something firm with more than is needed (two flat feet under legs that only bend forward), what
# holds yields by this share of how the whole cluster would answer there, as one body. What is in the way only by a tilt
# of √YIELDS, 0.2°, then is not in the way: taken as rigid, soles would hold each other with any force. What is lost of
# an answer is far below what is worth pulling at.
YIELDS = 1e-5
SOFTER = 10.0  # times: so much more yields friction, for weight lies on what pushes, and not on what only grips

# Rows of `vectors`.
FORCE, REST, ANYWAY, LIMITED, BLOCKED, EXTRA, MOVING, MISSED, GAIN, RATTLE, SLOWED, DENIED, DRAG = range(13)


@kernel
def _factor_firm(handles, alive, support, m):
    """Factor how what holds answers if it hardly yields, unless a row of what holds a foot follows from those before,
    but for a tilt. Does none?"""
    for begin in range(0, m, ROWS):
        end = min(begin + ROWS, m)
        for i in range(begin, end):
            for j in range(i, m):
                support[i, j] = handles.answer[alive[i], alive[j]]
            support[i, i] *= 1.0 + LEAST
        factor_rows(support, begin, end, m)
        for i in range(begin, end):
            h = alive[i]
            own = handles.answer[h, h]
            if handles.yields[h] > LEAST * own and support[i, i] ** 2 * YIELDS * own > 1.0:
                return False
    return True


@kernel
def note_yields(bodies, handles):
    """Note by how much each handle of what holds yields to a force of one, where a link stands on something firm."""
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        kind, a, b = handles.kind[h], handles.body[h, 0], handles.body[h, 1]
        if kind == LIMIT:
            alone = ease(bodies, a, get3_at(handles.row, h, ALONG), get3_at(handles.row, h, ABOUT_A))
            alone += ease(bodies, b, get3_at(handles.row, h, ALONG), get3_at(handles.row, h, ABOUT_B))
            handles.answer[h, h] += JAMMED * alone
        own = handles.answer[h, h]
        handles.yields[h] = LEAST * own
        if kind != LIMIT and bodies.inverse_mass[a] * bodies.inverse_mass[b] == 0.0:
            foot = a if bodies.inverse_mass[a] > 0.0 else b
            if handles.island_of[foot] >= 0:
                whole = min(own, 1.0 / _heft(bodies, handles, foot, kind in (TWIST, ROLL)))
                handles.yields[h] += YIELDS * whole * (SOFTER if kind in (GRIP, TWIST) else 1.0)


@kernel
def _heft(bodies, handles, foot, turns):
    """The mass of a cluster, or its inertia about the middle of one of its bodies."""
    total = 0.0
    for n in range(handles.count[MEMBERS]):
        i = handles.member[n]
        away = sub(get3(bodies.position, i), get3(bodies.position, foot))
        total += bodies.mass[i] * dot(away, away) + max(get3(bodies.inertia, i)) if turns else bodies.mass[i]
    return total


@kernel
def feel_levers(bodies, actuators, handles):
    """Note by what to measure the forces of each actuator: as its structure answers where nothing holds it; and with
    what is loose and lies on it, if that is jointed to something that cannot move. It may lie at the end of a lever."""
    loaded = False
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        handles.carries[h] = 1 if _carries(bodies, handles, h) else 0
        loaded |= handles.carries[h] == 1
    for k in range(handles.count[ACTUATORS]):
        a, h = handles.actuator[k], 3 * k
        ease = handles.answer[h, h] + handles.answer[h + 1, h + 1] + handles.answer[h + 2, h + 2]
        actuators.felt_inertia[a] = felt_inertia(ease, actuators.whole_inertia[a])
    if not loaded:
        return
    answer = handles.settled[hold_on(actuators, handles, LOADS)]
    for k in range(handles.count[ACTUATORS]):
        a, h = handles.actuator[k], 3 * k
        ease = (answer[h, h] + answer[h + 1, h + 1] + answer[h + 2, h + 2]) / actuators.felt_inertia[a]
        if _is_held(handles, actuators.body[a]):
            actuators.felt_inertia[a] = felt_inertia(ease, actuators.whole_inertia[a])
    forget_sets(handles)


@kernel
def _carries(bodies, handles, h):
    """Whether a handle is of a contact between a structure that is held and something loose."""
    a, b = handles.body[h, 0], handles.body[h, 1]
    if handles.kind[h] <= LIMIT or handles.acts[a] + handles.acts[b] != 1:
        return False
    own, other = (a, b) if handles.acts[a] == 1 else (b, a)
    return _is_held(handles, own) and bodies.inverse_mass[other] > 0.0 and not _is_held(handles, other)


@kernel
def _is_held(handles, body):
    return handles.island_of[body] >= 0 and handles.floats[body] == 0


@kernel
def hold_on(actuators, handles, what):
    """Find how the actuators' handles answer while what is live holds: all of it, what needs no friction, or nothing;
    in the units of law.py. What they do anyway goes to `vectors`, if asked for all or nothing. Returns where among the
    sets that stands."""
    n, m, answer = 3 * handles.count[ACTUATORS], 0, handles.answer
    if what != NOTHING:
        for h in range(n, handles.count[HANDLES]):
            gripping = handles.kind[h] == GRIP or handles.kind[h] == TWIST
            if (
                handles.live[h] == 1
                and not (gripping and what == SMOOTH)
                and (what != LOADS or handles.carries[h] == 1)
            ):
                handles.listed[m] = h
                m += 1
    at, known = _place_of_set(handles, m)
    if what in (NOTHING, ALL):
        handles.count[AT], handles.count[ALIVE] = at, m
    alive, support, through, out = handles.alive[at], handles.support[at], handles.through[at], handles.settled[at]
    if not known:
        for i in range(m):
            alive[i] = handles.listed[i]
        if not _factor_firm(handles, alive, support, m):
            for i in range(m):
                for j in range(i, m):
                    support[i, j] = answer[alive[i], alive[j]]
                support[i, i] += handles.yields[alive[i]]
            factor_dense(support, m)
    first, end = n if known else 0, n + 1 if what in (NOTHING, ALL) else n
    for j in range(first, end):
        column = through[j]
        for i in range(m):
            column[i] = answer[alive[i], j] if j < n else handles.bias[alive[i]]
        solve_dense(support, m, column)
    anyway = handles.vectors[ANYWAY]
    for i in range(n):
        size = math.sqrt(actuators.felt_inertia[handles.source[i]])
        for j in range(first, end):
            value = answer[i, j] if j < n else handles.bias[i]
            for k in range(m):
                value -= answer[i, alive[k]] * through[j, k]
            if j < n:
                out[i, j] = size * value * math.sqrt(actuators.felt_inertia[handles.source[j]])
            else:
                anyway[i] = size * value
    return at


@kernel
def _place_of_set(handles, m):
    """Where the set of the m handles that are listed stands, and whether it is known; if not, it takes the place of the
    one that was written longest ago, but not of the one that holds now."""
    for at in range(SETS if m > 0 else 1):
        same = handles.held[at] == m
        i = 0
        while same and i < m:
            same = handles.alive[at, i] == handles.listed[i]
            i += 1
        if same:
            return at, True
    at = NOTHING
    if m > 0:
        at = handles.count[LAST] % (SETS - 1) + 1
        if at == handles.count[AT]:
            at = at % (SETS - 1) + 1
        handles.count[LAST] = at
        for i in range(MOST):
            if handles.parted_at[i] == at:
                handles.parted_at[i] = NOTHING
    handles.held[at], handles.inverted[at] = m, 0
    return at, False


@kernel
def invert_answer(handles, at):
    """Leave in `inverse` what the answers of a set take (see law.py), unless that is known."""
    if handles.inverted[at] == 0:
        n = 3 * handles.count[ACTUATORS]
        invert(handles.settled[at], n, handles.inverse[at], handles.dense[0], handles.dense[1])
        handles.inverted[at] = 1


@kernel(inline=True)
def swiftest(actuators, a):
    """The acceleration of an actuator at base distance."""
    return actuators.stiffness[a] * actuators.base[a]
