"""Actuators whose strength was used up: what they carried or pressed, and which strength would have done."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.physics.coating import FRICTION
from impel.physics.joints import AT_A, AT_B
from impel.stage.burdens import Burden, Load, burdens, posed
from impel.stage.compile import centre_of
from impel.stage.reasons import Ending
from impel.stage.script import FROM
from impel.stage.state import Stage

Floats = NDArray[np.float64]

# What is noted of an actuator in each frame: its distance to the path, force, progress, whether its strength is used
# up, and which share of its wish it is denied.
DISTANCE, FORCE, PROGRESS, USED_UP, DENIED = FELT = range(5)

LONG = 0.5  # s: a strength that is used up for so long in all shows ...
LETS_DOWN = 0.1  # s: ... and for so long, where a load that it cannot bear carries it off its path
LEVEL = 0.5  # cosine: a wish that is less than 30° from level does not lift what is in its way
SURE = 1.2  # times what was missing: the strength that will do
IN_VAIN = 0.5  # of a wish: who is denied more of it presses against something
POSES = 8  # in which it is asked what levers take


class Seen(NamedTuple):
    """What was noted in each frame."""

    time: Floats  # (F,)
    felt: Floats  # (F, A, FELT)
    position: Floats  # (F, N, 3) of the bodies' shapes
    orientation: Floats  # (F, N, 4)


class Strain(NamedTuple):
    """How the strength of an actuator was used up."""

    begins: float = 0.0  # s
    seconds: float = 0.0  # in all
    pressed: str = ""  # for most of that time it was in vain: it only pressed this
    let_down: bool = False  # by what lies on it
    needs: float = 0.0  # N or N·m: what would do; 0 if that is not known
    carrying: tuple[int, ...] = ()  # bodies
    others: tuple[
        tuple[int, float], ...
    ] = ()  # actuators of its structure that were too weak for that, and their needs


NO_STRAIN = Strain()


def tells(strain: Strain) -> bool:
    """Whether it is worth telling."""
    return strain.seconds >= LONG or strain.let_down


def overload(end: Ending, a: int, strain: Strain) -> dict[str, Any]:
    """The event "overloaded" for an actuator whose strength was used up for long."""
    assert end.stage.actuators is not None
    names, labels = end.compiled.bodies, end.compiled.actuators
    details: dict[str, Any] = {"seconds": strain.seconds, "strength": float(end.stage.actuators.strength[a])}
    if strain.pressed:
        details["pressed"] = strain.pressed
    else:
        details |= {"needs": strain.needs, "carrying": [names[i] for i in strain.carrying]}
        details["others"] = {labels[b]: needs for b, needs in strain.others}
    return {"time": strain.begins, "kind": "overloaded", "subject": labels[a], "details": details}


def strain_of(end: Ending, seen: Seen, a: int) -> Strain:
    """How the strength of an actuator was used up; it was."""
    stage, actuators = end.stage, end.stage.actuators
    assert actuators is not None
    body = int(actuators.body[a])
    used_up, denied = seen.felt[:, a, USED_UP] > 0.0, seen.felt[:, a, DENIED] > IN_VAIN
    frame_seconds = float(seen.time[1] - seen.time[0]) if len(seen.time) > 1 else 0.0
    if 2 * np.count_nonzero(used_up & denied) > np.count_nonzero(used_up):
        frames = np.flatnonzero(used_up & denied)
        rest = np.setdiff1d(np.arange(len(used_up)), frames)
        pressed = _pressed(end, body, _met(end, seen.time[frames]), _met(end, seen.time[rest]))
        if pressed:
            return Strain(float(seen.time[frames[0]]), len(frames) * frame_seconds, pressed)
        denied[:] = False
    frames = np.flatnonzero(used_up & ~denied)
    seconds = len(frames) * frame_seconds
    loose, taken = _loose(stage, body, _met(end, seen.time[frames])), _taken(stage, body)
    borne = _borne(end, seen, a, frames) if loose or end.compiled.borne[a].inertia > 0.0 else []
    needs = _enough(end, a, loose, taken, borne)
    carrying = tuple(sorted({*loose, *(load.body for load in taken)}))
    off = seen.felt[frames[0] : frames[-1] + math.ceil(LONG / max(frame_seconds, 1e-9)), a, DISTANCE].max()
    let_down = bool(carrying and needs > 0.0 and seconds >= LETS_DOWN and off > actuators.base[a])
    others: list[tuple[int, float]] = []
    for b in np.flatnonzero(actuators.structure == actuators.structure[a]).tolist():
        most = max((each[b].need for each in borne), default=0.0)
        if b != a and carrying and most > actuators.strength[b]:
            others.append((b, max(_enough(end, b, loose, [], borne), SURE * most)))
    return Strain(float(seen.time[frames[0]]), seconds, "", let_down, needs, carrying, tuple(others))


def _borne(end: Ending, seen: Seen, a: int, frames: NDArray[np.int64]) -> list[list[Burden]]:
    """What all actuators bore in some of these frames, with what lay on them: in those in which it was still on its
    path. Where it fell to takes other forces."""
    stage, compiled, actuators = end.stage, end.compiled, end.stage.actuators
    if stage.joints is None or actuators is None:
        return []
    on_path = frames[seen.felt[frames, a, DISTANCE] <= actuators.base[a]]
    frames = on_path if len(on_path) > 0 else frames[:1]
    found: list[list[Burden]] = []
    for frame in np.unique(frames[np.linspace(0, len(frames) - 1, POSES).astype(np.int64)]):
        shapes = zip(compiled.solids, seen.position[frame], seen.orientation[frame])
        centres, turns = zip(*(centre_of(*shape) for shape in shapes))
        bodies, joints = posed(stage.bodies, stage.joints, np.array(centres), np.array(turns))
        loads = _loads(stage, int(actuators.body[a]), _met(end, seen.time[frame : frame + 1]), bodies.position)
        found.append(burdens(bodies, joints, compiled.specs, actuators.whole, stage.gravity, loads))
    return found


def _loads(stage: Stage, body: int, met: set[tuple[int, int]], position: Floats) -> dict[int, list[Load]]:
    """What is loose and lies on the structure of a body, by the body of it that bears that; but not what also lies on
    something that cannot move."""
    assert stage.actuators is not None
    whole, movable = stage.actuators.whole, stage.bodies.inverse_mass > 0.0
    bearer = {int(i): int(i) for i in np.flatnonzero(movable & (whole == whole[body]))}
    propped = {int(whole[i]) for pair in met for i, j in (pair, pair[::-1]) if movable[i] and not movable[j]}
    pending = list(bearer)
    for i in pending:
        near = {j for pair in met for k, j in (pair, pair[::-1]) if k == i and movable[j] and whole[j] not in propped}
        for j in sorted(near - bearer.keys()):
            for own in np.flatnonzero(movable & (whole == whole[j])).tolist():
                bearer[own] = bearer[i]
                pending.append(own)
    loads: dict[int, list[Load]] = {}
    for i, by in bearer.items():
        if whole[i] != whole[body]:
            loads.setdefault(by, []).append(Load(float(stage.bodies.mass[i]), position[i]))
    return loads


def _pressed(end: Ending, body: int, met: set[tuple[int, int]], otherwise: set[tuple[int, int]]) -> str:
    """What a body pressed that cannot move or is held by what cannot, rather than what it also touches `otherwise`."""
    near = sorted({j for pair in met - otherwise or met for i, j in (pair, pair[::-1]) if i == body})
    return ", ".join(end.compiled.bodies[i] for i in near if _is_firm(end, i, body, met))


def _is_firm(end: Ending, start: int, body: int, met: set[tuple[int, int]]) -> bool:
    """Whether something cannot move, or touches, or is jointed to, what cannot, by way of anything but a body's own."""
    assert end.stage.actuators is not None
    whole, movable = end.stage.actuators.whole, end.stage.bodies.inverse_mass > 0.0
    links = met | {(tie.a, tie.b) for tie in end.compiled.ties}
    seen = [start]
    for i in seen:
        if not movable[i]:
            return True
        linked = {j for pair in links for k, j in (pair, pair[::-1]) if k == i}
        seen += sorted(j for j in linked if j not in seen and not (movable[j] and whole[j] == whole[body]))
    return False


