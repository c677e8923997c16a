"""Figures: planar creatures of links and joints, written as data.

A figure is drawn once, in metres, in the x-z plane with z up; every joint's angle is zero as drawn and grows
counter-clockwise. The first link is the root; joints are written from the root outwards.
"""

import math
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from impel.complaints import validated
from impel.files import Problem, read_document
from impel.takes.looks import Color, Drawn, Look, NotNegative, Number, Point, Positive

FIGURES = Path(__file__).parent / "figures"
MAX_LINKS = 32  # the simulator unrolls every link, so compile time bounds what is sensible
SHORTEST = 1e-3  # s that an arc takes at least: the step of a search
MAX_PROFILE = 24  # corners of a ground profile, unrolled as well

Time = Annotated[Number, Field(ge=SHORTEST)]
Span = tuple[Number, Number]
Interpolation = Literal["hold", "linear"]
Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\s.:/][^.:/\n]*$")]


class Link(Drawn):
    """A rigid piece of the figure."""

    start: Point = Field(alias="from", description="One end as drawn, in metres.")
    end: Point = Field(alias="to", description="The other end as drawn, in metres.")
    mass: Positive = Field(description="Mass in kg.")
    com: Point | None = Field(None, description="Mass centre as drawn; the middle if not given.")
    inertia: Positive | None = Field(None, description="About the mass centre, in kg·m²; that of a rod if not given.")
    thickness: Positive = Field(0.01, description="How thick it is drawn if it has no looks: a radius in metres.")
    color: Color = Field("#8d99ae", description="The colour of what has none of its own.")
    looks: list[Look] = Field([], max_length=40, description="What is seen of it; a tapered limb if nothing is given.")

    def length(self) -> float:
        return math.dist(self.start, self.end)

    def center(self) -> Point:
        return self.com or ((self.start[0] + self.end[0]) / 2, (self.start[1] + self.end[1]) / 2)

    def moment(self) -> float:
        return self.inertia if self.inertia is not None else self.mass * self.length() ** 2 / 12


class Joint(Drawn):
    """Ties two links at a point; a motor if active, a spring and damper if not."""

    links: tuple[Name, Name] = Field(description="The link nearer the root, then the one it carries.")
    at: Point = Field(description="Where it sits as drawn, in metres.")
    active: bool = Field(True, description="Active joints follow the poses; passive ones spring back.")
    stiffness: NotNegative = Field(description="Pull towards the wished angle, in N·m/rad.")
    damping: NotNegative = Field(description="In N·m·s/rad.")
    range: Span | None = Field(None, description="Angles a pose may ask for, in degrees. Needed if active.")
    limits: Span | None = Field(None, description="Angles beyond which the joint resists, in degrees.")
    limit_stiffness: NotNegative = Field(10.0, description="How hard it resists beyond its limits, in N·m/rad.")
    limit_damping: NotNegative = Field(0.01, description="In N·m·s/rad.")


class Contact(Drawn):
    """A point that feels the ground."""

    link: Name = Field(description="The link that it belongs to.")
    at: Point = Field(description="Where it sits as drawn, in metres.")


class Ground(Drawn):
    """What the figure runs on: flat at height 0, a slope through the origin, or a profile of corners."""

    stiffness: Positive = Field(1500.0, description="Per contact point, in N/m.")
    damping: NotNegative = Field(10.0, description="Per contact point, in N·s/m.")
    friction: NotNegative = Field(1.0, description="Coefficient of friction.")
    slip_speed: Positive = Field(0.02, description="Speed below which friction fades, in m/s.")
    slope: Annotated[Number, Field(gt=-60, lt=60)] = Field(0.0, description="Rise towards +x, in degrees.")
    profile: list[Point] | None = Field(None, description="Corners [x, z] from left to right; level beyond the ends.")


class Cycle(Drawn):
    """What a search starts from."""

    poses: Annotated[int, Field(ge=1, le=64)] = Field(4, description="How many poses a cycle has.")
    time: Time = Field(0.12, description="Seconds on every arc.")


class Figure(Drawn):
    """A planar creature: links, joints, contact points and the ground it runs on."""

    figure: Name = Field(description="What it is called.")
    about: str = Field("", description="A line on what it is.")
    links: dict[Name, Link] = Field(
        min_length=1, max_length=MAX_LINKS, description="Its rigid pieces by name; the first is the root."
    )
    joints: dict[Name, Joint] = Field({}, description="What ties the links, by name, from the root outwards.")
    contacts: dict[Name, Contact] = Field({}, description="The points that feel the ground, by name.")
    ground: Ground = Field(
        default_factory=lambda: Ground.model_validate({}), description="What it runs on; level if not given."
    )
    fall: Positive | Literal["none"] = Field(
        75.0, description="Tilt of the root at which it counts as fallen, in degrees; none if it may turn over."
    )
    cycle: Cycle = Field(
        default_factory=lambda: Cycle.model_validate({}), description="How many poses a search begins with, how long."
    )
    start: dict[Name, Number] = Field({}, description="Angles at time 0, in degrees, where not as drawn.")

    @property
    def active(self) -> list[str]:
        return [name for name, joint in self.joints.items() if joint.active]

    def ranges(self) -> list[Span]:
        """What a pose may ask of each active joint, in degrees."""
        return [joint.range for joint in self.joints.values() if joint.active and joint.range]

    def parents(self) -> dict[str, str | None]:
        """Each link's carrier, parents before children; the root's is None."""
        carriers: dict[str, str | None] = {next(iter(self.links)): None}
        waiting = [joint.links for joint in self.joints.values()]
        while waiting:
            ready = [pair for pair in waiting if pair[0] in carriers]
            if not ready:
                break
            carriers.update({child: parent for parent, child in ready})
            waiting = [pair for pair in waiting if pair not in ready]
        return carriers


