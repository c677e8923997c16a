"""A walk: a gait or a mood taken along a path, with everything that changes on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.files import Problem
from impel.gaits.energy import COLUMNS, Measured, measure
from impel.gaits.gait import CYCLE, DELAYS, PACE, PERIOD, STATURE, TICK, Gait, leg_index
from impel.gaits.ground import COSINE, HALF_LENGTH, HALF_WIDTH, SINE, TOP, Ground, X, Y, ground_problems
from impel.gaits.mood import Moods
from impel.gaits.route import Route, make_route
from impel.gaits.steps import LIMP, MOOD, PACE_FACTOR, STATURE_FACTOR, WISHES, Recorded, new_state, walk_ticks
from impel.gaits.walker import Floats, Walker, rig_of
from impel.gaits.wishes import SMOOTH_JUMP

Keys = float | Sequence[tuple[float, float]]  # a value, or (time, value) pairs to go through

LONGEST = 3600.0  # s; a walk that takes longer was not meant
STATURE_STEP = 0.06  # by which it stands lower or higher at each try where the ground asks for it


@dataclass
class Walk:
    """Everything at every tick of 1/240 s. Positions are of the soles' points; `as_take` draws it."""

    walker: Walker
    way: Floats  # (K, 3) the path as a fine line of x, y and heading
    surfaces: Floats  # (K, 8) the ground, and what is higher
    arrived: bool  # at the end of the path
    stature: float  # by which it stands lower or higher where the ground asks for it
    stretch: float  # m, as in `Measured`
    jump: float  # m/s a tick
    time: Floats  # (F,)
    body: Floats  # (F, 3)
    heading: Floats  # (F,) rad, anticlockwise from +x
    tilt: Floats  # (F, 2) rad: roll, the left side up, and pitch, the nose down
    foot: Floats  # (F, n, 3)
    lifted: NDArray[np.bool_]  # (F, n)
    energy: Floats  # (F, 4) spent so far, by term
    genes: Floats  # (F, 7 + n) in force
    along: Floats  # (F,) metres along the path

    def footfalls(self) -> list[tuple[float, int]]:
        """Time and leg of each landing, in order."""
        tick, leg = np.nonzero(self.lifted[:-1] & ~self.lifted[1:])
        return [(float(self.time[t + 1]), int(i)) for t, i in zip(tick, leg)]


def walk(
    moods: Moods,
    *,
    path: ArrayLike = ((0.0, 0.0), (8.0, 0.0)),
    mood: Keys = 50.0,
    pace: Keys | None = None,
    height: Keys | None = None,
    limp: Keys = 0.0,
    lame: str | None = None,
    ground: Ground | None = None,
    seconds: float | None = None,
    boxes: Floats | None = None,
) -> Walk:
    """Walk along a path from standing to standing, or for some seconds.

    Mood (0 to 100), pace (m), mean height of the body (m) and limp (0 to 1, of the leg `lame`) may each be one value or
    (time, value) keys. `boxes` are more surfaces, wherever they stand (see ground.py). Raises `Problem` if a leg
    would be too short for what is asked.
    """
    ground = ground or Ground()
    walker = moods.walker
    leg = lame_leg(moods, lame, limp)
    lines = list(ground_problems(ground, walker))
    if lines:
        raise Problem(*lines)
    route = make_route(path, walker.size)
    surfaces = ground.surfaces(route, walker.leg_length / 2)
    if boxes is not None:
        surfaces = np.concatenate([surfaces, boxes])
    rough = len(surfaces) > 1
    if seconds is None and route.length / _speeds(moods).max() > LONGEST:
        raise Problem(f"path: {route.length:.4g} m takes longer than {LONGEST:g} s at any pace")
    keys = mood, pace, height, limp
    stature, direction = 1.0, 0
    while True:  # stand lower where legs are too short for the ground, higher where the body would hit it
        walked = _step_along(moods, route, surfaces, leg, keys, stature, seconds)
        bump = _bump(walked)
        jerks = moods.curve == "smooth" and walked.jump > SMOOTH_JUMP  # a leg that is almost straight holds it back
        wanted = -1 if walked.stretch > 0.0 or jerks else 1 if bump is not None else 0
        if wanted == 0 or wanted == -direction or not (rough or jerks) or not 0.6 < stature < 2.0:
            break
        stature, direction = stature * (1.0 + STATURE_STEP * wanted), wanted
    if walked.stretch > 0.0:
        hint = "the ground is too rough, or the steps are too long" if rough else "lower the height or the pace"
        raise Problem(f"{walker.name}: its legs are {walked.stretch:.2g} m too short for this walk: {hint}")
    if bump is not None:
        raise Problem(f"{walker.name}: its body would hit the ground {bump:.1f} m along: raise its height or its mood")
    if not walked.arrived and seconds is None:
        raise Problem(f"path: {route.length:.4g} m takes longer than {LONGEST:g} s at this pace")
    return walked


def lame_leg(moods: Moods, lame: str | None, limp: Keys) -> int:
    """Which leg is spared, -1 for none; raise `Problem` if that cannot be."""
    if moods.lame is not None and ((lame or moods.lame) != moods.lame or max(_values(limp)) > 0):
        raise Problem(f"limp: this gait was evolved for a lame {moods.lame} and limps already")
    leg = leg_index(moods.walker, moods.lame if lame is None else lame)
    if leg < 0 and max(_values(limp)) > 0:
        raise Problem("limp: needs a lame leg")
    return leg