class Taken(NamedTuple):
    """What a joint gives to a body to carry that was not there from the start."""

    body: int
    reach: float  # m: how far away it may be held


def _taken(stage: Stage, body: int) -> list[Taken]:
    if stage.script is None or stage.joints is None:
        return []
    found: list[Taken] = []
    for k, holds in zip(stage.script.joint, stage.script.holds):
        joint, fixed = stage.joints.each[k], stage.joints.fixed[k]
        if holds[FROM] > 0.0 and body in (joint["a"], joint["b"]):
            other = int(joint["b"] if joint["a"] == body else joint["a"])
            reach = sum(float(np.linalg.norm(fixed[at : at + 3])) for at in (AT_A, AT_B))
            if stage.bodies.inverse_mass[other] > 0.0:
                found.append(Taken(other, reach))
    return found


def _enough(end: Ending, a: int, carrying: list[int], taken: list[Taken], borne: list[list[Burden]]) -> float:
    """A strength that would do, a little more than what was missing; 0 if the present one should have done, or none is
    known.

    It holds its own structure, what is loose and touches that, and what it takes; or, where that is little, brakes
    from the speed of its path. Where levers are at work, it holds all that lies on them, in each pose that was met, and
    accelerates it. The friction of joints is learnt, up to half the strength.
    """
    stage, actuators = end.stage, end.stage.actuators
    assert actuators is not None
    strength, swift = float(actuators.strength[a]), float(actuators.stiffness[a] * actuators.base[a])
    gravity = float(np.linalg.norm(stage.gravity))
    load = gravity * float(actuators.arm[a]) * sum(stage.bodies.mass[i] * _felt(stage, a, i) for i in carrying)
    for each in taken:
        mass, arm = float(stage.bodies.mass[each.body]), each.reach if actuators.paths.turns[a] == 1 else 1.0
        load += mass * (gravity * arm + swift * arm**2)
    needed = max(float(actuators.weight[a]) + load, 2 * swift * float(actuators.inertia[a]))
    if end.compiled.borne[a].inertia > 0.0 and borne:
        needed = max(each[a].need + swift * each[a].inertia for each in borne)
    needed = SURE * (needed + 2 * float(actuators.rubs[a]))
    suits = max(needed, float(actuators.calm[a])) if needed <= strength else needed
    return suits if suits > strength else 0.0


