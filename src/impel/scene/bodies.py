"""Bodies: what they are made of, where they start and, for key-framed ones, where they go."""

from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import Field

from impel.scene.shapes import SHAPES, Shape, rename_files
from impel.scene.spans import Span
from impel.scene.values import (
    CHANGES_IN_PLACE,
    Color,
    Euler,
    Flag,
    Inertia,
    Model,
    NotNegative,
    Point,
    Positive,
    Quaternion,
    Share,
    Size,
    Stiffness,
    orientation,
)

MOST_FOLLOW_KEYS = 100_000


def move_files(bodies: dict[str, "Body"], rename: Callable[[str], str]) -> dict[str, "Body"]:
    """Bodies whose meshes are read from files with other names."""
    return {
        name: body.model_copy(update={"shape": rename_files(body.shape, rename)}) if body.shape.files() else body
        for name, body in bodies.items()
    }


class Placed(Model):
    """A form with a place and an orientation in the world."""

    example: ClassVar[str] = "{shape: {sphere: 1}, at: [0, 0, 1]}"
    shape: Shape = Field(description=f"Its form: one of {', '.join(SHAPES[:-1])} or {SHAPES[-1]}.")
    at: Point = Field(
        default=(0.0, 0.0, 0.0),
        description="Where it is at the start, in metres, z is up: its middle; of a blob, the origin of its points.",
    )
    euler: Euler | None = Field(
        default=None, description="How it is turned at the start: degrees about x, y and z, in Blender's XYZ order."
    )
    quaternion: Quaternion | None = Field(
        default=None, description="How it is turned at the start, as a quaternion [w, x, y, z] instead of euler."
    )

    @property
    def orientation(self) -> tuple[float, float, float, float]:
        """The unit quaternion (w, x, y, z)."""
        return orientation(self.euler, self.quaternion)


class Coating(Model):
    """The elastic layer that a body touches others with.

    Where two touch, they yield like two springs in a row, each so deep that both press alike; damping is the average in
    which the softer one counts more, and friction is the root of the product.
    """

    example: ClassVar[str] = "{stiffness: 2.0e5, thickness: 0.05, damping: 0.5, friction: 0.6}"
    stiffness: Stiffness | None = Field(
        default=None,
        description="How hard it is to press in, in N/m³: 1e5 is foam, 1e7 wood; or at depths, [[metres, stiffness], "
        "...]; left out, weight barely does, and what is fixed is rigid.",
    )
    thickness: Size | None = Field(
        default=None,
        description="How deep it can be pressed before it gets much harder, in metres; "
        "left out, a quarter of the way to its middle.",
    )
    damping: NotNegative | None = Field(
        default=None,
        description="How much a bounce loses, in s/m: 0 nothing, 0.5 halves the speed of a 0.3 m fall; left out, 0.5. "
        "Of two that touch, the softer counts more.",
    )
    friction: NotNegative | None = Field(
        default=None,
        description="How well it grips: 0 is ice, 0.6 wood, 1 rubber; left out, 0.6. "
        "Two that touch grip by √(one × other), so ice stays ice.",
    )
    rolling: NotNegative | None = Field(
        default=None,
        description="How steep a slope must be for it to roll: 0 rolls for ever, 0.01 is a floor, 0.1 a lawn; "
        "left out, 0.01. Of two that touch, √(one × other).",
    )
    bulge: Share = Field(
        default=0.4,
        description="How much of what is pressed in comes out as a ring round the contact, where it can be seen: 0 "
        "nothing, 1 all of it; the rest swells the whole body a little.",
    )


class FollowKey(Model):
    """Where a key-framed body is at a moment."""

    example: ClassVar[str] = "{time: 1.5, at: [0, 0, 1]}"
    time: NotNegative = Field(
        description="When, in seconds from the start; before its first key and after its last it rests."
    )
    at: Point | None = Field(default=None, description="Where it is then, in metres; left out, where it was before.")
    euler: Euler | None = Field(
        default=None,
        description="How it is turned then, in degrees about x, y and z; left out, as before. Through angles 180 or "
        "more apart it turns as written: 0 to 360 is once round.",
    )
    quaternion: Quaternion | None = Field(
        default=None,
        description="How it is turned then, as a quaternion [w, x, y, z] instead of euler; it turns there the "
        "shorter way.",
    )


class Body(Placed):
    """A solid of the scene: free to move, fixed, or key-framed by `follows`."""

    example: ClassVar[str] = "{shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}"
    mass: Positive | None = Field(default=None, description="How heavy it is, in kilograms.")
    density: Positive | None = Field(
        default=None, description="How heavy its stuff is, in kg/m³, instead of mass; with neither it is water, 1000."
    )
    center: Point | None = Field(
        default=None,
        description="Where its centre of mass is, seen from `at` in its own frame, in metres; left out, from its form.",
    )
    inertia: Inertia | None = Field(
        default=None,
        description="How hard it is to turn about its own x, y and z through its centre of mass, in kg·m²; left out, "
        "from its form.",
    )
    velocity: Point = Field(
        default=(0.0, 0.0, 0.0),
        description="How fast its middle already moves at the start, in m/s along the world's x, y and z.",
    )
    spin: Point = Field(
        default=(0.0, 0.0, 0.0),
        description="How fast it already turns at the start, in degrees/s about the world's x, y and z, not its own.",
    )
    fixed: Flag = Field(default=False, description="true nails it to the world: it never moves, whatever hits it.")
    follows: list[FollowKey] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_FOLLOW_KEYS,
        description="Makes it move exactly as told by keys with times, smoothly through all of them and at rest where "
        "a key is repeated, pushing others and never giving way.",
    )
    linear: Flag = Field(
        default=False,
        description="true makes what follows keys go straight and turn evenly from one key to the next.",
    )
    collides: Flag | Span = Field(
        default=True,
        description="false lets everything pass through it, {until: meet} from an appointment or a time on; what a "
        "joint ties together never collides anyway.",
    )
    coating: Coating = Field(
        default_factory=Coating,
        description="How it feels to the touch: hard or soft, bouncy, slippery.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    color: Color | None = Field(
        default=None,
        description='Its color in pictures, like "#e4572e", or "#e4572e60" for glass; left out, impel picks one.',
        json_schema_extra=CHANGES_IN_PLACE,
    )

    @property
    def form(self) -> dict[str, Any]:
        """Its shape as physics knows it: with its centre of mass and inertia, where these are given."""
        document = self.shape.to_document()
        kind = self.shape.kind
        if self.center is None and (self.inertia is None or kind in ("sphere", "box", "capsule", "cylinder")):
            return document
        value: dict[str, Any] = document[kind] if kind in ("mesh", "convex") else {}
        if kind == "compound":
            value = {"parts": document[kind]}
        elif not value:
            kind, value = "compound", {"parts": [document]}
        if self.center is not None:
            value["center"] = list(self.center)
        if self.inertia is not None and self.mass is not None:
            value["inertia"] = [moment / self.mass for moment in self.inertia]
        return {kind: value}

    @property
    def moves_freely(self) -> bool:
        """Neither fixed nor key-framed: physics decides where it goes."""
        return not self.fixed and self.follows is None
