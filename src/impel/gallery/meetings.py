"""Random meetings: actors that must pass their cues together, one of whom is held up; by clocks, or as published."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from impel.scene import Scene
from impel.stage import Performance

Rule = Literal["clocks", "paper", "none"]

SHORTEST, LONGEST = 2.0, 10.0  # s: how long the slowest takes
CUE = 3  # of five keys
FIRM = 400.0  # times the mass, N/m: of the spring that holds a body up
AGAIN = 0.97  # of its way, where another is held up once more ...
BRIEFLY = 0.5  # s ... so long
PUSHED = 0.2  # of its pull at base distance, by which everyone is pushed about
GIVE_UP = 3.0  # times the slowest's own time, after which a meeting has failed


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """What will happen, whatever the rule."""

    scene: Scene
    cues: list[str]
    asked: float  # s: what the slowest takes by itself
    held: str
    since: float  # s
    until: float
    step: float  # s: of control
    rough: bool = False  # whether all are pushed about, and one is held up again near the end
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Met:
    """What became of it; times are infinite for who did not come."""

    targets: NDArray[np.float64]  # s: when each target passed its cue
    objects: NDArray[np.float64]  # s: when each body was there
    duration: float  # s: until the last body was there
    held_again: bool = False


def random_meeting(seed: int, *, timed: bool = True, rough: bool = False) -> Meeting:
    """Two to ten actors that move or turn, with and without times, one of whom is held up for a while."""
    rng = np.random.default_rng(seed)
    count, longest = int(rng.integers(2, 11)), float(rng.uniform(SHORTEST, LONGEST))
    scene = Scene(seconds=GIVE_UP * (longest + 2), gravity=[0, 0, 0])
    cues, names = [], []
    for i in range(count):
        name = f"actor{i}"
        takes = longest * (1.0 if i == 0 else float(rng.uniform(0.3, 1.0)))
        at = [0.0, 5.0 * i, 0.0]
        turns, has_times = bool(rng.random() < 0.4), timed and bool(rng.random() < 0.5)
        body = scene.body(name, box=[0.3, 0.2, 0.2], mass=float(rng.uniform(0.3, 3)), at=at)
        keys, length = (_turn_keys if turns else _move_keys)(rng, at)
        fields: dict[str, Any] = {}
        if has_times:
            shares = np.cumsum(rng.uniform(0.5, 1.5, CUE))
            for k in range(1, CUE + 1):
                keys[k]["time"] = float(takes * shares[k - 1] / shares[-1])
            fields["late"] = "wait"
        else:
            fields["speed"] = length / takes
        (body.turn if turns else body.move)(keys, **fields)
        cues.append(f"{name}.{'turn' if turns else 'move'}.{CUE}")
        names.append(name)
    held, since = str(rng.choice(names)), float(rng.uniform(0.1, 0.6) * longest)
    return Meeting(
        scene=scene,
        cues=cues,
        asked=longest,
        held=held,
        since=since,
        until=since + float(rng.uniform(0.5, 2.0)),
        step=_step(scene),
        rough=rough,
        seed=seed,
    )


def _step(scene: Scene) -> float:
    pace = Performance(scene).compiled.pace
    return pace.frame_seconds / pace.steps


def _move_keys(rng: np.random.Generator, at: list[float]) -> tuple[list[dict[str, Any]], float]:
    ways = rng.normal(size=(CUE + 1, 3)) * 0.4 + [0.8, 0, 0]
    places = np.array(at) + np.vstack([np.zeros(3), np.cumsum(ways, axis=0)])
    return [{"at": place.tolist()} for place in places], float(np.linalg.norm(ways[:CUE], axis=1).sum())


def _turn_keys(rng: np.random.Generator, _: list[float]) -> tuple[list[dict[str, Any]], float]:
    ways = rng.uniform(20, 80, CUE + 1)
    angles = np.concatenate([[0], np.cumsum(ways)])
    return [{"euler": [0, 0, float(angle)]} for angle in angles], float(ways[:CUE].sum())


def ideal_duration(meeting: Meeting, met: Met) -> float:
    """How long a meeting must take: as long as the slowest by itself; and who is held up when all are near waits."""
    return hold_meeting(meeting, "none").duration + (BRIEFLY if met.held_again else 0.0)


def hold_meeting(meeting: Meeting, rule: Rule) -> Met:
    """Play it until all have come, or it is given up."""
    scene = meeting.scene.model_copy(deep=True)
    if rule != "none":
        scene.appointment("meet", meeting.cues, regulator=rule)
    performance, rng = Performance(scene), np.random.default_rng(meeting.seed + 1000)
    again = False
    index = {name: i for i, name in enumerate(performance.compiled.bodies)}
    if meeting.rough:
        _push_about(performance, meeting, rng)
    held = False
    targets: dict[str, float] = {}
    objects: dict[str, float] = {}
    told = 0
    while performance.frame < performance.compiled.frames - 1 and len(objects) < len(meeting.cues):
        if not held and performance.time >= meeting.since:
            _hold(performance, meeting.held, index[meeting.held], meeting.until)
            held = True
        if meeting.rough and rule != "none" and not again and held and performance.time > meeting.until:
            again = _hold_again(performance, meeting, index, rng)
        performance.next_frame()
        for event in performance.told[told:]:
            if event["kind"] in ("key passed", "key reached") and event["details"]["key"] == CUE:
                (targets if event["kind"] == "key passed" else objects).setdefault(event["subject"], event["time"])
        told = len(performance.told)
    labels = [cue.rpartition(".")[0] for cue in meeting.cues]
    passed, there = (np.array([times.get(label, np.inf) for label in labels]) for times in (targets, objects))
    return Met(targets=passed, objects=there, duration=float(there.max()), held_again=again)


def _hold(performance: Performance, name: str, i: int, until: float) -> None:
    """Hold a body fast, at two points so that it cannot turn either."""
    bodies = performance.stage.bodies
    mass, place = float(bodies.mass[i]), bodies.position[i]
    w, x, y, z = bodies.orientation[i]
    arm = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    for side in (0.5, -0.5):
        to = (place + side * arm).tolist()
        performance.push(name, spring=FIRM * mass, point=[side, 0, 0], to=to, until=until)


def _push_about(performance: Performance, meeting: Meeting, rng: np.random.Generator) -> None:
    actuators = performance.stage.actuators
    assert actuators is not None
    for a, cue in enumerate(meeting.cues):
        name = cue.split(".")[0]
        most = PUSHED * float(actuators.inertia[a] * actuators.stiffness[a] * actuators.base[a])
        for begin in np.arange(0, 2 * meeting.asked, 0.5):
            force = rng.normal(size=3)
            force *= most / np.linalg.norm(force)
            # On what turns, at an arm of one metre across the force.
            point = [0.0, 0.0, 0.0] if ".move." in cue else rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)]
            span = {"from": float(begin), "until": float(begin) + 0.5}
            performance.push(name, **span, force=force.tolist(), point=[float(p) for p in point])


def _hold_again(performance: Performance, meeting: Meeting, index: dict[str, int], rng: np.random.Generator) -> bool:
    """Hold up another, once it has all but come; has it been done?"""
    actuators = performance.stage.actuators
    assert actuators is not None
    others = [a for a, cue in enumerate(meeting.cues) if cue.split(".")[0] != meeting.held]
    a = others[int(rng.integers(len(others)))] if len(others) > 1 else others[0]
    written = performance.compiled.keys[a]
    cue = written.index(CUE)
    done = (float(actuators.segment[a]) + float(actuators.u[a])) / cue
    if not AGAIN <= done < 1.0:
        return False
    name = meeting.cues[a].split(".")[0]
    _hold(performance, name, index[name], performance.time + BRIEFLY)
    return True


def spread(times: NDArray[np.float64]) -> float:
    return float(np.ptp(times)) if np.all(np.isfinite(times)) else float("inf")


def percentile(values: Iterable[float], share: float) -> float:
    """Which value so many per cent do not exceed; infinite where that many never came."""
    ordered = sorted(values)
    return float(ordered[min(int(np.ceil(share / 100 * len(ordered))), len(ordered)) - 1])
