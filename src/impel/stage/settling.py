"""The law of actuators on how their structures answer (see answers.py, control/actuators.py and control/law.py)."""

import math

from impel.control.actuators import (
    GATHERED,
    RESIDUAL,
    STILL,
    blend_of,
    exert,
    pull_at_base,
    pull_of,
    rate_of,
    rest,
    slow_down,
    steady_rate,
    sticks,
    strength_of,
)
from impel.control.goals import has_goals
from impel.control.law import (
    TINY,
    accelerations_by,
    factor_dense,
    force_towards,
    forces_for,
    invert,
    lack_of,
    limit_size,
    multiply_dense,
    solve_dense,
    solve_half,
    within,
)
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, dot, get3, get3_at, norm, scale, set3, sub
from impel.physics.skyline import set_three, three
from impel.stage.dragging import HINDERED, feel_friction, give, overcome, spare_for_friction
from impel.stage.handles import (
    ACTUATORS,
    ALIVE,
    ALONG,
    AT,
    COLUMNS,
    GRIP,
    HANDLES,
    LIMIT,
    MEMBERS,
    PRESSED,
    PUSH,
    ROLL,
    SHAKY,
    SLACK,
    lift_of,
    rate_at,
)
from impel.stage.holding import (
    ALL,
    ANYWAY,
    BLOCKED,
    DENIED,
    DRAG,
    EXTRA,
    FORCE,
    GAIN,
    LIMITED,
    MISSED,
    MOVING,
    NOTHING,
    RATTLE,
    REST,
    SLOWED,
    SMOOTH,
    hold_on,
    invert_answer,
    swiftest,
)
from impel.stage.limbs import can_bend, relax, start_bending

ROUNDS = 6  # of letting go
TURNS, SETTLED = 20, 1e-3  # in which the weak and the others come to terms, until less of a strength changes

# What friction of contact holds moves less easily by this share. Where it stands still, an actor gathers no more than
# GATHERED times its pull: an integral would slip and stick for ever. (Who carries something is not held.)
GRIPPED = 0.1

SLIGHT = 1e-6  # of a force that leads to a goal: by less nothing is pulled at
GRASP = 2.0  # times the weight of what is loose: so hard must two sides press to hold it by a friction of 0.5, and more
LIVELY = 0.01  # (rad)²: how far the swing of what stands may get on while control is held
# Of the acceleration at base distance: what would rise faster if it were let go is to be lifted. (A straight leg that
# bends rises slowly at first.)
RISES = 0.01
OPPOSITE = -0.5  # the cosine between directions, from 120° on
CLOSED = 0.1  # of the base distance: who is kept from its target by more presses as hard as it shall

# Of a wish that leads to a goal, and m/s²: who misses more of it is locked; s: a joint is not bent later than this.
LOCKED, LOCKED_LEAST, TOO_LATE = 0.5, 1.0, 0.2


