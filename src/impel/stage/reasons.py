"""Why an actor did not get where it should: what is in its way, as far as it can be seen from where it ended."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.appointments import ACTIVE, DONE, WAITING
from impel.geometry.kinds import BOX, PLANE
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.broadphase import NORMAL
from impel.physics.joint_specs import KINDS
from impel.physics.joints import FRAME_A, HOLDS, Joints
from impel.scene import Scene
from impel.scene.courses import start_point
from impel.scene.reach import lasting, tethers
from impel.stage.compile import Compiled
from impel.stage.locked import no_way
from impel.stage.state import Stage
from impel.takes.remarks import plain

Event = dict[str, Any]

ASKEW = 0.5  # cosine: a wish to turn that is farther than 60° off the axis of a hinge is not what the hinge allows
AGAINST = 0.1  # cosine: what a wish leads into by more than that is in its way
WAITS = 0.5  # of its pace: who should go slower waits for others
ENOUGH = 1.1  # times what overcomes friction: what presses is known to a tenth
JUST = 0.3  # s: what held it no longer after it was made held it from then on


class Ending(NamedTuple):
    """How a take ended."""

    scene: Scene
    compiled: Compiled
    stage: Stage
    told: list[Event]  # events until then


def in_the_way(end: Ending, a: int, since: float, spent: bool, denied: bool, needs: float) -> str:
    """What keeps an actor from getting on since then, and what would help. Its strength may be `spent`, or its wish
    `denied` to it, however strong it is; and it is said which strength it needs, if that is known."""
    stage, actuators = end.stage, end.stage.actuators
    assert actuators is not None
    body, turns = int(actuators.body[a]), bool(actuators.paths.turns[a])
    hair, wholly = (_locked(end, a, by_a_hair=hair) for hair in (True, False))
    for reason in (hair, *_hindrances(end, a), _beyond(end, a), _tied(end, a, since), wholly):
        if reason:
            return reason
    touched = _touched(end, a)
    names = [end.compiled.bodies[i] for i in touched]
    against = f"it touches {', '.join(names)}; " if touched else ""
    strength = f"its strength of {plain(float(actuators.strength[a]), 3)} {'N·m' if turns else 'N'}"
    if actuators.gripped[a] > 0.0:
        enough = plain(ENOUGH * float(actuators.gripped[a]), 2)
        return f'friction holds it, against {strength}: strength: {enough} or "unlimited" would do'
    cure = f': strength: {plain(needs, 2)} or "unlimited" would do' if needs > 0.0 else ""
    rubbing = _rubbing(end, body)
    if spent and not touched and rubbing and actuators.rubs[a] + actuators.weight[a] > actuators.strength[a]:
        return f"the friction of {', '.join(rubbing)} holds it, against {strength}{cure}"
    pressed = _held_by(end, a, touched) if denied else ""
    if spent and pressed:
        return f"it presses {pressed} with all {strength}; more would only press harder"
    if spent:
        return f"{against}all {strength} is used{cure}"
    if not touched and stage.joints is not None and _ties(stage.joints, body).any() and not turns:
        return "its joints do not let it get nearer: its way may lead out of reach"
    if pressed and not pressed.startswith("against"):
        against = f"it presses {pressed}; "
    return f"{against}a smaller {'base_angle' if turns else 'base_distance'} or more speed makes it push harder"


def _held_by(end: Ending, a: int, touched: list[int]) -> str:
    """What of this an actor presses, and what cannot move holds it; nothing if nothing does."""
    actuators, joints, bodies, names = end.stage.actuators, end.stage.joints, end.stage.bodies, end.compiled.bodies
    assert actuators is not None
    pressed, seen = ", ".join(names[i] for i in touched), list(touched)
    for i in seen if actuators.paths.turns[a] == 0 else ():
        if bodies.inverse_mass[i] > 0.0:
            seen += sorted(_leads_into(end, i, actuators.offset[a])[0] - {*seen, int(actuators.body[a])})
    firm = [i for i in seen if bodies.inverse_mass[i] == 0.0]
    if firm:
        behind = [names[i] for i in firm if i not in touched]
        return f"{pressed} against {', '.join(behind)}" if behind else f"against {pressed}"
    each = [] if joints is None else [joint for joint in joints.each if joints.broken[joint["index"]] == HOLDS]
    ties = [end.compiled.joints[joint["index"]] for joint in each if {int(joint["a"]), int(joint["b"])} & set(touched)]
    return f"against {pressed}, held by {', '.join(f'joints.{name}' for name in ties)}," if ties else ""


def _rubbing(end: Ending, body: int) -> list[str]:
    """The joints with friction of all that hangs together with a body."""
    actuators, names, scene = end.stage.actuators, end.compiled.bodies, end.scene
    assert actuators is not None
    own = {name for name, whole in zip(names, actuators.whole) if whole == actuators.whole[body]}
    return [
        f"joints.{name}" for name, joint in scene.joints.items() if joint.friction > 0.0 and own & set(joint.bodies)
    ]


def waits_for(end: Ending, a: int) -> str:
    """For whom an actor waits, if it does."""
    actuators = end.stage.actuators
    assert actuators is not None
    agreed = actuators.appointments
    if len(agreed.state) == 0 or agreed.waits[a] >= WAITS:
        return ""
    for m, name in enumerate(end.scene.appointments):
        cues = range(agreed.first[m], agreed.first[m + 1])
        if a not in agreed.actuator[cues]:
            continue
        if agreed.state[m] == WAITING:
            return f"it waits for appointments.{name} to begin"
        absent = [cue for cue in still_expected(end, m) if not cue.startswith(f"{end.compiled.actuators[a]}.")]
        if agreed.state[m] == ACTIVE and absent:
            return f"it waits for {', '.join(absent)}, as appointments.{name} says"
    return ""


def still_expected(end: Ending, m: int) -> list[str]:
    """The cues that have not happened yet of an appointment that is on."""
    actuators = end.stage.actuators
    assert actuators is not None
    agreed, cues = actuators.appointments, list(end.scene.appointments.values())[m].cues
    first = int(agreed.first[m])
    return [cue for c, cue in enumerate(cues, first) if agreed.left[c] > (0.0 if agreed.actuator[c] < 0 else -0.5)]


def _locked(end: Ending, a: int, *, by_a_hair: bool) -> str:
    """Whether joints leave an actor's body no way to go."""
    actuators = end.stage.actuators
    assert actuators is not None
    body, turns = int(actuators.body[a]), actuators.paths.turns[a] == 1
    return no_way(end.compiled, end.scene, end.stage, body, turns=turns, by_a_hair=by_a_hair)


