"""What holds a cluster of handles, as long as it can, and how its actuators answer then (see answers.py)."""

import math

from impel.control.law import factor_dense, invert, solve_dense
from impel.kernel import kernel
from impel.motion.rotations import dot, get3, get3_at, norm, sub
from impel.stage.handles import (
    ABOUT_A,
    ABOUT_B,
    ACTUATORS,
    ALIVE,
    ALONG,
    GRIP,
    HANDLES,
    TWIST,
)

ALL, SMOOTH, NOTHING = range(3)  # what holds: all that is live, that without friction, nothing

# What holds yields by this share: rows that say nothing new (a table has a leg too many) then share their load alike.
# Rounding is far below, and what is lost of an answer far below what is worth pulling at.
YIELDS = 3e-8

# Of the acceleration at base distance: who misses more of its wish is hindered. m: a base distance that is shorter
# counts as this, for what touches has play.
HINDERED, PLAY = 0.05, 0.02

# Rows of `vectors`.
FORCE, REST, ANYWAY, LIMITED, BLOCKED, EXTRA, MOVING, MISSED, GAIN, RATTLE, SLOWED, DENIED = range(12)


@kernel
def hold_on(actuators, handles, what, out):
    """Write to `out` how the actuators' handles answer while what is live holds: all of it, what needs no friction, or
    nothing; in the units of law.py. What they do anyway goes to `vectors`."""
    n, answer, alive, through = 3 * handles.count[ACTUATORS], handles.answer, handles.alive, handles.through
    m = 0
    if what != NOTHING:
        for h in range(n, handles.count[HANDLES]):
            gripping = handles.kind[h] == GRIP or handles.kind[h] == TWIST
            if handles.live[h] == 1 and not (gripping and what == SMOOTH):
                alive[m] = h
                m += 1
    handles.count[ALIVE] = m
    for i in range(m):
        for j in range(i, m):
            handles.support[i, j] = answer[alive[i], alive[j]]
        handles.support[i, i] *= 1.0 + YIELDS
    factor_dense(handles.support, m)
    for j in range(n + 1):
        column = through[j]
        for i in range(m):
            column[i] = answer[alive[i], j] if j < n else handles.bias[alive[i]]
        solve_dense(handles.support, m, column)
    anyway = handles.vectors[ANYWAY]
    for i in range(n):
        size = math.sqrt(actuators.whole_inertia[handles.source[i]])
        for j in range(n + 1):
            value = answer[i, j] if j < n else handles.bias[i]
            for k in range(m):
                value -= answer[i, alive[k]] * through[j, k]
            if j < n:
                out[i, j] = size * value * math.sqrt(actuators.whole_inertia[handles.source[j]])
            else:
                anyway[i] = size * value


@kernel
def invert_answer(handles, answer, what):
    """Leave in `inverse` what `answer`, while that holds, takes (see law.py)."""
    n = 3 * handles.count[ACTUATORS]
    invert(answer, n, handles.inverse[what], handles.dense[0], handles.dense[1])


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
