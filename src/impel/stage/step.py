"""The animation algorithm (paper 003, figure 6): control, simulate, and go back with half the step if it went badly."""

import math

from impel.control.actuators import act, pull_tree, remember_motion, tell_the_time, want
from impel.geometry.kinds import RADIUS
from impel.kernel import kernel
from impel.motion.rotations import dot, get3, set3
from impel.physics.bodies import drift, kick
from impel.physics.breaking import let_go, part
from impel.physics.broadphase import COUNT, EASE, HASTE, LOAD, MET, find_pairs
from impel.physics.contact import contact_forces, meet_near
from impel.physics.displacement import hold_positions_displacement, hold_positions_paper
from impel.physics.follow import lead_followers, place_followers
from impel.physics.gaps import APART, measure_gaps
from impel.physics.haste import (
    HALVE,
    HURRY,
    NO_USE,
    advise,
    begin_parts,
    double_haste,
    halve_haste,
    hurry,
    look_back,
    look_for_haste,
)
from impel.physics.rattle import hold_positions, hold_velocities
from impel.physics.sleep import all_sleep, settle
from impel.physics.substeps import drift_slow, meet_in_parts, take_back
from impel.physics.thrift import gain_nothing, swings_freely
from impel.physics.verdicts import DIVERGED, GOOD, IMPRECISE, NOT_A_NUMBER, TOO_DEEP, TOO_FAR, TOO_STIFF
from impel.stage.acting import follow_script
from impel.stage.answers import ask
from impel.stage.events import notice
from impel.stage.handles import ANEW, SHAKY
from impel.stage.landing import amend, closes_in, forget_extra, is_last, land, next_part
from impel.stage.limbs import relax
from impel.stage.pushes import any_push, push_bodies
from impel.stage.settling import ease

# Why `play` came back to Python.
FRAME_DONE, STEP_DONE, NEEDS_PAIRS, NEEDS_EVENTS, FAILED, OPENED, BREATHES = range(7)

BREATH = 256  # steps tried, after which Python may look at the time or at signals

ANEW_AFTER = 8  # coarsest steps, up to 33 ms, and each frame: when structures are asked anew how they answer
GROW_AFTER = 8  # good steps before the step may double ...
RESIGN_AFTER = 32  # steps in a row in which joints did not hold, as short as they were: then longer ones do as well
SWING = 0.25  # rad: at a dead centre a lever changes so much with less, but that lasts for less, too
THROWN = 2.0  # times the square of what is too fast: what became so fast in one step was thrown ...
MOST_THROWN = 10000  # 1/s: ... and that step is taken back, as long as not so many were tried
TOIL = 0.3  # of an easy step: the time of one iteration of the exact way of holding joints (12 bodies: 27 of 90 µs)
GROW_LATER = 256  # ... and at most, where doubling failed again and again, as with things that lie still


@kernel
def step(stage, time, dt, hold_for, held_for, limit, shorter):
    """One attempt to go from `time` to `time + dt`, box by box as in the figure. Returns the verdict.

    Control is held for a coarsest step, but for its damping, however short the steps are that contact and joints need:
    it is evaluated anew, to be held for `hold_for`, where that is not 0. The last one was held for `held_for`. Pairs
    may be looked at up to 2**`limit` times, see haste.py. Where a `shorter` step can be tried instead, one in which
    joints do not hold is not gone on with.
    """
    bodies, followers, joints, contacts = stage.bodies, stage.followers, stage.joints, stage.contacts
    actuators, hand, gravity, drag = stage.actuators, stage.hand, stage.gravity, stage.drag

    # 1. Control module: new targets, actuator forces, corrections by the observed motion (boxes 1.1 to 1.3)
    drop_all(bodies)
    if actuators is not None and hold_for > 0.0:
        tell_the_time(actuators, time)
        control(bodies, joints, contacts, actuators, stage.handles, gravity, hold_for, held_for, dt)
    elif actuators is not None:
        ease(bodies, joints, actuators, stage.handles, 0.5 * dt)
    if hand is not None:
        lend_a_hand(bodies, hand)
    if stage.pushes is not None:
        push_bodies(bodies, stage.pushes, gravity, time, dt)

    # 2.1 Positions at t + dt from positions and forces at t
    if followers is not None:
        place_followers(bodies, followers, time + dt)
    haste = look_for_haste(bodies, contacts) if limit > 0.0 else 0.0
    if haste > 0.0:
        begin_parts(bodies, contacts, gravity, drag, dt)
    else:
        kick(bodies, gravity, drag, 0.5 * dt)

    # 2.2 Maintain the joints
    verdict = GOOD
    if joints is not None:
        verdict = hold(bodies, joints, stage.displaced, stage.printed, gravity, dt, shorter)
        if shorter and verdict == DIVERGED:
            return DIVERGED
        if haste > 0.0:
            take_back(bodies, contacts, dt)
    elif haste > 0.0:
        drift_slow(bodies, contacts, dt)
    else:
        drift(bodies, dt)

    # 2.3 Detect collisions and compute the response at t + dt
    if haste > 0.0:
        verdict = max(verdict, meet_in_parts(bodies, followers, contacts, gravity, drag, time, dt, haste, limit))
    else:
        if contacts is not None:
            verdict = max(verdict, contact_forces(bodies, contacts, dt))
        kick(bodies, gravity, drag, 0.5 * dt)
    if joints is not None and stage.printed is None:
        verdict = max(verdict, hold_velocities(bodies, joints))
        let_go(joints.breaks, bodies, joints, dt)
    if contacts is not None:
        settle(bodies, contacts.extent[:, RADIUS], gravity, dt)
    if actuators is not None and verdict == GOOD and dt > lasts(bodies, actuators, stage.handles):
        verdict = IMPRECISE
    return verdict if all_finite(bodies) else NOT_A_NUMBER


