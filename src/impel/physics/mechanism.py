"""A jointed structure as it could be elsewhere: how its rows act, where its bodies can go, how other joints would do.

All is in metres: turns are times how far a body reaches, and so are the gaps of rows that hold turns. What weighs how
much does not matter.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.kernel import replace
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.bodies import Bodies
from impel.physics.joint_rows import look
from impel.physics.joints import (
    ANGULAR_A,
    ANGULAR_B,
    AT_A,
    AT_B,
    FRAME_A,
    FRAME_B,
    HOLDS,
    JOINT,
    LINEAR,
    MEMBER,
    ON_CURVE,
    ON_SURFACE,
    Joints,
)

Floats = NDArray[np.float64]

CLOSINGS = 40  # iterations that close the gaps after a step, with the directions before: 10 are usual
CLOSED = 1e-13  # of the structure: gaps that are none


Place = tuple[Floats, Floats, Floats]  # position, orientation, coordinate


class Pose(NamedTuple):
    """Where the bodies of a structure are, and what its rows say there."""

    position: Floats
    orientation: Floats
    coordinate: Floats
    residual: Floats  # (R,)
    acts: Floats  # (R, C) on speeds
    values: Floats  # (R,) singular values of that, the largest first; small ones are right to 1e-7 ...
    left: Floats  # (R, R) ... and vectors, a column each


class Mechanism:
    """An island of joints, limits, springs and friction aside, on copies of where its bodies and joints are."""

    def __init__(self, bodies: Bodies, joints: Joints, island: int) -> None:
        moved, tried = ("position", "orientation"), ("fixed", "coordinate", "normal", "rows", "change")
        self.bodies = replace(bodies, **{name: getattr(bodies, name).copy() for name in moved})
        self.joints = replace(joints, **{name: getattr(joints, name).copy() for name in tried})
        self.members = joints.members[joints.island[island, MEMBER] : joints.island[island + 1, MEMBER]]
        self.size = float(joints.size[island])
        self.begin, self.end = int(joints.island[island, JOINT]), int(joints.island[island + 1, JOINT])
        self.arm = np.ones(len(bodies.mass))
        self.arm[self.members] = joints.spare.even[self.members, 1] ** -0.5
        self.firm = firm_joints(joints, island)
        each = joints.each
        owned = [[r for r in _rows(each[k]) if r != each[k]["limit"]][: each[k]["firm"]] for k in self.firm]
        self.row = np.array([r for own in owned for r in own], int)
        self.owner = np.repeat(np.arange(len(owned)), [len(own) for own in owned])  # place of its joint in `firm`
        ends = each[self.firm][self.owner]
        turns = ~np.any(joints.rows[self.row, LINEAR : LINEAR + 3], axis=1)
        reach = [np.where(bodies.inverse_mass[ends[side]] > 0.0, self.arm[ends[side]], 0.0) for side in "ab"]
        self.unit = np.where(turns, np.maximum(*reach), 1.0)  # m
        place = np.full(len(bodies.mass), -1)
        place[self.members] = np.arange(len(self.members))
        self.sides = []
        for side, sign, columns in (("a", 1.0, ANGULAR_A), ("b", -1.0, ANGULAR_B)):
            own = np.flatnonzero(place[ends[side]] >= 0)
            self.sides.append((own, place[ends[side][own]], sign, columns))
        self.written = joints.fixed[self.firm]
        self.start = self.look(bodies.position, bodies.orientation, joints.coordinate)

    def index(self, n: int) -> int:
        """Of a firm joint, as it was written."""
        return int(self.joints.each[self.firm[n]]["index"])

    def aim(self, position: Floats, orientation: Floats, coordinate: Floats) -> tuple[Floats, Floats]:
        """What the rows say of bodies that are there: how far each is from being met, and how it acts on speeds."""
        bodies, joints = self.bodies, self.joints
        bodies.position[:], bodies.orientation[:], joints.coordinate[:] = position, orientation, coordinate
        look(bodies, joints, self.begin, self.end, True)
        rows = joints.rows[self.row] * self.unit[:, None]
        acts = np.zeros((len(self.row), len(self.members), 6))
        for own, member, sign, couple in self.sides:
            acts[own, member, :3] = sign * rows[own, LINEAR : LINEAR + 3]
            acts[own, member, 3:] = rows[own, couple : couple + 3] / self.arm[self.members[member], None]
        return joints.change[self.row] * self.unit, acts.reshape(len(self.row), -1)

    def look(self, position: Floats, orientation: Floats, coordinate: Floats) -> Pose:
        residual, acts = self.aim(position, orientation, coordinate)
        kept = self.joints.coordinate.copy()
        squares, left = np.linalg.eigh(acts @ acts.T)  # many times as fast as the singular values themselves
        values = np.sqrt(np.maximum(squares[::-1], 0.0))
        return Pose(position.copy(), orientation.copy(), kept, residual, acts, values, left[:, ::-1])

    def free(self, least: float) -> Floats:
        """The directions in which bodies can go at the start, a row each: those of smaller singular values."""
        squares, ways = np.linalg.eigh(self.start.acts.T @ self.start.acts)
        found: Floats = ways[:, np.sqrt(np.maximum(squares, 0.0)) <= least].T
        return found

    def moved(self, place: Place, way: Floats) -> Place:
        position, orientation, coordinate = (each.copy() for each in place)
        way = way.reshape(-1, 6)
        position[self.members] += way[:, :3]
        turn = turned_by(way[:, 3:] / self.arm[self.members, None])
        orientation[self.members] = multiply_quaternions(turn, orientation[self.members])
        return position, orientation, coordinate

    def closed(self, pose: Pose, rank: int, least: float) -> Pose | None:
        """With the gaps closed that so many directions, the strongest, can close; unless one gets weaker than that."""
        values, left, held = pose.values[:rank], pose.left[:, :rank], across(pose, rank)
        place = pose[:3]
        for _ in range(CLOSINGS):
            wrong = left.T @ self.aim(*place)[0]
            if abs(wrong).max(initial=0.0) <= CLOSED * self.size:
                found = self.look(*place)
                return found if found.values[:rank].min(initial=least) >= least else None
            place = self.moved(place, -(wrong / values) @ held)
        return None

    def change(self, n: int, change: Floats) -> None:
        """Shift a firm joint by so much of the size, and turn it, as all is placed at the start: no gap opens there."""
        k, written = self.firm[n], self.written[n]
        joint, fixed = self.joints.each[k], self.joints.fixed[k]
        if joint["kind"] in (ON_CURVE, ON_SURFACE):  # their forms stay as they are
            return
        (a, b), (place, turned) = (joint["a"], joint["b"]), self.start[:2]
        axes_a, axes_b = matrix_from_quaternion(turned[a]), matrix_from_quaternion(turned[b])
        shift, turn = change[:3] * self.size, turned_by(change[3:])
        point = place[a] + axes_a @ written[AT_A : AT_A + 3]
        other = place[b] + axes_b @ written[AT_B : AT_B + 3]
        fixed[AT_A : AT_A + 3] = axes_a.T @ (point + shift - place[a])
        fixed[AT_B : AT_B + 3] = axes_b.T @ (point + shift + matrix_from_quaternion(turn) @ (other - point) - place[b])
        for i, at in ((a, FRAME_A), (b, FRAME_B)):
            frame = multiply_quaternions(turn, multiply_quaternions(turned[i], written[at : at + 4]))
            fixed[at : at + 4] = multiply_quaternions(turned[i] * (1, -1, -1, -1), frame)

    def answers(self, poses: list[Pose], changes: Floats) -> Floats:
        """(P, R, 6 J) how the residuals in some poses change with the changes of the firm joints, from these on."""
        bodies, joints, step = self.bodies, self.joints, 1e-6
        found = np.zeros((len(poses), len(self.row), 6 * len(self.firm)))
        for n, k in enumerate(self.firm):
            own = np.flatnonzero(self.owner == n)
            for c in range(6):
                for way in (step, -step):
                    self.change(n, changes[n] + way * np.eye(6)[c])
                    for answer, pose in zip(found, poses):
                        bodies.position[:], bodies.orientation[:], joints.coordinate[:] = pose[:3]
                        look(bodies, joints, k, k + 1, False)
                        answer[own, 6 * n + c] += joints.change[self.row[own]] * self.unit[own] / (2 * way)
            self.change(n, changes[n])
        return found


def firm_joints(joints: Joints, island: int) -> list[int]:
    """The joints of an island that hold something whatever happens, as long as they are there."""
    each = joints.each
    whole = range(joints.island[island, JOINT], joints.island[island + 1, JOINT])
    return [k for k in whole if joints.broken[each[k]["index"]] == HOLDS and each[k]["firm"] > 0]


def has_loops(joints: Joints, island: int) -> bool:
    """Whether joints of an island hold some body in two ways; where none do, all their rows say something new."""
    members = joints.members[joints.island[island, MEMBER] : joints.island[island + 1, MEMBER]].tolist()
    root = {i: i for i in members}

    def top(i: int) -> int:
        while root.get(i, i) != i:
            i = root[i]
        return i if i in root else -1  # what cannot move is all one

    for k in firm_joints(joints, island):
        low, high = sorted((top(int(joints.each[k]["a"])), top(int(joints.each[k]["b"]))))
        if low == high:
            return True
        root[high] = low
    return False


def across(pose: Pose, rank: int) -> Floats:
    """The strongest directions in which bodies cannot go, a row each."""
    directions: Floats = (pose.left[:, :rank].T @ pose.acts) / pose.values[:rank, None]
    return directions


def turned_by(vectors: Floats) -> Floats:
    """Quaternions of rotation vectors."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def _rows(joint: np.void) -> range:
    return range(joint["row"], joint["row_end"])
