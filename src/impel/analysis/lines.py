"""Measures on lines in the plane and in space."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def distances(points: Floats, line: Floats) -> Floats:
    """How far each of the points (P, D) is from a polyline (L, D)."""
    begin, along = line[:-1], np.diff(line, axis=0)
    length = np.maximum((along**2).sum(axis=1), 1e-18)
    u = np.clip(((points[:, None] - begin) * along).sum(axis=-1) / length, 0, 1)
    return np.linalg.norm(points[:, None] - begin - u[..., None] * along, axis=-1).min(axis=1)