def _felt(stage: Stage, a: int, body: int) -> float:
    """Which share of the weight of something loose asks for strength: of what it pushes along the ground, twice its
    friction, which is learnt, and that only up to half the strength (see `room` in control/actuators.py)."""
    actuators, contacts, up = stage.actuators, stage.contacts, np.array(stage.gravity)
    if actuators is None or contacts is None or actuators.paths.turns[a] == 1:
        return 1.0
    offset, size = actuators.offset[a], float(np.linalg.norm(actuators.offset[a]) * np.linalg.norm(up))
    if abs(float(offset @ up)) > LEVEL * size:
        return 1.0
    for p in np.flatnonzero(contacts.touching != 0.0):
        pair = contacts.pair[p]
        if body in pair and stage.bodies.inverse_mass[pair].min() == 0.0:
            return 2 * float(contacts.material[p, FRICTION])
    return 1.0


def _met(end: Ending, when: Floats) -> set[tuple[int, int]]:
    """The pairs of bodies that touched at one of these times: from those that do now back through what was told."""
    stage, compiled, told = end.stage, end.compiled, end.told
    if stage.contacts is None:
        return set()
    index = {name: i for i, name in enumerate(compiled.bodies)}
    now = {(int(a), int(b)) for a, b in np.sort(stage.contacts.pair[stage.contacts.touching != 0.0], axis=1)}
    met: set[tuple[int, int]] = set()
    later = len(when)
    for event in reversed([e for e in told if e["kind"] in ("contact begins", "contact ends")]):
        earlier = int(np.searchsorted(when, event["time"]))
        if earlier < later:
            met |= now
            later = earlier
        a, b = sorted((index[event["subject"]], index[event["details"]["with"]]))
        (now.discard if event["kind"] == "contact begins" else now.add)((a, b))
    return met | now if later > 0 else met


def _loose(stage: Stage, body: int, met: set[tuple[int, int]]) -> list[int]:
    """What can move, is no part of the structure of a body, and touched it or something that did."""
    assert stage.actuators is not None
    whole, movable = stage.actuators.whole, stage.bodies.inverse_mass > 0.0
    own = {int(whole[body])}
    grown = True
    while grown:
        found = {int(whole[j]) for pair in met for i, j in (pair, pair[::-1]) if whole[i] in own and movable[j]}
        grown = not found <= own
        own |= found
    return [i for i in range(len(movable)) if movable[i] and whole[i] in own and whole[i] != whole[body]]
