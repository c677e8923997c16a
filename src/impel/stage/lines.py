"""The joints that are seen, for a take: wires and rails that points slide on, ropes that hold them."""

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.joints import (
    AT_A,
    AT_B,
    FRAME_A,
    FRAME_B,
    IN_SPHERE,
    LOWER,
    ON_CURVE,
    ON_SEGMENT,
    SLIDE,
    UPPER,
    Joints,
)
from impel.scene.values import WORLD
from impel.stage.compile import Compiled

Floats = NDArray[np.float64]
Lines = dict[str, Floats]

STEPS = 8  # straight pieces between two points of a wire


def lines_of(
    joints: Joints | None,
    compiled: Compiled,
    time: Floats,
    position: Floats,
    orientation: Floats,
    broke: dict[str, float],
) -> tuple[Lines, Lines, Lines]:
    """Wires by "body.joint", in the frame of the body; ropes by joint, where their ends are (F, 2, 3); their slack.

    `position` and `orientation` are those of the shapes, over the whole take. A rope that `broke` at some time hangs
    from the second body alone.
    """
    wires: Lines = {}
    ropes: Lines = {}
    slack: Lines = {}
    if joints is None:
        return wires, ropes, slack
    for k in np.argsort(joints.each["index"]):  # as they were written
        joint, fixed = joints.each[k], joints.fixed[k]
        name, a, b = compiled.joints[joint["index"]], int(joint["a"]), int(joint["b"])
        if joint["kind"] == ON_CURVE and joints.curves is not None:
            curve = _points_on(joints.curves[joint["knot"] : joint["last_knot"] + 1])
            wires[f"{compiled.bodies[b]}.{name}"] = _in_shape(compiled, b, curve)
        elif joint["kind"] == ON_SEGMENT:
            start = fixed[AT_B : AT_B + 3]
            along = matrix_from_quaternion(fixed[FRAME_B : FRAME_B + 4])[:, 2]
            wires[f"{compiled.bodies[b]}.{name}"] = _in_shape(compiled, b, start + np.outer([0, fixed[UPPER]], along))
        elif joint["kind"] == SLIDE and np.all(np.isfinite(fixed[LOWER : UPPER + 1])):
            along = matrix_from_quaternion(fixed[FRAME_A : FRAME_A + 4])[:, 2]
            ends = fixed[AT_A : AT_A + 3] + np.outer(fixed[LOWER : UPPER + 1], along)
            wires[f"{compiled.bodies[a]}.{name}"] = _in_shape(compiled, a, ends)
        elif joint["kind"] == IN_SPHERE:
            tips = []
            for body, at in ((a, fixed[AT_A : AT_A + 3]), (b, fixed[AT_B : AT_B + 3])):
                point = _in_shape(compiled, body, at)
                if compiled.bodies[body] == WORLD:
                    tips.append(np.tile(point, (len(position), 1)))
                else:
                    tips.append(position[:, body] + matrix_from_quaternion(orientation[:, body]) @ point)
            hangs = time >= broke.get(name, np.inf)
            tips[0][hangs] = tips[1][hangs]
            ropes[name] = np.stack(tips, axis=1)
            slack[f"{name}.slack"] = np.maximum(fixed[UPPER] - np.linalg.norm(tips[1] - tips[0], axis=-1), 0.0)
    return wires, ropes, slack


def _in_shape(compiled: Compiled, body: int, points: Floats) -> Floats:
    """From the frame of a body's principal axes to that of its shape."""
    if compiled.bodies[body] == WORLD:
        return points
    whole = compiled.solids[body]
    return points @ matrix_from_quaternion(whole.rotation).T + whole.offset


def _points_on(curve: Floats) -> Floats:
    """Points along a spline of `physics.curve`: each row is where a piece begins, and its cubic coefficients."""
    begin, coefficients = curve[:, 0], curve[:, 1:].reshape(-1, 4, 3)
    u = np.linspace(0, 1, STEPS, endpoint=False) * np.diff(begin)[:, None]
    powers = u[..., None] ** np.arange(4)
    inner = np.einsum("pun,pnk->puk", powers, coefficients[:-1]).reshape(-1, 3)
    return np.concatenate([inner, coefficients[-1:, 0]])
