"""Random structures with random actors: arms, figures and chains that hang, stand or lie about, with things in the way.

What must hold whatever they are asked for: nobody is thrown about, and nobody pushes ever harder.
"""

from typing import NamedTuple

import numpy as np
from scenes import _direction, _rounded

from impel.scene import Scene, problems
from impel.scene.derived import drive
from impel.stage.simulate import simulate

WILDLY = 10.0  # times the speed that is asked for, or of a free fall from the structure's height
BLOCKED_FOR = 3.0  # s: after that, what is blocked must not push harder
GROWN = 1.1
STILL = 0.05  # of the speed that is asked for


class Behaviour(NamedTuple):
    seed: int
    wild: float = 0.0  # the fastest of an actor's bodies, over what it may have
    growth: float = 1.0  # of the force of a blocked actor, after 3 s
    broke: str = ""

    def faults(self):
        found = [self.broke] if self.broke else []
        if self.wild > 1.0:
            found.append(f"{WILDLY * self.wild:.0f} times as fast as it should be")
        if self.growth > GROWN:
            found.append(f"pushes {self.growth:.2f} times as hard as after 3 s")
        return found


def random_structure(seed, *, seconds=5.0):
    """The first of the structures of this seed that is valid."""
    rng = np.random.default_rng([seed, 9])
    while True:
        scene = Scene.model_validate(_document(rng, seconds))
        if not problems(scene):
            return scene


def _document(rng, seconds):
    count, size = int(rng.integers(2, 8)), 10 ** rng.uniform(-1, 0)
    bodies, joints, ends = {}, {}, []
    foot = np.array([0.0, 0.0, 3 * size])
    kind = str(rng.choice(["ball", "hinge", "mixed"]))
    for i in range(count):
        start = foot if i == 0 else ends[int(rng.integers(max(0, i - 3), i))]
        along = _direction(rng)
        along[2] = abs(along[2])
        length = size * rng.uniform(0.4, 1.2)
        at = start + 0.5 * length * along
        turned = [0, float(np.degrees(np.arccos(along[2]))), float(np.degrees(np.arctan2(along[1], along[0])))]
        bodies[f"b{i}"] = {
            "shape": {"capsule": {"radius": round(0.08 * length, 6), "length": round(0.8 * length, 6)}},
            "mass": float(f"{10 ** rng.uniform(-1.5, 1.5):.4g}"), "at": _rounded(at), "euler": _rounded(turned),
        }  # fmt: skip
        ends.append(at + 0.5 * length * along)
        if i > 0 or rng.random() < 0.5:
            other = "world" if i == 0 else _nearest(bodies, start, f"b{i}")
            joints[f"j{i}"] = _joint(rng, kind, f"b{i}", other, start)
    if rng.random() < 0.3 and count > 3:
        joints["loop"] = {"ball": ["b0", f"b{count - 1}"], "at": _rounded(ends[-1])}
    bodies["ground"] = {"shape": {"plane": {}}, "fixed": True, "at": [0, 0, 0]}
    for k in range(int(rng.integers(0, 3))):
        place = foot + size * rng.uniform(1, 2.5) * _direction(rng)
        place[2] = max(place[2], 0.3 * size)
        loose = rng.random() < 0.5
        bodies[f"block{k}"] = {
            "shape": {"box": [round(0.4 * size, 6)] * 3}, "at": _rounded(place),
            **({"mass": float(f"{10 ** rng.uniform(-1, 2):.4g}")} if loose else {"fixed": True}),
        }  # fmt: skip
    return {
        "impel": 1, "world": {"seconds": seconds}, "bodies": bodies, "joints": joints,
        "actors": _actors(rng, bodies, [f"b{i}" for i in range(count)], size),
    }  # fmt: skip


def _nearest(bodies, point, own):
    others = [name for name in bodies if name != own]
    return min(others, key=lambda name: np.linalg.norm(np.array(bodies[name]["at"]) - point))


