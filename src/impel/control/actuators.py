"""Actuators: limited forces and torques that pull bodies along their paths (paper 003, corrected).

The control module of the paper's figure 6, evaluated once a step and held over it. One law for all:

    wish = K·offset − C·rate                      an acceleration: each offset behaves as a damped spring of its own
    force = N·(wish − what would happen anyway) + learnt
    learnt follows −N·(what happened − what should have happened), as fast as γ says

N is how much force an acceleration takes, given how the structure answers. Where it is a tree that nothing touches,
`linkage.py` knows; elsewhere `stage.answers` asks joints and contacts.
"""

import math

from impel.control.appointments import DONE, Appointments, keep_appointments
from impel.control.clocks import Clocks
from impel.control.frames import Frames, carry_targets, is_framed, pin_keys, place_all_keys
from impel.control.goals import Goals, aim, arrive, has_goals, is_idle, let_go_of
from impel.control.law import TINY, limit_size
from impel.control.linkage import Linkage, gather, measured_rates, wished_rates
from impel.control.series import Series, follow_series
from impel.control.targets import advance_targets, go_by_clocks, place_of, turn_of
from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.paths import Paths
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, rotate, scale, set3, sub

RESIDUAL = 0.3  # of the pull at base distance: what may be learnt while something is in the way (measured: no wind-up)
TOO_FAST = 1.2  # times the speed that it should have: what still pushes it on ...
WHIRLS = 50.0  # rad/s: a body that whirls faster about the point that is led to a goal is led by its centre meanwhile
FORGET = 4.0  # ... is forgotten so many times faster than it was learnt
# Below this share of the speed that it should have, a body stands still; so many times faster, or so many times its
# pull, is what an actor gathers there to overcome friction.
STILL, GATHERED = 0.02, 10.0