@kernel
def settle(bodies, joints, actuators, handles, gravity, dt_last):
    """The law on these answers: pull, press what is in the way, and learn (see control/actuators.py and law.py)."""
    n = 3 * handles.count[ACTUATORS]
    own, loose = _weights(bodies, actuators, handles, norm(gravity))
    held = handles.count[HANDLES] > n
    force = handles.vectors[FORCE]
    lies = feel_friction(actuators, handles)
    firm = loose == 0.0 or _squeezes(handles)  # what is loose, and pressed from one side only, would be pushed away
    hold_on(actuators, handles, NOTHING)
    invert_answer(handles, NOTHING)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        handles.swift[a] = _easiness(handles.settled[NOTHING], k) / actuators.felt_inertia[a]
    if held:
        hold_on(actuators, handles, ALL)
    for h in range(n, handles.count[HANDLES]):
        handles.rate[h] = rate_at(bodies, handles, h)
    stuck, inverse = handles.settled[NOTHING], handles.inverse[NOTHING]
    for attempt in range(ROUNDS):
        at = handles.count[AT]
        stuck, inverse = handles.settled[at], handles.inverse[at]
        invert_answer(handles, at)
        find_rattle(handles)
        hindered = pull(joints, actuators, handles, stuck, inverse, held, firm, loose, gravity)
        if lies:
            spare_for_friction(actuators, handles)
        if attempt == 0 and lies:
            overcame = overcome(actuators, handles, dt_last)
            hold_on(actuators, handles, ALL)
            if overcame:
                continue
        if attempt == 0 and hindered and step_off(bodies, actuators, handles):
            continue
        if not held or not let_go(joints, actuators, handles):
            break
        if attempt < ROUNDS - 1:
            hold_on(actuators, handles, ALL)
    if held:
        note_bow(handles)
    if handles.count[SLACK] == 1:
        spare_for_limbs(actuators, handles, inverse)
    leave_rattle(actuators, handles, dt_last)
    if dt_last > 0.0:
        at = NOTHING
        if held:
            at = hold_on(actuators, handles, SMOOTH)
            invert_answer(handles, at)
        smooth, its_inverse = handles.settled[at], handles.inverse[at]
        note_denied(actuators, handles, smooth, its_inverse)
        heavy = own + 2.0 * loose if held else math.inf
        learn(bodies, actuators, handles, stuck, inverse, smooth, its_inverse, heavy, dt_last)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        asked = axpy(math.sqrt(actuators.felt_inertia[a]), three(force, k), get3(actuators.learnt, a))
        set3(actuators.asked, a, add(asked, three(handles.vectors[DRAG], k)))
    make_up(actuators, handles, stuck)


@kernel
def spare_for_limbs(actuators, handles, inverse):
    """What makes up for the slack of limbs comes on top of strength: it is theirs."""
    n, slowed, force = 3 * handles.count[ACTUATORS], handles.vectors[SLOWED], handles.vectors[EXTRA]
    for i in range(n):
        slowed[i] *= math.sqrt(actuators.felt_inertia[handles.source[i]])
    accelerations_by(inverse, n, slowed, force)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        actuators.pressing[a] += math.sqrt(actuators.felt_inertia[a]) * norm(three(force, k))


@kernel
def note_bow(handles):
    """Keep with what joints are bent."""
    for i in range(handles.count[ALIVE]):
        h = handles.alive[handles.count[AT], i]
        j = handles.source[h]
        if handles.kind[h] == LIMIT and handles.live[h] == 1 and handles.bending[j] != 0.0:
            for c in range(COLUMNS):
                handles.bow[j, c] = handles.load[i] * handles.row[h, c]


@kernel
def _weights(bodies, actuators, handles, gravity):
    """Of the structures of the actuators in the cluster, and of what can be put on them or pushed by them: the rest."""
    own, loose = 0.0, 0.0
    for n in range(handles.count[MEMBERS]):
        i = handles.member[n]
        acts = False
        for k in range(handles.count[ACTUATORS]):
            acts |= actuators.whole[actuators.body[handles.actuator[k]]] == actuators.whole[i]
        if acts:
            own += gravity * bodies.mass[i]
        else:
            loose += gravity * bodies.mass[i]
    return own, loose


@kernel
def find_rattle(handles):
    """What stands is not quite still: it gives way a little, and rattles. Leave in `vectors` how much of the actuators'
    rates that is. A torque that damps it, made for the heavy post on it, would shake a light foot ever harder."""
    n, m, at = 3 * handles.count[ACTUATORS], handles.count[ALIVE], handles.count[AT]
    alive, load, rattle = handles.alive[at], handles.load, handles.vectors[RATTLE]
    for i in range(m):
        load[i] = handles.rate[alive[i]]
    solve_dense(handles.support[at], m, load)
    for i in range(n):
        rattle[i] = 0.0
        for k in range(m):
            rattle[i] += handles.answer[i, alive[k]] * load[k]


@kernel
def leave_rattle(actuators, handles, dt_last):
    """Take wishes, rates and what was missed of the last wishes as they are without it."""
    for k in range(handles.count[ACTUATORS]):
        a, rattle = handles.actuator[k], three(handles.vectors[RATTLE], k)
        set3(actuators.wish, a, _calm_wish(actuators, handles, k, a))
        set3(actuators.last_rate, a, sub(get3(actuators.last_rate, a), rattle))
        if dt_last > 0.0:
            set3(actuators.missed, a, axpy(1.0 / dt_last, rattle, get3(actuators.missed, a)))


