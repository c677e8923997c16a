"""The animation algorithm (paper 003, figure 6): control, simulate, and go back with half the step if it went badly."""

import math

from impel.control.actuators import steer
from impel.kernel import kernel
from impel.physics.bodies import drift, kick
from impel.physics.contact import contact_forces, find_pairs
from impel.physics.follow import follow
from impel.physics.joints import hold_positions, hold_velocities
from impel.stage.events import notice

GOOD, BROKEN = 0, 5  # verdicts on a step; 1 to 4 come from contact and joints

# Why `play` came back to Python.
FRAME_DONE, STEP_DONE, NEEDS_PAIRS, NEEDS_EVENTS, FAILED = 0, 1, 2, 3, 4

GROW_AFTER = 8  # good steps before the step may double


@kernel
def step(stage, time, dt, dt_last):
    """One attempt to go from `time` to `time + dt`, box by box as in the figure. Returns the verdict."""
    bodies, joints, contacts = stage.bodies, stage.joints, stage.contacts

    # 1. Control module: new targets, actuator forces, corrections by the observed motion (boxes 1.1 to 1.3)
    if stage.actuators is not None:
        steer(bodies, stage.actuators, stage.gravity, dt_last)

    # 2.1 Positions at t + dt from positions and forces at t
    if stage.followers is not None:
        follow(bodies, stage.followers, time, dt)
    kick(bodies, stage.gravity, stage.drag, 0.5 * dt)

    # 2.2 Maintain the joints
    verdict = GOOD
    if joints is not None:
        verdict = hold_positions(bodies, joints, dt)
    else:
        drift(bodies, dt)

    # 2.3 Detect collisions and compute the response at t + dt
    if contacts is not None:
        verdict = max(verdict, contact_forces(bodies, contacts, dt))
    kick(bodies, stage.gravity, stage.drag, 0.5 * dt)
    if joints is not None:
        hold_velocities(bodies, joints)
    return verdict if all_finite(bodies) else BROKEN


@kernel
def all_finite(bodies):
    total = 0.0
    for i in range(len(bodies.mass)):
        for k in range(3):
            total += bodies.position[i, k] + bodies.velocity[i, k] + bodies.spin[i, k] + bodies.orientation[i, k]
    return math.isfinite(total)


@kernel
def play(now, before, values, saved, events, clock, pace, one_step):
    """Go on to the end of the frame; Python is asked only once a frame (or once a step, with `one_step`).

    A frame is `pace.steps` coarsest steps, each of which can be halved `pace.deepest` times: every step is
    a whole number of ticks, so that frames land exactly.
    """
    frame_ticks = pace.steps << pace.deepest
    while clock.tick[0] < frame_ticks:
        ticks = 1 << (pace.deepest - clock.level[0])
        dt = pace.frame_seconds * ticks / frame_ticks
        time = clock.frame_start[0] + pace.frame_seconds * clock.tick[0] / frame_ticks
        if events.count[0] + events.most_per_step > len(events.time):
            return NEEDS_EVENTS
        if now.contacts is not None and find_pairs(now.bodies, now.contacts, dt) != 0:
            return NEEDS_PAIRS

        saved[:] = values
        verdict = step(now, time, dt, clock.dt_last[0])

        if verdict != GOOD and ticks > 1:
            values[:] = saved
            clock.level[0] += 1
            clock.good[0] = 0
            clock.rejected[0] += 1
            clock.reason[0] = verdict
            continue
        if verdict == BROKEN:
            values[:] = saved
            return FAILED

        notice(now, before, events, clock, time + dt, dt, verdict)
        clock.dt_last[0] = dt
        clock.tick[0] += ticks
        clock.good[0] += 1
        # Double the step after some good ones, where the coarser grid of steps has a line.
        if clock.good[0] >= GROW_AFTER and clock.level[0] > 0 and clock.tick[0] % (2 * ticks) == 0:
            clock.level[0] -= 1
            clock.good[0] = 0
        if one_step and clock.tick[0] < frame_ticks:
            return STEP_DONE
    return FRAME_DONE