@struct
class Actuators:
    """A actuators; actuator a follows path a with a force, or with a torque if its path turns."""

    body: Integers  # (A,)
    member: Integers  # (A,) the same body in the linkage
    structure: Integers  # (A,) of the linkage
    point: Floats2  # (A, 3) what a force moves: from the body's centre, in its frame
    pulled: Integers  # (A,) 1 if the force acts there, and lets the body swing; else at the centre
    against: Integers  # (A,) the body that a torque pushes off, or -1
    home: Floats2  # (A, 4) how that was turned at the start
    trail: Floats  # (A,) how much of its spin the body does not follow at once
    paths: Paths
    keyed: int  # 1 if any has keys, and not goals alone
    scripted: int  # 1 if there is anything in the following three; a trail comes with framed keys
    now: Floats  # (1,) scratch, s: when the step begins
    clocks: Clocks
    frames: Frames
    appointments: Appointments
    goals: Goals
    linkage: Linkage
    base: Floats  # (A,) base distance in metres, or base angle in radians
    far: Floats  # (A,) the same: from farther away it is not pulled harder
    limit: Floats  # (A,) base as targets.py measures it
    enough: Floats  # (A,) scratch: how near it is enough; infinite for targets that go by the clock ...
    close: Floats  # (A,) ... and what it is for others
    stiffness: Floats  # (A,) 1/s²: K = 2α/Δt²
    damping: Floats  # (A,) 1/s: C = 2β/Δt
    adaptation: Floats  # (A,) 1/s: γ, how fast lasting loads are compensated
    strength: Floats  # (A,) N or N·m; where it changes, what it is in this step
    strengths: Series  # over time, of those that change
    automatic: Floats  # (A,) which share that is of what suits its structure; 0 if it was told
    inertia: Floats  # (A,) kg or kg·m²: of what it moves, as far as that is known beforehand
    weight: Floats  # (A,) N or N·m: what holds that still
    wild: Floats2  # (A, 2) squares of m/s (inf for turns) and rad/s: what is faster is only slowed down, and by at most
    calm: Floats  # (A,) N or N·m: the strength that would suit it
    whole_inertia: Floats  # (A,) kg or kg·m²: of all that hangs together, if it turned about this body
    most_learnt: Floats  # (A,) N or N·m, whatever the strength
    rubs: Floats  # (A,) N or N·m: the friction of its joints
    arm: Floats  # (A,) m: at which a torque carries loads; 1 for forces
    press: Floats  # (A,) N or N·m: with how much to press what is in the way; negative: its pull
    knows: Integers  # (S,) 1 if the actuators of a structure know its weight from the start
    learns: Integers  # (S,) 1 if any of them learns
    whole: Integers  # (N,) bodies with the same number hang together
    # State: what goes on from step to step.
    segment: Floats  # (A,) where the target is
    u: Floats  # (A,)
    lap: Floats  # (A,) how often a loop was closed
    pose: Floats2  # (A, 4) of the target: (x, y, z, 0), or an orientation
    tangent: Floats2  # (A, 3) its velocity by u
    offset: Floats2  # (A, 3) from the body to its target; near 180° it remembers which way round was taken
    wish: Floats2  # (A, 3) acceleration
    spared: Floats2  # (A, 3) acceleration by what swings, which it lets happen
    learnt: Floats2  # (A, 3) force or torque that compensates what is not known
    asked: Floats2  # (A, 3) before truncation
    lent: Floats2  # (A, 3) more than that, where others are too weak for what they ask
    applied: Floats2  # (A, 3) and after
    saturated: Floats  # (A,) 1 while the strength is not enough
    gripped: Floats  # (A,) N or N·m: what would overcome the friction that holds it, where its strength does not; or 0
    denied: Floats  # (A,) which share of what it wishes cannot be had as things stand; 0 where a tree can tell
    done: Floats  # (A,) 1 since the last key was reached
    # The key that its target has passed last and its body has yet to, counted over laps, or -1; how near the body came
    # to it, and how long ago.
    heading: Floats2  # (A, 3)
    reached: Floats2  # (A, 3) the same of the key that its body has been at last
    last_velocity: Floats2  # (M, 3) of the linkage's members when last seen
    last_momentum: Floats2  # (M, 3)
    last_rate: Floats2  # (A, 3) velocity or spin
    # Scratch of one step.
    gentle: Integers  # (1,) 1 in a step in which somebody would be thrown, and that cannot be shorter
    room: Floats  # (A,) N or N·m: how much may be learnt
    pressing: Floats  # (A,) N or N·m: on top of an automatic strength, for what it presses
    felt_inertia: Floats  # (A,) kg or kg·m²: by what its forces are measured where a structure is asked (see law.py)
    missed: Floats2  # (A, 3) the last wish less the acceleration that came of it

    STATE = (
        "segment", "u", "lap", "pose", "tangent", "offset", "wish", "spared", "learnt", "asked", "lent", "applied",
        "saturated", "gripped", "denied", "done", "heading", "reached", "last_velocity", "last_momentum", "last_rate",
    )  # fmt: skip


@kernel
def steer(bodies, actuators, gravity, dt, dt_last):
    """Set the push and twist of every actuated body where nothing touches what they move; dt_last is the length of the
    last step, 0 in the first."""
    want(bodies, actuators, dt, dt_last)
    for s in range(len(actuators.knows)):
        pull_tree(bodies, actuators, s, gravity, dt, dt_last)
    remember_motion(bodies, actuators)
    act(bodies, actuators, 0.5 * dt)


@kernel
def tell_the_time(actuators, time):
    """What actuators can do in the step that begins now."""
    actuators.now[0] = actuators.goals.now[0] = time
    follow_series(actuators.strengths, time, actuators.strength)


@kernel
def remember_motion(bodies, actuators):
    """For what will be learnt from it the next time."""
    linkage = actuators.linkage
    for k in range(len(linkage.body)):
        set3(actuators.last_velocity, k, get3(bodies.velocity, linkage.body[k]))
        set3(actuators.last_momentum, k, get3(bodies.momentum, linkage.body[k]))