@kernel(inline=True)
def _calm_wish(actuators, handles, k, a):
    return axpy(actuators.damping[a], three(handles.vectors[RATTLE], k), get3(actuators.wish, a))


@kernel
def pull(joints, actuators, handles, stuck, inverse, held, firm, loose, gravity):
    """Leave in `vectors` the forces that the wishes take; and those that press what is in the way. Is there any?"""
    n = 3 * handles.count[ACTUATORS]
    force, left, anyway = handles.vectors[FORCE], handles.vectors[REST], handles.vectors[ANYWAY]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        wish = _calm_wish(actuators, handles, k, a)
        set_three(left, k, sub(scale(wish, math.sqrt(actuators.felt_inertia[a])), three(anyway, k)))
    forces_for(stuck, inverse, n, left, force)
    if not held:
        return False
    hindered = False
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set_three(handles.vectors[DENIED], k, three(left, k))
        missed = norm(three(left, k)) > HINDERED * swiftest(actuators, a) * math.sqrt(actuators.felt_inertia[a])
        hindered |= missed and handles.aims[actuators.body[a]] == 0
    if joints is not None and len(handles.limbs) > 0:
        find_locked(joints, actuators, handles, left)
        if handles.count[PRESSED] == 0 or _only_limits(actuators, handles):  # which need not be pressed
            return hindered
    calm_down(actuators, handles)
    blocked, extra = handles.vectors[BLOCKED], handles.vectors[EXTRA]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        size = math.sqrt(actuators.felt_inertia[a])
        wish = _calm_wish(actuators, handles, k, a)
        told = actuators.press[a] >= 0.0 and handles.count[PRESSED] == 1
        if told:  # its press is given; only its damping is left
            wish = sub(wish, pull_of(actuators, a))
        wish = axpy(-lift_of(actuators, a, gravity), three(handles.bias, k), wish)
        set_three(blocked, k, scale(wish, size))
    forces_for(stuck, inverse, n, blocked, extra)
    forces_for(handles.settled[NOTHING], handles.inverse[NOTHING], n, blocked, extra)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        most = GRASP * loose * actuators.arm[a]
        if actuators.press[a] >= 0.0:
            most = actuators.press[a] * handles.count[PRESSED]
        offset = get3(actuators.offset, a)
        share = most / (max(norm(offset), CLOSED * actuators.base[a]) * math.sqrt(actuators.felt_inertia[a]))
        set_three(extra, k, axpy(share, offset, three(extra, k)))
        actuators.pressing[a] = most + actuators.calm[a]  # at most
    keep_blocked(handles, stuck, inverse, extra)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        pressed = math.sqrt(actuators.felt_inertia[a]) * norm(three(extra, k))
        pressing = actuators.automatic[a] * min(pressed, actuators.pressing[a])
        actuators.pressing[a] = pressing if firm or actuators.press[a] >= 0.0 else 0.0
    for i in range(n):
        force[i] += extra[i]
    return hindered


@kernel
def _only_limits(actuators, handles):
    """Whether goals alone lead, and only limits of joints are in the way."""
    only = True
    for k in range(handles.count[ACTUATORS]):
        only &= has_goals(actuators.goals, handles.actuator[k])
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        only &= handles.kind[h] == LIMIT
    return only


@kernel
def find_locked(joints, actuators, handles, left):
    """Note which joints are to be bent: those at a limit that keeps a body from most of its way to a goal, such as an
    elbow that was pushed through; but each only some times for a goal, for it may lie out of reach."""
    goals = actuators.goals
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        if has_goals(goals, a) and actuators.paths.turns[a] == 0:
            g, size = goals.current[a], math.sqrt(actuators.felt_inertia[a])
            wish, missed = norm(get3(actuators.wish, a)), norm(three(left, k)) / size
            in_time = goals.holding[a] == 1.0 or goals.time[int(g)] - goals.now[0] > TOO_LATE
            if missed > max(LOCKED * wish, LOCKED_LEAST) and in_time:
                for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
                    j = handles.source[h]
                    at_limit = handles.kind[h] == LIMIT and handles.live[h] == 1 and handles.bending[j] == 0.0
                    if at_limit and can_bend(joints, handles, h, g):
                        start_bending(joints, handles, j, g)


