"""What holds a cluster of handles, as long as it can, and how its actuators answer then (see answers.py)."""

import math

from impel.control.law import factor_dense, invert, solve_dense
from impel.kernel import kernel
from impel.motion.rotations import dot, get3, get3_at, norm, sub
from impel.stage.handles import ABOUT_A, ABOUT_B, ACTUATORS, ALIVE, ALONG, AT, GRIP, HANDLES, LAST, MOST, SETS, TWIST

NOTHING, ALL, SMOOTH = range(3)  # what holds: all that is live, that without friction, or nothing, the first of sets

# What holds yields by this share: rows that say nothing new (a table has a leg too many) then share their load alike.
# Rounding is far below, and what is lost of an answer far below what is worth pulling at.
YIELDS = 3e-8

# Of the acceleration at base distance: who misses more of its wish is hindered. m: a base distance that is shorter
# counts as this, for what touches has play.
HINDERED, PLAY = 0.05, 0.02

# Rows of `vectors`.
FORCE, REST, ANYWAY, LIMITED, BLOCKED, EXTRA, MOVING, MISSED, GAIN, RATTLE, SLOWED, DENIED = range(12)


@kernel
def hold_on(actuators, handles, what):
    """Find how the actuators' handles answer while what is live holds: all of it, what needs no friction, or nothing;
    in the units of law.py. What they do anyway goes to `vectors`. Returns where among the sets that stands."""
    n, m, answer = 3 * handles.count[ACTUATORS], 0, handles.answer
    if what != NOTHING:
        for h in range(n, handles.count[HANDLES]):
            gripping = handles.kind[h] == GRIP or handles.kind[h] == TWIST
            if handles.live[h] == 1 and not (gripping and what == SMOOTH):
                handles.listed[m] = h
                m += 1
    at, known = _place_of_set(handles, m)
    if what != SMOOTH:
        handles.count[AT], handles.count[ALIVE] = at, m
    alive, support, through, out = handles.alive[at], handles.support[at], handles.through[at], handles.settled[at]
    if not known:
        for i in range(m):
            alive[i] = handles.listed[i]
        for i in range(m):
            for j in range(i, m):
                support[i, j] = answer[alive[i], alive[j]]
            support[i, i] *= 1.0 + YIELDS
        factor_dense(support, m)
    first = n if known else 0
    for j in range(first, n + 1):
        column = through[j]
        for i in range(m):
            column[i] = answer[alive[i], j] if j < n else handles.bias[alive[i]]
        solve_dense(support, m, column)
    anyway = handles.vectors[ANYWAY]
    for i in range(n):
        size = math.sqrt(actuators.whole_inertia[handles.source[i]])
        for j in range(first, n + 1):
            value = answer[i, j] if j < n else handles.bias[i]
            for k in range(m):
                value -= answer[i, alive[k]] * through[j, k]
            if j < n:
                out[i, j] = size * value * math.sqrt(actuators.whole_inertia[handles.source[j]])
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
def misses_much(actuators, handles, k, denied):
    """Whether that is much of what the path of an actuator asks for. Goals have other means."""
    a = handles.actuator[k]
    much = HINDERED * swiftest(actuators, a) * math.sqrt(actuators.whole_inertia[a])
    return norm(denied) > much and handles.aims[actuators.body[a]] == 0


@kernel(inline=True)
def swiftest(actuators, a):
    """The acceleration of an actuator at base distance, or where what touches gives way less than that."""
    return actuators.stiffness[a] * max(actuators.base[a], PLAY / actuators.arm[a])
