"""Walkers on the stage: key-framed bodies that push what is in their way, and wait for what they cannot push.

They are played like everything else: each frame every walker goes on by as many ticks as it needs, and hands out keys.
"""

import copy
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.complaints import name_like
from impel.files import Problem
from impel.geometry.kinds import CORE, SKIN
from impel.geometry.shapes import make_extents, make_shapes
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.bodies import Bodies
from impel.physics.follow import Followers
from impel.scene import Scene
from impel.scene.bodies import Body
from impel.scene.derived import mass_of
from impel.scene.walkers import Walker
from impel.takes.pieces import Piece

Floats = NDArray[np.float64]

PUSHES = 4.0  # times its own weight that a walker pushes out of its way
STEPS_ON = 0.6  # leg halves that something fixed may be high, for a walker to step on it or over it
NOTICED = 0.1  # leg halves: what is lower is not in the way
BERTH = 0.1  # leg halves that it keeps from what it waits for
HALT = 0.7  # paces that a walker needs to come to a halt
LOOKS = 16, 7  # places along the way and across it, at which it looks for that


class Limb(NamedTuple):
    """One of a walker's bodies, its first keys, and what it looks like."""

    body: Body
    times: Floats  # (W,) s
    positions: Floats  # (W, 3)
    orientations: Floats  # (W, 4)
    pieces: tuple[Piece, ...]  # none if it looks as it is


class Walking(NamedTuple):
    """What stays the same while a walker walks, unless it is changed."""

    name: str
    model: Walker
    moods: Any  # gaits.mood.Moods
    lame: int
    rig: Any
    route: Any
    surfaces: Floats  # (K, 8)
    wishes: Floats  # (T, 5) a row a tick since its start
    stature: float  # by which it stands lower or higher where the ground asks for it
    own: list[str]  # the names of its bodies
    solid: list[str]  # bodies of the scene that it cannot push, nor step on ...
    reach: Floats  # (S, 3) ... and how far each reaches from its middle along its principal axes


class Troupe(NamedTuple):
    """All walkers of a scene."""

    walkings: list[Walking]
    parts: dict[str, Limb]  # "spider.body", "spider.front_left.upper" ...
    ways: dict[str, Floats]  # where each walks, a line in the world (P, 3), "spider.way"
    foreseen: dict[str, list[float]]  # when the feet of each come down if nothing holds it up, in seconds
    walks: "Walks"  # as they stand at the start
    width: int  # keys of each part

    def steps(self, walker: str) -> list[float]:
        """When its feet would come down, one after the other, in seconds: the cues `walker.step.0` and so on."""
        return self.foreseen[walker]

    def pieces(self, part: str) -> tuple[Piece, ...]:
        """What a body of the cast looks like, if it is of a walker and not as plain as it is."""
        return self.parts[part].pieces if part in self.parts else ()


class Walks:
    """Where all walkers are in their walks: what a snapshot keeps of them."""

    def __init__(self) -> None:
        self.states: list[Any] = []  # gaits.steps.State
        self.first: list[int] = []  # the tick since its start at which each one's keys begin
        self.going: list[bool] = []  # whether it goes on, or waits
        self.slowed: list[float] = []  # the share of its pace that it is asked to keep, such as for an appointment
        self.falls: list[tuple[float, ...]] = []  # when feet came down, in seconds
        self.coming: list[dict[str, Any]] = []  # events of the ticks that are known already, and of no frame yet

    def copied(self) -> "Walks":
        other = Walks()
        other.states = copy.deepcopy(self.states)
        for name in ("first", "going", "slowed", "falls", "coming"):
            setattr(other, name, list(getattr(self, name)))
        return other


def troupe_of(scene: Scene, source: str) -> Troupe:
    """Let every walker stand at the start of its way; raise `Problem` for a walker that there is not, or a walk that
    its legs cannot do."""
    from impel.gaits.playing import window

    troupe = Troupe([], {}, {}, {}, Walks(), window(1 / scene.world.fps) if scene.walkers else 0)
    lines = []
    for name, walker in scene.walkers.items():
        try:
            _join(troupe, name, walker, scene)
        except Problem as problem:
            lines += [f"{source}: {_name_field(f'walkers.{name}', line)}" for line in problem.lines]
    if lines:
        raise Problem(*lines)
    return troupe