@kernel
def _squeezes(handles):
    """Whether two actors press something loose from opposite sides: what holds it so does not push it away."""
    begin, end = 3 * handles.count[ACTUATORS], handles.count[HANDLES]
    for h in range(begin, end):
        for g in range(begin, h if handles.kind[h] == PUSH else begin):
            if handles.kind[g] == PUSH:
                for side in range(2):
                    for other in range(2):
                        i = handles.body[h, side]
                        actors = handles.acts[handles.body[h, 1 - side]] + handles.acts[handles.body[g, 1 - other]]
                        if i == handles.body[g, other] and handles.acts[i] == 0 and actors == 2:
                            along = dot(get3_at(handles.row, h, ALONG), get3_at(handles.row, g, ALONG))
                            if (along if side == other else -along) < OPPOSITE:
                                return True
    return False


@kernel
def step_off(bodies, actuators, handles):
    """Let go of what the wishes would lead away from, were it let go: a foot that is to be lifted may bear weight
    until then, and would stand for ever. Is there anything?"""
    n, found = 3 * handles.count[ACTUATORS], False
    quick = stiffest = 0.0
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        quick = max(quick, min(norm(pull_of(actuators, a)), swiftest(actuators, a)) * actuators.arm[a])
        stiffest = max(stiffest, actuators.stiffness[a])
    for h in range(n, handles.count[HANDLES]):
        firm = bodies.inverse_mass[handles.body[h, 0]] * bodies.inverse_mass[handles.body[h, 1]] == 0.0
        # What is loose may fall away by itself, and what lies by itself only wishes to be where it has sunk in.
        enough = RISES * quick + stiffest * handles.sinks[h]
        if handles.kind[h] == PUSH and firm and _rises(actuators, handles, h, enough):
            found = True
            handles.live[h] = 0
            _let_go_too(handles, h, PUSH)
            hold_on(actuators, handles, ALL)
    return found


@kernel
def _rises(actuators, handles, h, enough):
    """Whether a contact, whose first handle is h, opens with an acceleration of more than `enough` if it does not hold,
    and all pull as far as they can."""
    at, first = handles.count[AT], 0
    while handles.alive[at, first] != h:
        first += 1
    rows = _part(handles, first)
    if _most_rise(actuators, handles, first, rows) <= enough:
        return False
    n, through, shares, stuck = 3 * handles.count[ACTUATORS], handles.through[at], handles.shares, handles.settled[at]
    parted, freed, inverse = handles.parted[first], handles.dense[2], handles.dense[3]
    left, force, anyway = handles.vectors[REST], handles.vectors[EXTRA], handles.vectors[ANYWAY]
    for j in range(n + 1):  # by the half of the solution: L⁻¹
        for i in range(rows):
            shares[j, i] = through[j, first + i]
            for k in range(i):
                shares[j, i] -= parted[k, i] * shares[j, k]
            shares[j, i] *= parted[i, i]
    for i in range(n):
        size = math.sqrt(actuators.felt_inertia[handles.source[i]])
        left[i] = -anyway[i]
        for j in range(n + 1):
            more = 0.0
            for k in range(rows):
                more += shares[i, k] * shares[j, k]
            if j < n:
                freed[i, j] = stuck[i, j] + size * more * math.sqrt(actuators.felt_inertia[handles.source[j]])
            else:
                left[i] -= size * more
    invert(freed, n, inverse, handles.dense[0], handles.dense[1])
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set_three(left, k, axpy(math.sqrt(actuators.felt_inertia[a]), pull_of(actuators, a), three(left, k)))
    forces_for(freed, inverse, n, left, force)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        total = scale(three(force, k), math.sqrt(actuators.felt_inertia[a]))
        set_three(force, k, limit_size(total, actuators.strength[a]))
    rises = handles.load
    for i in range(rows):
        rises[i] = through[n, first + i]
        for j in range(n):
            rises[i] += through[j, first + i] * force[j]
    solve_dense(parted, rows, rises)
    return rises[0] > enough