def built_in_figures() -> list[str]:
    return sorted(path.stem for path in FIGURES.glob("*.yaml"))


def load_figure(name: str | Path, *, beside: Path | None = None) -> Figure:
    """A built-in figure by name, or one from a file (looked up beside another file if that is given)."""
    text = str(name)
    if text in built_in_figures():
        return read_figure(FIGURES / f"{text}.yaml")
    path = Path(text)
    if beside is not None and not path.is_absolute():
        path = beside.parent / path
    if not path.suffix and not path.exists():
        raise Problem(f"{text}: no such figure; the built-in ones are {', '.join(built_in_figures())}, or give a file")
    return read_figure(path)


def read_figure(path: str | Path) -> Figure:
    return figure_from(read_document(path), subject=str(path))


def figure_from(document: Any, *, subject: str) -> Figure:
    """Check plain data as a figure; raises `Problem` with one line per mistake."""
    figure = validated(Figure, document, subject)
    lines = [f"{subject}: {line}" for line in _mistakes(figure)]
    if lines:
        raise Problem(*lines)
    return figure


def _mistakes(figure: Figure) -> list[str]:
    lines = []
    for name, link in figure.links.items():
        if link.length() == 0 and link.inertia is None:
            lines.append(f"links.{name}: has no length; give its ends apart, or an inertia")
    carried: dict[str, str] = {}
    root = next(iter(figure.links))
    for name, joint in figure.joints.items():
        where = f"joints.{name}"
        unknown = [link for link in joint.links if link not in figure.links]
        lines += [f"{where}.links: there is no link named {link!r}" for link in unknown]
        if unknown:
            continue
        parent, child = joint.links
        if parent == child:
            lines.append(f"{where}.links: ties {child} to itself")
        elif child == root:
            lines.append(f"{where}.links: {root} is the root; write the joint as [{root}, {parent}]")
        elif child in carried:
            carrier = f"{child} is already carried by joint {carried[child]}"
            lines.append(f"{where}.links: closes a loop: {carrier}; a figure must be a tree")
        else:
            carried[child] = name
        lines += _joint_mistakes(where, joint)
    if not lines:
        reached = figure.parents()
        for loose in (name for name in figure.links if name not in reached):
            if loose in carried:
                lines.append(f"links.{loose}: closes a loop away from the root {root}; a figure must be a tree")
            else:
                lines.append(f"links.{loose}: is not tied to the rest by any joint")
    if not figure.contacts:
        lines.append("contacts: needs at least one point that feels the ground")
    for name, contact in figure.contacts.items():
        if contact.link not in figure.links:
            lines.append(f"contacts.{name}.link: there is no link named {contact.link!r}")
    for name, angle in figure.start.items():
        if name not in figure.joints:
            lines.append(f"start.{name}: there is no joint named {name!r}")
        elif (limits := figure.joints[name].limits) and not limits[0] <= angle <= limits[1]:
            lines.append(f"start.{name}: must lie within the limits {limits[0]:g} to {limits[1]:g}, got {angle:g}")
    return lines + _ground_mistakes(figure.ground)


def _joint_mistakes(where: str, joint: Joint) -> list[str]:
    lines = []
    for field in ("range", "limits"):
        span = getattr(joint, field)
        if span and span[0] >= span[1]:
            lines.append(f"{where}.{field}: must be [low, high] with low < high, got [{span[0]:g}, {span[1]:g}]")
    if joint.active and joint.range is None:
        lines.append(f"{where}.range: is missing; an active joint needs the angles a pose may ask for")
    if joint.active and joint.stiffness == 0:
        lines.append(f"{where}.stiffness: must be greater than 0 for an active joint, got 0")
    if joint.range and joint.limits and not joint.limits[0] <= joint.range[0] < joint.range[1] <= joint.limits[1]:
        lines.append(
            f"{where}.range: must lie within the limits {joint.limits[0]:g} to {joint.limits[1]:g}, "
            f"got [{joint.range[0]:g}, {joint.range[1]:g}]"
        )
    return lines


def _ground_mistakes(ground: Ground) -> list[str]:
    if ground.profile is None:
        return []
    lines = []
    if not 2 <= len(ground.profile) <= MAX_PROFILE:
        lines.append(f"ground.profile: needs 2 to {MAX_PROFILE} corners, got {len(ground.profile)}")
    if any(b[0] <= a[0] for a, b in pairwise(ground.profile)):
        lines.append("ground.profile: corners must go from left to right, each x greater than the one before")
    if ground.slope:
        lines.append("ground.slope: cannot be combined with a profile; give one of them")
    return lines
