"""From an animator's numbers to actuators: what to follow, how fast, how strongly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.actuators import TINY, Actuators
from impel.control.appointments import Agreed, make_appointments
from impel.control.clocks import Timing, demands, make_clocks
from impel.control.frames import FramedKey, make_frames, place_keys
from impel.control.goals import MET, Course, make_goals
from impel.control.linkage import Linkage, Solids, Tie, make_linkage, wholes
from impel.control.series import make_series
from impel.control.targets import reach_of
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions, turns_between
from impel.motion.paths import Paths, make_paths
from impel.motion.splines import pose_at

Floats = NDArray[np.float64]

# Times the speed of its path, or of a free fall from the height of its structure: what is faster is not driven on. At
# the dead centre of a linkage no force is right for a whole step, and one without limit would throw it about.
WILD = 3.0

QUICKEST = 200.0  # 1/s: damping beyond which nobody sees how soon a body is up to its speed, which is in 5 ms; to be
# quicker, a gram that is told to race in a structure would pull with the weight of a ship
JOINTED = 8.0  # times as hard must be pulled at links that whip round or line up (measured on 1000 random arms)
HASTE = 10.0  # times as fast as these may be who have goals to meet
GOAL_STEP = 1 / 240  # s: in longer ones, what nobody told it of takes a goal-driven body farther off
PUSHED_ASIDE = 0.25  # m or rad: as far it may be pushed aside on a course, and still be there on time
UNLIMITED = 10.0  # times the strength that suits its goals: more would only throw about what is in its way
STANDING_START = 16.0  # |D|/T²: four times the acceleration for a course from rest to rest


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
    strength: float | None = math.inf  # N or N·m; None: one that never shows in ordinary motion, times ...
    share: float = 1.0  # ... this
    fades: Sequence[tuple[float, float]] = ()  # s, and the share of that strength: it changes over time
    press: float | None = None  # N or N·m: with how much to press what is in the way; None: its pull
    point: Sequence[float] = (0.0, 0.0, 0.0)  # of the body, from its centre of mass, that is moved
    pulled: bool = False  # whether the force acts there, or at the centre
    against: int | None = None  # the body that a torque pushes off
    timing: Timing | None = None  # when to pass the keys; None: as fast as it comes
    framed: Sequence[FramedKey] = ()  # those that are given in the frames of bodies
    trail: float = 0.0  # from 0, carried along with these at once, to 1, left behind
    circles: bool = False  # whether bodies that carry its keys have keys that it carries
    course: Course | None = None  # goals, instead: its keys are where it starts, and these

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

    Half of the bound of the paper's scheme, dt < min(2βΔt/α, Δt/β), and a quarter of the relaxation time. Where damping
    alone would ask for shorter steps than a body needs for half of its base distance, see `slow_to`.
    """
    steps = []
    for s in specs:
        if s.course is None and s.beta > 0:
            base = s.beta * s.relaxation / s.alpha  # s: for the base distance
            steps.append(min(s.relaxation / 4, base, max(s.relaxation / s.beta / 2, base / 2)))
        elif s.course is None:
            steps.append(0.0)
    if any(s.course is not None for s in specs):
        steps.append(GOAL_STEP)
    return min(steps, default=math.inf)


def slow_to(actuators: Actuators, specs: Sequence[ActuatorSpec], step: float) -> None:
    """Let who is damped faster than a step get up to its speed, which stays the same, within one: sooner would not be
    seen, nor be stable."""
    on_paths = np.array([s.course is None for s in specs])
    share = np.where(on_paths, 1.0 / np.maximum(1.0, actuators.damping * step), 1.0)
    for gain in (actuators.stiffness, actuators.damping, *actuators.appointments.given.T):
        gain *= share


# Times what holds still: what was thrown off and falls is caught with twice its weight to spare, in half the way it
# fell. (With once its weight to spare it would fall as far again: an arm that a ball drops on, by half its length.)
CATCHES = 3.0


def felt_stiffness(stiffness: float, damping: float) -> float:
    """What an automatic strength is made for: the pull of a path, but see QUICKEST."""
    return stiffness * min(1.0, QUICKEST / max(damping, TINY))