def _join(troupe: Troupe, name: str, walker: Walker, scene: Scene) -> None:
    from impel.gaits.gait import TICK
    from impel.gaits.looks import looks_of
    from impel.gaits.mood import library_names, moods_of
    from impel.gaits.playing import first_tick
    from impel.gaits.posing import parts_of
    from impel.gaits.route import make_route
    from impel.gaits.steps import new_state, set_off
    from impel.gaits.walk import lame_leg, walk
    from impel.gaits.walker import rig_of

    if not walker.from_file and walker.walker not in library_names():
        raise Problem(f"walker: {name_like(walker.walker, library_names(), 'walker')}")
    moods = moods_of(walker.walker, with_mood=walker.mood is not None)
    given, ground = walker.wishes(), walker.path[0][2]
    route = make_route([point[:2] for point in walker.path], moods.walker.size)
    boxes, steps_on = _boxes(scene, route, ground, moods.walker)
    # Walked through beforehand, as if nothing stopped it: so what its legs cannot do is known at once.
    time = max(scene.world.seconds - walker.start, 0.0) + 2 * TICK
    walked = walk(moods, path=[point[:2] for point in walker.path], seconds=time, boxes=boxes, **given)
    parts = parts_of(moods.walker)
    weight = moods.walker.body.mass + sum(leg.mass for leg in moods.walker.legs.values())
    pushes = PUSHES * weight if walker.pushes is None else walker.pushes
    solid = [name for name, body in scene.bodies.items() if name not in steps_on and _stands_firm(body, pushes)]
    extents = make_extents(make_shapes([scene.bodies[name].form for name in solid]))
    walking = Walking(
        name=name,
        model=walker,
        moods=moods,
        lame=lame_leg(moods, given.get("lame"), given.get("limp", 0.0)),
        rig=rig_of(moods.walker),
        route=route,
        surfaces=walked.surfaces,
        wishes=np.zeros((0, 0)),
        stature=walked.stature,
        own=[f"{name}.{part.name}" for part in parts],
        solid=solid,
        reach=extents[:, CORE:SKIN] + extents[:, SKIN, None],
    )
    walking = _wished(walking, walker, scene.world.seconds)
    troupe.walkings.append(walking)
    state, width = new_state(len(moods.walker.legs)), troupe.width
    set_off(
        state, moods.rows, walking.wishes[0], walking.lame, moods.lame is not None, walking.rig, route,
        walking.surfaces, moods.curve == "smooth",
    )  # fmt: skip
    walks = troupe.walks
    walks.states.append(state)
    walks.first.append(first_tick(0.0, walker.start))
    walks.going.append(True)
    walks.slowed.append(1.0)
    walks.falls.append(())
    rows = len(parts) * width
    keys = times, positions, orientations = np.zeros(rows), np.zeros((rows, 3)), np.zeros((rows, 4))
    _stride(troupe, walks, len(walks.states) - 1, keys, 0, width)
    for k, (part, pieces) in enumerate(zip(parts, looks_of(moods.walker, walker.color))):
        color = walker.color if part.name == "body" and walker.color else part.color
        # Fixed as far as physics is concerned: nothing pushes it.
        body = Body.model_validate({"shape": part.shape, "fixed": True, "color": color})
        own = slice(k * width, (k + 1) * width)
        troupe.parts[f"{name}.{part.name}"] = Limb(body, times[own], positions[own], orientations[own], pieces)
    falls = (walker.start + time for time, _ in walked.footfalls())
    troupe.foreseen[name] = [time for time in falls if time <= scene.world.seconds]
    line = route.table[::10]
    troupe.ways[f"{name}.way"] = np.column_stack([line[:, :2], np.full(len(line), ground)])


def _wished(walking: Walking, walker: Walker, seconds: float) -> Walking:
    """With what is wished of a walker now."""
    from impel.gaits.gait import TICK
    from impel.gaits.steps import STATURE_FACTOR
    from impel.gaits.walk import lame_leg, wish_table

    given = walker.wishes()
    lame = lame_leg(walking.moods, given.pop("lame", None), given.get("limp", 0.0))
    ticks = math.ceil(max(seconds - walker.start, 0.0) / TICK) + 3
    wishes = wish_table(walking.moods, ticks, **given)
    wishes[:, STATURE_FACTOR] *= walking.stature
    return walking._replace(model=walker, lame=lame, wishes=wishes)


def rewished(troupe: Troupe, scene: Scene, name: str) -> Troupe:
    """The same walkers after a field of one was changed; raise `Problem` if it cannot do what is wished."""
    try:
        walkings = [
            _wished(each, scene.walkers[name], scene.world.seconds) if each.name == name else each
            for each in troupe.walkings
        ]
    except Problem as problem:
        raise Problem(*(_name_field(f"walkers.{name}", line) for line in problem.lines)) from None
    return troupe._replace(walkings=walkings)