def _hindrances(end: Ending, a: int) -> list[str]:
    joints, actuators = end.stage.joints, end.stage.actuators
    if joints is None or actuators is None:
        return []
    return [_hindrance(end, a, int(k)) for k in np.flatnonzero(_ties(joints, int(actuators.body[a])))]


def _ties(joints: Joints, body: int) -> NDArray[np.bool_]:
    tied: NDArray[np.bool_] = (joints.each["a"] == body) | (joints.each["b"] == body)
    return tied


def _hindrance(end: Ending, a: int, k: int) -> str:
    """How a joint of an actor's body makes its wish impossible; nothing if it does not."""
    joints, actuators, bodies = end.stage.joints, end.stage.actuators, end.stage.bodies
    assert joints is not None
    assert actuators is not None
    joint = joints.each[k]
    name = f"joints.{end.compiled.joints[joint['index']]}"
    if joints.broken[joint["index"]] != HOLDS:
        return ""
    met = [joints.active[slot] != 0.0 for slot in (joint["index"], joint["second"])[: joint["limits"]]]
    if any(met) and KINDS[joint["kind"]] != "in_sphere":  # a rope is often taut
        return f"{name} is at its limit"
    held = bodies.inverse_mass[[joint["a"], joint["b"]]].min() == 0.0
    if held and KINDS[joint["kind"]] == "hinge" and actuators.paths.turns[a] == 1:
        frame = multiply_quaternions(bodies.orientation[joint["a"]], joints.fixed[k, FRAME_A : FRAME_A + 4])
        wish = actuators.offset[a]
        if abs(wish @ matrix_from_quaternion(frame)[:, 2]) < ASKEW * np.linalg.norm(wish):
            return f"{name} turns about another axis"
    return ""


