"""What walkers look like: a face on a rounded body, legs that taper, and paws. They walk and bump with plainer shapes.

A walker file says it of the body with `looks`; nothing that is seen weighs anything or touches.
"""

import numpy as np

from impel.gaits.walker import Walker
from impel.takes.looks import DARK, Look, Point, eyes
from impel.takes.pieces import Piece, pieces_of

SHOULDER, HIP, KNEE, ANKLE = 1.6, 1.35, 0.95, 0.7  # radii of a leg, in its thickness; shoulders are of the body
PAW, TOES = 0.72, 0.6  # of a foot's radius: how thick a paw is, and how far it reaches all around


def looks_of(walker: Walker, color: str | None = None) -> list[tuple[Piece, ...]]:
    """The pieces of every part, in the order of `parts_of`, with the body in a colour of its own; of parts that are
    shown as the plain shapes that they are, none."""
    if walker.looks == []:
        return [()] * (1 + 3 * len(walker.legs))
    paint = color or walker.body.color
    parts = _body(walker) if walker.looks is None else walker.looks
    body = [piece for part in parts for piece in pieces_of(part, paint)]
    if walker.looks is None:
        body += _shoulders(walker, body[0])
    seen = [tuple(body)]
    for leg in walker.legs.values():
        seen.append((_bone(walker, leg.upper, HIP, KNEE),))
        seen.append((_bone(walker, leg.lower, KNEE, ANKLE),))
        seen.append(_paw(walker.sole))
    return seen


def _shoulders(walker: Walker, trunk: Piece) -> list[Piece]:
    """From every hip into the trunk, so that no leg hangs in the air."""
    start, along = np.array(trunk.start), np.array(trunk.end) - np.array(trunk.start)
    thick, shoulders = SHOULDER * walker.thickness, []
    for leg in walker.legs.values():
        share = np.clip((np.array(leg.hip) - start) @ along / (along @ along), 0.0, 1.0) if along.any() else 0.0
        x, _, z = (start + share * along).tolist()
        shoulders.append(Piece(leg.hip, (x, leg.hip[1] / 2, z), thick, thick, 0.0, trunk.color))
    return shoulders


def _bone(walker: Walker, length: float, upper: float, lower: float) -> Piece:
    """Of a leg: the frame's z points up along it."""
    half, thick = length / 2, walker.thickness
    return Piece((0.0, 0.0, half), (0.0, 0.0, -half), upper * thick, lower * thick, 0.0, walker.color)


def _paw(sole: float) -> tuple[Piece, ...]:
    """The same from all sides, as feet do not turn; it stands on the ground where the foot does."""
    thick, reach, low = PAW * sole, TOES * sole, (PAW - 1) * sole
    ways = ((1.0, 0.0), (0.5, 0.75**0.5), (-0.5, 0.75**0.5))
    return tuple(
        Piece((x * reach, y * reach, low), (-x * reach, -y * reach, low), thick, thick, 0.0, DARK) for x, y in ways
    )


def _body(walker: Walker) -> list[Look]:
    """Within the shape that it bumps with: a ball with a face; on its end, a torso with a head on top; or a long one,
    with the head in front."""
    if "sphere" in walker.body.shape:
        radius = float(walker.body.shape["sphere"])
        return [_part((0.0, 0.0), radius), *_face((0.0, 0.0), radius, 0.0)]
    long, wide, high = (float(side) for side in walker.body.shape["box"])
    if high > long:
        head = min(long, wide, 0.5 * high) / 2
        chest, hips = 0.6 * head, min(long, wide, high) / 2.2
        middle, neck, seat = (0.0, high / 2 - head), (0.0, high / 2 - 2 * head), (0.0, hips - high / 2)
    else:
        head = min(0.5 * long, wide, high) / 2
        chest, hips = 0.7 * head, head
        middle, neck, seat = (long / 2 - head, 0.0), (long / 2 - 2 * head, 0.0), (hips - long / 2, 0.0)
    across = 0.5 * max(wide - 2 * head, 0.0)
    trunk = _part(neck, chest, end=seat, narrows_to=hips, wide=max(wide - 2 * hips, 0.0))
    return [trunk, _part(middle, head, wide=across), *_face(middle, head, across)]


def _face(middle: Point, radius: float, wide: float) -> list[Look]:
    """Two eyes and a small mouth, on the front of a head."""
    x, z = middle
    mouth = _part((x + 0.93 * radius, z - 0.32 * radius), 0.05 * radius, wide=0.3 * radius + 0.5 * wide, color=DARK)
    return [*eyes((x + 0.8 * radius, z + 0.35 * radius), 0.48 * radius, 0.25 * wide), mouth]


def _part(start: Point, radius: float, **fields: object) -> Look:
    return Look.model_validate({"start": start, "radius": radius, **fields})