def _step_along(
    moods: Moods, route: Route, surfaces: Floats, leg: int, keys: tuple[Any, ...], stature: float, seconds: float | None
) -> Walk:
    rig, smooth = rig_of(moods.walker), moods.curve == "smooth"
    limit = LONGEST if seconds is None else seconds
    # Long enough at the slowest pace, and doubled if turns or the way to stop take longer.
    guess = 5.0 + 1.5 * route.length / _speeds(moods).min()
    while True:
        count = int(min(guess, limit) / TICK) + 1
        wishes = wish_table(moods, count, *keys)
        wishes[:, STATURE_FACTOR] *= stature
        recorded = _room_for(count, len(moods.walker.legs))
        out = np.zeros(COLUMNS)
        state, born_lame = new_state(len(moods.walker.legs)), moods.lame is not None
        ticks = walk_ticks(state, moods.rows, wishes, leg, born_lame, rig, route, surfaces, smooth, recorded, out)
        if ticks < count or guess >= limit:
            break
        guess *= 2
    np.minimum(recorded.along, route.length, out=recorded.along)
    series = {name: getattr(recorded, name)[:ticks] for name in Recorded.__annotations__}
    summary = Measured(*out)
    return Walk(
        walker=moods.walker,
        way=route.table[:, :3],
        surfaces=surfaces,
        arrived=ticks < count,
        stature=stature,
        stretch=float(summary.stretch),
        jump=float(summary.jump),
        time=_times(ticks),
        **series,
    )


def _bump(walked: Walk) -> float | None:
    """How far along the body would hit a step or an obstacle, if anywhere."""
    for row in walked.surfaces[1:]:
        away = walked.body[:, :2] - row[[X, Y]]
        ahead = np.abs(away @ row[[COSINE, SINE]]) - row[HALF_LENGTH]
        aside = np.abs(away @ [-row[SINE], row[COSINE]]) - row[HALF_WIDTH]
        beside = np.maximum(0.0, np.maximum(ahead, aside))
        hit = walked.body[:, 2] + walked.walker.sole - walked.walker.body.depth(beside) < row[TOP]
        if hit.any():
            return float(walked.along[hit][0])
    return None


def _speeds(moods: Moods) -> Floats:
    return np.asarray(moods.rows[:, PACE] / (moods.rows[:, CYCLE] * moods.rows[:, PERIOD]))


def walk_gait(gait: Gait, **wishes: object) -> Walk:
    """Walk with one gait's genes; the wishes are those of `walk`, without a mood."""
    return walk(Moods.of_gait(gait), **wishes)  # type: ignore[arg-type]


def _times(ticks: int) -> Floats:
    return np.arange(ticks, dtype=np.float64) * TICK


def _values(keys: Keys) -> list[float]:
    return [keys] if isinstance(keys, int | float) else [value for _, value in keys]


def _series(name: str, keys: Keys, time: Floats, low: float, high: float) -> Floats:
    if isinstance(keys, int | float):
        keys = [(0.0, float(keys))]
    times, values = np.array(keys, np.float64).T
    if not np.isfinite([times, values]).all() or np.any(np.diff(times) < 0):
        raise Problem(f"{name}: times must be finite and in order")
    for value in values:
        if not low <= value <= high:
            raise Problem(f"{name}: must be from {low:g} to {high:g}, got {value:g}")
    return np.interp(time, times, values)


def wish_table(
    moods: Moods,
    ticks: int,
    mood: Keys = 50.0,
    pace: Keys | None = None,
    height: Keys | None = None,
    limp: Keys = 0.0,
) -> Floats:
    """Per tick: place in the table of moods, factors on pace and stature, limp, and that it goes on."""
    time = _times(ticks)
    wishes = np.ones((len(time), WISHES))
    wishes[:, MOOD] = moods.places(_series("mood", mood, time, 0.0, 100.0))
    wishes[:, LIMP] = _series("limp", limp, time, 0.0, 1.0)
    if pace is not None:
        wanted = _series("pace", pace, time, *moods.walker.bounds.pace)
        wishes[:, PACE_FACTOR] = wanted / moods.at(wishes[:, MOOD])[:, PACE]
    if height is not None:
        wanted = _series("height", height, time, 0.0, np.inf)
        some = np.unique(np.append(np.arange(0, len(time), 24), len(time) - 1))  # ten times a second
        rows = moods.at(wishes[some, MOOD])
        rows[:, PACE] *= wishes[some, PACE_FACTOR]
        offset = np.mean([leg.hip[2] for leg in moods.walker.legs.values()])  # stature scales the hips' height
        mean = measure(moods.walker, rows, curve=moods.curve).mean
        factor = (wanted[some] + offset) / (mean + offset)
        low, high = moods.walker.limits.stature
        stature = rows[:, STATURE] * factor
        if stature.min() < low - 1e-9 or stature.max() > high + 1e-9:
            least, most = ((mean + offset) * bound / rows[:, STATURE] - offset for bound in (low, high))
            raise Problem(
                f"height: must be from {least.max():.3g} to {most.min():.3g} in this mood, got {wanted.max():g}"
            )
        wishes[:, STATURE_FACTOR] = np.interp(time, time[some], factor)
    return wishes


def _room_for(count: int, legs: int) -> Recorded:
    return Recorded(
        np.zeros((count, 3)),
        np.zeros(count),
        np.zeros((count, 2)),
        np.zeros((count, legs, 3)),
        np.zeros((count, legs), np.bool_),
        np.zeros((count, 4)),
        np.zeros((count, DELAYS + legs)),
        np.zeros(count),
    )
