"""A figure as mechanics: constants of the tree, and the rows of a trial's state.

Coordinates are the root's mass centre (x, z) and every link's absolute turn from the drawing. With absolute
angles the mass matrix has a constant diagonal, unrelated links do not couple, and the velocity terms are
squares of the angular speeds only. All vectors are as drawn; a link's turn rotates them.
"""

import math
from itertools import pairwise
from typing import NamedTuple

from impel.toys.figure import Figure

Vector = tuple[float, float]


class Mechanism(NamedTuple):
    """Links in order of the tree, parents first. `joint[i]` is the joint that carries link i (-1 for the root)."""

    links: list[str]
    parent: list[int]
    arm: list[Vector]  # from the parent's reference point to this link's: where it is carried
    center: list[Vector]  # from the link's reference point to its mass centre
    moment: list[Vector]  # first mass moment of everything the link carries, itself included (B)
    inertia: list[float]  # the constant diagonal of the mass matrix
    mass: float  # of the whole figure
    joint: list[int]
    contact_link: list[int]
    contact_arm: list[Vector]  # from the link's reference point
    origin: Vector  # the root's reference point as drawn

    @property
    def size(self) -> int:
        """How many coordinates: x, z and one turn per link."""
        return len(self.links) + 2


class Rows(NamedTuple):
    """Where things stand in a trial's state; the first `saved` rows are what recordings and results keep."""

    position: slice  # x, z of the root's mass centre (m), then the links' turns (rad)
    velocity: slice
    target: slice  # wished joint angles (rad)
    torque: slice  # of springs and motors, without limits (N·m)
    work: slice  # ∫|torque · speed| per joint (J)
    effort: slice  # ∫torque² per joint (N²m²s)
    force: slice  # ground's normal force per contact point (N)
    height: int  # ∫ height of the root above its ground (m·s)
    time: int  # seconds lived
    alive: int  # 1 until it falls
    saved: int
    acceleration: slice
    rate: slice  # change of the target per step (rad)
    stiffness: slice
    damping: slice
    friction: int
    step: int  # seconds, a whole number of them in every arc
    total: int


def rows_of(figure: Figure) -> Rows:
    size, joints, contacts = len(figure.links) + 2, len(figure.joints), len(figure.contacts)
    at = 0

    def take(n: int) -> slice:
        nonlocal at
        at += n
        return slice(at - n, at)

    def one() -> int:
        return take(1).start

    return Rows(
        position=take(size), velocity=take(size), target=take(joints), torque=take(joints), work=take(joints),
        effort=take(joints), force=take(contacts), height=one(), time=one(), alive=one(), saved=at,
        acceleration=take(size), rate=take(joints), stiffness=take(joints), damping=take(joints), friction=one(),
        step=one(),
        total=at,
    )  # fmt: skip


def mechanism_of(figure: Figure) -> Mechanism:
    parents = figure.parents()
    links = list(parents)
    index = {name: i for i, name in enumerate(links)}
    parent = [-1 if carrier is None else index[carrier] for carrier in parents.values()]
    carried_by = {joint.links[1]: (j, joint) for j, joint in enumerate(figure.joints.values())}

    origin = figure.links[links[0]].center()
    reference = [origin] + [carried_by[name][1].at for name in links[1:]]
    arm = [(0.0, 0.0)] + [minus(reference[i], reference[parent[i]]) for i in range(1, len(links))]
    center = [minus(figure.links[name].center(), reference[i]) for i, name in enumerate(links)]

    # Everything a link carries acts on it through the point where it is carried.
    carried = [figure.links[name].mass for name in links]
    moment = [scaled(center[i], carried[i]) for i in range(len(links))]
    inertia = [figure.links[name].moment() + carried[i] * squared(center[i]) for i, name in enumerate(links)]
    for i in range(len(links) - 1, 0, -1):
        p = parent[i]
        moment[p] = (moment[p][0] + carried[i] * arm[i][0], moment[p][1] + carried[i] * arm[i][1])
        inertia[p] += carried[i] * squared(arm[i])
        carried[p] += carried[i]

    return Mechanism(
        links=links,
        parent=parent,
        arm=arm,
        center=center,
        moment=moment,
        inertia=inertia,
        mass=carried[0],
        joint=[-1] + [carried_by[name][0] for name in links[1:]],
        contact_link=[index[contact.link] for contact in figure.contacts.values()],
        contact_arm=[minus(contact.at, reference[index[contact.link]]) for contact in figure.contacts.values()],
        origin=origin,
    )


def ground_at(figure: Figure, x: float) -> float:
    """Height of the ground under x."""
    ground = figure.ground
    if ground.profile is None:
        return x * math.tan(math.radians(ground.slope))
    corners = ground.profile
    if x <= corners[0][0]:
        return corners[0][1]
    for (x0, z0), (x1, z1) in pairwise(corners):
        if x <= x1:
            return z0 + (z1 - z0) * (x - x0) / (x1 - x0)
    return corners[-1][1]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1]


def scaled(a: Vector, s: float) -> Vector:
    return a[0] * s, a[1] * s


def squared(a: Vector) -> float:
    return a[0] ** 2 + a[1] ** 2