def _joint(rng, kind, a, b, at):
    kind = str(rng.choice(["ball", "hinge", "weld"], p=[0.4, 0.5, 0.1])) if kind == "mixed" else kind
    joint = {kind: [a, b], "at": _rounded(at)}
    if kind == "hinge":
        joint["axis"] = _rounded(_direction(rng))
        if rng.random() < 0.5:
            joint["limits"] = _rounded([rng.uniform(-120, 0), rng.uniform(0, 120)])
    return joint


def _actors(rng, bodies, names, size):
    actors = {}
    for name in rng.permutation(names)[: int(rng.integers(1, 5))].tolist():
        drive = {"loop": bool(rng.random() < 0.4)}
        if rng.random() < 0.3:
            drive["strength"] = str(rng.choice(["unlimited", "50 %", "200 %"]))
        if rng.random() < 0.2:
            drive["adaptation"] = round(10 ** rng.uniform(-1, 1.3), 4)
        if rng.random() < 0.2:
            drive["elasticity"] = round(10 ** rng.uniform(-0.5, 0.3), 4)
        actor = {}
        if rng.random() < 0.5:
            at = np.array(bodies[name]["at"])
            keys = [_rounded(at), *(_rounded(at + size * rng.normal(0, 1, 3)) for _ in range(int(rng.integers(0, 4))))]
            actor["move"] = {"keys": keys, **drive, "loop": drive["loop"] and len(keys) > 1}
        if not actor or rng.random() < 0.2:
            first = np.array(bodies[name]["euler"])
            keys = [
                {"euler": _rounded(first + (i > 0) * rng.uniform(-80, 80, 3))} for i in range(int(rng.integers(1, 4)))
            ]
            actor["turn"] = {"keys": keys, **drive, "loop": drive["loop"] and len(keys) > 1}
        actors[name] = actor
    return actors


def behaviour(seed, scene):
    """Play a structure and look at its actors."""
    try:
        take = simulate(scene)
    except Exception as error:
        return Behaviour(seed, broke=f"{type(error).__name__}: {error}")
    links = [body.at for name, body in scene.bodies.items() if name[0] == "b" and name[1:].isdigit()]
    height = float(np.ptp(links, axis=0).max())
    reach = max(scene.bodies[name].shape.half_size for name in scene.actors)
    fall = np.sqrt(2 * 9.81 * (height + 2 * reach))
    wild, growth = 0.0, 1.0
    for name, actor in scene.actors.items():
        wishes = {kind: wish for kind in ("move", "turn") if (wish := getattr(actor, kind)) is not None}
        asked = max(drive(wish).speed * (1.0 if kind == "move" else height + reach) for kind, wish in wishes.items())
        wild = max(wild, float(take.channels[f"{name}.speed"].max()) / (WILDLY * max(asked, fall)))
        for kind, wish in wishes.items():
            force = take.channels[f"{name}.{kind}.{'force' if kind == 'move' else 'torque'}"]
            growth = max(growth, _growth(take, name, kind, drive(wish), force))
    return Behaviour(seed, wild, growth)


def _growth(take, name, kind, numbers, force):
    """By how much the force of an actuator that stands still, away from its target, exceeds that of the first 3 s.

    Over half seconds: what it stands on may slip now and then, and others may move."""
    away = take.channels[f"{name}.{kind}.distance"]
    still = take.channels[f"{name}.speed"] < STILL * numbers.speed
    blocked = still & (away > (numbers.base if kind == "move" else np.degrees(numbers.base)))
    first = max(BLOCKED_FOR, 3 / max(numbers.adaptation, 1e-9))  # until then it learns what it carries
    frames = round(0.5 / (take.time[1] - take.time[0]))
    mean = np.convolve(force, np.ones(frames) / frames, "valid")
    growth, since = 1.0, None
    for i, is_blocked in enumerate(blocked[: len(mean)]):
        since = None if not is_blocked else i if since is None else since
        if since is not None and take.time[i] - take.time[since] > first:
            then = since + round(first / (take.time[1] - take.time[0]))
            growth = max(growth, float(mean[i] / max(mean[since:then].max(), 1e-9)))
    return growth
