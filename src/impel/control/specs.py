"""From an animator's numbers to actuators: what to follow, how fast, how strongly."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from impel.control.actuators import JOINTS, Actuators
from impel.control.crews import make_crews
from impel.control.linkage import Linkage, Placed, Tie, make_linkage
from impel.control.targets import reach_of
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.paths import Paths, make_paths
from impel.motion.splines import pose_at

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
    strength: float | None = math.inf  # N or N·m; None: one that never shows in ordinary motion

    @property
    def beta(self) -> float:
        return self.elasticity * math.sqrt(2 * self.alpha)

    @property
    def stiffness(self) -> float:
        return 2 * self.alpha / self.relaxation**2

    @property
    def damping(self) -> float:
        return 2 * self.beta / self.relaxation


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
    """A strength that never shows in ordinary motion: twice the weight to carry plus twice the pull at base distance.

    Half of the strength is for the correction, which needs the weight and RESIDUAL = 0.3 of the pull; pull and
    correction together stay below 1.3 times the pull plus the weight. Yet a body far from its path is limited to
    about twice the acceleration that its path ever asks for. For turns `weight` is the largest torque of gravity.
    """
    return 2 * (weight + mass * stiffness * base)


def make_actuators(
    specs: Sequence[ActuatorSpec],
    bodies: Placed,
    ties: Iterable[Tie] = (),
    gravity: float = 0.0,
    island_of: Mapping[int, int] | None = None,
) -> Actuators:
    """Gather actuators, their targets on the first keys of their paths.

    `ties` say how bodies hang together; `gravity`, in m/s², is for strengths that are not given; `island_of` tells of
    jointed bodies to which island they belong, if their joints can be asked (see crews.py). All state starts at zero;
    set `carried` to 1 for a start at which the weights are known already.
    """
    n = len(specs)
    actors: dict[str, dict[int, int]] = {"move": {}, "turn": {}}
    for a, s in enumerate(specs):
        if not np.isfinite(bodies.mass[s.body]):
            raise ValueError(f"actuator {a}: body {s.body} cannot be moved")
        if s.body in actors[s.kind]:
            raise ValueError(f"actuator {a}: body {s.body} already has a {s.kind} actuator")
        actors[s.kind][s.body] = a
    linkage = make_linkage(bodies, ties, actors["move"], actors["turn"])
    paths = make_paths([s.keys for s in specs], [s.loop for s in specs])
    member_of = {int(body): k for k, body in enumerate(linkage.body)}
    member = np.array([member_of[s.body] for s in specs], np.int64)

    islands = island_of or {}
    crews = make_crews(
        [s.body for s in specs],
        [s.kind == "turn" for s in specs],
        [bool(linkage.move[k] >= 0) for k in member],
        islands,
        len(bodies.mass),
    )
    in_crew = set() if crews is None else set(crews.worker.tolist())

    def column(name: str) -> Floats:
        return np.array([getattr(s, name) for s in specs], float)

    def strength(a: int, s: ActuatorSpec) -> float:
        if s.strength is not None:
            return s.strength
        if a in in_crew:
            return math.inf
        tied = [i for i, island in islands.items() if island == islands.get(s.body)]  # also by ropes
        return _suitable_strength(s, linkage, member_of[s.body], sum(bodies.mass[i] for i in tied), gravity)

    def most_wish(a: int, s: ActuatorSpec) -> float:
        """As auto_strength, where the inertia is not known beforehand; what hangs may swing as gravity lets it."""
        if a not in in_crew or s.strength is not None or s.kind == "turn":
            return math.inf
        return 2 * (s.stiffness * s.base + gravity)

    reach = np.array([reach_of(s.base, s.kind == "turn") for s in specs]).reshape(n, 2)
    m = len(linkage.body)
    starts = [pose_at(row, 0.0, bool(t)) for row, t in zip(paths.segments[paths.first_segment[:-1]], paths.turns)]
    return Actuators(
        body=np.array([s.body for s in specs], np.int64),
        member=member,
        paths=paths,
        linkage=linkage,
        crews=crews,
        base=column("base"),
        limit=reach[:, 0].copy(),
        enough=reach[:, 1].copy(),
        stiffness=column("stiffness"),
        damping=column("damping"),
        adaptation=column("adaptation"),
        strength=np.array([strength(a, s) for a, s in enumerate(specs)], float),
        most_wish=np.array([most_wish(a, s) for a, s in enumerate(specs)], float),
        weight=linkage.mass[linkage.root[member]],
        anchored=np.where(
            (np.bincount(linkage.root, minlength=m)[linkage.root[member]] > 1) | (linkage.held[member] == 1), 1, 0
        ),
        whole=np.arange(len(bodies.mass)),
        firm=np.where(np.isfinite(bodies.mass), 0, 1),
        segment=np.zeros(n),
        u=np.zeros(n),
        lap=np.zeros(n),
        pose=np.array([pose for pose, _ in starts]).reshape(n, 4),
        tangent=np.array([tangent for _, tangent in starts]).reshape(n, 3),
        offset=_first_way_round(paths),
        carried=np.zeros(n),
        residual=np.zeros((n, 3)),
        leaning=np.zeros(n),
        applied=np.zeros((n, 3)),
        saturated=np.zeros(n),
        done=np.zeros(n),
        last_velocity=np.zeros((m, 3)),
        last_momentum=np.zeros((m, 3)),
        last_rate=np.zeros((n, 3)),
        held_by=np.full(n, JOINTS),
        standing=np.zeros(n),
        wish=np.zeros((n, 3)),
        pull=np.zeros((n, 3)),
        against=np.zeros((n, 3)),
        met=np.zeros((n, 3)),
        rate=np.zeros((n, 3)),
    )


def _suitable_strength(spec: ActuatorSpec, linkage: Linkage, k: int, tied: float, gravity: float) -> float:
    """The strength of an actuator on member k, that has to carry what hangs on it, or all that is tied to it (kg)."""
    if spec.kind == "move":
        load = 2 * max(linkage.mass[linkage.root[k]], tied)  # and something of its own weight put on it
        return auto_strength(load * gravity, linkage.mass[k], spec.stiffness, spec.base)
    lifted = float(np.linalg.norm(linkage.lever[k])) * gravity
    return auto_strength(lifted, float(np.linalg.eigvalsh(linkage.inertia[k])[-1]), spec.stiffness, spec.base)


def _first_way_round(paths: Paths) -> Floats:
    """The sense in which each path begins to turn: a first turn by 180° is made that way."""
    rows = paths.segments[paths.first_segment[:-1]]
    turns = rows[:, 4:16].reshape(-1, 3, 4)
    way = np.einsum("ank,an->ak", turns[:, :, :3], turns[:, :, 3])
    way = np.einsum("aij,aj->ai", matrix_from_quaternion(rows[:, :4]), way)
    return way * paths.turns[:, None]