def go_on(
    troupe: Troupe, walks: Walks, bodies: Bodies, names: list[str], followers: Followers, now: float, until: float
) -> list[dict[str, Any]]:
    """Let every walker walk until the end of a frame; return what happened on the way, in order of time."""
    from impel.gaits.playing import first_tick

    index = {name: i for i, name in enumerate(names)}
    row_of = {int(body): int(first) for body, first in zip(followers.body, followers.first)}
    keys = followers.time, followers.position, followers.orientation
    for w, walking in enumerate(troupe.walkings):
        first = first_tick(now, walking.model.start)
        fresh = min(first - walks.first[w], troupe.width)
        walks.first[w] = first
        blocked = _in_the_way(walking, walks.states[w], bodies, index)
        if walks.going[w] == (blocked is not None):
            walks.going[w] = blocked is None
            what = {"kind": "goes on"} if blocked is None else {"kind": "waits", "details": {"for": blocked}}
            walks.coming.append({"time": now, "subject": walking.name, "details": {}} | what)
        if fresh > 0:
            _stride(troupe, walks, w, keys, row_of[index[walking.own[0]]], fresh)
    walks.coming.sort(key=lambda event: event["time"])
    due = [event for event in walks.coming if event["time"] <= until + 1e-9]
    walks.coming = walks.coming[len(due) :]
    return due


def _stride(troupe: Troupe, walks: Walks, w: int, keys: tuple[Floats, Floats, Floats], base: int, fresh: int) -> None:
    from impel.gaits.energy import COLUMNS
    from impel.gaits.gait import TICK
    from impel.gaits.playing import FALL, stride_on
    from impel.gaits.steps import WISHES

    walking, state = troupe.walkings[w], walks.states[w]
    moods, start, ground = walking.moods, walking.model.start, walking.model.path[0][2]
    legs = list(moods.walker.legs)
    landed = np.zeros((fresh * len(legs), FALL))
    count = stride_on(
        state, np.zeros(WISHES), moods.rows, walking.wishes, walks.slowed[w] if walks.going[w] else 0.0, walks.first[w],
        walking.lame, moods.lame is not None, walking.rig, walking.route, walking.surfaces, moods.curve == "smooth",
        moods.walker.sole + ground, start, *keys, base, troupe.width, fresh, np.zeros(COLUMNS), landed,
    )  # fmt: skip
    walks.falls[w] += tuple(sorted(float(start + tick * TICK) for tick in landed[:count, 0]))
    for tick, leg, *at in landed[:count]:
        place = [round(float(c), 6) for c in (at[0], at[1], at[2] + ground)]
        walks.coming.append(
            {
                "time": float(start + tick * TICK),
                "kind": "footfall",
                "subject": f"{walking.name}.{legs[int(leg)]}",
                "details": {"at": place},
            }
        )


def _boxes(scene: Scene, route: Any, ground: float, walker: Any) -> tuple[Floats, set[str]]:
    """What of the scene is ground to a walker: fixed upright boxes, low enough, as surfaces, and their names."""
    from impel.gaits.ground import TREAD, WIDTH

    unit = walker.leg_length / 2
    rows, names = [], set()
    for name, body in scene.bodies.items():
        shape = body.shape.to_document()
        if not body.fixed or not body.collides or "box" not in shape:
            continue
        axes = matrix_from_quaternion(body.orientation)
        half = np.array(shape["box"]) / 2
        top = body.at[2] + half[2] - ground
        away = np.linalg.norm(route.table[:, :2] - np.array(body.at[:2]), axis=1).min()
        near = away < float(np.hypot(half[0], half[1])) + WIDTH / 2 * unit
        if axes[2, 2] > 1 - 1e-9 and NOTICED * unit < top <= STEPS_ON * unit and near:
            stands = 1.0 if 2 * min(half[:2]) >= TREAD * unit else 0.0
            rows.append((body.at[0], body.at[1], axes[0, 0], axes[1, 0], half[0], half[1], top, stands))
            names.add(name)
    return np.array(rows).reshape(-1, 8), names


def _stands_firm(body: Body, pushes: float) -> bool:
    """Whether a body stays where it is when somebody walks into it who pushes so many kilograms."""
    if not body.collides or "plane" in body.shape.to_document():
        return False
    return not body.moves_freely or mass_of(body) > pushes