@kernel
def _most_rise(actuators, handles, first, rows):
    """With which acceleration a contact, whose rows begin at `first`, could open at most, whatever the actuators do
    within their strengths."""
    freely, most = handles.through[handles.count[AT], 3 * handles.count[ACTUATORS]], 0.0
    for i in range(rows):
        most += handles.opens[first, i] * freely[first + i]
    for k in range(handles.count[ACTUATORS]):
        most += handles.lifts[first, k] * actuators.strength[handles.actuator[k]]
    return most


@kernel
def _part(handles, first):
    """Leave in `parted` the factor of how the rows of a contact, which begin at `first` of what is alive, answer to
    loads there while all else holds: that block of the inverse of what holds. By how much answers grow if the contact
    does not hold follows from it (a Schur complement), with nothing factored anew. And in `opens` and `lifts` how it
    opens then. Returns how many rows there are."""
    at, m = handles.count[AT], handles.count[ALIVE]
    alive, support, parted = handles.alive[at], handles.support[at], handles.parted[first]
    rows = 1
    while first + rows < m and handles.kind[alive[first + rows]] > PUSH:
        rows += 1
    if handles.parted_at[first] == at:
        return rows
    handles.parted_at[first] = at
    for r in range(rows):
        column = handles.parting[r]
        for i in range(first, m):
            column[i] = 1.0 if i == first + r else 0.0
        solve_half(support, first + r, m, column)
    for r in range(rows):
        for c in range(r, rows):
            s = 0.0
            for i in range(first + c, m):
                s += handles.parting[r, i] * handles.parting[c, i]
            parted[r, c] = s
    factor_dense(parted, rows)
    opens, through = handles.opens[first], handles.through[at]
    for r in range(rows):
        opens[r] = 1.0 if r == 0 else 0.0
    solve_dense(parted, rows, opens)
    for k in range(handles.count[ACTUATORS]):
        by = (0.0, 0.0, 0.0)
        for r in range(rows):
            j = first + r
            by = axpy(opens[r], (through[3 * k, j], through[3 * k + 1, j], through[3 * k + 2, j]), by)
        handles.lifts[first, k] = norm(by)
    return rows


@kernel
def calm_down(actuators, handles):
    """Damp the rattle of what stands, as light as it is where nothing holds it."""
    n, rattle, extra, left = (
        3 * handles.count[ACTUATORS], handles.vectors[RATTLE], handles.vectors[EXTRA], handles.vectors[REST],
    )  # fmt: skip
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set_three(left, k, scale(three(rattle, k), -actuators.damping[a] * math.sqrt(actuators.felt_inertia[a])))
    forces_for(handles.settled[NOTHING], handles.inverse[NOTHING], n, left, extra)
    for i in range(n):
        handles.vectors[FORCE, i] += extra[i]


@kernel
def keep_blocked(handles, stuck, inverse, force):
    """Keep of forces only what moves nothing."""
    n = 3 * handles.count[ACTUATORS]
    left, moving = handles.vectors[REST], handles.vectors[MOVING]
    accelerations_by(stuck, n, force, left)
    forces_for(stuck, inverse, n, left, moving)
    for i in range(n):
        force[i] -= moving[i]


