"""Genes as points of the unit cube, which is where search strategies look for them."""

import numpy as np

from impel.gaits.gait import CYCLE, DELAYS, Curve
from impel.gaits.walker import Bounds, Floats, Walker

_REALS = ("amplitude", "pace", "period", "sway", "stature", "spring")  # in the order of a row


class Encoding:
    """Six genes within their bounds, then when the feet are lifted. The paper's own body has no springs: five.

    As a spacing and an order of the feet (as the published genes have it), or with `free_delays` as one delay per
    leg, which a limp needs.
    """

    def __init__(self, walker: Walker, bounds: Bounds, *, curve: Curve = "smooth", free_delays: bool = False) -> None:
        self.legs = len(walker.legs)
        self.bounds = bounds
        self.reals = _REALS if curve == "smooth" else _REALS[:-1]
        self.orders = np.array(walker.all_orders(), np.float64)
        self.even = walker.rhythm == "even"
        self.free_delays = free_delays
        self.dimension = len(self.reals) + (self.legs if free_delays else 2)
        self.categories = 0 if free_delays else 1  # trailing columns that name a choice: the order

    def cube(self) -> tuple[Floats, Floats]:
        return np.zeros(self.dimension), np.ones(self.dimension)

    def rows(self, points: Floats) -> Floats:
        """Points (N, dimension) of the unit cube as rows of genes (N, 6 + legs)."""
        points = np.clip(points, 0.0, 1.0)
        rows = np.zeros((len(points), DELAYS + self.legs))
        for column, name in enumerate(self.reals):
            low, high = getattr(self.bounds, name)
            rows[:, column] = low + points[:, column] * (high - low)
        low, high = self.bounds.spacing
        if self.free_delays:
            delays = points[:, len(self.reals) :] * high * (self.legs - 1)
            rows[:, DELAYS:] = delays - delays.min(axis=1, keepdims=True)
            cycle = 1.0 + rows[:, DELAYS:].max(axis=1)
        else:
            spacing = low + points[:, len(self.reals)] * (high - low)
            choice = np.minimum((points[:, len(self.reals) + 1] * len(self.orders)).astype(int), len(self.orders) - 1)
            rows[:, DELAYS:] = self.orders[choice] * spacing[:, None]
            cycle = 1.0 + rows[:, DELAYS:].max(axis=1)
            if self.even:
                cycle = (self.orders[choice].max(axis=1) + 1.0) * spacing
        rows[:, CYCLE] = cycle
        return rows

    def at_limits(self, point: Floats) -> list[str]:
        """Which genes have gone as far as they may."""
        names = (*self.reals, *(() if self.free_delays else ("spacing",)))
        found = []
        for column, name in enumerate(names):
            low, high = getattr(self.bounds, name)
            if high > low and point[column] < 0.005:
                found.append(f"{name} at its least, {low:.3g}")
            elif high > low and point[column] > 0.995:
                found.append(f"{name} at its most, {high:.3g}")
        return found
