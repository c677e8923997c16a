"""What a controller of your own has to do with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from impel.complaints import say
from impel.files import Problem

if TYPE_CHECKING:
    from impel.stage.performance import Performance

Floats = NDArray[np.float64]


class Moment:
    """What a controller of your own sees, and can do: read the bodies, push and twist them, change the scene."""

    def __init__(self, performance: "Performance") -> None:
        self._performance = performance
        self._bodies = {name: i for i, name in enumerate(performance.compiled.bodies)}

    def _index(self, body: str) -> int:
        if body not in self._bodies:
            raise Problem(f"{body}: is not a body of this scene; there are {', '.join(self._bodies)}")
        return self._bodies[body]

    @property
    def time(self) -> float:
        return self._performance.now

    def position(self, body: str) -> Floats:
        """Its centre of mass, in metres."""
        return self._performance.stage.bodies.position[self._index(body)].copy()

    def orientation(self, body: str) -> Floats:
        """Its principal axes as a quaternion (w, x, y, z)."""
        return self._performance.stage.bodies.orientation[self._index(body)].copy()

    def velocity(self, body: str) -> Floats:
        """In m/s."""
        return self._performance.stage.bodies.velocity[self._index(body)].copy()

    def spin(self, body: str) -> Floats:
        """In radians/s about the world's axes."""
        return self._performance.stage.bodies.spin[self._index(body)].copy()

    def push(self, body: str, force: Sequence[float]) -> None:
        """Push its centre of mass with a force in newtons, until told otherwise."""
        hand = self._performance.stage.hand
        assert hand is not None
        hand.push[self._index(body)] = _three(force, "force")

    def twist(self, body: str, torque: Sequence[float]) -> None:
        """Twist it with a torque in newton metres, until told otherwise."""
        hand = self._performance.stage.hand
        assert hand is not None
        hand.twist[self._index(body)] = _three(torque, "torque")

    def change(self, field: str, value: Any = None) -> None:
        """Change a field of the scene from this frame on, such as `walkers.spider.mood`; see `Show.change`."""
        self._performance.change(field, value)


def _three(vector: Sequence[float], what: str) -> Floats:
    """Three finite numbers: what is none would spoil the motion steps later."""
    try:
        given = np.array(vector, np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (3,) or not np.all(np.isfinite(given)):
        raise Problem(f"{what}: must be three finite numbers [x, y, z], got {say(vector)}")
    return given