@kernel
def let_go(joints, actuators, handles):
    """Let go of what would have to pull, or to grip or resist more than it can; is there anything?"""
    n, at = 3 * handles.count[ACTUATORS], handles.count[AT]
    alive, through = handles.alive[at], handles.through[at]
    force, load, live = handles.vectors[LIMITED], handles.load, handles.live
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        total = scale(three(handles.vectors[FORCE], k), math.sqrt(actuators.felt_inertia[a]))
        drag = three(handles.vectors[DRAG], k)
        total = limit_size(add(add(total, get3(actuators.learnt, a)), drag), strength_of(actuators, a))
        set_three(force, k, sub(total, drag))  # which friction meets
    for i in range(handles.count[ALIVE]):
        load[i] = -through[n, i]
        for j in range(n):
            load[i] -= through[j, i] * force[j]
    changed = False
    pressed, slight = 0.0, 0.0
    for k in range(handles.count[ACTUATORS]):
        if handles.aims[actuators.body[handles.actuator[k]]] == 1:  # with no spring that would press it on again
            slight = max(slight, SLIGHT * norm(three(force, k)))
    for i in range(handles.count[ALIVE]):
        h = alive[i]
        kind = handles.kind[h]
        if kind == LIMIT:
            at = joints.active[handles.source[h]]
            gone = (at if at != 0.0 else handles.bending[handles.source[h]]) * load[i] > 0.0
        elif kind == PUSH:
            pressed = load[i]
            gone = pressed < -slight and not _stands_firm(handles, h)
        else:
            size = abs(load[i])
            if kind == GRIP and i + 1 < handles.count[ALIVE] and handles.kind[alive[i + 1]] == GRIP:
                size = math.hypot(load[i], load[i + 1])  # the first of two
            gone = size > handles.most_load[h] * max(pressed, 0.0)
        if gone and live[h] == 1:
            live[h] = 0
            changed = True
            if kind == ROLL and handles.dragged[h] > 0:  # what lies by itself, and tilts, still rests on its rim
                give(handles, h, math.copysign(handles.most_load[h] * max(pressed, 0.0), load[i]))
            if kind in (PUSH, GRIP):  # without load no friction; without grip no twist, nor the other grip
                _let_go_too(handles, h, kind)
    return changed


@kernel
def _stands_firm(handles, h):
    """Whether a sole bears weight of what only stands. Which of its feet would have to pull, of more than it needs,
    is a matter of what its soles yield; let go in thought, it would be lifted in earnest."""
    return handles.bears[h] > 0.0 and handles.floats[handles.body[h, 0]] + handles.floats[handles.body[h, 1]] > 0


@kernel
def _let_go_too(handles, h, kind):
    for k in range(h + 1, handles.count[HANDLES]):
        if handles.kind[k] <= PUSH or handles.source[k] != handles.source[h]:
            return
        if kind == PUSH or handles.kind[k] != ROLL:
            handles.live[k] = 0


@kernel
def note_denied(actuators, handles, smooth, its_inverse):
    """Note which share of its wish each actuator is denied, were it not for friction."""
    left, force = handles.vectors[REST], handles.vectors[EXTRA]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set_three(left, k, scale(get3(actuators.wish, a), math.sqrt(actuators.felt_inertia[a])))
    forces_for(smooth, its_inverse, 3 * handles.count[ACTUATORS], left, force)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        wish = norm(get3(actuators.wish, a)) * math.sqrt(actuators.felt_inertia[a])
        actuators.denied[a] = norm(three(left, k)) / max(wish, TINY)


