"""Pushes and pulls from outside: a hand that shoves a body, or drags it along on a spring."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

from pydantic import Field

from impel.complaints import name_like
from impel.scene.bodies import Body
from impel.scene.values import Model, Name, NotNegative, Place, Point, Positive

MOST_PUSHES = 10_000
MOST_PLACES = 100_000
ROUNDING = 1e-9  # s: times that differ by less are the same


class Push(Model):
    """A force on a body for a while, or the pull of a spring whose other end is led."""

    example: ClassVar[str] = "{body: ball, from: 1, until: 1.3, force: [20, 0, 0]}"
    body: Name = Field(description="The body that is pushed or pulled.")
    point: Point = Field(
        default=(0.0, 0.0, 0.0),
        description="Where on the body, in metres in its own frame; left out, at its origin.",
    )
    from_: NotNegative = Field(default=0.0, alias="from", description="When it begins, in seconds.")
    until: NotNegative | None = Field(default=None, description="When it ends, in seconds; left out, with the take.")
    force: Point | None = Field(default=None, description="How hard to push, in newtons along the world's x, y and z.")
    spring: Positive | None = Field(
        default=None, description="How hard to pull instead, in newtons for each metre from the body's point to `to`."
    )
    damping: NotNegative | None = Field(
        default=None,
        description="How much the spring resists swinging, in N·s/m; left out, so much that a lone body would just "
        "not swing.",
    )
    to: list[Place] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_PLACES,
        description="Where the spring pulls to: [seconds, x, y, z], ..., straight from one place to the next.",
    )


def led(way: list[Any], now: float, later: float, to: Any) -> list[Any]:
    """The way of a spring that is where it would be now, but at `to` a little later, and stays there."""
    rows = bisect_right(way, now + ROUNDING, key=lambda place: place[0])
    past, here = way[:rows], way[max(rows - 1, 0)][1:] if way else to
    if 0 < rows < len(way):
        before, after = way[rows - 1], way[rows]
        gone = (now - before[0]) / (after[0] - before[0])
        here = [a + gone * (b - a) for a, b in zip(before[1:], after[1:])]
    if not past or past[-1][0] < now - ROUNDING:
        past = [*past, [now, *here]]
    return [*past, [later, *to]]


def push_problems(push: Push, where: str, bodies: Mapping[str, Body]) -> Iterator[str]:
    body = bodies.get(push.body)
    if body is None:
        yield f"{where}.body: {name_like(push.body, bodies, 'body')}"
    elif not body.moves_freely:
        yield f"{where}.body: {push.body} {'is fixed' if body.fixed else 'follows keys'} and gives way to no push"
    if push.until is not None and push.until < push.from_:
        yield f"{where}.until: must not be before from, {push.from_:g}, got {push.until:g}"
    if (push.force is None) == (push.spring is None):
        yield f"{where}: needs either force or spring"
    for field in ("to", "damping"):
        if push.spring is None and getattr(push, field) is not None:
            yield f"{where}.{field}: belongs to a spring, and there is none"
    if push.spring is not None and push.to is None:
        yield f"{where}.to: is missing: where does the spring pull to?"
    for k, (before, after) in enumerate(pairwise(push.to or ()), 1):
        if after[0] <= before[0]:
            yield f"{where}.to.{k}: must be later than {before[0]:g}, the time before it, got {after[0]:g}"
