"""Orientations outside kernels: Euler angles, matrices and quaternions (w, x, y, z), as arrays of any leading shape."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LOCKED = 1e-9  # of a quaternion: with less left to tell an angle by, it is rounding that tells


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


def euler_from_quaternions(q: ArrayLike) -> Floats:
    """Blender's XYZ order, in degrees, of frames (F, ..., 4) one after the other.

    Every orientation has two triples of angles, each up to whole turns: a frame has the one nearest to the frame before
    it, the first one that with -90 to 90 degrees about y. At 90 degrees about y only the sum or the difference of the
    other two angles is given, and they change as little as they can.
    """
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    # Half the sum of the angles about x and z, and half their difference: each is sharp where the other is not.
    most, least = np.hypot(w + y, x - z), np.hypot(w - y, x + z)
    middle = np.radians(-90.0) + 2 * np.arctan2(most, least)
    total, apart = np.arctan2(x + z, w - y), np.arctan2(x - z, w + y)
    size = np.hypot(most, least)
    angles = np.empty((*w.shape, 3))
    before = np.zeros((*w.shape[1:], 3))
    for frame in range(len(angles)):
        half, rest = total[frame], apart[frame]
        past_half, past_rest = (before[..., 0] + before[..., 2]) / 2, (before[..., 0] - before[..., 2]) / 2
        if frame == 0:  # nothing about z where it does not matter
            past_half, past_rest = rest, half
        half = np.where(least[frame] < LOCKED * size[frame], past_half, half)
        rest = np.where(most[frame] < LOCKED * size[frame], past_rest, rest)
        one = np.stack([half + rest, middle[frame], half - rest], axis=-1)
        other = np.stack([one[..., 0] + np.pi, np.pi - one[..., 1], one[..., 2] + np.pi], axis=-1)
        one, other = (triple - 2 * np.pi * np.round((triple - before) / (2 * np.pi)) for triple in (one, other))
        near, far = (np.square(triple - before).sum(axis=-1, keepdims=True) for triple in (one, other))
        angles[frame] = one if frame == 0 else np.where(near <= far, one, other)
        before = np.where(np.isnan(angles[frame]), before, angles[frame])
    return np.degrees(angles)


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


def quaternion_from_matrix(m: Floats) -> Floats:
    """The rotation that has this matrix (3, 3), w not negative."""
    square = (
        np.array(
            [
                1 + m[0, 0] + m[1, 1] + m[2, 2],
                1 + m[0, 0] - m[1, 1] - m[2, 2],
                1 - m[0, 0] + m[1, 1] - m[2, 2],
                1 - m[0, 0] - m[1, 1] + m[2, 2],
            ]
        )
        / 4
    )
    products = (
        np.array(
            [
                [0.0, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
                [m[2, 1] - m[1, 2], 0.0, m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]],
                [m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], 0.0, m[2, 1] + m[1, 2]],
                [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], 0.0],
            ]
        )
        / 4
    )
    largest = int(square.argmax())
    products[largest, largest] = square[largest]
    q = products[largest] / np.sqrt(square[largest])
    return np.asarray(q / np.linalg.norm(q) * (1.0 if q[0] >= 0 else -1.0))


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


def turns_between(p: ArrayLike, q: ArrayLike) -> Floats:
    """The rotation vectors, in the world, that lead from orientations p to q along the shorter way."""
    turn = multiply_quaternions(q, conjugate_quaternions(p))
    turn = np.where(turn[..., :1] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
    return turn[..., 1:] * np.where(sine > 1e-12, 2 * np.arctan2(sine, turn[..., :1]) / np.maximum(sine, 1e-12), 2.0)