@kernel
def learn(bodies, actuators, handles, stuck, inverse, smooth, its_inverse, heavy, dt_last):
    """What is missing of the last wishes is learnt, as far as it could be had were it not for friction; what cannot be
    had is forgotten, so that nothing gathers behind an obstacle. `heavy` is what could weigh on the actuators; infinite
    where nothing touches.

    What only stands learns no torques: all that it misses is how its soles rock, and to make up for that, later, rocks
    it ever more.
    """
    n = 3 * handles.count[ACTUATORS]
    missed, left, gain, extra = (
        handles.vectors[MISSED], handles.vectors[REST], handles.vectors[GAIN], handles.vectors[EXTRA],
    )  # fmt: skip
    blocked = handles.vectors[BLOCKED]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set_three(missed, k, scale(get3(actuators.missed, a), math.sqrt(actuators.felt_inertia[a])))
        set_three(left, k, three(missed, k))
        set_three(extra, k, scale(get3(actuators.learnt, a), 1.0 / math.sqrt(actuators.felt_inertia[a])))
    forces_for(smooth, its_inverse, n, left, gain)
    for i in range(n):
        blocked[i] = missed[i] - left[i]
    keep_blocked(handles, smooth, its_inverse, extra)
    for i in range(n):
        missed[i] = -extra[i]  # what is forgotten
    forces_for(stuck, inverse, n, blocked, gain)
    if heavy < math.inf:
        forces_for(handles.settled[NOTHING], handles.inverse[NOTHING], n, blocked, extra)
        for k in range(handles.count[ACTUATORS]):
            if actuators.press[handles.actuator[k]] >= 0.0:  # it is told with how much to press, and learns no more
                set_three(extra, k, (0.0, 0.0, 0.0))
        keep_blocked(handles, stuck, inverse, extra)
        for i in range(n):
            gain[i] += extra[i]
    weak = False
    for k in range(handles.count[ACTUATORS]):  # less what was missing for want of strength, where that moves anything
        a = handles.actuator[k]
        weakness = sub(get3(actuators.applied, a), get3(actuators.asked, a))
        weak |= dot(weakness, weakness) > 0.0
        set_three(blocked, k, scale(weakness, 1.0 / math.sqrt(actuators.felt_inertia[a])))
        set_three(extra, k, three(blocked, k))
    if weak:
        keep_blocked(handles, smooth, its_inverse, extra)
        for i in range(n):
            gain[i] += blocked[i] - extra[i]
    lasting, slips = _lasting(actuators, handles, gain, heavy), _slips(bodies, handles)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        size, learnt = math.sqrt(actuators.felt_inertia[a]), get3(actuators.learnt, a)
        blend = blend_of(actuators, a, dt_last)
        if heavy < math.inf and actuators.paths.turns[a] == 1 and handles.floats[actuators.body[a]] == 1:
            set3(actuators.learnt, a, scale(learnt, 1.0 - blend))
            continue
        change = scale(axpy(lasting, three(gain, k), three(missed, k)), size)
        rate = rate_of(bodies, actuators, a)
        gripped = slips or _easiness(stuck, k) < GRIPPED * _easiness(smooth, k)
        if sticks(bodies, actuators, a):
            blend = min(GATHERED * blend, 1.0)
        elif gripped and norm(rate) < STILL * steady_rate(actuators, a):
            change = axpy(GATHERED * lasting * size, three(gain, k), scale(learnt, -1.0))
        learnt = axpy(blend, change, learnt)
        learnt = slow_down(learnt, rate, actuators, a, blend)
        set3(actuators.learnt, a, limit_size(learnt, _room(actuators, a, heavy)))


@kernel
def _slips(bodies, handles):
    """Whether more is asked of friction on something firm than it is relied on to hold; it may hold all the same."""
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        firm = bodies.inverse_mass[handles.body[h, 0]] * bodies.inverse_mass[handles.body[h, 1]] == 0.0
        if firm and handles.kind[h] == GRIP and handles.live[h] == 0 and handles.dragged[h] == 0:
            return True
    return False


@kernel(inline=True)
def _easiness(answer, k):
    """How easily an actuator moves its body, over all directions."""
    return answer[3 * k, 3 * k] + answer[3 * k + 1, 3 * k + 1] + answer[3 * k + 2, 3 * k + 2]


@kernel
def _room(actuators, a, heavy):
    """How much an actuator may learn."""
    load = heavy * actuators.arm[a] + actuators.rubs[a]
    return min(actuators.room[a], RESIDUAL * pull_at_base(actuators, a) + load)


@kernel
def _lasting(actuators, handles, gain, heavy):
    """Which share of what would have been needed may last: more than there is room for was a blow."""
    share = 1.0
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        needed = norm(three(gain, k)) * math.sqrt(actuators.felt_inertia[a])
        room = _room(actuators, a, heavy)
        if needed > room:
            share = min(share, room / needed)
    return share


@kernel
def make_up(actuators, handles, stuck):
    """Where some have not the strength for what they ask, they do what they can, and the others reckon with it: a light
    link must not throw itself against a push that does not come, nor two that press against each other go the way of
    the stronger. In turns each gives what is best about what is missing then of all that was asked for."""
    given, short, weak = handles.vectors[EXTRA], handles.vectors[MISSED], False
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        size = math.sqrt(actuators.felt_inertia[a])
        asked, most = scale(get3(actuators.asked, a), 1.0 / size), strength_of(actuators, a) / size
        weak |= norm(asked) > most
        set_three(given, k, within(stuck, k, asked, most))
        set_three(short, k, sub(asked, three(given, k)))
    for _ in range(TURNS if weak else 0):
        if _come_to_terms(actuators, handles, stuck, given, short):
            break
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        set3(actuators.lent, a, scale(three(short, k), -math.sqrt(actuators.felt_inertia[a])))


