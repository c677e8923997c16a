"""Orientations outside kernels: Euler angles, matrices and quaternions (w, x, y, z), as arrays of any leading shape."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def quaternion_from_euler(degrees: ArrayLike) -> Floats:
    """Blender's XYZ order: R = Rz·Ry·Rx, angles in degrees; any leading shape."""
    half = np.radians(np.asarray(degrees, float)) / 2
    cx, cy, cz = np.moveaxis(np.cos(half), -1, 0)
    sx, sy, sz = np.moveaxis(np.sin(half), -1, 0)
    return np.stack(
        [
            cx * cy * cz + sx * sy * sz,
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
        ],
        axis=-1,
    )


def euler_from_quaternion(q: ArrayLike) -> Floats:
    """Blender's XYZ order, in degrees; any leading shape."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    sine = np.clip(2 * (w * y - x * z), -1.0, 1.0)
    return np.degrees(
        np.stack(
            [
                np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
                np.arcsin(sine),
                np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
            ],
            axis=-1,
        )
    )


def matrix_from_quaternion(q: ArrayLike) -> Floats:
    """Rotation matrices (..., 3, 3) whose columns are the body's axes in the world."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
        ],
        -2,
    )


def multiply_quaternions(p: ArrayLike, q: ArrayLike) -> Floats:
    """First q, then p."""
    pw, px, py, pz = np.moveaxis(np.asarray(p, float), -1, 0)
    qw, qx, qy, qz = np.moveaxis(np.asarray(q, float), -1, 0)
    return np.stack(
        [
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ],
        axis=-1,
    )


def conjugate_quaternions(q: ArrayLike) -> Floats:
    """The inverse of unit quaternions."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])