def auto_strength(weight: float, inertia: float, stiffness: float, base: float, acceleration: float = 0.0) -> float:
    """A strength that never shows in ordinary motion: what catches its own fall, and what brakes from its own speed.

    At base distance and with the speed of a path, but away from its target, the wish is twice the pull at base distance
    (in a steady motion damping takes as much as the pull). For turns `weight` is the largest torque of gravity.
    `acceleration` is what the times on its path ask for.
    """
    return CATCHES * weight + 2 * (inertia * stiffness * base + inertia * acceleration)


def make_actuators(
    specs: Sequence[ActuatorSpec],
    bodies: Solids,
    ties: Sequence[Tie] = (),
    gravity: float = 0.0,
    linkage: Linkage | None = None,
    agreed: Sequence[Agreed] = (),
    leaders: Sequence[int] | None = None,
    borne: Sequence[tuple[float, float]] | None = None,
) -> Actuators:
    """Gather actuators, their targets on the first keys of their paths.

    `ties` say how bodies hang together; `gravity`, in m/s², is for strengths that are not given, and for bounds of what
    is learnt. A `linkage` that is given was made for actuators that act in the same places. `agreed` are appointments;
    `leaders`, for each actuator, the first of those that it is in step with, or -1. `borne` is what each at least has
    to hold and to move, by levers that no tree knows of.
    """
    n = len(specs)
    actors: dict[str, dict[int, int]] = {"move": {}, "turn": {}}
    for a, s in enumerate(specs):
        if not np.isfinite(bodies.mass[s.body]):
            raise ValueError(f"actuator {a}: body {s.body} cannot be moved")
        if s.body in actors[s.kind]:
            raise ValueError(f"actuator {a}: body {s.body} already has a {s.kind} actuator")
        actors[s.kind][s.body] = a
    if linkage is None:
        linkage = make_linkage(bodies, ties, actors["move"], actors["turn"])
    paths = make_paths([_seen_keys(s, bodies) for s in specs], [s.loop for s in specs])
    clocks = make_clocks([s.timing for s in specs], paths, leaders)
    member_of = {int(body): k for k, body in enumerate(linkage.body)}
    frames = make_frames(
        [() if s.against is not None else s.framed for s in specs],
        [None if s.timing is None else s.timing.told for s in specs],
        [0.0 if s.circles else 1.0 - s.trail for s in specs],
        paths,
        actors["move"],
        {body: a for body, a in actors["turn"].items() if specs[a].against is None},
        member_of,
    )
    for a in range(n):
        if frames.first[a + 1] > frames.first[a]:
            place_keys(bodies, paths, clocks, frames, a)
    member = np.array([member_of[s.body] for s in specs], np.int64)
    structure = np.searchsorted(linkage.first, member, side="right") - 1
    for a, s in enumerate(specs):  # what a tree cannot tell
        turned_along = s.body in actors["turn"] or not np.any(s.point)
        if s.against is not None or s.pulled or not turned_along:
            linkage.driven[structure[a]] = 0
    knows = np.zeros(len(linkage.driven), np.int64)
    learns = np.zeros_like(knows)
    np.maximum.at(learns, structure, np.array([s.adaptation > 0.0 for s in specs], np.int64))
    heavy = [s.adaptation > 0.0 or s.course is not None for s in specs]
    np.maximum.at(knows, structure, np.array(heavy, np.int64))

    def column(name: str) -> Floats:
        return np.array([getattr(s, name) for s in specs], float)

    loads = [_loads(s, bodies, linkage, int(k), int(i), gravity) for s, k, i in zip(specs, member, structure)]
    loads = [
        load._replace(weight=max(load.weight, weight), inertia=max(load.inertia, inertia))
        for load, (weight, inertia) in zip(loads, borne or [(0.0, 0.0)] * n, strict=True)
    ]
    rubs = [_rubs(s, load, bodies, linkage, int(i), ties) for s, load, i in zip(specs, loads, structure)]
    asked = [demands(clocks, paths, a) if s.course is None else _sought(s, bodies) for a, s in enumerate(specs)]
    asked = _at_points(specs, asked, actors["turn"])
    automatic = [
        auto_strength(load.weight, load.inertia, felt_stiffness(s.stiffness, s.damping), s.base, acceleration)
        + 2 * (load.whole * carried + rub)
        for s, load, (_, acceleration), carried, rub in zip(specs, loads, asked, _carried(specs, actors, asked), rubs)
    ]
    calm = list(automatic)  # the same, were it not for how hard links take it
    for a, (s, load) in enumerate(zip(specs, loads)):  # what pushes also turns
        if s.course is not None and linkage.first[structure[a] + 1] - linkage.first[structure[a]] > 1:
            automatic[a] *= JOINTED
        mover = actors["move"].get(s.body)
        if s.course is not None and s.kind == "turn" and mover is not None:
            automatic[a] = max(automatic[a], load.arm * automatic[mover])
            calm[a] = max(calm[a], load.arm * calm[mover])
    strength = np.array([_strength(s, auto, load.arm) for s, auto, load in zip(specs, automatic, loads)])
    whole = wholes(len(bodies.mass), ties, np.isfinite(bodies.mass))
    goals = make_goals([s.course for s in specs], [s.body for s in specs], whole)
    for a, (s, load) in enumerate(zip(specs, loads)):
        if s.course is not None:
            goals.most[a] = max(strength[a] - load.weight, 0.0) / load.inertia
            goals.calm[a] = max(min(strength[a], calm[a]) - load.weight, 0.0) / load.inertia
            if calm[a] < min(automatic[a], strength[a]):
                goals.vain[a] = goals.calm[a]
    reach = np.array([reach_of(s.base, s.kind == "turn") for s in specs]).reshape(n, 2)
    for row, s in zip(reach, specs):
        if s.course is not None:  # its target stays where it is: it has goals instead
            row[:] = (math.inf if s.kind == "turn" else -math.inf), 0.0
    m = len(linkage.body)
    starts = [pose_at(row, 0.0, bool(t)) for row, t in zip(paths.segments[paths.first_segment[:-1]], paths.turns)]
    return Actuators(
        body=np.array([s.body for s in specs], np.int64),
        member=member,
        structure=structure,
        point=np.array([s.point for s in specs], float).reshape(n, 3),
        pulled=np.array([s.pulled for s in specs], np.int64),
        against=np.array([-1 if s.against is None else s.against for s in specs], np.int64),
        home=np.array([bodies.orientation[s.body if s.against is None else s.against] for s in specs]),
        trail=np.array([0.0 if s.against is None else s.trail for s in specs]),
        paths=paths,
        keyed=int(any(s.course is None for s in specs)),
        scripted=int(any(s.timing is not None or s.framed for s in specs) or len(agreed) > 0),
        now=np.zeros(1),
        clocks=clocks,
        frames=frames,
        appointments=make_appointments(agreed, np.column_stack([column("stiffness"), column("damping")])),
        goals=goals,
        linkage=linkage,
        base=column("base"),
        far=_far(specs, loads, strength),
        limit=reach[:, 0].copy(),
        enough=reach[:, 1].copy(),
        close=reach[:, 1].copy(),
        stiffness=column("stiffness"),
        damping=column("damping"),
        adaptation=column("adaptation"),
        strength=strength.copy(),
        strengths=make_series([[(time, share * most) for time, share in s.fades] for s, most in zip(specs, strength)]),
        automatic=np.array(
            [s.share if s.strength is None and s.course is None and not s.fades else 0.0 for s in specs]
        ),
        inertia=np.array([load.inertia for load in loads]),
        weight=np.array([load.weight for load in loads]),
        wild=_wild(specs, loads, [speed for speed, _ in asked], gravity),
        calm=np.array(automatic),
        whole_inertia=np.array([load.whole for load in loads]),
        most_learnt=np.array([load.heaviest for load in loads]) + automatic,  # which knows of friction
        rubs=np.array(rubs, float),
        arm=np.array([load.arm for load in loads]),
        press=np.array([-1.0 if s.press is None else s.press for s in specs]),
        knows=knows,
        learns=learns,
        whole=whole,
        segment=np.zeros(n),
        u=np.zeros(n),
        lap=np.zeros(n),
        pose=np.array([pose for pose, _ in starts]).reshape(n, 4),
        tangent=np.array([tangent for _, tangent in starts]).reshape(n, 3),
        offset=_first_way_round(paths),
        wish=np.zeros((n, 3)),
        spared=np.zeros((n, 3)),
        learnt=np.zeros((n, 3)),
        asked=np.zeros((n, 3)),
        lent=np.zeros((n, 3)),
        applied=np.zeros((n, 3)),
        saturated=np.zeros(n),
        done=np.zeros(n),
        heading=np.tile([-1.0, 0.0, 0.0], (n, 1)),
        reached=np.tile([-1.0, 0.0, 0.0], (n, 1)),
        last_velocity=np.zeros((m, 3)),
        last_momentum=np.zeros((m, 3)),
        last_rate=np.zeros((n, 3)),
        gentle=np.zeros(1, np.int64),
        room=np.zeros(n),
        pressing=np.zeros(n),
        gripped=np.zeros(n),
        denied=np.zeros(n),
        felt_inertia=np.array([load.whole for load in loads]),
        missed=np.zeros((n, 3)),
    )