@kernel
def want(bodies, actuators, dt, dt_last):
    """Box 1.1, and how each body should accelerate (003, eqs. 2 and 3); notes what became of the last wish."""
    if actuators.scripted == 1:
        if len(actuators.frames.key) > 0:
            place_all_keys(bodies, actuators)
        keep_appointments(actuators, dt_last)
        if len(actuators.frames.key) > 0:
            carry_targets(bodies, actuators, dt_last)
        go_by_clocks(bodies, actuators, dt, dt_last)
    if actuators.keyed == 1:
        advance_targets(bodies, actuators, dt_last)
    for a in range(len(actuators.body)):
        rate = rate_of(bodies, actuators, a)
        if dt_last > 0.0:
            happened = scale(sub(rate, get3(actuators.last_rate, a)), 1.0 / dt_last)
            should = add(get3(actuators.wish, a), get3(actuators.spared, a))
            set3(actuators.missed, a, sub(should, happened))
        set3(actuators.wish, a, axpy(-actuators.damping[a], rate, pull_of(actuators, a)))
        set3(actuators.last_rate, a, rate)
        set3(actuators.spared, a, (0.0, 0.0, 0.0))
        set3(actuators.lent, a, (0.0, 0.0, 0.0))
        actuators.pressing[a] = actuators.gripped[a] = actuators.denied[a] = 0.0
        actuators.room[a] = min(0.5 * actuators.strength[a], actuators.most_learnt[a])
    if actuators.scripted == 1:
        if len(actuators.frames.key) > 0:
            pin_keys(bodies, actuators)
        for a in range(len(actuators.body)):
            if actuators.clocks.runs[a] == 1.0 or is_framed(actuators.frames, a):
                lead(actuators, a)
            if actuators.trail[a] > 0.0:
                drag_behind(bodies, actuators, a)
    if len(actuators.goals.time) > 0:
        pursue(bodies, actuators, dt, dt_last)


@kernel
def pursue(bodies, actuators, dt, dt_last):
    """The wishes of those that have goals."""
    goals, agreed = actuators.goals, actuators.appointments
    for a in range(len(actuators.body)):
        if not has_goals(goals, a):
            continue
        place, orientation = place_of(bodies, actuators, a), turn_of(bodies, actuators, a)
        turns, rate, time = actuators.paths.turns[a] == 1, get3(actuators.last_rate, a), goals.now[0]
        release = goals.release[int(goals.current[a])] if goals.holding[a] == 1.0 else -1
        if release >= 0 and agreed.state[release] >= DONE:
            let_go_of(goals, a)
            arrive(bodies, goals, a, turns, place, orientation, rate, time)
        if goals.holding[a] == 0.0:
            set3(actuators.learnt, a, scale(get3(actuators.learnt, a), math.exp(-actuators.adaptation[a] * dt_last)))
        wish, offset = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if is_idle(goals, a):
            set3(actuators.asked, a, wish)
        else:
            wish, d = aim(bodies, goals, a, turns, place, orientation, rate, dt, dt_last)
            set3(goals.planned, a, wish)
            offset = scale(d, -1.0)
        set3(actuators.wish, a, wish)
        set3(actuators.offset, a, offset)


@kernel
def lead(actuators, a):
    """A target that goes by the clock, or is carried along, leads: its body should go as it goes, and its offset be
    that damped spring."""
    clocks = actuators.clocks
    along = axpy(actuators.damping[a], get3(clocks.velocity, a), get3(clocks.onward, a))
    set3(actuators.wish, a, add(get3(actuators.wish, a), along))


@kernel
def drag_behind(bodies, actuators, a):
    """Damp some of the spin of what a torque pushes off, too: so what it turns is left behind, and follows through."""
    carried = get3(bodies.spin, actuators.against[a])
    lost = -actuators.trail[a] * actuators.damping[a]
    set3(actuators.wish, a, axpy(lost, carried, get3(actuators.wish, a)))


@kernel(inline=True)
def pull_of(actuators, a):
    """The acceleration towards the target, or from far away as far as strength goes: what pulls harder than it can
    damp swings to and fro for long."""
    return scale(limit_size(get3(actuators.offset, a), actuators.far[a]), actuators.stiffness[a])


@kernel(inline=True)
def rate_of(bodies, actuators, a):
    """Velocity of what an actuator moves, or spin of what it turns, against what it pushes off."""
    body = actuators.body[a]
    if actuators.paths.turns[a] == 1:
        spin, other = get3(bodies.spin, body), actuators.against[a]
        return spin if other < 0 else sub(spin, get3(bodies.spin, other))
    return add(get3(bodies.velocity, body), cross(get3(bodies.spin, body), arm_of(bodies, actuators, a, 0.0)))


@kernel(inline=True)
def arm_of(bodies, actuators, a, ahead):
    """From the centre of its body to what an actuator moves, as it will be a little later."""
    body = actuators.body[a]
    arm = rotate(get4(bodies.orientation, body), get3(actuators.point, a))
    return axpy(ahead, cross(get3(bodies.spin, body), arm), arm)