@kernel
def _come_to_terms(actuators, handles, stuck, given, short):
    """One turn of all, but for those who strain for a goal: as its time comes they ask for anything. Is all settled?"""
    n, settled = 3 * handles.count[ACTUATORS], True
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        most = strength_of(actuators, a)
        if has_goals(actuators.goals, a) and norm(get3(actuators.asked, a)) > most:
            continue
        most /= math.sqrt(actuators.felt_inertia[a])
        missing, before = (0.0, 0.0, 0.0), three(given, k)
        for j in range(n):
            missing = axpy(short[j], (stuck[3 * k, j], stuck[3 * k + 1, j], stuck[3 * k + 2, j]), missing)
        set_three(given, k, within(stuck, k, add(before, force_towards(stuck, k, missing)), most))
        change = sub(three(given, k), before)
        set_three(short, k, sub(three(short, k), change))
        settled &= norm(change) <= SETTLED * most
    return settled


@kernel
def note_damping(actuators, handles, dt):
    """Keep which forces take the motion out of the actuators of the cluster: C times what their accelerations take."""
    count = handles.count[ACTUATORS]
    n = 3 * count
    at = handles.count[AT]
    held = handles.count[HANDLES] > n
    forces = handles.inverse[at]
    if held:  # and for what is in the way: (1 - N·W)·N_free·(1 - W·N)
        _see_how_lively(actuators, handles, forces, dt)
        lack, swap = handles.dense[0], handles.dense[1]
        lack_of(forces, handles.settled[at], n, lack)
        multiply_dense(lack, handles.inverse[NOTHING], n, swap)
        for i in range(n):
            for j in range(n):
                s = 0.0
                for k in range(n):
                    s += swap[i, k] * lack[j, k]
                forces[i, j] += s
        handles.inverted[at] = 0
    for k in range(count):
        a = handles.actuator[k]
        handles.company[a] = count
        for m in range(count):
            b = handles.actuator[m]
            handles.partner[a, m] = b
            share = -math.sqrt(actuators.felt_inertia[a] * actuators.felt_inertia[b]) * actuators.damping[b]
            body, other = actuators.body[b], actuators.against[b]
            if other >= 0 and (_stands(handles, body) or _stands(handles, other)):
                share = 0.0  # its rate would tell of rattle
            for i in range(3):
                for j in range(3):
                    handles.damper[3 * a + i, 3 * m + j] = share * forces[3 * k + i, 3 * m + j]


@kernel
def _see_how_lively(actuators, handles, forces, dt):
    """Whether what stands would be shaken by forces that are held for dt, being light itself: then they must not be."""
    n = 3 * handles.count[ACTUATORS]
    for i in range(n):
        a = handles.source[i]
        if actuators.paths.turns[a] == 1 and handles.floats[actuators.body[a]] == 1:
            gain = 0.0  # of an acceleration that is asked for, if what stands did not
            for k in range(n):
                gain += handles.settled[NOTHING, i, k] * forces[k, i]
            if gain * actuators.stiffness[a] * dt * dt > LIVELY:
                handles.count[SHAKY] = 1


@kernel
def _stands(handles, body):
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        touches = handles.body[h, 0] == body or handles.body[h, 1] == body
        if touches and handles.kind[h] == PUSH and handles.live[h] == 1:
            return True
    return False


@kernel
def ease(bodies, joints, actuators, handles, ahead):
    """Between two evaluations of control: damp what has come since. Contact may answer faster than control is asked."""
    rest(bodies, actuators)
    for a in range(len(actuators.body)):
        force = add(get3(actuators.asked, a), get3(actuators.lent, a))
        for m in range(handles.company[a]):
            b = handles.partner[a, m]
            change = sub(rate_of(bodies, actuators, b), get3(actuators.last_rate, b))
            row = 3 * a
            force = (
                force[0] + dot(get3_at(handles.damper, row, 3 * m), change),
                force[1] + dot(get3_at(handles.damper, row + 1, 3 * m), change),
                force[2] + dot(get3_at(handles.damper, row + 2, 3 * m), change),
            )
        exert(bodies, actuators, a, force, ahead)
    relax(bodies, joints, actuators, handles)
