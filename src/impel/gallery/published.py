"""What paper 003 prints, in plain numpy, to stand beside what impel does."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from impel.scene.derived import Drive
from impel.stage import Moment

Floats = NDArray[np.float64]
Force = Callable[[Floats, Floats], Floats]  # acceleration from position and velocity


def newton(position: Floats, velocity: Floats, force: Force, dt: float) -> tuple[Floats, Floats]:
    """Eqs. 11 and 12: exact as long as the force is constant."""
    change = force(position, velocity) * dt
    return position + (velocity + 0.5 * change) * dt, velocity + change


def euler(position: Floats, velocity: Floats, force: Force, dt: float) -> tuple[Floats, Floats]:
    """What the paper's authors used before."""
    return position + velocity * dt, velocity + force(position, velocity) * dt


def constant(acceleration: Floats) -> Force:
    return lambda _position, _velocity: acceleration


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


class Guide:
    """The whole control of sections 2 and 3.2 for one body on a straight line, as a controller for `simulate`.

    Eqs. 2, 7 and 9 with the body's own mass, as printed: no strength, no limit to the correction. An infinite
    `gamma` leaves the filter out.
    """

    def __init__(self, body: str, mass: float, numbers: Drive, line: tuple[Floats, Floats], gamma: float) -> None:
        self.body, self.mass, self.numbers, self.gamma = body, mass, numbers, gamma
        self.start, self.length = line[0], float(np.linalg.norm(line[1] - line[0]))
        self.way = (line[1] - line[0]) / self.length
        self.along = 0.0  # where the target is, in metres from the start
        self.force, self.correction = np.zeros(3), np.zeros(3)
        self.last: tuple[float, Floats] | None = None  # time and velocity

    def __call__(self, moment: Moment) -> None:
        position, velocity = moment.position(self.body), moment.velocity(self.body)
        offset = position - self.start
        foot = float(offset @ self.way)
        reach = self.numbers.base**2 - float(offset @ offset) + foot**2
        if reach > 0:
            self.along = min(max(self.along, foot + reach**0.5), self.length)
        if self.last is not None:
            dt = moment.time - self.last[0]
            external = self.mass * (velocity - self.last[1]) / dt - self.force
            share = min(self.gamma * dt, 1.0)
            self.correction = -share * external + (1 - share) * self.correction
        target = self.start + self.along * self.way
        self.force = self.mass * pull(self.numbers, target)(position, velocity) + self.correction
        self.last = (moment.time, velocity)
        moment.push(self.body, self.force.tolist())
