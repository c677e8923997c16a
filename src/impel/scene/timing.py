"""When keys are passed: times that are written, and those that follow from them.

A key may say when to be there, how long to stay, and how fast to pass. Keys without a time share that between their
neighbours, each as it would take at the usual speed; after the last time the path goes on at that speed.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from impel.complaints import say
from impel.scene.actors import ALPHA, Move, MoveKey, Turn, TurnKey
from impel.scene.following import Followed, Mark, lead_the_way
from impel.scene.ways import usual_base, ways_of

USUAL_SHARE = 0.25  # of the way between keys: the base distance whose speed is usual
SHORTEST = 1e-3  # s from one key to the next, where no time is written
STEEPEST = 3.0  # times the mean speed on either side: a key that is passed faster would be overshot

Told = tuple[float, float, float, float]  # about the velocity at a key, see motion/timed.py
NOTHING: Told = (0.0, 0.0, 0.0, 0.0)


class Timetable(NamedTuple):
    """What a path with times goes through, and when. A key that is held is there twice."""

    keys: list[Any]  # places or orientations
    written: list[int | None]  # which of the written keys each of them is, if any
    frames: list[str | None]  # the body that each is in
    stays: list[bool]  # whether it is held until the next
    told: list[Told]
    spans: list[float]  # s: from each to the next; on loops, from the last to the first
    speed: float  # mean, m/s or rad/s, while it moves


def is_timed(wish: Move | Turn) -> bool:
    return len(wish.keys) > 1 and any(_says(key) for key in wish.keys)


def _says(key: MoveKey | TurnKey) -> list[str]:
    """Which of the fields about times a key gives."""
    return [name for name in ("time", "hold", "speed", "direction") if getattr(key, name, None) is not None]


def timetable(wish: Move | Turn) -> Timetable | None:
    """The times on a path; None if there are none, and it is passed as fast as it comes."""
    if not is_timed(wish):
        return None
    plan = _plan(wish)
    marks, written, frames, stays_there, told = [], [], [], [], []
    for i, (key, time) in enumerate(zip(plan.keys, plan.times)):
        stays = [time, time + key.hold] if key.hold and (wish.loop or i + 1 < len(plan.keys)) else [time]
        for k, when in enumerate(stays):
            at, turned, angles = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), None
            if isinstance(key, MoveKey):
                at = key.at
            else:
                turned, angles = key.orientation, key.euler
            marks.append(Mark(when, at, turned, angles))
            written.append(i if k == 0 else None)
            frames.append(key.in_)
            stays_there.append(k + 1 < len(stays))
            told.append(_told(key))
    if wish.loop:
        marks.append(Mark(plan.end, marks[0].at, marks[0].turned, plan.closing))
        frames.append(frames[0])
    result = Followed([], [], [])
    which: list[int | None] = []
    inside: list[str | None] = []
    held: list[bool] = []
    said: list[Told] = []
    for i, mark in enumerate(marks):
        if i > 0 and frames[i] == frames[i - 1]:
            before = len(result.times)
            lead_the_way(result, marks, i - 1, False)
            led = len(result.times) - before
            which += [None] * led
            inside += [frames[i]] * led
            held += [False] * led
            said += [NOTHING] * led
        result.times.append(mark.time)
        result.positions.append(mark.at)
        result.orientations.append(mark.turned)
        if i < len(written):
            which.append(written[i])
            inside.append(frames[i])
            held.append(stays_there[i])
            said.append(told[i])
    keys: list[Any] = result.positions if isinstance(wish, Move) else result.orientations
    spans = [b - a for a, b in pairwise(result.times)]
    return Timetable(keys[: len(which)], which, inside, held, said, spans, plan.speed)


def key_times(wish: Move | Turn) -> list[float] | None:
    """When each written key is to be passed, in seconds, given or filled in; None if there are no times."""
    if not is_timed(wish):
        return None
    plan = _plan(wish)
    return [*plan.times, *([plan.end] if len(plan.times) < len(wish.keys) else [])]


def _told(key: MoveKey | TurnKey) -> Told:
    from impel.motion.timed import SPEED, VELOCITY, WAY

    speed = None if key.speed is None else key.speed * (1.0 if isinstance(key, MoveKey) else math.radians(1))
    if isinstance(key, MoveKey) and key.direction is not None:
        size = math.hypot(*key.direction)
        x, y, z = (c / size * (1.0 if speed is None else speed) for c in key.direction)
        return x, y, z, float(WAY if speed is None else VELOCITY)
    return NOTHING if speed is None else (speed, 0.0, 0.0, float(SPEED))


class _Plan(NamedTuple):
    """The written keys of a path, without one that only closes a loop, and when each is come to."""

    keys: Sequence[MoveKey | TurnKey]
    times: list[float]
    end: float  # when the last key is come to, or a loop closes
    closing: tuple[float, float, float] | None  # the angles at which a turn in a loop closes
    speed: float


def _plan(wish: Move | Turn) -> _Plan:
    keys: list[MoveKey | TurnKey] = list(wish.keys)
    closes = wish.loop and _same(keys[0], keys[-1])
    last = keys[-1]
    route = [*keys, keys[0]] if wish.loop and not closes else keys
    ways = ways_of(wish, list(pairwise(route)))
    lengths, known = _lengths(route, ways)
    usual = _usual_speed(wish, lengths)
    speeds = _key_speeds(wish, route, ways, usual)
    asks = [_asked(length, a, b, usual) for length, (a, b) in zip(lengths, pairwise(speeds))]
    holds = [key.hold or 0.0 for key in keys][: len(keys) - closes]
    holds += [0.0] * (len(route) - len(holds))
    if not wish.loop:
        holds[-1] = 0.0
    times = [0.0] * len(route)
    anchor = 0
    for i in range(1, len(route)):
        here = route[i].time if i < len(keys) else None
        if here is None and i + 1 < len(route):
            continue
        stay = math.fsum(holds[anchor:i])
        scale = 1.0 if here is None else (here - times[anchor] - stay) / math.fsum(asks[anchor:i])
        for k in range(anchor, i):
            times[k + 1] = times[k] + holds[k] + scale * asks[k]
        if here is not None:
            times[i] = here
        anchor = i
    moving = math.fsum(b - a - hold for (a, b), hold, sure in zip(pairwise(times), holds, known) if sure)
    own = keys[:-1] if closes else keys
    closing = last.euler if closes and isinstance(last, TurnKey) else None
    speed = math.fsum(way for way, sure in zip(lengths, known) if sure) / moving if moving > 0 else 0.0
    return _Plan(own, times[: len(own)], times[-1], closing, speed)


def _lengths(route: Sequence[Any], ways: list[tuple[float, ...]]) -> tuple[list[float], list[bool]]:
    """How long each way is, and whether that is known: between keys in different bodies it is taken for the mean."""
    known = [a.in_ == b.in_ for a, b in pairwise(route)]
    sure = [math.hypot(*way) for way, sure in zip(ways, known) if sure]
    mean = sum(sure) / len(sure) if sure else 1.0
    return [math.hypot(*way) if sure else mean for way, sure in zip(ways, known)], known


def _same(a: MoveKey | TurnKey, b: MoveKey | TurnKey) -> bool:
    """Whether a loop's last key only closes it."""
    if a.in_ != b.in_:
        return False
    if isinstance(a, MoveKey) or isinstance(b, MoveKey):
        return isinstance(a, MoveKey) and isinstance(b, MoveKey) and a.at == b.at
    return abs(sum(x * y for x, y in zip(a.orientation, b.orientation))) > 1 - 1e-12


