"""Takes of balls that are pressed flat, in closed form: bouncing, spinning, rolling, at rest."""

import numpy as np

from impel.geometry.meshes import mesh_of
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.takes import Take
from impel.takes.soft import pack
from impel.takes.take import SOFT_VERSION

RADIUS = 0.2
MESH = mesh_of({"sphere": RADIUS}, segments=32)


def flattened(depth, turn):
    """Which vertices a ball that was turned so has moved, how far, and their normals: flat below, wider about it."""
    vertices, normals = MESH[0] @ turn.T, MESH[1] @ turn.T
    above = vertices[:, 2] + RADIUS - depth
    patch = np.sqrt(2 * RADIUS * depth)
    wide = np.hypot(vertices[:, 0], vertices[:, 1])
    shift = 0.03 * depth * normals * np.clip(above / patch, 0, 1)[:, None]
    bulge = 0.3 * depth * np.exp(-((np.maximum(above, 0) / patch) ** 2)) * np.minimum(wide / patch, 1)
    shift[:, :2] += vertices[:, :2] * (bulge / np.maximum(wide, 1e-9))[:, None]
    shift[:, 2] += np.maximum(-above - shift[:, 2], 0)
    facing = np.where((above <= 0)[:, None], [0.0, 0.0, -1.0], normals)
    return np.arange(len(vertices)), shift @ turn, facing @ turn


def ball_take(depths, turns, steps=0.0):
    """A ball whose lowest point is so deep in the ground z = 0, or above it, turned about y by `turns`."""
    depths, frames = np.asarray(depths, float), len(depths)
    position = np.zeros((frames, 1, 3))
    position[:, 0, 0] = steps * np.arange(frames)
    position[:, 0, 2] = RADIUS - depths
    orientation = quaternion_from_euler(np.stack([0 * depths + 20, np.degrees(turns) + 0 * depths, 0 * depths], -1))
    nothing = np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3))
    moved = [
        flattened(depth, matrix_from_quaternion(q)) if depth > 0 else nothing for depth, q in zip(depths, orientation)
    ]
    return Take(
        np.arange(frames) / 60,
        ["ball"],
        position,
        orientation[:, None],
        [{"sphere": RADIUS}],
        ["#f2a541"],
        soft=pack("ball", MESH, moved),
        version=SOFT_VERSION,
    )


def bounce(spin=0.0, touches=3):
    """Three bounces, each of eleven frames in the ground and twenty above it."""
    touch = np.sin(np.pi * (np.arange(11) + 0.5) / 11)
    air = -np.sin(np.pi * (np.arange(20) + 0.5) / 20)
    depths = np.concatenate([np.concatenate([0.3 * air, (0.06 - 0.015 * k) * touch]) for k in range(touches)])
    return ball_take(np.append(depths, -0.01), spin * np.arange(len(depths) + 1))


CASES = {
    "bounces": bounce,
    "bounces and spins": lambda: bounce(0.15),
    "rolls": lambda: ball_take(np.full(40, 0.03), 0.12 * np.arange(40), 0.12 * RADIUS),
    "comes to rest": lambda: ball_take(0.03 * (1 - np.exp(-np.arange(240) / 6)), 0.3),
    "lies there": lambda: ball_take(np.full(5, 0.03), 0.3),
    "is touched once": lambda: ball_take([-0.1, 0.02, -0.1], 0.3),
    "one frame": lambda: ball_take([0.03], 0.3),
}