@kernel
def pull_tree(bodies, actuators, s, gravity, dt, dt_last):
    """Boxes 1.2 and 1.3 for a structure that is a driven tree: the forces that its wishes take, and what its load is.

    That load is what momentum changed by beyond what was applied, so that eqs. 7 and 8 are exact for any motion and
    never invent a load. (For a single body the forces are m·a, and J·a + ω∧Jω: the paper has the sign wrong.)
    """
    linkage = actuators.linkage
    up = scale(gravity, -1.0 * actuators.knows[s])
    if dt_last > 0.0 and actuators.learns[s] == 1:
        measured_rates(bodies, linkage, s, up, actuators.last_velocity, actuators.last_momentum, dt_last)
        gather(bodies, linkage, s, -0.5 * dt_last)
        for k in range(linkage.first[s], linkage.first[s + 1]):
            if linkage.turn[k] >= 0:
                learn_load(bodies, actuators, linkage.turn[k], get3(linkage.torque, k), dt_last)
            if linkage.move[k] >= 0:
                learn_load(bodies, actuators, linkage.move[k], get3(linkage.force, k), dt_last)
    wished_rates(bodies, linkage, s, actuators.wish, up, actuators.point, 0.5 * dt)
    gather(bodies, linkage, s, 0.5 * dt)
    for k in range(linkage.first[s], linkage.first[s + 1]):
        a, b = linkage.turn[k], linkage.move[k]
        if a >= 0:
            set3(actuators.asked, a, add(get3(linkage.torque, k), get3(actuators.learnt, a)))
        if b >= 0:
            set3(actuators.asked, b, add(get3(linkage.force, k), get3(actuators.learnt, b)))


@kernel
def overtaxed(actuators, s):
    """Is an actuator of a driven tree too weak for what it asks for, or does it ask for nothing any more? The others,
    and it itself, must reckon with that."""
    linkage = actuators.linkage
    for k in range(linkage.first[s], linkage.first[s + 1]):
        for a in (linkage.turn[k], linkage.move[k]):
            if a >= 0 and (actuators.saturated[a] == 1.0 or is_idle(actuators.goals, a)):
                return True
    return False


@kernel(inline=True)
def blend_of(actuators, a, dt_last):
    """Which share of what it has yet to learn an actuator learns in a step; nothing on its way to a goal, which is
    found anew in every step."""
    if has_goals(actuators.goals, a) and actuators.goals.holding[a] == 0.0:
        return 0.0
    return -math.expm1(-actuators.adaptation[a] * dt_last)


@kernel(inline=True)
def steady_rate(actuators, a):
    """The speed on a straight path (003, section 2.3, corrected)."""
    return actuators.base[a] * actuators.stiffness[a] / max(actuators.damping[a], TINY)


@kernel
def slow_down(learnt, rate, actuators, a, blend):
    """What is learnt, less what pushes on a body that is too fast already: an obstacle has given way."""
    if has_goals(actuators.goals, a):
        return learnt
    steady, told = steady_rate(actuators, a), get3(actuators.clocks.velocity, a)
    speed2 = dot(rate, rate)
    along = dot(learnt, rate)
    if along > 0.0 and speed2 > (TOO_FAST * steady) ** 2 and speed2 > TOO_FAST**2 * dot(told, told):
        return axpy(-min(FORGET * blend, 1.0) * along / speed2, rate, learnt)
    return learnt


@kernel
def learn_load(bodies, actuators, a, met, dt_last):
    """Learn from what must have acted in the last step (003, eqs. 9 and 10)."""
    load = sub(met, get3(actuators.applied, a))
    learnt = get3(actuators.learnt, a)
    blend = blend_of(actuators, a, dt_last)
    if sticks(bodies, actuators, a):
        blend = min(GATHERED * blend, 1.0)
    learnt = axpy(-blend, add(load, learnt), learnt)
    set3(actuators.learnt, a, limit_size(learnt, actuators.room[a]))


@kernel(inline=True)
def sticks(bodies, actuators, a):
    """Whether an actuator stands still, and the friction of joints may be what holds it."""
    rate, slow = rate_of(bodies, actuators, a), STILL * steady_rate(actuators, a)
    return actuators.rubs[a] > 0.0 and dot(rate, rate) < slow * slow