@kernel
def control(bodies, joints, contacts, actuators, handles, gravity, dt, dt_last, step):
    """Set the push and twist of every actuated body for dt, in steps of `step`; the last ones were held for
    dt_last, 0 at first."""
    if actuators.scripted == 1:
        feel_frames(bodies, contacts, actuators, dt_last)
    want(bodies, actuators, dt, dt_last)  # 1.1
    for s in range(len(handles.done)):
        handles.done[s] = 0
    for a in range(len(handles.company)):
        handles.company[a] = 0
        handles.swift[a] = 0.0
    handles.count[SHAKY] = 0
    for j in range(len(handles.bow)):
        for c in range(9):
            handles.bow[j, c] = 0.0
    for s in range(len(handles.done)):  # 1.2 and 1.3: those who touch each other are asked together
        if handles.done[s] == 0 and not ask(
            bodies, joints, contacts, actuators, handles, s, gravity, dt, dt_last, dt > step
        ):
            pull_tree(bodies, actuators, s, gravity, dt, dt_last)
    remember_motion(bodies, actuators)
    act(bodies, actuators, 0.5 * step)
    relax(bodies, joints, actuators, handles)


@kernel
def feel_frames(bodies, contacts, actuators, dt_last):
    """Note who touches a body that carries its keys: it would push that on, and be led on by it for ever."""
    frames = actuators.frames
    for a in range(len(frames.alone)):
        if contacts is None or frames.first[a + 1] == frames.first[a]:
            continue
        frames.alone[a] += dt_last
        for p in range(contacts.near.info[COUNT]):
            one, other = contacts.pair[p, 0], contacts.pair[p, 1]
            if contacts.touching[p] != 0.0 and actuators.body[a] in (one, other):
                for f in range(frames.first[a], frames.first[a + 1]):
                    carrier = frames.body[f]
                    if frames.pinned[f] == 0.0 and bodies.inverse_mass[carrier] > 0.0 and carrier in (one, other):
                        frames.alone[a] = 0.0


@kernel
def hold(bodies, joints, displaced, printed, gravity, dt, shorter):
    """Move the bodies so that their joints hold. Of the three ways only the one that is asked for is compiled."""
    if printed is not None:
        return hold_positions_paper(bodies, joints, dt)
    if displaced is not None:
        return hold_positions_displacement(bodies, joints, dt)
    return hold_positions(bodies, joints, gravity, dt, shorter)


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
def copy(source, destination, contacts):
    """Copy the state of a stage; of the pairs of bodies, which come last, those that met or are in haste.

    How hard they press is not taken back: friction is overcome by what it will be, and the last try tells more of that.
    """
    end = len(source)
    if contacts is not None:
        room, columns, places = len(contacts.touching), contacts.friction.shape[1], contacts.place.shape[1]
        end -= room * (3 + columns + places)
        for p in range(contacts.near.info[COUNT]):
            haste, friction = end + room + 2 * p, end + room * 3 + p * columns
            place = end + room * (3 + columns) + p * places
            met = source[end + p] + destination[end + p] + source[place + MET] + destination[place + MET]
            if met + source[haste + HASTE] + destination[haste + HASTE] != 0.0:
                destination[end + p] = source[end + p]
                destination[haste + HASTE], destination[haste + EASE] = source[haste + HASTE], source[haste + EASE]
                for i in range(friction, friction + columns):
                    destination[i] = source[i]
                for i in range(place, place + LOAD):
                    destination[i] = source[i]
    for i in range(end):
        destination[i] = source[i]


