"""Where the pictures are taken from: one camera for the whole take, or cuts from one to the next."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from pydantic import Field

from impel.complaints import name_like, say
from impel.scene.bodies import Body
from impel.scene.values import Model, Name, NotNegative, Point

MOST_CUTS = 1000


class Camera(Model):
    """Where the pictures are taken from."""

    example: ClassVar[str] = "{from: [4, -6, 3], to: [0, 0, 1], fov: 40}"
    from_: Point | None = Field(
        default=None, alias="from", description="Where the camera stands, in metres; if it follows, at the start."
    )
    to: Point | None = Field(
        default=None, description="What the camera looks at, in metres; if it follows, at the start."
    )
    follow: Name | None = Field(
        default=None, description="The body or walker that the camera goes along with, calmly, and looks at."
    )
    fov: float = Field(
        default=40.0, strict=True, ge=1, le=170, description="How wide the camera sees, top to bottom, in degrees."
    )


class Cut(Camera):
    """A camera that takes over at a moment; one that tells no place frames the action by itself."""

    example: ClassVar[str] = "{time: 2, follow: ball}"
    time: NotNegative = Field(description="From when on the pictures are taken from here, in seconds.")


def camera_problems(
    camera: Camera | None, cuts: Sequence[Cut], bodies: Mapping[str, Body], walkers: Collection[str]
) -> Iterator[str]:
    if camera is not None:
        if camera.from_ is None and camera.to is None and camera.follow is None:
            yield "camera: needs from and to, or follow"
        yield from _camera(camera, "camera", bodies, walkers)
        if cuts:
            yield "cameras: give camera or cameras, not both"
    for i, cut in enumerate(cuts):
        yield from _camera(cut, f"cameras.{i}", bodies, walkers)
    for i, (before, after) in enumerate(pairwise(cuts), 1):
        if after.time <= before.time:
            yield f"cameras.{i}.time: must be later than {before.time:g}, the time before it, got {after.time:g}"


def _camera(camera: Camera, where: str, bodies: Mapping[str, Body], walkers: Collection[str]) -> Iterator[str]:
    if camera.to is not None and camera.from_ is None:
        yield f"{where}.from: is missing: where does the camera stand that looks there?"
    if camera.from_ is not None and camera.to is None and camera.follow is None:
        yield f"{where}.to: is missing: what does the camera look at? Give to or follow"
    if camera.from_ is not None and camera.to is not None and math.dist(camera.from_, camera.to) < 1e-6:
        yield f"{where}.to: must differ from {where}.from, got {say(list(camera.to))} for both"
    if camera.follow is None or camera.follow in walkers:
        return
    if camera.follow not in bodies:
        yield f"{where}.follow: {name_like(camera.follow, [*bodies, *walkers], 'body')}"
    elif bodies[camera.follow].shape.plane is not None:
        yield f"{where}.follow: {camera.follow} is an endless plane, which goes nowhere"
