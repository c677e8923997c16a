"""The animation algorithm (paper 003, figure 6): control, simulate, and go back with half the step if it went badly."""

import math

from impel.control.actuators import steer
from impel.kernel import kernel
from impel.motion.rotations import axpy, get3, norm, set3
from impel.physics.bodies import drift, kick
from impel.physics.broadphase import find_pairs
from impel.physics.contact import contact_forces
from impel.physics.displacement import hold_positions_displacement, hold_positions_paper
from impel.physics.follow import lead_followers, place_followers
from impel.physics.gaps import measure_gaps
from impel.physics.rattle import hold_positions, hold_velocities
from impel.physics.verdicts import DIVERGED, GOOD, IMPRECISE, NOT_A_NUMBER
from impel.stage.events import notice
from impel.stage.feel import feel, feel_contact

# Why `play` came back to Python.
FRAME_DONE, STEP_DONE, NEEDS_PAIRS, NEEDS_EVENTS, FAILED, OPENED = range(6)

NEAR = 1e-3  # m: what is placed so near to the ground stands on it
GROW_AFTER = 8  # good steps before the step may double ...
RESIGN_AFTER = 32  # steps in a row in which joints did not hold, as short as they were: then longer ones do as well
GROW_LATER = 256  # ... and at most, where doubling failed again and again, as with things that lie still


@kernel
def step(time, dt, dt_last, bodies, followers, joints, displaced, printed, contacts, actuators, hand, gravity, drag):
    """One attempt to go from `time` to `time + dt`, box by box as in the figure. Returns the verdict.

    Takes the parts of a stage one by one: only where an argument is None does numba leave out what needs it.
    """
    # 1. Control module: new targets, actuator forces, corrections by the observed motion (boxes 1.1 to 1.3)
    if hand is not None:
        drop_all(bodies)
    if actuators is not None:
        feel(bodies, joints, contacts, actuators, gravity)
        steer(bodies, actuators, gravity, dt_last)
    if hand is not None:
        lend_a_hand(bodies, hand)

    # 2.1 Positions at t + dt from positions and forces at t
    if followers is not None:
        place_followers(bodies, followers, time + dt)
    kick(bodies, gravity, drag, 0.5 * dt)

    # 2.2 Maintain the joints
    verdict = GOOD
    if joints is None:
        drift(bodies, dt)
    elif printed is not None:
        verdict = hold_positions_paper(bodies, joints, dt)
    elif displaced is not None:
        verdict = hold_positions_displacement(bodies, joints, dt)
    else:
        verdict = hold_positions(bodies, joints, dt)

    # 2.3 Detect collisions and compute the response at t + dt
    if contacts is not None:
        verdict = max(verdict, contact_forces(bodies, contacts, dt))
    kick(bodies, gravity, drag, 0.5 * dt)
    if joints is not None:  # noqa: SIM102 - only plain tests for None are left out at compile time
        if printed is None:
            verdict = max(verdict, hold_velocities(bodies, joints))
    return verdict if all_finite(bodies) else NOT_A_NUMBER


@kernel
def drop_all(bodies):
    """Forget the pushes of the last step; actuators only set their own."""
    for i in range(len(bodies.mass)):
        set3(bodies.push, i, (0.0, 0.0, 0.0))
        set3(bodies.twist, i, (0.0, 0.0, 0.0))


@kernel
def lend_a_hand(bodies, hand):
    """Add what the user's own controller gives."""
    for i in range(len(bodies.mass)):
        for k in range(3):
            bodies.push[i, k] += hand.push[i, k]
            bodies.twist[i, k] += hand.twist[i, k]


@kernel
def copy(source, destination):
    for i in range(len(source)):
        destination[i] = source[i]


@kernel
def all_pairs_listed(bodies, followers, contacts, time, dt):
    """List all pairs of bodies that could touch until `time + dt`; is there room for them?"""
    if followers is not None:  # which may be about to start
        lead_followers(bodies, followers, time, dt)
    return contacts is None or find_pairs(bodies, contacts, dt)


@kernel
def open_curtain(bodies, followers, contacts, actuators, gravity, frame_seconds):
    """Put everything in its place for time 0; or tell that the list of pairs is too short."""
    if followers is not None:
        place_followers(bodies, followers, 0.0)
    if not all_pairs_listed(bodies, followers, contacts, 0.0, frame_seconds):
        return NEEDS_PAIRS
    if contacts is not None:
        if actuators is not None:  # what is placed to just touch the ground will stand on it
            lower(bodies, actuators, gravity, NEAR)
            contact_forces(bodies, contacts, 0.0)
            feel_contact(bodies, contacts, actuators, gravity)
            lower(bodies, actuators, gravity, -NEAR)
        contact_forces(bodies, contacts, 0.0)
    return OPENED


