"""How far joints let a point of a body get from what cannot move."""

import heapq
import math
from collections.abc import Collection, Iterator
from typing import NamedTuple

from impel.scene.courses import start_point
from impel.scene.scene import Scene
from impel.scene.values import WORLD

Place = tuple[float, float, float]

PLAIN = ("ball", "hinge", "in_sphere")  # kinds that hold a point, or keep it near one
CLOSE = 1e-3  # m, and share of the way: as much too far is not worth a word


class Tether(NamedTuple):
    """A joint that keeps a point within reach of a place."""

    joint: str
    at: Place
    most: float  # m: as far from there it can get
    exactly: bool  # whether it cannot get nearer, either

    def beyond(self, place: Place) -> bool:
        """Whether a place is out of its reach."""
        away, close = math.dist(self.at, place), CLOSE * (1.0 + self.most)
        return away > self.most + close or (self.exactly and away < self.most - close)

    def told(self, place: Place) -> str:
        kept = "keeps it" if self.exactly else "lets it get"
        limit = f"{self.most:.3g} m from it" if self.exactly else f"{self.most:.3g} m far"
        return f"{math.dist(self.at, place):.3g} m from joints.{self.joint}, which {kept} {limit}"


def lasting(scene: Scene) -> set[str]:
    """The joints that hold from the start to the end."""
    return {
        name
        for name, joint in scene.joints.items()
        if joint.from_ is None and joint.until is None and joint.breaks is None
    }


def tethers(scene: Scene, body: str, place: Place, holding: Collection[str]) -> list[Tether]:
    """The joints to what cannot move that keep a point of a body, which is at a place at the start, within reach, given
    which joints hold: over each of them a chain of bodies leads to it, and at full stretch it gets no farther."""
    if any(scene.joints[name].at_b is not None for name in holding):
        return []  # it will be brought together from elsewhere
    group = _groups(scene, holding)
    ties = [(name, scene.joints[name]) for name in holding if scene.joints[name].kind in PLAIN]
    held = group.get(body, body)
    if held == WORLD:
        return []
    found = []
    for first, joint in sorted(ties):
        sides = [group.get(name, name) for name in joint.bodies]
        if sides.count(WORLD) != 1 or joint.at is None:
            continue
        start = joint.center or joint.at if joint.kind == "in_sphere" else joint.at
        begins = sides[1 - sides.index(WORLD)]
        best = {first: joint.radius or 0.0}
        pending = [(best[first], first, begins, start)]
        most = math.inf
        while pending:
            gone, name, here, at = heapq.heappop(pending)
            if here == held:
                most = min(most, gone + math.dist(at, place))
            for other, tie in ties:
                ends = [group.get(each, each) for each in tie.bodies]
                if here not in ends or WORLD in ends or other == name or tie.at is None:
                    continue
                there = gone + math.dist(at, tie.at) + (tie.radius or 0.0)
                if there < best.get(other, math.inf):
                    best[other] = there
                    heapq.heappush(pending, (there, other, ends[1 - ends.index(here)], tie.at))
        if most < math.inf:
            found.append(Tether(first, start, most, begins == held and joint.kind != "in_sphere"))
    return found


def _groups(scene: Scene, holding: Collection[str]) -> dict[str, str]:
    """Bodies that are welded together, by one of their names; by that of the world if they cannot move."""
    group = {name: WORLD if body.fixed else name for name, body in scene.bodies.items()}
    for name in holding:
        joint = scene.joints[name]
        if joint.kind == "weld":
            one, other = (group.get(each, each) for each in joint.bodies)
            keep, gone = (one, other) if one == WORLD else (other, one)
            group = {each: keep if of == gone else of for each, of in group.items()}
    return group


def out_of_reach(scene: Scene) -> Iterator[str]:
    """Keys and goals in the world that joints never let their bodies get to."""
    holding = lasting(scene)
    for name, actor in scene.actors.items():
        body = scene.bodies[name]
        if actor.move is not None:
            held = tethers(scene, name, start_point(actor.move, body), holding)
            for i, key in enumerate(actor.move.keys):
                if key.in_ is None:
                    yield from _told(held, key.at, f"actors.{name}.move.keys.{i}.at")
        if actor.goals is not None:
            held = tethers(scene, name, start_point(actor.goals, body), holding)
            for i, goal in enumerate(actor.goals.keys):
                place = goal.at if goal.on is None else goal.on[-1]
                if place is not None and goal.in_ is None:
                    yield from _told(held, place, f"actors.{name}.{actor.goals.where(i)}.at")


def _told(held: list[Tether], place: Place, where: str) -> Iterator[str]:
    for tether in held:
        if tether.beyond(place):
            yield f"{where}: is {tether.told(place)}: out of reach"
            return
