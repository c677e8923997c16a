"""What links look like: balls and limbs that narrow, one surface for every colour that a link wears.

A figure file says it with `looks`. A figure without any gets tapered limbs, round feet, and a face at its foremost end.
"""

from typing import Any

from impel.takes.looks import DARK, Look, Point, eyes
from impel.takes.pieces import Piece, pieces_of
from impel.toys.figure import Figure, Link


def looks_of(figure: Figure) -> dict[str, list[tuple[Piece, ...]]]:
    """Of every link, by colour, its pieces in the frame of its middle: x and z as drawn, y across."""
    plain = not any(link.looks for link in figure.links.values())
    worn: dict[str, list[tuple[Piece, ...]]] = {}
    for name, link in figure.links.items():
        parts = list(link.looks or _limb(figure, name))
        if plain and name == _face(figure):
            parts += _eyes(link)
        pieces = [piece for part in parts for piece in pieces_of(part, link.color, middle_of(link))]
        colors = dict.fromkeys([link.color, *(piece.color for piece in pieces)])
        chosen = (tuple(piece for piece in pieces if piece.color == color) for color in colors)
        worn[name] = [some for some in chosen if some]
    return worn


def middle_of(link: Link) -> Point:
    return (link.start[0] + link.end[0]) / 2, (link.start[1] + link.end[1]) / 2


def _part(**fields: Any) -> Look:
    return Look.model_validate(fields)


def _limb(figure: Figure, name: str) -> list[Look]:
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


def _eyes(link: Link) -> list[Look]:
    x, z = _front(link)
    return eyes((x, z + 0.7 * link.thickness), link.thickness)