@kernel
def lower(bodies, actuators, gravity, by):
    """Move all that actuators move downwards."""
    for i in range(len(bodies.mass)):
        moved = False
        for a in range(len(actuators.body)):
            moved |= actuators.whole[actuators.body[a]] == actuators.whole[i]
        if moved and norm(gravity) > 0.0:
            set3(bodies.position, i, axpy(by / norm(gravity), gravity, get3(bodies.position, i)))


@kernel
def all_finite(bodies):
    total = 0.0
    for i in range(len(bodies.mass)):
        for k in range(3):
            total += bodies.position[i, k] + bodies.velocity[i, k] + bodies.spin[i, k] + bodies.orientation[i, k]
        total += bodies.orientation[i, 3]
    return math.isfinite(total)


@kernel
def can_halve(clock, pace, verdict, ticks):
    """May a step of so many ticks, which went badly, be taken back for a shorter one?"""
    if verdict in (DIVERGED, IMPRECISE):
        hopeless = verdict == DIVERGED and clock.unheld[0] >= RESIGN_AFTER
        return ticks > 1 and not hopeless and clock.tries[0] < pace.tries
    return ticks > 1 << pace.reserve


@kernel
def halve_step(clock, verdict):
    """After a step that was taken back; if it was a try of a longer one, the next try will be later."""
    if clock.grown[0] == 1:
        clock.patience[0] = min(2 * clock.patience[0], GROW_LATER)
    clock.grown[0] = 0
    clock.level[0] += 1
    clock.good[0] = 0
    clock.rejected[0] += 1
    clock.reason[0] = verdict


@kernel
def double_step(clock, pace, ticks):
    """After enough good steps of so many ticks, where the coarser grid of steps has a line."""
    if clock.tries[0] >= pace.tries:
        clock.patience[0] = GROW_AFTER
    clock.good[0] += 1
    if clock.grown[0] == 1 and clock.good[0] >= GROW_AFTER:
        clock.patience[0] = GROW_AFTER
    if clock.good[0] >= clock.patience[0] and clock.level[0] > 0 and clock.tick[0] % (2 * ticks) == 0:
        clock.level[0] -= 1
        clock.good[0] = 0
        clock.grown[0] = 1


@kernel
def check_joints(bodies, joints):
    if joints is not None:
        measure_gaps(bodies, joints)


@kernel
def play(now, before, values, saved, events, clock, pace, one_step):
    """Go on to the end of the frame; Python is asked only once a frame (or once a step, with `one_step`).

    A frame is `pace.steps` coarsest steps, each of which can be halved `pace.deepest` times: every step is
    a whole number of ticks, so that frames land exactly. The first call only opens the curtain.
    """
    if clock.opened[0] == 0:
        outcome = open_curtain(now.bodies, now.followers, now.contacts, now.actuators, now.gravity, pace.frame_seconds)
        clock.opened[0] = outcome == OPENED
        clock.patience[0] = GROW_AFTER
        return outcome
    frame_ticks = pace.steps << pace.deepest
    while clock.tick[0] < frame_ticks:
        ticks = 1 << (pace.deepest - clock.level[0])
        dt = pace.frame_seconds * ticks / frame_ticks
        time = clock.frame_start[0] + pace.frame_seconds * clock.tick[0] / frame_ticks
        if events.count[0] + events.most_per_step > len(events.time):
            return NEEDS_EVENTS
        if not all_pairs_listed(now.bodies, now.followers, now.contacts, time, dt):
            return NEEDS_PAIRS

        copy(values, saved)
        clock.tries[0] += 1
        verdict = step(
            time, dt, clock.dt_last[0], now.bodies, now.followers, now.joints, now.displaced, now.printed,
            now.contacts, now.actuators, now.hand, now.gravity, now.drag,
        )  # fmt: skip

        if verdict != GOOD and can_halve(clock, pace, verdict, ticks):
            copy(saved, values)
            halve_step(clock, verdict)
            continue
        if verdict == NOT_A_NUMBER:
            copy(saved, values)
            return FAILED

        notice(now, before, events, clock, time + dt, dt, verdict if verdict != IMPRECISE else GOOD)
        clock.dt_last[0] = dt
        clock.unheld[0] = clock.unheld[0] + 1 if verdict == DIVERGED else 0
        clock.tick[0] += ticks
        double_step(clock, pace, ticks)
        if one_step and clock.tick[0] < frame_ticks:
            return STEP_DONE
    check_joints(now.bodies, now.joints)
    return FRAME_DONE