def _strength(spec: ActuatorSpec, automatic: float, arm: float) -> float:
    if spec.strength is None:
        return spec.share * automatic
    return spec.strength if spec.course is None else min(spec.strength * arm, UNLIMITED * automatic)


def _sought(spec: ActuatorSpec, bodies: Solids) -> tuple[float, float]:
    """The largest speed and acceleration that goals ask for, about; as cubics from one to the next."""
    assert spec.course is not None
    times = np.array([0.0, *(aim.time for aim in spec.course.aims)])
    keys, spans = _seen_keys(spec, bodies), np.maximum(np.diff(times), 1e-6)[:, None]
    ways = np.diff(keys, axis=0) if spec.kind == "move" else turns_between(keys[:-1], keys[1:])
    means = ways / spans
    inner = (means[:-1] * spans[1:] + means[1:] * spans[:-1]) / (spans[1:] + spans[:-1])
    begin, end = np.vstack([0.0 * means[:1], inner]), np.vstack([inner, means[-1:]])
    sizes = [np.abs(6 * means - 4 * begin - 2 * end), np.abs(6 * means - 2 * begin - 4 * end)]
    acceleration = max(float((np.linalg.norm(size, axis=1) / spans[:, 0]).max()) for size in sizes)
    lengths = np.maximum(np.linalg.norm(ways, axis=1), PUSHED_ASIDE)
    standing = STANDING_START * float((lengths / spans[:, 0] ** 2).max())
    if spec.course.behaviour == "dynamic":  # it rushes
        standing *= MET**2 / STANDING_START
    return 3.0 * float(np.linalg.norm(means, axis=1).max()), acceleration + standing


