"""Motions that are known in closed form, to hold simulated ones against."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def damped(elasticity: float, rate: float, time: Floats) -> Floats:
    """A body released at rest at distance 1 of its target (paper 003, figure 2); `rate` is √(2α)/Δt, in 1/s."""
    b, s = elasticity, rate * time
    if b < 1:
        swing = math.sqrt(1 - b * b)
        return np.exp(-b * s) * (np.cos(swing * s) + b / swing * np.sin(swing * s))
    if b == 1:
        return np.exp(-s) * (1 + s)
    root = math.sqrt(b * b - 1)
    slow, fast = -b + root, -b - root
    return (slow * np.exp(fast * s) - fast * np.exp(slow * s)) / (slow - fast)


def carried_on(elasticity: float, rate: float, time: float) -> float:
    """How far a starting speed of 1 carries a body that is held by a more than critically damped actuator."""
    root = math.sqrt(elasticity**2 - 1) * rate
    return math.exp(-elasticity * rate * time) * math.sinh(root * time) / root


def overshoot(elasticity: float) -> float:
    """Of a body released at distance 1; none from critical damping on."""
    return math.exp(-math.pi * elasticity / math.sqrt(1 - elasticity**2)) if elasticity < 1 else 0.0
