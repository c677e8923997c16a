"""What actuators bear at their levers: what holds a structure still, and how hard it is to move, by virtual work.

The structure answers a force as its joints let it: W = J·Φ·Jᵀ for Φ the inverse of its masses under its joints, and
J how the actuators' places move. What gravity does if nothing holds is b = J·Φ·g; so holding still takes W⁻¹·b. Both
are those of the law (control/law.py), which takes the same of them as worth pulling at.
"""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.law import BLOCKED, LEVERS, REFINED, felt_inertia
from impel.control.linkage import ROPE, Tie, wholes
from impel.control.specs import ActuatorSpec
from impel.kernel import replace
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.assembly import assemble
from impel.physics.bodies import Bodies
from impel.physics.gaps import APART
from impel.physics.joints import ANGULAR_A, ANGULAR_B, LINEAR, LIVE, Joints

Floats = NDArray[np.float64]

YIELDS = 1e-10  # of how a row of joints answers: rows that say nothing new share their load
MOST = 300  # bodies: the matrices of larger structures would be too large ...
LED = 40  # ... and it would take too long to lead them
MOST_POSES = 8  # on the way through keys


class Burden(NamedTuple):
    """Of one actuator."""

    need: float = 0.0  # N or N·m: what holds still, together with the other actuators of its structure
    inertia: float = 0.0  # kg or kg·m²: of all, as it is felt where that is moved most easily; 0 at a dead centre


class Load(NamedTuple):
    """What lies on a body, as if it were fixed to it."""

    mass: float
    place: Floats


def burdens(
    bodies: Bodies,
    joints: Joints,
    specs: Sequence[ActuatorSpec],
    whole: NDArray[np.int64],
    gravity: Sequence[float],
    loads: Mapping[int, Sequence[Load]] | None = None,
) -> list[Burden]:
    """What each actuator bears in the present pose; nothing in structures that are too large."""
    found = [Burden()] * len(specs)
    for number in dict.fromkeys(int(whole[spec.body]) for spec in specs):
        own = np.flatnonzero((whole == number) & (bodies.inverse_mass > 0.0))
        acting = [a for a, spec in enumerate(specs) if whole[spec.body] == number]
        if len(own) <= MOST:
            each = _of_structure(bodies, joints, own, [specs[a] for a in acting], np.array(gravity), loads or {})
            for a, burden in zip(acting, each):
                found[a] = burden
    return found


def borne_in_loops(
    bodies: Bodies, joints: Joints | None, specs: Sequence[ActuatorSpec], ties: Sequence[Tie], gravity: Sequence[float]
) -> list[Burden]:
    """The same for structures with more joints than hold them together: there levers are at work that no tree knows of.
    All others are left out."""
    if joints is None or not specs:
        return [Burden()] * len(specs)
    movable = bodies.inverse_mass > 0.0
    whole = wholes(len(movable), ties, movable)
    size = np.bincount(whole[movable], minlength=len(whole))
    count, held = np.zeros_like(size), np.zeros_like(size)
    for tie in ties:
        if tie.begins and tie.kind != ROPE:
            number = whole[tie.a] if movable[tie.a] else whole[tie.b]
            count[number] += 1
            held[number] |= not (movable[tie.a] and movable[tie.b])
    loops = (count > size - 1 + held)[whole]
    chosen = [a for a, spec in enumerate(specs) if loops[spec.body]]
    found = [Burden()] * len(specs)
    for a, burden in zip(chosen, burdens(bodies, joints, [specs[a] for a in chosen], whole, gravity)):
        found[a] = burden
        alone = sum(whole[specs[b].body] == whole[specs[a].body] for b in chosen) == 1
        if alone and size[whole[specs[a].body]] <= LED:
            ways = [
                burdens(*pose, [specs[a]], whole, gravity)[0].need for pose in _on_its_way(bodies, joints, specs[a])
            ]
            found[a] = burden._replace(need=max(burden.need, *ways, 0.0))
    return found