@kernel
def act(bodies, actuators, ahead):
    """Apply what is asked for; levers are those of the middle of the step, `ahead` from now."""
    rest(bodies, actuators)
    for a in range(len(actuators.body)):
        exert(bodies, actuators, a, add(get3(actuators.asked, a), get3(actuators.lent, a)), ahead)


@kernel
def rest(bodies, actuators):
    """Take back all pushes and twists of actuators."""
    linkage = actuators.linkage
    for k in range(len(linkage.body)):
        set3(bodies.push, linkage.body[k], (0.0, 0.0, 0.0))
        set3(bodies.twist, linkage.body[k], (0.0, 0.0, 0.0))


@kernel(inline=True)
def strength_of(actuators, a):
    return actuators.strength[a] + actuators.pressing[a]


@kernel
def exert(bodies, actuators, a, force, ahead):
    """Apply a force or torque of one actuator, as far as its strength goes."""
    body, strength = actuators.body[a], strength_of(actuators, a)
    spin, velocity = get3(bodies.spin, body), get3(bodies.velocity, body)
    if dot(spin, spin) > actuators.wild[a, 1] or dot(velocity, velocity) > actuators.wild[a, 0]:
        strength = min(strength, actuators.calm[a])
        force = _brake(bodies, actuators, a, limit_size(force, strength), 2.0 * ahead)
    if actuators.gentle[0] == 1 and not has_goals(actuators.goals, a):
        fast2 = actuators.wild[a, actuators.paths.turns[a]]
        strength = min(strength, math.sqrt(fast2) / (2.0 * ahead * _easiness(bodies, actuators, a)))
    asked = get3(actuators.asked, a)
    actuators.saturated[a] = 1.0 if max(dot(asked, asked), dot(force, force)) > strength * strength else 0.0
    force = limit_size(force, strength)
    set3(actuators.applied, a, force)
    if actuators.paths.turns[a] == 1:
        set3(bodies.twist, body, add(get3(bodies.twist, body), force))
        other = actuators.against[a]
        if other >= 0:
            set3(bodies.twist, other, sub(get3(bodies.twist, other), force))
    else:
        set3(bodies.push, body, add(get3(bodies.push, body), force))
        whirls = has_goals(actuators.goals, a) and dot(spin, spin) > WHIRLS * WHIRLS
        if actuators.pulled[a] == 1 and not whirls:
            arm = arm_of(bodies, actuators, a, ahead)
            set3(bodies.twist, body, add(get3(bodies.twist, body), cross(arm, force)))


@kernel
def _brake(bodies, actuators, a, force, dt):
    """Of a force on a body that is too fast, what takes energy out of it for as long as it is held: nothing that drives
    it on, no more than would stop it by itself, and against its motion what makes up for what drives it aside."""
    rate, ease = rate_of(bodies, actuators, a), _easiness(bodies, actuators, a)
    speed2, wild2 = max(dot(rate, rate), TINY), actuators.wild[a, actuators.paths.turns[a]]
    bounded = not has_goals(actuators.goals, a)  # who holds a goal has no speed of its own
    if bounded:
        force = limit_size(force, math.sqrt(max(speed2, wild2)) / (ease * dt))
    along, least = dot(force, rate), 0.0
    if bounded and speed2 > wild2:
        least = 0.5 * ease * dt * (dot(force, force) - along * along / speed2)  # of the power that is to be taken out
    return axpy(-max(along + least, 0.0) / speed2, rate, force)


@kernel
def _easiness(bodies, actuators, a):
    """How easily a force moves its body by itself, or a torque turns it, at most; 1/kg or 1/(kg·m²)."""
    body, other = actuators.body[a], actuators.against[a]
    inverse = max(get3(bodies.inverse_inertia, body))
    if actuators.paths.turns[a] == 1:
        return inverse if other < 0 else inverse + max(get3(bodies.inverse_inertia, other))
    arm = arm_of(bodies, actuators, a, 0.0)
    return bodies.inverse_mass[body] + actuators.pulled[a] * dot(arm, arm) * inverse


@kernel
def pull_at_base(actuators, a):
    """With how much an actuator pulls when its target is the base distance ahead."""
    return actuators.inertia[a] * actuators.stiffness[a] * actuators.base[a]
