"""Random sequences of goals, and how they are met: `make fuzz-goals` plays a thousand of them."""

import math
import sys
from typing import Any

import numpy as np

from impel import Scene, simulate

BARS = {"free": (1e-9, 1e-6), "pushed": (1e-3, 1e-6), "arm": (1e-6, 0.0)}  # m, rad: as near goals must be met
LINK = 0.5  # m
POST = np.array([0.0, 0.0, 1.5])


def turned(direction: Any, random: np.random.Generator) -> Any:
    """A direction up to 150° from another."""
    angle = math.radians(random.uniform(0, 150))
    aside = np.cross(direction, random.normal(size=3))
    return math.cos(angle) * direction + math.sin(angle) * aside / np.linalg.norm(aside)


def free(random: np.random.Generator, push: float = 0.0) -> Scene:
    """A box that meets up to seven goals, uneven in time and off the grid of frames; it may be pushed all the while by
    a force that nobody told it of."""
    x, direction, time, q = random.normal(size=3), turned(np.array([1.0, 0, 0]), random), 0.0, np.array([1.0, 0, 0, 0])
    turns, goals = random.random() < 0.5, []
    for _ in range(random.integers(2, 8)):
        time += random.uniform(0.05, 0.6)
        direction = turned(direction, random)
        x = x + direction * (0.0 if random.random() < 0.15 else random.uniform(0.05, 1.0))
        goal: dict[str, Any] = {"at": x.tolist(), "time": time}
        if turns:
            axis, angle = random.normal(size=3), random.uniform(0, 2.9)
            sine = math.sin(angle / 2) * axis / np.linalg.norm(axis)
            q = np.array([math.cos(angle / 2) * q[0] - sine @ q[1:],
                          *(math.cos(angle / 2) * q[1:] + q[0] * sine + np.cross(sine, q[1:]))])  # fmt: skip
            goal["quaternion"] = q.tolist()
        goals.append(goal)
    scene = Scene(seconds=math.ceil(time * 60) / 60)
    mass = random.uniform(0.1, 5)
    body = scene.body(
        "box", box=[0.1, 0.3, 0.5], mass=mass, at=random.normal(size=3), velocity=random.normal(size=3),
        spin=100 * random.normal(size=3),
    )  # fmt: skip
    body.goals(goals, **({"point": random.uniform(-0.2, 0.2, size=3)} if turns and random.random() < 0.5 else {}))
    if push > 0.0:
        aside = random.normal(size=3)
        scene.push("box", from_=0, force=push * mass * aside / np.linalg.norm(aside))
    return scene


def arm(random: np.random.Generator) -> Scene:
    """Three links whose tip meets six goals within reach."""
    scene = Scene(seconds=3)
    tip, angle, above = POST.copy(), 0.0, "world"
    for i, bend in enumerate(random.uniform((0.3, -1.2, -1.2), (2.7, 1.2, 1.2))):
        angle += bend
        along = np.array([math.sin(angle), 0.0, math.cos(angle)])
        scene.body(
            f"link_{i}", capsule={"radius": 0.05, "length": LINK}, mass=1 - 0.2 * i, at=tip + along * LINK / 2,
            euler=[0, math.degrees(angle), 0], collides=False,
        )  # fmt: skip
        scene.joint(f"joint_{i}", hinge=[above, f"link_{i}"], at=tip, axis=[0, 1, 0])
        above, tip = f"link_{i}", tip + along * LINK
    goals, time = [], 0.0
    while len(goals) < 6:
        place = tip + random.uniform(-0.3, 0.3, size=3) * [1, 0, 1]
        if 0.4 < np.linalg.norm(place - POST) < 1.3:
            time, tip = time + random.uniform(0.2, 0.5), place
            goals.append({"at": place, "time": time})
    scene["link_2"].goals(goals, point=[0, 0, LINK / 2])
    return scene


def worst(scene: Scene) -> tuple[float, float]:
    """The largest distance, m, and angle, rad, by which goals were missed; infinite if one was not told of."""
    take = simulate(scene)
    told = [event["details"] for event in take.events if event["kind"] in ("goal met", "goal missed")]
    count = sum(len(actor.goals.keys) for actor in scene.actors.values() if actor.goals is not None)
    if len({details["goal"] for details in told}) < count:
        return math.inf, math.inf
    return max(d.get("distance", 0.0) for d in told), max(math.radians(d.get("angle", 0.0)) for d in told)


def sequence(kind: str, seed: int) -> Scene:
    random = np.random.default_rng(seed)
    return arm(random) if kind == "arm" else free(random, 1.0 if kind == "pushed" else 0.0)


def main(first: int = 0, count: int = 1000) -> int:
    failed = 0
    for kind, bars in BARS.items():
        found = []
        for seed in range(first, first + count):
            miss = worst(sequence(kind, seed))
            found.append(miss)
            if miss[0] > bars[0] or miss[1] > bars[1]:
                failed += 1
                print(f"{kind} {seed}: {miss[0]:.2g} m, {miss[1]:.2g} rad")
        print(
            f"{kind}: {count} sequences, at most {max(m for m, _ in found):.2g} m, {max(a for _, a in found):.2g} rad"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
