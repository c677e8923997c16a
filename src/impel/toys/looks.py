"""What links look like: flesh around lines and balls, one blob for every colour that a link wears.

A figure file says it with `looks`. A figure without any gets tapered limbs, round feet, and a face at its foremost end.
"""

from typing import Any

import numpy as np

from impel.takes.looks import DARK, Part, Point, eyes
from impel.toys.figure import Figure, Link

PIECES = 5  # of even thickness, that make a tapered limb
SLATS = 5  # limbs side by side that make a wide one
BLEND = 0.6  # of the least radius: how softly the parts of a link run into each other


def blobs_of(figure: Figure) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Of every link, by colour, a shape in the frame of its middle (x and z as drawn, y across) and that colour."""
    plain = not any(link.looks for link in figure.links.values())
    worn: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for name, link in figure.links.items():
        parts = list(link.looks or _limb(figure, name))
        if plain and name == _face(figure):
            parts += _eyes(link)
        colors = dict.fromkeys([link.color, *(part.color or link.color for part in parts)])
        worn[name] = []
        for color in colors:
            chosen = [part for part in parts if (part.color or link.color) == color]
            if chosen:
                worn[name].append((_blob(chosen, middle_of(link)), color))
    return worn


def middle_of(link: Link) -> Point:
    return (link.start[0] + link.end[0]) / 2, (link.start[1] + link.end[1]) / 2


def _blob(parts: list[Part], middle: Point) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    segments: list[dict[str, Any]] = []
    for part in parts:
        sides = [part.aside, -part.aside] if part.both else [part.aside]
        for y in (side + place for side in sides for place in _across(part)):
            a, b = ([p[0] - middle[0], y, p[1] - middle[1]] for p in (part.start, part.end or part.start))
            last = part.radius if part.narrows_to is None else part.narrows_to
            if a == b:
                points.append({"at": a, "radius": part.radius})
            elif last == part.radius:
                segments.append({"from": a, "to": b, "radius": part.radius})
            else:
                corners = np.linspace(a, b, PIECES + 1).tolist()
                for begin, end, radius in zip(corners, corners[1:], np.linspace(part.radius, last, PIECES).tolist()):
                    segments.append({"from": begin, "to": end, "radius": radius})
    least = min(entry["radius"] for entry in [*points, *segments])
    return {"blob": {"points": points, "segments": segments, "blend": BLEND * least}}


def _across(part: Part) -> list[float]:
    """Places across the plane, side by side, that fill the width."""
    return np.linspace(-part.wide / 2, part.wide / 2, SLATS).tolist() if part.wide else [0.0]


def _part(**fields: Any) -> Part:
    return Part.model_validate(fields)


def _limb(figure: Figure, name: str) -> list[Part]:
    """A limb that narrows outwards, with a round foot where the last of a chain of links touches the ground."""
    link = figure.links[name]
    limb = [_part(start=link.start, end=link.end, radius=1.1 * link.thickness, narrows_to=0.85 * link.thickness)]
    if name == _face(figure) or name in figure.parents().values():
        return limb
    feet = [contact.at for contact in figure.contacts.values() if contact.link == name]
    return limb + [_part(start=at, radius=1.05 * link.thickness, color=DARK) for at in feet]


def _face(figure: Figure) -> str:
    """The link that reaches farthest ahead and up."""
    return max(figure.links, key=lambda name: sum(_front(figure.links[name])))


def _front(link: Link) -> Point:
    return max(link.start, link.end, key=sum)


def _eyes(link: Link) -> list[Part]:
    x, z = _front(link)
    return eyes((x, z + 0.7 * link.thickness), link.thickness)
