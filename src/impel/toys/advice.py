"""What can be run but is probably not meant: slips of units and places in a figure, each with a plain line."""

import math

from impel.toys.figure import Figure, Link, Point
from impel.toys.trials import SEARCH_STEP

LARGEST = 10.0  # m: whatever is longer was probably drawn in millimetres
LIGHTEST = 1e-5  # kg
NARROWEST = 2 * math.pi  # degrees: a range within it was probably written in radians
FOLLOWED = 3 * SEARCH_STEP  # s: what swings faster is not followed by the step of a search


def figure_doubts(figure: Figure) -> list[str]:
    """One line for each doubt."""
    return [*_sizes(figure), *_joints(figure), *_contacts(figure)]


def _sizes(figure: Figure) -> list[str]:
    lines = []
    ends = [end for link in figure.links.values() for end in (link.start, link.end)]
    size = max(max(end[axis] for end in ends) - min(end[axis] for end in ends) for axis in (0, 1))
    if size > LARGEST:
        lines.append(f"links: the figure is {size:.3g} m long or tall; lengths are in metres, not millimetres")
    for name, link in figure.links.items():
        if link.mass < LIGHTEST:
            lines.append(f"links.{name}.mass: is only {link.mass:.3g} kg; masses are in kilograms")
    return lines


def _joints(figure: Figure) -> list[str]:
    lines = []
    for name, joint in figure.joints.items():
        where = f"joints.{name}"
        for link in joint.links:
            away = _apart(joint.at, figure.links[link])
            if away > max(figure.links[link].length(), 1e-3):
                lines.append(f"{where}.at: is {away:.3g} m from {link}, more than {link} is long")
        for field in ("range", "limits"):
            span = getattr(joint, field)
            if span and max(map(abs, span)) <= NARROWEST:
                lines.append(f"{where}.{field}: is {span[0]:g} to {span[1]:g} degrees; were radians meant?")
        moment = min(_moment(figure.links[link], joint.at) for link in joint.links)
        lines += _too_stiff(f"{where}.stiffness", joint.stiffness, moment)
    return lines


def _contacts(figure: Figure) -> list[str]:
    lines = []
    for name, contact in figure.contacts.items():
        link = figure.links[contact.link]
        away = _apart(contact.at, link)
        if away > max(link.length(), 1e-3):
            lines.append(f"contacts.{name}.at: is {away:.3g} m from {contact.link}, more than {contact.link} is long")
    touching = {contact.link for contact in figure.contacts.values()}
    lightest = min((figure.links[link].mass for link in touching), default=math.inf)
    return lines + _too_stiff("ground.stiffness", figure.ground.stiffness, lightest)


def _too_stiff(where: str, stiffness: float, inertia: float) -> list[str]:
    period = 2 * math.pi * math.sqrt(inertia / stiffness) if stiffness > 0 else math.inf
    if period >= FOLLOWED:
        return []
    most = inertia * (2 * math.pi / FOLLOWED) ** 2
    return [
        f"{where}: swings within {1000 * period:.2g} ms, too fast for the step of a search, {1000 * SEARCH_STEP:g} ms; "
        f"up to {most:.3g} can be followed"
    ]


def _moment(link: Link, at: Point) -> float:
    """About the joint, in kg·m²."""
    return link.moment() + link.mass * math.dist(link.center(), at) ** 2


def _apart(at: Point, link: Link) -> float:
    """From a point to the line between a link's ends."""
    (x0, z0), (x1, z1) = link.start, link.end
    square = (x1 - x0) ** 2 + (z1 - z0) ** 2
    u = ((at[0] - x0) * (x1 - x0) + (at[1] - z0) * (z1 - z0)) / square if square > 0 else 0.0
    u = min(max(u, 0.0), 1.0)
    return math.dist(at, (x0 + u * (x1 - x0), z0 + u * (z1 - z0)))