@kernel
def all_pairs_listed(bodies, followers, contacts, time, dt):
    """List all pairs of bodies that could touch until `time + dt`; is there room for them?"""
    if followers is not None:  # which may be about to start
        lead_followers(bodies, followers, time, dt)
    return contacts is None or find_pairs(bodies, contacts, dt)


@kernel
def open_curtain(bodies, followers, contacts, gravity, frame_seconds):
    """Put everything in its place for time 0; or tell that the list of pairs is too short."""
    if followers is not None:
        place_followers(bodies, followers, 0.0)
    if not all_pairs_listed(bodies, followers, contacts, 0.0, frame_seconds):
        return NEEDS_PAIRS
    if contacts is not None:
        meet_near(bodies, contacts, gravity)  # what is placed to just touch the ground will stand on it
        contact_forces(bodies, contacts, 0.0)
    return OPENED


@kernel
def all_finite(bodies):
    total = 0.0
    for i in range(len(bodies.mass)):
        for k in range(3):
            total += bodies.position[i, k] + bodies.velocity[i, k] + bodies.spin[i, k] + bodies.orientation[i, k]
        total += bodies.orientation[i, 3]
    return math.isfinite(total)


@kernel
def nothing_stirs(now, clock, pace):
    """Whether all that could move is asleep, and nothing is there to wake it in this frame."""
    still = now.followers is None and now.joints is None and now.script is None
    if still and now.actuators is None and now.hand is None:
        end = clock.frame_start[0] + pace.frame_seconds
        return all_sleep(now.bodies) and not any_push(now.pushes, clock.frame_start[0], end)
    return False


@kernel
def can_halve(now, clock, pace, verdict, ticks):
    """May a step of so many ticks, which went badly, be taken back for a shorter one?"""
    if verdict in (DIVERGED, IMPRECISE):
        hopeless = verdict == DIVERGED and clock.unheld[0] >= RESIGN_AFTER
        spare = pace.tries - clock.tries[0] - clock.toil[0]
        # What swings by itself may spend half of what a frame has where it whips round; else steps are to be as short
        # as they can to the end of the frame, and not only at its beginning.
        if verdict == IMPRECISE and not (2.0 * spare > pace.tries and swings_freely(now.bodies, now.joints)):
            spare *= 0.5 * ticks / ((clock.steps[0] << pace.deepest) - clock.tick[0])
            return ticks > 1 and spare > 1.0
        return ticks > 1 and not hopeless and spare > 0.0
    return ticks > 1 << pace.reserve


@kernel
def most_haste(now, clock, pace):
    """2 to this power is how often a pair may be looked at in the present step: once where actuators hold forces."""
    if now.contacts is None or now.actuators is not None or now.displaced is not None or now.printed is not None:
        return 0.0
    return float(max(0, pace.deepest - pace.reserve - clock.level[0]))


@kernel
def what_to_do(now, verdict, dt, limit):
    """About a step: put some pairs in haste, halve it, or leave it."""
    if verdict == GOOD:
        return NO_USE
    if limit > 0.0 and verdict in (TOO_STIFF, TOO_DEEP, TOO_FAR):
        return advise(now.bodies, now.contacts, dt, limit)
    return HALVE


@kernel
def halve_step(now, clock):
    """If it was a try of a longer one, the next try will be later."""
    if now.contacts is not None:
        halve_haste(now.contacts)
    if clock.grown[0] == 1:
        clock.patience[0] = min(2 * clock.patience[0], GROW_LATER)
    clock.grown[0] = 0
    clock.level[0] += 1
    clock.good[0] = 0


