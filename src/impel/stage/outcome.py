"""How it ended for the actors: who did not come to its last key, since when and why, and who was too weak."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.control.appointments import ACTIVE
from impel.geometry.kinds import INNER
from impel.scene import Scene
from impel.stage.compile import Compiled
from impel.stage.reasons import Ending, depths, in_the_way, still_expected, waits_for, why_missed
from impel.stage.state import Stage
from impel.stage.strain import DENIED, IN_VAIN, NO_STRAIN, PROGRESS, USED_UP, Seen, overload, strain_of, tells
from impel.stage.wishes import is_goal

Floats = NDArray[np.float64]

NEAR = 0.1  # of the base distance: whoever ends so near its last key has come to it for all that can be seen
CREEP = 0.05  # of the base distance: who gets no farther than this is held up ...
PATIENCE = 0.5  # s: ... if it takes so long, ...
PATIENCE_SHARE = 4.0  # ... and so many times as long as it would usually take
STANDS = 0.5  # of its pace: a slower clock waits for its body
LITTLE_OFF, LITTLE_TURNED = 0.01, math.radians(1.0)  # m and rad: so near the last key, which is past, it has come to it
BURIED = 1e-3  # m


def outcomes(
    end: Ending, time: Floats, lengths: Floats, felt: Floats, position: Floats, orientation: Floats
) -> list[dict[str, Any]]:
    """The events "held up" and "out of time": one for each actuator that did not come to its last key, or, on a loop,
    that goes round no more; "goal missed" for goals that never came up, "appointment open" for appointments that are
    still waited for, and "buried" for bodies that ended up in something fixed.

    `lengths` (S,) are those of the segments of all paths, in metres or radians; `felt` (F, A, FELT) is what was noted
    of the actuators, `position` and `orientation` of the bodies' shapes.
    """
    compiled, stage = end.compiled, end.stage
    actuators = stage.actuators
    progress, used_up = felt[:, :, PROGRESS], felt[:, :, USED_UP] > 0.0
    seen = Seen(time, felt, position, orientation)
    last_time = float(time[-1])
    events = [*_untried(compiled, stage, last_time), *_open(end, last_time), *_buried(end, last_time)]
    for a, label in enumerate(compiled.actuators):
        assert actuators is not None
        limp = compiled.specs[a].fades and actuators.strength[a] == 0.0  # it was told to go
        if is_goal(label) or limp:
            continue
        loops, base = actuators.paths.loops[a] == 1, float(actuators.base[a])
        speed = base * float(actuators.stiffness[a] / actuators.damping[a])
        first, last = actuators.paths.first_segment[a : a + 2]
        left = float(lengths[first:last].sum() - progress[-1, a])
        strain = strain_of(end, seen, a) if used_up[:, a].any() else NO_STRAIN
        if tells(strain):
            events.append(overload(end, a, strain))
        if not loops and (actuators.done[a] == 1.0 or left <= NEAR * base):
            continue
        turns, little = actuators.paths.turns[a] == 1, LITTLE_TURNED if actuators.paths.turns[a] == 1 else LITTLE_OFF
        best = np.maximum.accumulate(progress[:, a])
        since = int(np.argmax(best >= best[-1] - CREEP * base))
        held = time[-1] - time[since] > max(PATIENCE, PATIENCE_SHARE * CREEP * base / speed)
        timed, clocks = actuators.clocks.timed[a] == 1, actuators.clocks
        if timed:  # it may stand still because it is told to
            held = bool(held and clocks.pace[a] < STANDS)
        if loops and not held:
            continue
        details = {"lap": int(actuators.lap[a])} if loops else _keys(compiled, actuators, a)
        waits = waits_for(end, a)
        if waits:
            held = True
            details |= {"because": waits}
        elif held:
            spent = bool(used_up[since:, a].mean() > 0.5)
            denied = bool(felt[since:, a, DENIED].mean() > IN_VAIN)
            details |= {"because": in_the_way(end, a, float(time[since]), spent, denied, strain.needs)}
        elif timed and actuators.u[a] == 1.0 and actuators.segment[a] == last - first - 1:  # its target is there
            if left <= little:
                continue
            details |= {"angle": math.degrees(left)} if turns else {"distance": left}
        elif timed:
            details |= {"needs": float(clocks.begin[last - 1] + clocks.span[last - 1] - clocks.time[a])}
        else:
            lately = int(np.searchsorted(time, time[-1] - PATIENCE))
            pace = (best[-1] - best[lately]) / max(time[-1] - time[lately], 1e-9)
            details |= {"needs": left / float(max(pace, CREEP * speed))}
        kind, when = ("held up", time[since]) if held else ("out of time", time[-1])
        events.append({"time": float(when), "kind": kind, "subject": label, "details": details})
    return events


def _open(end: Ending, time: float) -> list[dict[str, Any]]:
    """The events "appointment open": of each that has begun and was not kept, who has yet to come, and which joints
    wait for it, or for one that comes after it. Of goals that never came up it is told elsewhere."""
    if end.stage.actuators is None:
        return []
    events, agreed = [], end.stage.actuators.appointments
    for m, name in enumerate(end.scene.appointments):
        if agreed.state[m] == ACTIVE:
            expected, waits = still_expected(end, m), _waiting(end.scene, _after(end.scene, name))
            if all(cue.split(".")[1] == "goals" for cue in expected) and not any(waits.values()):
                continue
            details = {"expected": expected, **waits}
            events.append({"time": time, "kind": "appointment open", "subject": name, "details": details})
    return events


def _after(scene: Scene, name: str) -> list[str]:
    """An appointment, and those that cannot begin before it is over."""
    found = [name]
    for each in found:
        found += [other for other, a in scene.appointments.items() if each in a.after and other not in found]
    return found


def _waiting(scene: Scene, names: list[str]) -> dict[str, list[str]]:
    """The joints that wait for appointments."""
    made = [joint for joint, each in scene.joints.items() if each.from_ in names]
    gone = [joint for joint, each in scene.joints.items() if each.until in names and joint not in made]
    return {"never made": made, "never let go": gone}


def _buried(end: Ending, time: float) -> list[dict[str, Any]]:
    """The events "buried": of each body that ended wholly in something that cannot move."""
    contacts, bodies, names = end.stage.contacts, end.stage.bodies, end.compiled.bodies
    events = []
    for i in np.flatnonzero(bodies.inverse_mass > 0.0) if contacts is not None else ():
        for other, depth in depths(end, int(i), bodies.position[i]):
            if contacts is not None and depth > max(BURIED, float(contacts.extent[i, INNER])):
                details = {"in": names[other], "depth": depth}
                events.append({"time": time, "kind": "buried", "subject": names[i], "details": details})
    return events


def _untried(compiled: Compiled, stage: Stage, end: float) -> list[dict[str, Any]]:
    """The events "goal missed" of goals that never came up, for the one before was not let go."""
    events = {}
    for a, label in enumerate(compiled.actuators):
        if stage.actuators is None or not is_goal(label):
            continue
        goals, subject = stage.actuators.goals, label.rpartition(".")[0]
        held = int(goals.written[int(goals.current[a])]) if goals.holding[a] == 1.0 else -1
        for g in range(goals.first[a], goals.first[a + 1]):
            if goals.written[g] >= 0 and goals.miss[g] < 0.0 and goals.time[g] <= end:
                details = {"goal": int(goals.written[g]), "held": held}
                told = {"time": float(goals.time[g]), "kind": "goal missed", "subject": subject, "details": details}
                events[subject, details["goal"]] = told
    return list(events.values())


def and_why(end: Ending) -> list[dict[str, Any]]:
    """Events, in which appointments that were missed tell who did not come, and which joints wait for them in vain, and
    goals that were missed, why."""
    scene = end.scene
    passed: set[str] = set()
    missed: set[str] = set()
    events = []
    for event in end.told:
        if event["kind"] == "key passed":
            passed.add(f"{event['subject']}.{event['details']['key']}")
        if event["kind"] == "appointment missed":
            name = event["subject"]
            cues = [cue for cue in scene.appointments[name].cues if cue.split(".")[1] in ("move", "turn")]
            waits: dict[str, Any] = {"absent": [cue for cue in cues if cue not in passed]}
            waits |= _waiting(scene, [name]) | {"timeout": scene.appointments[name].timeout}
            waits["goals"] = [cue for cue in scene.appointments[name].cues if cue in missed]
            event = event | {"details": event["details"] | waits}
        if event["kind"] == "goal missed":
            missed.add(f"{event['subject']}.{event['details']['goal']}")
            event = event | {"details": event["details"] | why_missed(end, event)}
        events.append(event)
    return events


def _keys(compiled: Compiled, actuators: Any, a: int) -> dict[str, Any]:
    """How many of the written keys were reached: the first is when the target has left it."""
    written = compiled.keys[a]
    started = actuators.segment[a] > 0 or actuators.u[a] > 0
    passed = written[: int(actuators.segment[a]) + 1] if started else []
    return {"reached": sum(key is not None for key in passed), "keys": sum(key is not None for key in written)}
