"""What paper 003 prints, in plain numpy, to stand beside what impel does."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from impel.scene.derived import Drive

Floats = NDArray[np.float64]
Force = Callable[[Floats, Floats], Floats]  # acceleration from position and velocity


def newton(position: Floats, velocity: Floats, force: Force, dt: float) -> tuple[Floats, Floats]:
    """Eqs. 11 and 12: exact as long as the force is constant."""
    change = force(position, velocity) * dt
    return position + (velocity + 0.5 * change) * dt, velocity + change


def euler(position: Floats, velocity: Floats, force: Force, dt: float) -> tuple[Floats, Floats]:
    """What the paper's authors used before."""
    return position + velocity * dt, velocity + force(position, velocity) * dt


def pull(numbers: Drive, target: Floats) -> Force:
    """Eq. 2, for a mass of 1."""
    stiffness, damping = 2 * numbers.alpha / numbers.relaxation**2, 2 * numbers.beta / numbers.relaxation
    return lambda position, velocity: stiffness * (target - position) - damping * velocity


def chase(path: Floats, numbers: Drive, dt: float, seconds: float) -> tuple[Floats, Floats]:
    """Section 2: a body follows a polyline (P, 3), its target found by binary search.

    Returns its positions (F, 3), and how far along the path, in points, the target was at each of them.
    """

    def place(s: float) -> Floats:
        i = min(int(s), len(path) - 2)
        return path[i] + (s - i) * (path[i + 1] - path[i])

    position, velocity, s = path[0], np.zeros(3), 0.0
    positions, targets = [], []
    for _ in range(round(seconds / dt)):
        near, far = s, float(len(path) - 1)
        if np.linalg.norm(place(far) - position) <= numbers.base:
            near = far
        elif np.linalg.norm(place(near) - position) < numbers.base:
            while far - near > 1e-9 * len(path):
                middle = (near + far) / 2
                if np.linalg.norm(place(middle) - position) < numbers.base:
                    near = middle
                else:
                    far = middle
        s = near
        positions.append(position)
        targets.append(s)
        position, velocity = newton(position, velocity, pull(numbers, place(s)), dt)
    return np.array(positions), np.array(targets)