def _at_points(
    specs: Sequence[ActuatorSpec], asked: Sequence[tuple[float, float]], turners: dict[int, int]
) -> list[tuple[float, float]]:
    """The same, with what it takes to keep a point of a body on its way to goals while goals turn the body."""
    found = []
    for s, (speed, acceleration) in zip(specs, asked):
        turner, arm = turners.get(s.body), float(np.linalg.norm(s.point))
        if s.course is not None and s.kind == "move" and turner is not None:
            spin, turning = asked[turner]
            speed, acceleration = speed + arm * spin, acceleration + arm * (turning + spin**2)
        found.append((speed, acceleration))
    return found


def _seen_keys(spec: ActuatorSpec, bodies: Solids) -> Floats:
    """The keys of a path; those in what a torque pushes off, as that stood at the start, for so they are seen; and so
    are goals in bodies."""
    keys = np.array(spec.keys, float)
    for i, aim in enumerate(spec.course.aims if spec.course is not None else (), 1):
        if aim.frame >= 0 and spec.kind == "turn":
            keys[i] = multiply_quaternions(bodies.orientation[aim.frame], keys[i])
        elif aim.frame >= 0:
            keys[i] = bodies.position[aim.frame] + matrix_from_quaternion(bodies.orientation[aim.frame]) @ keys[i]
    if spec.against is not None and spec.framed:
        own = [each.key for each in spec.framed]
        keys[own] = multiply_quaternions(bodies.orientation[spec.against], keys[own])
    return keys


def _carried(
    specs: Sequence[ActuatorSpec], actors: dict[str, dict[int, int]], asked: Sequence[tuple[float, float]]
) -> list[float]:
    """The accelerations that the times on the paths of those ask for whose bodies carry the keys of each actuator."""

    def of(a: int, seen: frozenset[int]) -> float:
        by = {actors[specs[a].kind].get(each.body, a) for each in specs[a].framed} - seen
        return max((asked[b][1] + of(b, seen | by) for b in by), default=0.0)

    return [of(a, frozenset([a])) for a in range(len(specs))]


def _far(specs: Sequence[ActuatorSpec], loads: Sequence["Loads"], strength: Floats) -> Floats:
    """How far from its target a body is pulled no harder if it goes farther: as far as its strength suffices, and at
    least twice the base distance."""
    far = []
    for s, load, most in zip(specs, loads, strength):
        pull = load.inertia * s.stiffness
        far.append(max(2 * s.base, (most - load.weight) / pull if pull > 0.0 else 0.0))
    return np.array(far)