def _beyond(end: Ending, a: int) -> str:
    """Whether the target of an actor is out of reach."""
    actuators = end.stage.actuators
    assert actuators is not None
    if actuators.paths.turns[a] == 1:
        return ""
    x, y, z, _ = actuators.pose[a].tolist()
    return beyond_reach(end, a, (x, y, z))


def beyond_reach(end: Ending, a: int, place: tuple[float, float, float]) -> str:
    """Whether joints that hold now keep an actuator from a place, which is then told."""
    joints, actuators = end.stage.joints, end.stage.actuators
    name = end.compiled.bodies[int(actuators.body[a])] if actuators is not None else ""
    if joints is None or name not in end.scene.actors:
        return ""
    scene, actor = end.scene, end.scene.actors[name]
    wish = actor.goals or actor.move
    made = {scene_joint for scene_joint, joint in scene.joints.items() if joint.from_ is None}
    holding = {each for each, broken in zip(end.compiled.joints, joints.broken) if broken == HOLDS} & made
    if wish is None:
        return ""
    for tether in tethers(scene, name, start_point(wish, scene.bodies[name]), holding | lasting(scene)):
        written = scene.joints[tether.joint]  # what the script will let go is told of so
        if tether.beyond(place) and not isinstance(written.until, str):
            return f"its way leads to {tether.told(place)}: out of reach"
    return ""


def why_missed(end: Ending, event: Event) -> Event:
    """Why a goal was missed, of which an event tells: "because", where it could not be reached at all; "weak", where
    strength was wanting."""
    actuators, subject, number = end.stage.actuators, event["subject"], event["details"]["goal"]
    if actuators is None or "held" in event["details"]:
        return {}
    goals = actuators.goals
    reasons: Event = {}
    weak = {e["subject"] for e in end.told if e["kind"] == "strength saturated" and e["time"] <= event["time"]}
    for a, label in enumerate(end.compiled.actuators):
        if not label.startswith(f"{subject}."):
            continue
        for g in range(goals.first[a], goals.first[a + 1]):
            if goals.written[g] == number and goals.frame[g] < 0 and actuators.paths.turns[a] == 0:
                x, y, z, _ = goals.place[g].tolist()
                why = beyond_reach(end, a, (x, y, z)) or _inside(end, a, goals.place[g, :3])
                reasons |= {"because": why} if why else {}
        if label in weak:
            reasons |= {"weak": _too_weak(end, a)}
    return reasons


def _too_weak(end: Ending, a: int) -> str:
    """What would help an actuator whose strength was used up on the way to a goal."""
    actuators, spec = end.stage.actuators, end.compiled.specs[a]
    assert actuators is not None
    strength, suits = float(actuators.strength[a]), float(actuators.calm[a])
    used = f"all its strength of {plain(strength, 3)} {'N·m' if actuators.paths.turns[a] == 1 else 'N'} was used"
    cures = [] if spec.strength == np.inf else ['"unlimited"']
    if spec.strength is None or suits > strength:
        cures.insert(0, f"strength: {plain(suits, 2)}" if suits > strength else "more of it")
    if spec.strength is None or strength > actuators.weight[a] or _held(end, a):
        cures.append("more time")
    return f"{used}: {' or '.join(cures) if len(cures) < 3 else ', '.join(cures[:-1]) + ', or ' + cures[-1]} would do"


def _held(end: Ending, a: int) -> bool:
    """Whether joints may carry some of what an actuator moves."""
    joints, actuators = end.stage.joints, end.stage.actuators
    return joints is not None and actuators is not None and bool(_ties(joints, int(actuators.body[a])).any())


def _inside(end: Ending, a: int, place: NDArray[np.float64]) -> str:
    """Whether a goal lies inside something that cannot move, and which its body touches."""
    actuators = end.stage.actuators
    assert actuators is not None
    for other, depth in depths(end, int(actuators.body[a]), place):
        if depth > 0.0:
            return f"it lies in {end.compiled.bodies[other]}"
    return ""


