"""Takes on closed-form paths, for tests: every kind of shape, moving and turning, with all that a take can hold."""

import numpy as np

from impel.motion.orientations import quaternion_from_euler
from impel.takes import PALETTE, Take

SHAPES = [
    {"sphere": 0.2},
    {"box": [0.4, 0.3, 0.35]},
    {"capsule": {"radius": 0.12, "length": 0.35}},
    {"cylinder": {"radius": 0.2, "length": 0.25}},
]


def parade(bodies: int = 30, frames: int = 61, fps: float = 30.0) -> Take:
    """Bodies on rings above a plane, hopping and spinning; one box stands still."""
    time = np.arange(frames) / fps
    n = bodies - 2
    k = np.arange(n)
    ring = 0.9 + 0.65 * (k % 3)
    angle = 2 * np.pi * k / n + 0.4 * time[:, None] * np.where(k % 2, 1, -1)
    height = 0.3 + 0.5 * np.abs(np.sin(2 * time[:, None] + k))
    moving = np.stack([ring * np.cos(angle), ring * np.sin(angle), height], axis=-1)
    euler = np.stack(
        [120 * time[:, None] + 20 * k, 40 * np.sin(time[:, None] + k), 200 * time[:, None] + 0 * k], axis=-1
    )
    position = np.zeros((frames, bodies, 3))
    orientation = np.zeros((frames, bodies, 4))
    orientation[..., 0] = 1
    position[:, 1] = [0, 0, 0.25]
    position[:, 2:] = moving
    orientation[:, 2:] = quaternion_from_euler(euler)
    orientation[1::2, 2:] *= -1  # the same rotations: writers must not be confused by the sign
    return Take(
        time=time,
        names=["ground", "pedestal", *(f"body {i}" for i in range(n))],
        position=position,
        orientation=orientation,
        shapes=[{"plane": {}}, {"box": [0.6, 0.6, 0.5]}, *(SHAPES[i % 4] for i in range(n))],
        colors=["#d4d0c8", "#8d99a6", *(PALETTE[i % len(PALETTE)] for i in range(n))],
        events=[{"time": 0.5, "kind": "key reached", "subject": "body 0", "details": {"key": 1}}],
        channels={"body 0.move.distance": np.sin(time), "energy": 3 + 0 * time},
        tracks={"body 0.move.target": moving[:, 0] + [0.2, 0, 0.1]},
        paths={"body 0.move": moving[:, 0].copy()},
    )