@kernel
def double_step(now, clock, pace, ticks, dt, limit):
    """After enough good steps of so many ticks, where the coarser grid has a line, and most contacts stand it."""
    if limit > 0.0:
        look_back(now.bodies, now.contacts, dt, limit)
    if clock.tries[0] + clock.toil[0] >= pace.tries:
        clock.patience[0] = GROW_AFTER
    clock.good[0] += 1
    if clock.grown[0] == 1 and clock.good[0] >= GROW_AFTER:
        clock.patience[0] = GROW_AFTER
    if clock.good[0] >= clock.patience[0] and clock.level[0] > 0 and clock.tick[0] % (2 * ticks) == 0:
        clock.good[0] = 0
        if limit > 0.0 and not double_haste(now.bodies, now.contacts, 2.0 * dt, limit + 1.0):
            return
        clock.level[0] -= 1
        clock.grown[0] = 1


@kernel
def check_joints(bodies, joints, clock):
    clock.apart[0] = 0
    if joints is not None:
        measure_gaps(bodies, joints)
        for j in range(len(joints.apart)):
            if not (joints.apart[j, 0] <= APART and joints.apart[j, 1] <= APART):
                clock.apart[0] = 1


@kernel
def lasts(bodies, actuators, handles):
    """How long forces suit how links of actors' structures are turned, in s.

    A force f does not turn with the link that it drives: it drives that farther aside, at a rate r of r² = f/(m·L) if
    the link is as light as by itself. Held for a time t, what it does so grows by r²·t/2, and damping takes out C.
    """
    quickest, longest2 = 0.0, math.inf
    for i in range(len(bodies.mass)):
        if handles.swings[i] == 1:
            spin = get3(bodies.spin, i)
            quickest = max(quickest, dot(spin, spin))
    for a in range(len(handles.swift)):
        i, force = actuators.body[a], get3(actuators.applied, a)
        pushed = dot(force, force) * handles.swift[a] ** 2
        if handles.swings[i] == 1 and actuators.paths.turns[a] == 0 and pushed > 0.0:
            arm2 = max(get3(bodies.inertia, i)) * bodies.inverse_mass[i]
            longest2 = min(longest2, (2.0 * actuators.damping[a]) ** 2 * arm2 / pushed)
    if quickest > 0.0:
        longest2 = min(longest2, SWING * SWING / quickest)
    return math.sqrt(longest2)


@kernel
def thrown(now, dt):
    """Has an actuator thrown its body in this step alone? It is made to drive a whole structure, and lets go of a link
    that is too fast (see WILD) only between steps."""
    bodies, actuators = now.bodies, now.actuators
    if actuators is None:
        return False
    for a in range(len(actuators.body)):
        i, force = actuators.body[a], get3(actuators.applied, a)
        rate, gain, wild = get3(bodies.velocity, i), bodies.inverse_mass[i], actuators.wild[a, 0]
        if actuators.paths.turns[a] == 1:
            rate, gain, wild = get3(bodies.spin, i), max(get3(bodies.inverse_inertia, i)), actuators.wild[a, 1]
        if dot(rate, rate) > THROWN * wild and dot(force, force) * (gain * dt) ** 2 > wild:
            return True
    return False


@kernel
def stirred(now, before, held_for):
    """Whether what holds an actor has changed: something touches it or lets go, a joint meets or leaves a limit, or
    breaks; or its links have turned."""
    if now.actuators is None:
        return False
    if held_for > lasts(now.bodies, now.actuators, now.handles):
        return True
    if now.joints is not None:
        for j in range(len(now.joints.active)):
            if now.joints.active[j] != before.joints.active[j]:
                return True
        for j in range(len(now.joints.broken)):
            if now.joints.broken[j] != before.joints.broken[j]:
                return True
    if now.contacts is not None:
        for p in range(now.contacts.near.info[COUNT]):
            if now.contacts.touching[p] != before.contacts.touching[p]:
                for side in range(2):
                    if now.handles.acts[now.contacts.pair[p, side]] == 1:
                        return True
    return False