def depths(end: Ending, body: int, place: NDArray[np.float64]) -> Iterator[tuple[int, float]]:
    """What cannot move and touches a body, and how deep inside of it a place is; of planes and boxes."""
    contacts, bodies, names = end.stage.contacts, end.stage.bodies, end.compiled.bodies
    if contacts is None or end.compiled.cast[names[body]].collides is not True:
        return
    for i, name in enumerate(names):
        fixed = end.scene.bodies.get(name)
        if fixed is None or bodies.inverse_mass[i] > 0.0 or fixed.collides is not True:
            continue
        local = matrix_from_quaternion(bodies.orientation[i]).T @ (place - bodies.position[i])
        if contacts.shapes.kind[i] == PLANE:
            yield i, -float(local[2])
        elif contacts.shapes.kind[i] == BOX:
            yield i, float(np.min(contacts.shapes.size[i] - np.abs(local)))


def _tied(end: Ending, a: int, since: float) -> str:
    """The joint that the script made or did not let go, and that holds what hangs together with an actor."""
    joints, actuators = end.stage.joints, end.stage.actuators
    if joints is None or actuators is None:
        return ""
    made = {e["subject"]: e["time"] for e in end.told if e["kind"] == "joint made"}
    for k, joint in enumerate(joints.each):
        name = end.compiled.joints[joint["index"]]
        written, m = end.scene.joints[name], _number(end.scene, end.scene.joints[name].until)
        lasts = written.from_ is None and m is None
        if lasts or joints.broken[joint["index"]] != HOLDS or not _holds_back(end, k, int(actuators.body[a])):
            continue
        if m is not None and actuators.appointments.state[m] < DONE:
            return f"joints.{name} holds it until appointments.{written.until}, which was not kept"
        if made.get(name, np.inf) <= since + JUST:
            return f"joints.{name}, made at {made[name]:.1f} s, holds it"
    return ""


def _holds_back(end: Ending, k: int, body: int) -> bool:
    """Whether joint k ties what hangs together with a body to more than a thing that it carries."""
    joints, bodies, actuators = end.stage.joints, end.stage.bodies, end.stage.actuators
    assert joints is not None
    assert actuators is not None
    ties: dict[int, set[int]] = {}
    for n, joint in enumerate(joints.each):
        if n != k and joints.broken[joint["index"]] == HOLDS:
            ties.setdefault(int(joint["a"]), set()).add(int(joint["b"]))
            ties.setdefault(int(joint["b"]), set()).add(int(joint["a"]))
    sides = [{int(joints.each[k][side])} for side in ("a", "b")]
    for group in sides:
        pending = list(group)
        while pending:
            i = pending.pop()
            if bodies.inverse_mass[i] > 0.0:  # what cannot move ties nothing together
                pending += ties.get(i, set()) - group
                group |= ties.get(i, set())
    own = [body in side for side in sides]
    others = set().union(*(side for side, mine in zip(sides, own) if not mine))
    acting = set(actuators.body.tolist())
    return any(own) and (all(own) or any(i in acting or bodies.inverse_mass[i] == 0.0 for i in others))


def _number(scene: Scene, moment: Any) -> int | None:
    return list(scene.appointments).index(moment) if isinstance(moment, str) else None


def _touched(end: Ending, a: int) -> list[int]:
    """What touches an actor: where its wish leads into some of it, that."""
    actuators = end.stage.actuators
    if end.stage.contacts is None or actuators is None:
        return []
    turns = actuators.paths.turns[a] == 1
    into, all_of_it = _leads_into(end, int(actuators.body[a]), None if turns else actuators.offset[a])
    return sorted(into or all_of_it, key=lambda i: end.compiled.bodies[i])


def _leads_into(end: Ending, body: int, way: NDArray[np.float64] | None) -> tuple[set[int], set[int]]:
    """Which of what touches a body that would press if it went some way, and all of it."""
    contacts = end.stage.contacts
    all_of_it: set[int] = set()
    into: set[int] = set()
    if contacts is None:
        return into, all_of_it
    for p in np.flatnonzero(contacts.touching != 0.0):
        pair = contacts.pair[p].tolist()
        if body in pair:
            other = int(pair[1 - pair.index(body)])
            all_of_it.add(other)
            push = contacts.place[p, NORMAL : NORMAL + 3] * (1 if pair[0] == body else -1)  # on the body
            if way is not None and way @ push < -AGAINST * np.linalg.norm(way):
                into.add(other)
    return into, all_of_it
