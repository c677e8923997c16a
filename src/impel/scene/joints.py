"""Joints: what ties one body to another, or to the world."""

from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from impel.scene.bodies import Placed
from impel.scene.values import Direction, Flag, Model, Point, Range, Size

MOST_CURVE_POINTS = 1000

# What each kind needs, and what it may have besides. Everything is where it is in the world at the start.
NEEDED = {
    "ball": ("at",),
    "hinge": ("at", "axis"),
    "weld": (),
    "on_segment": ("at", "segment"),
    "on_curve": ("at", "curve"),
    "on_surface": ("at",),
    "in_sphere": ("at", "radius"),
}
ALLOWED = {
    "ball": ("at_b",),
    "hinge": ("at_b", "limits"),
    "weld": ("at", "at_b"),
    "on_segment": (),
    "on_curve": ("loop",),
    "on_surface": ("surface",),
    "in_sphere": ("center",),
}
JOINTS = tuple(NEEDED)


def _two_names(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(isinstance(v, str) for v in value):
        raise ValueError("must be the names of two bodies [first, second]")
    return tuple(value)


Pair = Annotated[
    tuple[str, str],
    BeforeValidator(_two_names),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
]


def _two_ends(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError("must be the two ends [[x, y, z], [x, y, z]]")
    return value


Ends = Annotated[tuple[Point, Point], BeforeValidator(_two_ends)]


class Joint(Model):
    """Ties the first body to the second: exactly one of the kinds, with that kind's fields."""

    example: ClassVar[str] = "{hinge: [upper, lower], at: [0, 0, 1], axis: [0, 1, 0]}"
    ball: Pair | None = Field(
        default=None, description="Two bodies share a point and turn about it freely, like a shoulder."
    )
    hinge: Pair | None = Field(
        default=None, description="Two bodies share a point and turn about one axis, like a door and its frame."
    )
    weld: Pair | None = Field(default=None, description="Two bodies are glued together as they are placed.")
    on_segment: Pair | None = Field(
        default=None, description="A point of the first slides on a straight rail of the second, as far as its ends."
    )
    on_curve: Pair | None = Field(
        default=None, description="A point of the first slides on a curved wire of the second, as far as its ends."
    )
    on_surface: Pair | None = Field(
        default=None, description="A point of the first slides over a surface of the second."
    )
    in_sphere: Pair | None = Field(
        default=None,
        description="A point of the first stays within a ball around a point of the second, as if on a rope.",
    )
    at: Point | None = Field(
        default=None,
        description="Where the joint holds the first body, in the world at the start; a weld may leave it out.",
    )
    at_b: Point | None = Field(
        default=None,
        description="Where the joint holds the second body, if it starts apart from `at`: "
        "the bodies are brought together before the start.",
    )
    axis: Direction | None = Field(
        default=None,
        description="The direction a hinge turns about, in the world at the start; it moves on with the bodies.",
    )
    limits: Range | None = Field(
        default=None,
        description="How far a hinge may turn its second body against the first, [lowest, highest] in degrees about "
        "the axis, right-handed; 0 is as placed.",
    )
    segment: Ends | None = Field(default=None, description="The two ends of the rail, in the world at the start.")
    curve: list[Point] | None = Field(
        default=None,
        min_length=2,
        max_length=MOST_CURVE_POINTS,
        description="Points that the wire runs through, in the world at the start.",
    )
    loop: Flag = Field(default=False, description="true closes the wire into a ring.")
    surface: Placed | None = Field(
        default=None,
        description="The surface to stay on, placed in the world at the start; left out, the second body's own.",
    )
    center: Point | None = Field(
        default=None, description="The middle of the ball to stay in, in the world at the start; left out, `at`."
    )
    radius: Size | None = Field(
        default=None, description="How far from the middle of the ball the point may go, in metres."
    )

    @model_validator(mode="after")
    def _one_kind_and_its_fields(self) -> Self:
        given = [kind for kind in JOINTS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(JOINTS)}, got {' and '.join(given) or 'none'}")
        kind = given[0]
        for field in self.model_fields_set - set(JOINTS):
            if field not in NEEDED[kind] + ALLOWED[kind] and getattr(self, field) not in (None, False):
                raise ValueError(f"{field} does not belong to {kind}, which takes {_fields(kind)}")
        missing = [field for field in NEEDED[kind] if getattr(self, field) is None]
        if missing:
            raise ValueError(f"{kind} needs {' and '.join(missing)}")
        return self

    @property
    def kind(self) -> str:
        """One of `JOINTS`."""
        return next(kind for kind in JOINTS if getattr(self, kind) is not None)

    @property
    def bodies(self) -> tuple[str, str]:
        """The names of the first and the second body; either may be "world"."""
        pair: tuple[str, str] = getattr(self, self.kind)
        return pair


def _fields(kind: str) -> str:
    return ", ".join(NEEDED[kind] + ALLOWED[kind])