def _usual_speed(wish: Move | Turn, lengths: list[float]) -> float:
    """How fast to go where no time says it, m/s or rad/s."""
    unit = 1.0 if isinstance(wish, Move) else math.radians(1)
    if wish.speed is not None:
        return wish.speed * unit
    last = max((i for i, key in enumerate(wish.keys) if key.time is not None), default=0)
    given = wish.base_distance if isinstance(wish, Move) else wish.base_angle
    if given is None and last > 0:
        moving = (wish.keys[last].time or 0.0) - sum(key.hold or 0.0 for key in wish.keys[:last])
        if moving > 0 and sum(lengths[:last]) > 0:
            return sum(lengths[:last]) / moving
    alpha = ALPHA if wish.alpha is None else wish.alpha
    return usual_base(wish, USUAL_SHARE) * math.sqrt(alpha / 2) / (wish.elasticity * wish.relaxation)


def _key_speeds(wish: Move | Turn, route: Sequence[Any], ways: list[tuple[float, ...]], usual: float) -> list[float]:
    """How fast each key would be passed: slower at turns, not at all at ends and where it stays."""
    unit = 1.0 if isinstance(wish, Move) else math.radians(1)
    speeds = []
    for i, key in enumerate(route):
        ends = not wish.loop and i in (0, len(route) - 1)
        if key.speed is not None:
            speeds.append(key.speed * unit)
        elif key.hold or ends:
            speeds.append(0.0)
        else:
            speeds.append(usual * _onwards(ways[i - 1], ways[i % len(ways)]))
    return speeds


