"""The rows of joints as whole matrices, for questions that are asked once, before the first step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.bodies import Bodies
from impel.physics.joints import ANGULAR_A, ANGULAR_B, JOINT, LINEAR, LIVE, Joints

Floats = NDArray[np.float64]

DETERMINED = 1e-6  # of a state of stress that needs no load from outside: a joint with less has no part in it
MOST_ROWS = 1000  # of an island, that are worth a second of thought


class _Rows(NamedTuple):
    """R rows of an island over its bodies: how they act on speeds, these scaled by the roots of masses and inertias."""

    acts: Floats  # (R, 6 B)
    owner: NDArray[np.int64]  # (R,) joint, as written
    live: NDArray[np.bool_]  # (R,)
    stiffness: Floats  # (R,) of its spring


def _islands(bodies: Bodies, joints: Joints) -> list[_Rows]:
    found = []
    for begin, end in zip(joints.island[:, JOINT], joints.island[1:, JOINT]):
        each = joints.each[begin:end]
        column = {int(i): 6 * n for n, i in enumerate(np.unique([each["a"], each["b"]]))}
        rows: list[Floats] = []
        owner, stiffness, at = [], [], []
        for joint in each:
            soft = range(0)
            if joint["soft"] >= 0 and joints.soft is not None:
                one = joints.soft[joint["soft"]]
                soft = range(one["row"], one["row"] + one["count"])
            for r in range(joint["row"], joint["row_end"]):
                acts = np.zeros(6 * len(column))
                for body, sign, couple in ((joint["a"], 1.0, ANGULAR_A), (joint["b"], -1.0, ANGULAR_B)):
                    if bodies.inverse_mass[body] > 0.0:
                        c = column[int(body)]
                        axes = matrix_from_quaternion(bodies.orientation[body])
                        row = joints.rows[r]
                        acts[c : c + 3] = sign * row[LINEAR : LINEAR + 3] * np.sqrt(bodies.inverse_mass[body])
                        turning = axes.T @ row[couple : couple + 3]
                        acts[c + 3 : c + 6] = turning * np.sqrt(bodies.inverse_inertia[body])
                rows.append(acts)
                owner.append(joint["index"])
                stiffness.append(float(one["stiffness"]) if r in soft else 0.0)
                at.append(r)
        live = joints.rows[at, LIVE] != 0.0
        found.append(_Rows(np.array(rows), np.array(owner), live, np.array(stiffness)))
    return found


def undetermined(bodies: Bodies, joints: Joints) -> list[int]:
    """The joints, as they were written, whose share of the load cannot be told: others hold the same bodies in the same
    way, and the joints could pull at each other without any load. After `assemble`."""
    found: set[int] = set()
    for acts, owner, live, _ in _islands(bodies, joints):
        held = acts[live]
        held = held / np.maximum(np.linalg.norm(held, axis=1), 1e-300)[:, None]
        stress, size, _ = np.linalg.svd(held)
        stress = stress[:, np.sum(size > DETERMINED) :]
        found |= {int(j) for j, share in zip(owner[live], stress) if np.linalg.norm(share) > DETERMINED}
    return sorted(found)


def spring_rates(bodies: Bodies, joints: Joints) -> Floats:
    """How fast each spring of the joints alone would swing what it moves, as all is placed, in radians a second, in the
    order of `soft`. After `assemble`. In very large structures, as if nothing else held its bodies."""
    rates = np.zeros(0 if joints.soft is None else len(joints.soft))
    soft = {int(joint["index"]): int(joint["soft"]) for joint in joints.each}
    for acts, owner, live, stiffness in _islands(bodies, joints) if len(rates) else ():
        springs = acts[stiffness > 0.0] * np.sqrt(stiffness[stiffness > 0.0])[:, None]
        held = acts[live & (stiffness == 0.0)]
        if len(springs) and 0 < len(held) <= MOST_ROWS:
            held = held / np.maximum(np.linalg.norm(held, axis=1), 1e-300)[:, None]
            _, size, free = np.linalg.svd(held)
            springs = springs @ free[np.sum(size > DETERMINED) :].T
        for j, spring in zip(owner[stiffness > 0.0], springs):
            rates[soft[int(j)]] = max(rates[soft[int(j)]], float(np.linalg.norm(spring)))
    return rates
