"""Before the first step: what a scene had to be changed by to begin at all, and what will not stay where it was put."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impel.control.specs import CATCHES
from impel.files import Problem
from impel.geometry.kinds import CORE, INNER, MESH, PLANE, RADIUS, SKIN
from impel.geometry.overlap import deepest_point, overlap_by
from impel.geometry.shapes import form, make_extents, make_shapes
from impel.kernel import kernel, replace
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import get3, get4
from impel.physics.bodies import Bodies
from impel.physics.broadphase import COUNT, LOAD, grow
from impel.physics.coating import FIRM, LIMIT
from impel.physics.contact import Contacts
from impel.physics.joints import JOINT, MEMBER
from impel.scene import Scene
from impel.scene.derived import solid_of
from impel.stage.compile import Compiled, centre_of, compile_scene, start_of
from impel.stage.locked import locked, may_lock
from impel.stage.state import Stage
from impel.stage.step import OPENED, open_curtain
from impel.stage.walkers import paths_through
from impel.stage.wishes import is_goal
from impel.takes.remarks import plain

Floats = NDArray[np.float64]

DEEP = 0.08  # of the way to the middle: what overlaps more was placed so
PRESSED = 50 * 9.81  # m/s²: acceleration that no body's own weight would explain
SHIFT, SHIFT_SHARE = 1e-3, 0.01  # m, or of a body's size if that is more: a displacement that can be seen
PIERCED = 0.8  # of the way to its middle: what is as deep in a mesh may have come from the other side
TURN = math.radians(1)
SLACK = 1e-9  # m: bodies that were placed to touch overlap by rounding


def opening_doubts(scene: Scene, source: str = "scene") -> list[str]:
    """What `Performance.doubts` would say, found without simulating; quick where it is plain that all is well."""
    breaks = any(joint.breaks is not None for joint in scene.joints.values())
    if not breaks and not _may_start_apart(scene) and not may_lock(scene) and not _may_overlap(scene):
        return []
    stage, compiled = compile_scene(scene, source=source)
    frame = compiled.pace.frame_seconds
    while open_curtain(stage.bodies, stage.followers, stage.contacts, stage.gravity, frame) != OPENED:
        assert stage.contacts is not None
        stage = replace(stage, contacts=grow(stage.contacts))
    walked = paths_through(scene, compiled.troupe, stage.bodies)
    placed = [*displaced(stage, compiled, scene), *locked(compiled, scene)]
    return [*placed, *overlaps(stage, compiled.bodies, source), *walked]


def strengths(scene: Scene, source: str = "scene") -> Iterator[str]:
    """What the strength of each actor comes to, one line each, and its parts: what holds still, and what moves."""
    stage, compiled = compile_scene(scene, source=source)
    actuators = stage.actuators
    assert actuators is not None
    for a, label in enumerate(compiled.actuators):
        name, kind = label.rsplit(".", 1)
        unit = "N·m" if kind == "turn" else "N"
        goals = is_goal(label)
        owner, field = name.rsplit(".", 1) if goals else (name, kind)
        written, label = getattr(scene.actors[owner], field).strength, name if goals else label
        weight = float(actuators.weight[a])
        auto = float(actuators.calm[a])
        pull = (auto - CATCHES * weight) / 2  # with the friction of its joints
        parts = f"{plain(CATCHES, 3)} times {plain(weight, 3)} to hold still and twice {plain(pull, 3)} to move"
        amount = f"{plain(auto, 3)} {unit}: {parts}"
        if written == "auto":
            yield f"actors.{label}.strength: auto comes to {amount}"
        elif written == "unlimited":
            yield f"actors.{label}.strength: is unlimited; auto would come to {amount}"
        else:
            most = "at most " if isinstance(written, list) else ""
            own = f"{most}{plain(float(actuators.strength[a]), 3)} {unit}"
            yield f"actors.{label}.strength: is {own}; auto would come to {amount}"


def displaced(stage: Stage, compiled: Compiled, scene: Scene) -> Iterator[str]:
    """Bodies that are not where they were put, for their joints would not hold there. Where a joint says that its
    bodies are apart (`at_b`), this is no surprise."""
    joints, bodies = stage.joints, stage.bodies
    if joints is None:
        return
    together = [name for name, joint in scene.joints.items() if joint.at_b is not None]
    for island in range(len(joints.island) - 1):
        each = joints.each[joints.island[island, JOINT] : joints.island[island + 1, JOINT]]
        names = [compiled.joints[joint["index"]] for joint in each]
        if any(name in together for name in names):
            continue
        for i in joints.members[joints.island[island, MEMBER] : joints.island[island + 1, MEMBER]]:
            own = [name for name, joint in zip(names, each) if i in (joint["a"], joint["b"])]
            yield from _moved(compiled, bodies, int(i), own)


def _moved(compiled: Compiled, bodies: Bodies, i: int, joints: list[str]) -> Iterator[str]:
    name = compiled.bodies[i]
    body, whole = compiled.cast[name], compiled.solids[i]
    position, orientation = centre_of(whole, *start_of(body))
    shift = float(np.linalg.norm(bodies.position[i] - position))
    size = 2 * float(form(body.form).extent[RADIUS])
    turn = 2 * math.acos(min(1.0, abs(float(bodies.orientation[i] @ orientation))))
    by = [f"moved by {shift:.3g} m"] if shift > max(SHIFT, SHIFT_SHARE * size) else []
    by += [f"turned by {math.degrees(turn):.3g}°"] if turn > TURN else []
    if by:
        holders = f"its joints ({', '.join(joints)})" if len(joints) > 1 else f"joints.{joints[0]}"
        yield f"bodies.{name}: is {' and '.join(by)} before the start, to where {holders} can hold it"


def overlaps(stage: Stage, names: list[str], source: str) -> Iterator[str]:
    """Bodies that were placed into each other: deeper than any load would press them, or than the coatings they were
    given, or so that these press with many times their weight. What is stuck through a mesh is refused."""
    contacts, bodies = stage.contacts, stage.bodies
    if contacts is None:
        return
    count = contacts.near.info[COUNT]
    deep, depth = np.zeros(count, np.bool_), np.zeros((count, 2))
    _look_for_overlaps(bodies, contacts, deep, depth)
    pierced = list(_pierced(contacts, names, depth))
    if pierced:
        raise Problem(*(f"{source}: {line}" for line in pierced))
    for p in range(count):
        lightest = 1.0 / bodies.inverse_mass[contacts.pair[p]].max()
        given = contacts.touching[p] != 0.0 and contacts.material[p, FIRM] == 0.0
        if deep[p] or (given and contacts.place[p, LOAD] > PRESSED * lightest):
            one, other = (names[i] for i in contacts.pair[p])
            yield f"bodies.{one}: overlaps {other} at the start, and the two are pushed apart"


def _pierced(contacts: Contacts, names: list[str], depth: Floats) -> Iterator[str]:
    """What has come so deep into a mesh that its nearest way out may be the wrong one."""
    for (one, other), depths in zip(contacts.pair, depth):
        for i, j, deep in ((one, other, depths[1]), (other, one, depths[0])):
            if contacts.shapes.kind[i] == MESH and deep > PIERCED * contacts.extent[i, INNER]:
                yield (
                    f"bodies.{names[i]}: {names[j]} is stuck {1000 * deep:.3g} mm deep in its mesh at the start, and "
                    "could not be pushed out again; place them apart"
                )
                break


@kernel
def _look_for_overlaps(bodies, contacts, deep, depth_of):
    for p in range(len(deep)):
        a, b = contacts.pair[p, 0], contacts.pair[p, 1]
        kind = contacts.shapes.kind
        if kind[a] == MESH or kind[b] == MESH:
            allowed = DEEP * min(contacts.extent[a, INNER], contacts.extent[b, INNER])
            for side in range(2):
                i, j = contacts.pair[p, side], contacts.pair[p, 1 - side]
                depth_of[p, side] = deepest_point(
                    contacts.shapes,
                    contacts.samples,
                    i,
                    get3(bodies.position, i),
                    get4(bodies.orientation, i),
                    j,
                    get3(bodies.position, j),
                    get4(bodies.orientation, j),
                )
                deep[p] = deep[p] or depth_of[p, side] > allowed
            continue
        if contacts.extent[b, RADIUS] < contacts.extent[a, RADIUS]:
            a, b = b, a
        xa, xb = get3(bodies.position, a), get3(bodies.position, b)
        qa, qb = get4(bodies.orientation, a), get4(bodies.orientation, b)
        depth = contacts.material[p, LIMIT]
        if contacts.material[p, FIRM] > 0.0:  # the default, in which nothing lies deep
            depth = min(depth, DEEP * min(contacts.extent[a, INNER], contacts.extent[b, INNER]))
        depth *= 0.5  # where two overlap by a depth, no place is deeper than half of it in both
        deep[p] = overlap_by(contacts.shapes, a, xa, qa, b, xb, qb, contacts.extent[a, RADIUS], depth)


def _may_start_apart(scene: Scene) -> bool:
    """Whether a joint could begin anywhere else than where it holds."""
    return any(
        joint.kind not in ("ball", "hinge", "weld", "slide")
        or joint.at_b is not None
        or any(range_ is not None and not range_[0] <= 0 <= range_[1] for range_ in (joint.limits, joint.twist))
        for joint in scene.joints.values()
    )


def _may_overlap(scene: Scene) -> bool:
    """Whether the boxes around any two bodies that could collide overlap at the start; walkers are not looked into."""
    if scene.walkers:
        return True
    cast = {name: body for name, body in scene.bodies.items() if body.collides is not False}
    names, count = list(cast), len(cast)
    if count < 2:
        return False
    shapes = [body.form for body in cast.values()]
    kinds, extents = (arrays := make_shapes(shapes)).kind, make_extents(arrays)
    starts = [centre_of(solid_of(body), *start_of(body)) for body in cast.values()]
    centre, axes = np.array([at for at, _ in starts]), matrix_from_quaternion([turned for _, turned in starts])
    half = np.where((kinds == PLANE)[:, None], math.inf, 0.0)
    half = half + np.einsum("nij,nj->ni", abs(axes), extents[:, CORE:SKIN]) + extents[:, SKIN, None]
    free = np.array([body.moves_freely for body in cast.values()])
    tied = {frozenset(j.bodies) for j in scene.joints.values() if not j.collides and j.from_ in (None, 0.0)}
    for i in range(count):
        near = np.all(abs(centre - centre[i]) < half + half[i] - SLACK, axis=1) & (free | free[i])
        if kinds[i] == PLANE:
            up = axes[i, :, 2]
            reach = abs(up @ axes) * extents[:, CORE:SKIN]
            near &= (centre - centre[i]) @ up < reach.sum(axis=1) + extents[:, SKIN] - SLACK
        for j in np.flatnonzero(near):
            if kinds[j] != PLANE and j != i and frozenset((names[i], names[j])) not in tied:
                return True
    return False