def _wild(specs: Sequence[ActuatorSpec], loads: Sequence["Loads"], speeds: Sequence[float], gravity: float) -> Floats:
    """What is too fast: squares of speeds and spins (see WILD)."""
    wild = []
    for s, load, speed in zip(specs, loads, speeds):
        steady, fall = s.base * s.stiffness / max(s.damping, TINY), math.sqrt(2 * gravity * load.size)
        steady = max(steady, speed)
        if s.course is not None:  # on time, however fast that is
            steady *= HASTE
            fall *= HASTE
        if s.kind == "turn":
            wild.append((math.inf, WILD * max(steady, fall / load.size)))
        else:
            wild.append((WILD * max(steady, fall), WILD * max(steady, fall) / load.size))
    return np.square(wild).reshape(-1, 2)


class Loads(NamedTuple):
    """What an actuator has to do with, as far as it is known beforehand."""

    weight: float  # N or N·m: what holds still
    inertia: float  # kg or kg·m²
    whole: float  # kg or kg·m²: the same of all that hangs together
    arm: float  # m: at which a torque carries loads; 1 for forces
    heaviest: float  # N or N·m: what all that hangs on it could do
    size: float  # m: of all that hangs together, about its body


def _loads(spec: ActuatorSpec, bodies: Solids, linkage: Linkage, k: int, s: int, gravity: float) -> Loads:
    """Of an actuator on member k of structure s: a force may have to carry all that hangs together, a torque what hangs
    on its body; or, where nothing holds or moves the structure, all the rest, for it may stand on anything."""
    own = np.arange(linkage.first[s], linkage.first[s + 1])
    mass = float(bodies.mass[linkage.body[own]].sum())
    away = np.linalg.norm(bodies.position[linkage.body[own]] - bodies.position[spec.body], axis=1)
    size = float((away + np.sqrt(bodies.inertia[linkage.body[own]].sum(axis=1) / bodies.mass[linkage.body[own]])).max())
    if spec.kind == "move":
        return Loads(mass * gravity, mass, mass, 1.0, mass * gravity, size)
    inertia = float(np.linalg.eigvalsh(linkage.inertia[k])[-1])
    lever = float(np.linalg.norm(linkage.lever[k]))
    arm = math.sqrt(3 * inertia / float(linkage.mass[k]))
    whole = inertia + float(bodies.mass[linkage.body[own]] @ away**2)
    stands = bool(np.all(linkage.held[own] == 0) and np.all(linkage.move[own] < 0)) and len(own) > 1
    if stands:
        lever = max(lever, float(bodies.mass[linkage.body[own]] @ away))
        inertia = whole
    if len(own) == 1:  # as it is tilted over its rim, or by what rubs on that
        lever = mass * arm
    return Loads(lever * gravity, inertia, whole, arm, float(linkage.mass[k]) * gravity * arm, size)


def _rubs(spec: ActuatorSpec, load: Loads, bodies: Solids, linkage: Linkage, s: int, ties: Sequence[Tie]) -> float:
    """The friction of joints that an actuator has to overcome, in N or N·m: a torque that of the joints of its body; a
    force may have to move all joints of its structure, with levers of half its size at least."""
    own = set(linkage.body[linkage.first[s] : linkage.first[s + 1]].tolist())
    if spec.kind == "turn":
        return sum(tie.turning for tie in ties if spec.body in (tie.a, tie.b))
    rubs = 0.0
    for tie in ties:
        if tie.a in own or tie.b in own:
            lever = float(np.linalg.norm(np.asarray(tie.at) - bodies.position[spec.body]))
            rubs += tie.sliding + tie.turning / max(lever, 0.5 * load.size)
    return rubs


def _first_way_round(paths: Paths) -> Floats:
    """The sense in which each path begins to turn: a first turn by 180° is made that way."""
    rows = paths.segments[paths.first_segment[:-1]]
    turns = rows[:, 4:16].reshape(-1, 3, 4)
    way = np.einsum("ank,an->ak", turns[:, :, :3], turns[:, :, 3])
    way = np.einsum("aij,aj->ai", matrix_from_quaternion(rows[:, :4]), way)
    return way * paths.turns[:, None]