def _in_the_way(walking: Walking, state: Any, bodies: Bodies, index: dict[str, int]) -> str | None:
    """The first body that a walker would soon walk into and cannot push."""
    from impel.gaits.gait import PACE
    from impel.gaits.steps import ALONG

    along = float(state.clock[ALONG])
    if not walking.solid or along >= walking.route.length:
        return None
    ahead = _corridor(walking, along, along + HALT * float(state.genes[PACE]) + _front(walking))
    return _hit(walking, ahead, bodies, index, BERTH * walking.rig.unit)


def paths_through(scene: Scene, troupe: Troupe, bodies: Bodies) -> Iterator[str]:
    """Where the ways of walkers lead through something fixed, one line each."""
    index = {name: i for i, name in enumerate(scene.bodies)}
    for walking in troupe.walkings:
        fixed = [k for k, name in enumerate(walking.solid) if scene.bodies[name].fixed]
        firm = walking._replace(solid=[walking.solid[k] for k in fixed], reach=walking.reach[fixed])
        step = walking.rig.unit / 2
        for start in np.arange(0.0, walking.route.length, step) if fixed else ():
            name = _hit(firm, _corridor(walking, start, start + step), bodies, index, 0.0)
            if name is not None:
                yield (
                    f"walkers.{walking.name}.path: leads through {name}, which is fixed, {start:.1f} m along; it will "
                    "wait there for ever"
                )
                break


def heights(scene: Scene, source: str) -> Iterator[str]:
    """How tall the walkers of a scene are, one line each."""
    from impel.gaits.advice import stature_of

    for walking in troupe_of(scene, source).walkings:
        moods = walking.moods
        yield (
            f"walkers.{walking.name}: stands {stature_of(moods.walker, moods.measured)}, by its mood, and takes "
            f"{2 * _half_width(walking):.3g} m from side to side"
        )


def _front(walking: Walking) -> float:
    """How far ahead of its middle a walker reaches as it walks (m): with its feet, its body, or knees that it lifts."""
    walker = walking.moods.walker
    knees = [leg.hip[0] + leg.upper * leg.pole[0] / math.hypot(*leg.pole) for leg in walker.legs.values()]
    shape = walker.body.shape
    body = float(shape["sphere"]) if "sphere" in shape else float(shape["box"][0]) / 2
    return max(_toes(walking), body, *knees)


def _toes(walking: Walking) -> float:
    """How far ahead of its middle its feet are as it stands (m)."""
    return float(walking.rig.rest[:, 0].max()) + walking.moods.walker.sole


def _half_width(walking: Walking) -> float:
    return float(np.abs(walking.rig.rest[:, 1]).max()) + walking.moods.walker.sole


def _corridor(walking: Walking, start: float, end: float) -> Floats:
    """Places (P, 2) that a walker takes up between two places of its way."""
    route, half = walking.route, _half_width(walking)
    s = np.linspace(start, min(end, route.length + _toes(walking)), LOOKS[0])
    rows = np.clip(s / route.length * (len(route.table) - 1), 0, len(route.table) - 1).astype(int)
    x, y, heading = route.table[rows, :3].T
    over = s - np.minimum(s, route.length)
    aside = np.linspace(-half, half, LOOKS[1])[:, None]
    cosine, sine = np.cos(heading), np.sin(heading)
    return np.stack([x + over * cosine - aside * sine, y + over * sine + aside * cosine], axis=-1).reshape(-1, 2)


def _hit(walking: Walking, places: Floats, bodies: Bodies, index: dict[str, int], berth: float) -> str | None:
    """Which of the bodies that a walker cannot push one of these places is in, or almost."""
    unit, ground = walking.rig.unit, walking.model.path[0][2]
    tallest = ground + walking.moods.walker.tallest
    for name, reach in zip(walking.solid, walking.reach):
        position, axes = bodies.position[index[name]], matrix_from_quaternion(bodies.orientation[index[name]])
        height = min(max(float(position[2]), ground + NOTICED * unit), tallest)
        points = np.column_stack([places, np.full(len(places), height)])
        if np.any(np.all(np.abs((points - position) @ axes) <= reach + berth, axis=1)):
            return name
    return None


def _name_field(where: str, line: str) -> str:
    """A complaint about a walk as one about the scene."""
    field = line.split(":")[0]
    return f"{where}.{line}" if field in Walker.model_fields else f"{where}: {line}"
