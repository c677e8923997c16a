"""What is told of joints that lock their bodies by a hair, or hold them taut."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impel.physics.gaps import APART
from impel.physics.joints import Joints
from impel.physics.locks import Change, Lock
from impel.physics.mechanism import Mechanism, firm_joints
from impel.scene import Scene
from impel.scene.reach import lasting
from impel.scene.values import WORLD
from impel.stage.compile import Compiled
from impel.stage.state import Stage
from impel.takes.remarks import plain

Floats = NDArray[np.float64]

LITTLE = 0.01  # of the largest change: less is not worth a word
MOST_NAMES = 4  # in a line: of more it is counted
HELD = 1e-6  # of a way to move: who has less has none; of singular values, see `Mechanism`
MOST_JOINTS = 60  # of a structure that is looked into after a take


def locked(compiled: Compiled, scene: Scene) -> Iterator[str]:
    """The joints that leave bodies no way to move, and would with slightly other numbers, one line for a structure.
    What is off as little as any joint may be, no word."""
    for lock in compiled.locks:
        if not lock.changes and _lasts(compiled, scene, lock):
            yield _taut(compiled, lock)
        elif lock.changes and not lock.within(APART, APART):
            yield _off(compiled, scene, lock)


def may_lock(scene: Scene) -> bool:
    """Whether joints that are there at the start hold some body in two ways."""
    root: dict[str, str] = {}

    def top(name: str) -> str:
        if name not in scene.bodies or not scene.bodies[name].moves_freely:
            return WORLD  # what cannot move is all one
        while root.get(name, name) != name:
            name = root[name]
        return name

    for joint in scene.joints.values():
        if joint.kind != "in_sphere" and joint.from_ in (None, 0.0):
            one, other = (top(name) for name in joint.bodies)
            if one == other:
                return True
            root[other if one == WORLD else one] = one if one == WORLD else other
    return False


def no_way(compiled: Compiled, scene: Scene, stage: Stage, body: int, *, turns: bool, by_a_hair: bool) -> str:
    """Whether joints, limits aside, leave a body no way to turn, or to move at all."""
    joints, what = stage.joints, "turn" if turns else "move"
    if joints is None:
        return ""
    own_locks = [lock for lock in compiled.locks if body in lock.bodies and not lock.rounded] if by_a_hair else []
    locks = [lock for lock in own_locks if lock.changes or _lasts(compiled, scene, lock)]
    if by_a_hair and not locks:
        return ""
    if locks and not locks[0].changes:
        return f"{_some(_joints(compiled, locks[0].joints))} are taut and leave it no slack to {what}"
    structure = next((m for m in _mechanisms(stage, joints) if body in m.members), None)
    if structure is None:
        return ""
    parts = structure.free(HELD).reshape(-1, len(structure.members), 6)[:, structure.members == body]
    if np.linalg.norm(parts[..., 3:] if turns else parts) > HELD:
        return ""
    if locks:
        first = compiled.joints[locks[0].changes[0].joint]
        return f"joints.{first} leaves it no way to {what}: it is {_how_far(compiled, scene, locks[0])}"
    own = [int(joints.each[k]["index"]) for k in structure.firm if body in (joints.each[k]["a"], joints.each[k]["b"])]
    leave = "leave" if len(own) > 1 else "leaves"
    return f"{_some(_joints(compiled, own))} {leave} it no way to {what}, and no strength would"


def _mechanisms(stage: Stage, joints: Joints) -> Iterator[Mechanism]:
    for island in range(len(joints.island) - 1):
        if 0 < len(firm_joints(joints, island)) <= MOST_JOINTS:
            yield Mechanism(stage.bodies, joints, island)


def _lasts(compiled: Compiled, scene: Scene, lock: Lock) -> bool:
    """Whether no joint of a lock will let go: a latch is meant to hold what it holds."""
    return {compiled.joints[j] for j in lock.joints} <= lasting(scene)


def _taut(compiled: Compiled, lock: Lock) -> str:
    first, *others = _joints(compiled, lock.joints)
    too = f", and so {_are(others)}" if others else ""
    return (
        f"{first}: is taut{too}: {_some(_bodies(compiled, lock))} cannot move without stretching them, and what weighs "
        "there pulls beyond all bounds; leave slack, as by placing one end a millimetre nearer"
    )


def _off(compiled: Compiled, scene: Scene, lock: Lock) -> str:
    placed = compiled.moved <= APART * lock.size  # else nobody could tell where
    cures = [cure for change in lock.changes for cure in _cures(compiled, scene, lock, change)] if placed else []
    first, way = compiled.joints[lock.changes[0].joint], "turn" if lock.turns and len(lock.bodies) == 1 else "move"
    off, bodies = _how_far(compiled, scene, lock), _some(_bodies(compiled, lock))
    if lock.rounded:
        taken = f"it were written {_some(cures)}" if cures else "it were not"
        return f"joints.{first}: is {off}, which would leave {bodies} no way to {way}: it is taken as if {taken}"
    would = f"; {_some(cures)} would do" if cures else ""
    return f"joints.{first}: leaves {bodies} no way to {way}: it is {off}{would}"


def _how_far(compiled: Compiled, scene: Scene, lock: Lock) -> str:
    """How far joints are off, and off what."""
    first, *others = lock.changes
    changed = {change.joint for change in lock.changes}
    rest = [j for j in lock.joints if j not in changed]
    names = _some(_joints(compiled, rest)) if rest else "others"
    joints = [scene.joints[compiled.joints[j]] for j in lock.joints]
    pair = {frozenset(joint.bodies) for joint in joints}
    if not others and len(pair) == 1 and all(joint.kind == "hinge" for joint in joints):
        off = f"the line of {names}"
    else:
        off = f"what {names} {'asks' if len(rest) == 1 else 'ask'} for"
    too = [f"joints.{compiled.joints[each.joint]} by {_amount(lock, each)}" for each in others]
    return f"{_amount(lock, first)} off {off}{f', and so {_are(too)}' if too else ''}"


def _amount(lock: Lock, change: Change) -> str:
    shift, turn = float(np.linalg.norm(change.shift)), float(np.linalg.norm(change.turn))
    large = LITTLE * max(shift / lock.size, turn)
    ways = [f"{plain(1e3 * shift, 2)} mm"] if shift > large * lock.size else []
    ways += [f"{plain(math.degrees(turn), 2)}°"] if turn > large else []
    return " and ".join(ways)


def _cures(compiled: Compiled, scene: Scene, lock: Lock, change: Change) -> Iterator[str]:
    """The fields of a joint as they would do."""
    name = compiled.joints[change.joint]
    joint, large = (
        scene.joints[name],
        LITTLE * max(np.linalg.norm(change.shift) / lock.size, np.linalg.norm(change.turn)),
    )
    prefix = f"joints.{name}." if len(lock.changes) > 1 else ""
    shifted, turned = np.linalg.norm(change.shift) > large * lock.size, np.linalg.norm(change.turn) > large
    if shifted and joint.at is not None:
        yield f"{prefix}at: {_point(np.array(joint.at) + change.shift, lock.size)}"
    if turned and joint.kind in ("hinge", "slide") and joint.axis is not None:
        axis = _turned(np.array(joint.axis) / np.linalg.norm(joint.axis), change.turn)
        yield f"{prefix}axis: {_point(axis, 1.0)}"
    if joint.kind == "on_segment" and joint.segment is not None and joint.at is not None:
        at = np.array(joint.at)
        ends = [_turned(np.array(end) - at, change.turn) + at + change.shift for end in joint.segment]
        yield f"{prefix}segment: [{', '.join(_point(end, lock.size) for end in ends)}]"


def _turned(vector: Floats, turn: Floats) -> Floats:
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return vector
    about = turn / angle
    aside = np.cross(about, vector)
    return vector + math.sin(angle) * aside + (1.0 - math.cos(angle)) * np.cross(about, aside)


def _point(values: Floats, size: float) -> str:
    """So many digits that what they leave is no lock: see APART."""
    digits = 6 - math.floor(math.log10(size))
    return f"[{', '.join(f'{round(value, digits) + 0.0:.12g}' for value in values.tolist())}]"


def _joints(compiled: Compiled, numbers: list[int]) -> list[str]:
    return [f"joints.{compiled.joints[j]}" for j in sorted(numbers)]


def _bodies(compiled: Compiled, lock: Lock) -> list[str]:
    return [compiled.bodies[i] for i in sorted(lock.bodies)]


def _are(names: list[str]) -> str:
    return f"{'are' if len(names) > 1 else 'is'} {_some(names)}"


def _some(names: list[str]) -> str:
    """Names in a sentence: all, or how many more there are."""
    names = names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