@kernel
def play(now, before, values, saved, events, clock, pace, one_step):
    """Go on to the end of the frame; Python is asked only once a frame (or once a step, with `one_step`).

    A frame is `pace.steps` coarsest steps, each of which can be halved `pace.deepest` times: every step is
    a whole number of ticks, so that frames land exactly. So do goals, at which frames are parted (see landing.py). The
    first call only opens the curtain.
    """
    if clock.opened[0] == 0:
        outcome = open_curtain(now.bodies, now.followers, now.contacts, now.gravity, pace.frame_seconds)
        clock.opened[0] = outcome == OPENED
        clock.patience[0] = GROW_AFTER
        return outcome
    if nothing_stirs(now, clock, pace):
        return FRAME_DONE
    breath = clock.tries[0] + BREATH
    aims = now.actuators is not None and len(now.actuators.goals.time) > 0
    while True:
        whole = clock.steps[0] << pace.deepest
        if clock.part[0] == 0.0 or clock.tick[0] == whole:
            if not next_part(now.actuators, clock, pace):
                break
            whole = clock.steps[0] << pace.deepest
        if clock.tries[0] >= breath:
            return BREATHES
        ticks = 1 << (pace.deepest - clock.level[0])
        dt = clock.part[0] * ticks / whole
        time = clock.begin[0] + clock.part[0] * clock.tick[0] / whole
        if events.count[0] + events.most_per_step > len(events.time):
            return NEEDS_EVENTS
        if now.script is not None and follow_script(now, events, time):
            clock.stirred[0] = 1
        if not all_pairs_listed(now.bodies, now.followers, now.contacts, time, dt):
            return NEEDS_PAIRS

        coarsest = 1 << pace.deepest
        hold_for = 0.0
        if one_step:
            hold_for = dt
        elif clock.tick[0] % coarsest == 0 or clock.stirred[0] > 0:
            hold_for = clock.part[0] * (coarsest - clock.tick[0] % coarsest) / whole
            if now.actuators is not None:
                hold_for = min(hold_for, max(dt, lasts(now.bodies, now.actuators, now.handles)))
        lands = clock.lands[0] == 1 and clock.tick[0] + ticks == whole
        if lands or (aims and closes_in(now.actuators.goals)):
            hold_for = dt
        if now.actuators is not None:
            due = clock.tick[0] % (ANEW_AFTER * coarsest) == 0 or clock.stirred[0] == 1
            now.handles.count[ANEW] = 1 if due or aims or one_step else 0
        copy(values, saved, now.contacts)
        clock.tries[0] += 1
        limit = most_haste(now, clock, pace)
        if now.joints is not None:
            now.joints.spare.work[0] = 0.0
        shorter = can_halve(now, clock, pace, DIVERGED, ticks)
        verdict = step(now, time, dt, hold_for, clock.held_for[0], limit, shorter)
        if now.joints is not None:
            clock.toil[0] += TOIL * now.joints.spare.work[0]
        advice = what_to_do(now, verdict, dt, limit)
        if thrown(now, dt):
            spent = clock.tries[0] + clock.toil[0]
            if ticks > 1 << pace.reserve and spent < MOST_THROWN * pace.frame_seconds:
                verdict, advice = max(verdict, TOO_FAR), HALVE
            elif now.actuators.gentle[0] == 0:
                now.actuators.gentle[0] = 1
                copy(saved, values, now.contacts)
                continue
        if advice != NO_USE and can_halve(now, clock, pace, verdict, ticks):
            copy(saved, values, now.contacts)
            if now.actuators is not None:
                now.actuators.gentle[0] = 0
            clock.rejected[0] += 1
            clock.reason[0] = verdict
            if advice == HURRY:
                hurry(now.contacts)
            else:
                halve_step(now, clock)
            continue
        if verdict == NOT_A_NUMBER:
            copy(saved, values, now.contacts)
            return FAILED
        if aims and hold_for >= dt and amend(now, clock, time + dt, dt):
            copy(saved, values, now.contacts)
            continue
        if aims:
            forget_extra(now.actuators, clock)
        if lands:
            land(now, time + dt)

        if now.joints is not None and now.printed is None and now.displaced is None:
            gain_nothing(now.bodies, now.joints, before.bodies, before.joints, now.gravity)
        notice(now, before, events, clock, time + dt, dt, verdict if verdict != IMPRECISE else GOOD)
        part(now.joints, before.joints, now.contacts)
        if now.actuators is not None:
            now.actuators.gentle[0] = 0
        clock.held_for[0] = dt if hold_for > 0.0 else clock.held_for[0] + dt
        clock.stirred[0] = 1 if stirred(now, before, clock.held_for[0]) else 0
        if clock.stirred[0] == 0 and now.actuators is not None and now.handles.count[SHAKY] == 1:
            clock.stirred[0] = 2
        clock.unheld[0] = clock.unheld[0] + 1 if verdict == DIVERGED else 0
        clock.tick[0] += ticks
        double_step(now, clock, pace, ticks, dt, limit)
        if one_step and (clock.tick[0] < whole or not is_last(clock, pace)):
            return STEP_DONE
    check_joints(now.bodies, now.joints, clock)
    return FRAME_DONE
