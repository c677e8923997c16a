"""Joints: what ties one body to another, or to the world."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from impel.scene.bodies import Placed
from impel.scene.spans import Moment
from impel.scene.values import Direction, Flag, Model, NotNegative, Point, Positive, Range, Size, is_number

MOST_CURVE_POINTS = 1000

# What each kind needs, and what it may have besides. Everything is where it is in the world at the start.
NEEDED = {
    "ball": ("at",),
    "hinge": ("at", "axis"),
    "weld": (),
    "slide": ("axis",),
    "on_segment": ("at", "segment"),
    "on_curve": ("at", "curve"),
    "on_surface": ("at",),
    "in_sphere": ("at", "radius"),
}
ALLOWED = {
    "ball": ("at_b", "axis", "cone", "twist", "friction", "spring"),
    "hinge": ("at_b", "limits", "friction", "spring"),
    "weld": ("at", "at_b"),
    "slide": ("at", "limits", "friction", "spring"),
    "on_segment": ("friction",),
    "on_curve": ("loop",),
    "on_surface": ("surface",),
    "in_sphere": ("center",),
}
ALL_MAY = ("breaks", "collides", "until")
MADE_LATER = ("ball", "hinge", "weld", "slide")  # that take their bodies as they are then
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


class Spring(Model):
    """What pulls a joint back; angles in degrees, or on a slide ways in metres."""

    example: ClassVar[str] = "{stiffness: 0.5, damping: 0.05, rest: 0}"
    stiffness: NotNegative = Field(
        default=0.0, description="How hard it pulls back, in N·m for each degree, or on a slide in N for each metre."
    )
    damping: NotNegative = Field(
        default=0.0,
        description="How hard it brakes, in N·m for each degree a second, or on a slide in N for each metre a second; "
        "0 swings for ever.",
    )
    rest: float = Field(
        default=0.0,
        strict=True,
        description="Where it pulls to, in degrees about the axis or metres along it; 0 is as placed.",
    )


class Breaks(Model):
    """How much a joint bears before it lets go for good."""

    example: ClassVar[str] = "400 or {force: 400, torque: 20}"
    force: Positive | None = Field(default=None, description="The pull or push at which it lets go, in N.")
    torque: Positive | None = Field(
        default=None, description="The bending or twisting at which it lets go, in N·m about its point."
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> Any:
        number = {"type": "number", "exclusiveMinimum": 0}
        return {"anyOf": [number, handler.resolve_ref_schema(handler(core_schema))]}

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self) if self.torque is not None else self.force


def _or_force(value: Any) -> Any:
    return {"force": value} if is_number(value) else value


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
    slide: Pair | None = Field(
        default=None,
        description="The second body slides along a straight line through the first and does not turn against it, "
        "like a drawer.",
    )
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
        description="Where the joint holds the first body, at the start; welds and slides may leave it out.",
    )
    at_b: Point | None = Field(
        default=None,
        description="Where the joint holds the second body, if it starts apart from `at`: "
        "the bodies are brought together before the start.",
    )
    axis: Direction | None = Field(
        default=None,
        description="What a hinge turns about, a slide goes along, or a ball's cone and twist are about, in the world "
        "at the start; left out, a ball's points to its second body.",
    )
    limits: Range | None = Field(
        default=None,
        description="How far the second body may go against the first, [lowest, highest]: degrees about a hinge's "
        "axis, right-handed, or metres along a slide's; 0 is as placed.",
    )
    cone: float | None = Field(
        default=None,
        strict=True,
        description="How far a ball joint lets its second body lean to any side from how it is placed, in degrees.",
    )
    twist: Range | None = Field(
        default=None,
        description="How far a ball joint lets its second body turn about its axis, [lowest, highest] in degrees, "
        "right-handed; 0 is as placed. It then leans by 150 at most.",
    )
    friction: NotNegative = Field(
        default=0.0,
        description="What it takes to move the joint at all, in N·m, or along a slide or rail in N: it brakes by this "
        "much and holds what pulls less.",
    )
    spring: Spring | None = Field(default=None, description="What pulls a ball, hinge or slide back, and brakes it.")
    breaks: Annotated[Breaks, BeforeValidator(_or_force)] | None = Field(
        default=None,
        description="What the joint bears, a force in N or force and torque, felt over 0.01 s; beyond it lets go for "
        "good, and its bodies may hit each other.",
    )
    from_: Moment | None = Field(
        default=None,
        alias="from",
        description="When it is made, in seconds, or the appointment that must be kept, of its bodies as they are "
        "then; left out, it is there from the start.",
    )
    until: Moment | None = Field(
        default=None, description="When it lets go, in seconds, or the appointment that must be kept; left out, never."
    )
    collides: Flag = Field(
        default=False, description="true lets the two bodies touch each other; else they pass through each other."
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
            if field == "from_" and kind in MADE_LATER:
                continue
            if field == "from_" and self.from_ is not None:
                raise ValueError(f"from does not belong to {kind}; made later can be {', '.join(MADE_LATER)}")
            if field not in NEEDED[kind] + ALLOWED[kind] + ALL_MAY and getattr(self, field) not in (None, False):
                raise ValueError(f"{field} does not belong to {kind}, which takes {_fields(kind)}")
        if kind == "ball" and self.axis is not None and self.cone is None and self.twist is None:
            raise ValueError("axis does not belong to ball unless it has cone or twist")
        missing = [field for field in NEEDED[kind] if getattr(self, field) is None]
        if missing:
            raise ValueError(f"{kind} needs {' and '.join(missing)}")
        return self

    @property
    def kind(self) -> str:
        """One of `JOINTS`."""
        return next(kind for kind in JOINTS if getattr(self, kind) is not None)

    @property
    def along(self) -> bool:
        """Whether it measures its free way in metres, not in degrees."""
        return self.kind in ("slide", "on_segment")

    @property
    def bodies(self) -> tuple[str, str]:
        """The names of the first and the second body; either may be "world"."""
        pair: tuple[str, str] = getattr(self, self.kind)
        return pair


def _fields(kind: str) -> str:
    return ", ".join(NEEDED[kind] + ALLOWED[kind] + ALL_MAY)