def _onwards(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The cosine of half the turn from one way to the next; 0 where one of them leads nowhere."""
    size = math.hypot(*a) * math.hypot(*b)
    return math.sqrt(max(0.5 + 0.5 * sum(x * y for x, y in zip(a, b)) / size, 0.0)) if size > 0 else 0.0


def _asked(length: float, before: float, after: float, usual: float) -> float:
    """How long a cubic takes over a length that begins and ends at these speeds and is as fast as usual in between, or
    as these allow."""
    uneven = abs(before - after) / 4
    fast = max(usual - uneven, (before + after) / 2 + uneven)
    return max(1.5 * length / (fast + (before + after) / 4), SHORTEST)


def timing_problems(wish: Move | Turn, where: str) -> Iterator[str]:
    """What is wrong with the times on a path, one line each."""
    keys: Sequence[MoveKey | TurnKey] = wish.keys
    if len(keys) == 1 and _says(keys[0]):
        yield f"{where}.keys.0.{_says(keys[0])[0]}: is about the way between keys, and there is only one"
    if not is_timed(wish):
        return
    count = 0
    for line in [*_rising(keys, where), *_at_keys(wish, where)]:
        count += 1
        yield line
    if not count:
        yield from _too_fast(wish, where)


def _rising(keys: Sequence[MoveKey | TurnKey], where: str) -> Iterator[str]:
    if keys[0].time:
        yield (
            f"{where}.keys.0.time: must be 0 or left out, for the path begins there, got {keys[0].time:g}; "
            f"add a key before it for where the body starts"
        )
    earliest = keys[0].hold or 0.0
    for i, key in enumerate(keys[1:], 1):
        if key.time is not None:
            if key.time <= earliest:
                yield f"{where}.keys.{i}.time: must be later than {earliest:g}, the times before it, got {key.time:g}"
            earliest = max(key.time, earliest)
        earliest += key.hold or 0.0


def _at_keys(wish: Move | Turn, where: str) -> Iterator[str]:
    keys: Sequence[MoveKey | TurnKey] = wish.keys
    closes = wish.loop and _same(keys[0], keys[-1])
    for i, key in enumerate(keys):
        rest = [name for name in _says(key) if name in ("speed", "direction")]
        if key.hold and rest:
            yield f"{where}.keys.{i}.{rest[0]}: give hold or {rest[0]}, not both: what stays has no speed"
        if closes and i == len(keys) - 1:
            given = [name for name in _says(key) if name != "time"]
            if given:
                yield (
                    f"{where}.keys.{i}.{given[0]}: is the first key again, where the loop closes; "
                    f"give {given[0]} to keys.0 instead"
                )


def _too_fast(wish: Move | Turn, where: str) -> Iterator[str]:
    """Keys that are passed so fast that they would be overshot."""
    plan = _plan(wish)
    unit, name = (1.0, "m/s") if isinstance(wish, Move) else (math.radians(1), "degrees/s")
    route = [*plan.keys, plan.keys[0]] if wish.loop else plan.keys
    ways = ways_of(wish, list(pairwise(route)))
    times = [*plan.times, plan.end] if wish.loop else plan.times
    lengths, known = _lengths(route, ways)
    means = []
    for i, (length, (a, b)) in enumerate(zip(lengths, pairwise(times))):
        means.append(length / (b - a - (plan.keys[i].hold or 0.0)) if known[i] else math.inf)
    for i, key in enumerate(plan.keys):
        if key.speed is None:
            continue
        around = [means[k % len(means)] for k in (i - 1, i) if wish.loop or 0 <= k < len(means)]
        most = STEEPEST * min(around) / unit
        if key.speed > most * (1 + 1e-9):
            yield (
                f"{where}.keys.{i}.speed: must be at most {most:.3g} {name}, three times the mean on either side, "
                f"got {say(key.speed)}; or give less time"
            )
        elif key.speed > 0 and len(around) == 2 and "direction" not in _says(key):
            turns_back = _onwards(ways[i - 1], ways[i % len(ways)]) < 1e-6
            if turns_back:
                yield f"{where}.keys.{i}.speed: the path turns back here, so it has no direction; give a direction"


def acceleration(wish: Move) -> float:
    """The largest that a path with times asks for, m/s²."""
    import numpy as np

    from impel.motion.timed import clocked_segments

    table = timetable(wish)
    if table is None:
        return 0.0
    rows, spans = clocked_segments(table.keys, table.spans, table.told, wish.loop), np.array(table.spans)
    starts, ends = 2 * rows[:, 6:9], 2 * rows[:, 6:9] + 6 * rows[:, 9:12]  # a cubic's is largest at its ends
    return float(max((np.linalg.norm(x, axis=1) / spans**2).max() for x in (starts, ends)))