def _on_its_way(bodies: Bodies, joints: Joints, spec: ActuatorSpec) -> Iterator[tuple[Bodies, Joints]]:
    """The poses that an actuator leads to along its keys, as far as joints follow."""
    if spec.course is not None or spec.framed or spec.against is not None:
        return
    i, turns, even = spec.body, spec.kind == "turn", joints.spare.even[spec.body].copy()
    sides = [pair for pair in zip(spec.keys, spec.keys[1:]) if not np.allclose(*pair)]
    share = np.linspace(0.0, 1.0, max(MOST_POSES // max(len(sides), 1), 1) + 1)[1:]
    for key in [(1.0 - u) * a + u * b * (math.copysign(1.0, a @ b) if turns else 1.0) for a, b in sides for u in share]:
        position, orientation = bodies.position.copy(), bodies.orientation.copy()
        if turns:
            orientation[i] = key / np.linalg.norm(key)
        else:
            position[i] = key - matrix_from_quaternion(orientation[i]) @ np.asarray(spec.point, float)
        firm, ties = copy.deepcopy(bodies), copy.deepcopy(joints)  # what is led stays where it is led
        (firm.inverse_inertia if turns else firm.inverse_mass)[i] = 0.0
        ties.spare.even[i, slice(1, 4) if turns else 0] = 0.0
        led, joints = posed(firm, ties, position, orientation)
        if not np.all(joints.apart <= APART):
            return
        bodies = replace(led, inverse_mass=bodies.inverse_mass, inverse_inertia=bodies.inverse_inertia)
        joints.spare.even[i] = even
        yield bodies, joints


def posed(bodies: Bodies, joints: Joints, position: Floats, orientation: Floats) -> tuple[Bodies, Joints]:
    """Copies of both, as they are in another pose."""
    bodies, joints = copy.deepcopy(bodies), copy.deepcopy(joints)
    bodies.position[: len(position)] = position
    bodies.orientation[: len(orientation)] = orientation
    bodies.velocity[:] = bodies.spin[:] = bodies.momentum[:] = 0.0
    assemble(bodies, joints)
    return bodies, joints


def _of_structure(
    bodies: Bodies,
    joints: Joints,
    own: NDArray[np.int64],
    specs: Sequence[ActuatorSpec],
    gravity: Floats,
    loads: Mapping[int, Sequence[Load]],
) -> list[Burden]:
    column = {int(i): 6 * k for k, i in enumerate(own)}
    weight, half = np.zeros(6 * len(own)), np.zeros((6 * len(own), 6 * len(own)))  # half: L⁻¹ of masses L·Lᵀ
    masses = {}
    for i, k in column.items():
        turn = matrix_from_quaternion(bodies.orientation[i])
        mass = np.zeros((6, 6))
        mass[3:, 3:] = turn @ np.diag(bodies.inertia[i]) @ turn.T
        for load in (Load(float(bodies.mass[i]), bodies.position[i]), *loads.get(i, ())):
            along = np.hstack([np.eye(3), -_crossed(load.place - bodies.position[i])])
            mass += load.mass * along.T @ along
            weight[k : k + 6] += load.mass * along.T @ gravity
        masses[i] = mass
        half[k : k + 6, k : k + 6] = np.linalg.inv(np.linalg.cholesky(mass))
    rows = _rows(joints, column) @ half.T
    moves, pushes = (np.vstack([_drive(bodies, spec, column, pushed) for spec in specs]) for pushed in (False, True))
    free = _under(rows, np.column_stack([half @ pushes.T, half @ weight]))
    answer, anyway = moves @ half.T @ free[:, :-1], moves @ half.T @ free[:, -1]
    total = sum(float(mass[0, 0]) for mass in masses.values())
    wholes_felt = [_as_one(bodies, spec, masses, total) for spec in specs]
    law = felt_inertia.py_func  # not worth compiling
    felt = [law(float(np.trace(_part(answer, k))), whole) for k, whole in enumerate(wholes_felt)]
    size = np.sqrt(np.repeat(felt, 3))
    force = size * _forces(size[:, None] * answer * size, -size * anyway)
    easiest = [float(np.linalg.eigvalsh(_part(answer, k))[-1]) for k in range(len(specs))]
    return [
        Burden(float(np.linalg.norm(force[3 * k : 3 * k + 3])), 1.0 / ease if ease * one * LEVERS > BLOCKED else 0.0)
        for k, (ease, one) in enumerate(zip(easiest, wholes_felt))
    ]


def _rows(joints: Joints, column: Mapping[int, int]) -> Floats:
    """How the rows of joints that hold open as bodies move, each row of length one."""
    lines = []
    for joint in joints.each:
        for r in range(joint["row"], joint["row_end"]):
            if joints.rows[r, LIVE] == 0.0 or not {int(joint["a"]), int(joint["b"])} & column.keys():
                continue
            line = np.zeros(6 * len(column))
            for i, sign, angular in ((int(joint["a"]), 1.0, ANGULAR_A), (int(joint["b"]), -1.0, ANGULAR_B)):
                if i in column:
                    k = column[i]
                    line[k : k + 3] += sign * joints.rows[r, LINEAR : LINEAR + 3]
                    line[k + 3 : k + 6] += joints.rows[r, angular : angular + 3]
            lines.append(line)
    return np.array(lines).reshape(-1, 6 * len(column))


def _drive(bodies: Bodies, spec: ActuatorSpec, column: Mapping[int, int], pushed: bool) -> Floats:
    """How an actuator's place moves as bodies do; or how they are `pushed` by it."""
    part, k = np.zeros((3, 6 * len(column))), column[spec.body]
    if spec.kind == "turn":
        part[:, k + 3 : k + 6] = np.eye(3)
        if spec.against is not None and spec.against in column:
            other = column[spec.against]
            part[:, other + 3 : other + 6] -= np.eye(3)
        return part
    part[:, k : k + 3] = np.eye(3)
    if spec.pulled or not pushed:
        arm = matrix_from_quaternion(bodies.orientation[spec.body]) @ np.asarray(spec.point, float)
        part[:, k + 3 : k + 6] = -_crossed(arm)
    return part


def _under(rows: Floats, wishes: Floats) -> Floats:
    """What joints leave of motions, each a column; masses are one."""
    if len(rows) == 0:
        return wishes
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1), np.finfo(float).tiny)[:, None]
    support = rows @ rows.T
    support[np.diag_indices(len(support))] *= 1.0 + YIELDS
    for _ in range(2):  # once more, for what the rows yield
        wishes = wishes - rows.T @ np.linalg.solve(support, rows @ wishes)
    return wishes


def _as_one(bodies: Bodies, spec: ActuatorSpec, masses: Mapping[int, Floats], total: float) -> float:
    """The inertia that an actuator would feel if all were one body."""
    if spec.kind == "move":
        return total
    arms = {i: float(np.linalg.norm(bodies.position[i] - bodies.position[spec.body])) for i in masses}
    own = float(np.linalg.eigvalsh(masses[spec.body][3:, 3:])[-1])
    return own + sum(float(mass[0, 0]) * arms[i] ** 2 for i, mass in masses.items())


def _part(answer: Floats, k: int) -> Floats:
    return 0.5 * (answer + answer.T)[3 * k : 3 * k + 3, 3 * k : 3 * k + 3]


def _forces(answer: Floats, accelerations: Floats) -> Floats:
    """The forces that accelerations take, as far as they are worth it (see control/law.py)."""
    left, sizes, right = np.linalg.svd(answer)
    sizes = np.maximum(sizes, np.finfo(float).tiny)
    worth = (1.0 - (BLOCKED**2 / (sizes**2 + BLOCKED**2)) ** REFINED) / sizes
    forces: Floats = right.T @ (worth * (left.T @ accelerations))
    return forces


def _crossed(v: Floats) -> Floats:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
