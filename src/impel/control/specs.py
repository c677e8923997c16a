"""From an animator's numbers to actuators: what to follow, how fast, how strongly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from impel.control.actuators import Actuators
from impel.control.felt import Placed, Tree, what_is_felt
from impel.motion.paths import Paths, make_paths
from impel.motion.rotations import matrix_from_quaternion

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ActuatorSpec:
    """One wish for one body, with the parameters of paper 003."""

    body: int
    kind: Literal["move", "turn"]
    keys: Floats  # (n, 3) positions or (n, 4) quaternions
    base: float  # base distance in metres, base angle in radians
    loop: bool = False
    alpha: float = 0.1
    relaxation: float = 0.06  # Δt, seconds
    elasticity: float = math.sqrt(0.5)  # B; 1/√2 keeps the radius of a circle
    adaptation: float = 5.0  # γ, per second; 0 turns the correction off
    strength: float = math.inf  # N or N·m

    @property
    def beta(self) -> float:
        return self.elasticity * math.sqrt(2 * self.alpha)

    @property
    def stiffness(self) -> float:
        return 2 * self.alpha / self.relaxation**2

    @property
    def damping(self) -> float:
        return 2 * self.beta / self.relaxation


def alpha_from_speed(speed: float, base: float, relaxation: float, elasticity: float) -> float:
    """The α that makes a body run at `speed` on a straight path: v = d·√(α/2)/(B·Δt), metres or radians alike."""
    return 2 * (speed * elasticity * relaxation / base) ** 2


def steady_speed(spec: ActuatorSpec) -> float:
    """How fast a body runs along a straight path when nothing else acts on it."""
    return spec.base * spec.stiffness / spec.damping


def largest_stable_step(specs: Sequence[ActuatorSpec]) -> float:
    """The longest step, in seconds, that leaves every actuator stable and accurate.

    Half of the bound of the paper's scheme, dt < min(2βΔt/α, Δt/β), and a quarter of the relaxation time.
    """
    steps = [
        min(s.relaxation / 4, s.beta * s.relaxation / s.alpha, s.relaxation / s.beta / 2) if s.beta > 0 else 0.0
        for s in specs
    ]
    return min(steps, default=math.inf)


def auto_strength(weight: float, mass: float, stiffness: float, base: float) -> float:
    """A strength that never shows in ordinary motion: twice the weight plus twice the pull at base distance.

    Half of the strength is for the correction, which needs the weight and RESIDUAL = 0.3 of the pull; pull and
    correction together stay below 1.3 times the pull plus the weight. Yet a body far from its path is limited to
    about twice the acceleration that its path ever asks for. For turns `weight` is the largest torque of gravity.
    """
    return 2 * (weight + mass * stiffness * base)


def make_actuators(specs: Sequence[ActuatorSpec], bodies: Placed, tree: Tree | None = None) -> Actuators:
    """Gather actuators, their targets on the first keys. `tree` says how bodies hang together, if they do."""
    n = len(specs)
    felt = what_is_felt(bodies, tree)
    paths = make_paths([s.keys for s in specs], [s.loop for s in specs])
    body = np.array([s.body for s in specs], np.int64)
    lever = felt.lever[body]
    moved = {s.body for s in specs if s.kind == "move"}
    for a, s in enumerate(specs):
        root = tree is None or tree.parent[s.body] < 0
        if root and s.body not in moved:  # falls freely: gravity does not turn it
            lever[a] = 0.0

    def column(name: str) -> Floats:
        return np.array([getattr(s, name) for s in specs], float)

    actuators = Actuators(
        body=body,
        paths=paths,
        base=column("base"),
        stiffness=column("stiffness"),
        damping=column("damping"),
        adaptation=column("adaptation"),
        strength=column("strength"),
        mass=felt.mass[body],
        inertia=felt.inertia[body],
        lever=lever,
        segment=np.zeros(n),
        u=np.zeros(n),
        lap=np.zeros(n),
        correction=np.zeros((n, 3)),
        momentum=np.zeros((n, 3)),
        applied=np.zeros((n, 3)),
        axis=_first_way_round(paths),
        saturated=np.zeros(n),
        done=np.zeros(n),
    )
    return actuators


def _first_way_round(paths: Paths) -> Floats:
    """The sense in which each path begins to turn: a first turn by 180° is made that way."""
    rows = paths.curve[paths.first_segment[:-1]]
    turns = rows[:, 4:].reshape(-1, 3, 4)
    way = np.einsum("ank,an->ak", turns[:, :, :3], turns[:, :, 3])
    way = np.einsum("aij,aj->ai", matrix_from_quaternion(rows[:, :4]), way)
    return way * paths.turns[:, None]
