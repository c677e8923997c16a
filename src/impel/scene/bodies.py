"""Bodies: what they are made of, where they start and, for key-framed ones, where they go."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

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
    Sides,
    Size,
    orientation,
)

MOST_BLOB_PARTS = 100
MOST_BLOB_CURVES, MOST_CURVE_POINTS = 10, 20
MOST_COMPOUND_PARTS = 100
MOST_FOLLOW_KEYS = 100_000


class Rod(Model):
    """The size of a capsule or a cylinder."""

    example: ClassVar[str] = "{radius: 0.1, length: 0.5}"
    radius: Size = Field(description="How thick it is: from its axis to its side, in metres.")
    length: Size = Field(
        description="How long it is along its own z axis, in metres; a capsule's round ends come on top."
    )


class Plane(Model):
    """An endless flat ground; its own z axis points out of it."""

    example: ClassVar[str] = "{}"


class BlobPoint(Model):
    """A ball of flesh in a blob."""

    example: ClassVar[str] = "{at: [0, 0, 0], radius: 0.2}"
    at: Point = Field(description="The middle of this ball, seen from the body's `at`, in metres.")
    radius: Size = Field(description="How far the flesh reaches from its middle, in metres.")


class BlobSegment(Model):
    """A limb of flesh in a blob."""

    example: ClassVar[str] = "{from: [0, 0, 0], to: [0, 0, 1], radius: 0.1}"
    from_: Point = Field(alias="from", description="Where this limb begins, in the body's own frame, in metres.")
    to: Point = Field(description="Where this limb ends, in the body's own frame, in metres.")
    radius: Size = Field(description="How far the flesh reaches from the limb's bone, in metres.")


class BlobCurve(Model):
    """A bent limb of flesh in a blob."""

    example: ClassVar[str] = "{points: [[0, 0, 0], [0.2, 0, 0.1], [0.3, 0, 0.3]], radius: 0.05}"
    points: list[Point] = Field(
        min_length=2,
        max_length=MOST_CURVE_POINTS,
        description="Places in the body's own frame that its bone goes smoothly through, in metres.",
    )
    radius: Size = Field(description="How far the flesh reaches from the bone, in metres.")
    loop: Flag = Field(default=False, description="true leads the bone back from its last place to its first.")


class Blob(Model):
    """Soft flesh around a skeleton of points, segments and curves, melted into one form."""

    example: ClassVar[str] = "{points: [{at: [0, 0, 0], radius: 0.2}], blend: 0.05}"
    points: list[BlobPoint] = Field(
        default_factory=list, max_length=MOST_BLOB_PARTS, description="Balls of flesh, each with its middle and radius."
    )
    segments: list[BlobSegment] = Field(
        default_factory=list, max_length=MOST_BLOB_PARTS, description="Limbs of flesh, each from one end to the other."
    )
    curves: list[BlobCurve] = Field(
        default_factory=list,
        max_length=MOST_BLOB_CURVES,
        description="Bent limbs of flesh, each along a smooth curve: tails, handles, necks.",
    )
    blend: NotNegative = Field(
        default=0.05, description="How softly neighbouring parts melt into each other, in metres; 0 leaves creases."
    )

    @model_validator(mode="after")
    def _has_flesh(self) -> Self:
        if not self.points and not self.segments and not self.curves:
            raise ValueError("needs at least one of points, segments or curves")
        return self


class MeshFile(Model):
    """A mesh from a file."""

    example: ClassVar[str] = "{file: cup.glb, scale: 0.1}"
    file: str = Field(
        min_length=1,
        max_length=1000,
        description="The file (.obj, .stl, .ply or .glb), seen from the scene's own; .glb is y up as everywhere, and "
        "stands upright here.",
    )
    scale: Size = Field(default=1.0, description="How much larger it is here than in its file; 0.01 for centimetres.")
    part: str | None = Field(
        default=None, max_length=1000, description="The name of the one object of the file to take; left out, all."
    )


def _short(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


_LONG = MeshFile.model_json_schema()
Mesh = Annotated[
    MeshFile,
    BeforeValidator(_short),
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, _LONG]}),
]


class Shape(Model):
    """A form: exactly one of the kinds below."""

    example: ClassVar[str] = "{sphere: 0.2} or {box: [1, 1, 0.5]}"
    sphere: Size | None = Field(default=None, description="A ball of this radius, in metres.")
    box: Sides | None = Field(
        default=None, description="A box of these full sizes along its own x, y and z, in metres, about its middle."
    )
    capsule: Rod | None = Field(
        default=None, description="A rod with round ends along its own z; its length is between the cap centres."
    )
    cylinder: Rod | None = Field(default=None, description="A rod with flat ends along its own z axis.")
    plane: Plane | None = Field(
        default=None, description="An endless flat ground facing its own z axis; write plane: {}."
    )
    blob: Blob | None = Field(
        default=None, description="Flesh around a skeleton of points, segments and curves, melted together."
    )
    mesh: Mesh | None = Field(
        default=None, description="Any closed form, from a file: write mesh: cup.glb, or with scale and part."
    )
    convex: Mesh | None = Field(
        default=None, description="The hull of a mesh from a file: as if it were wrapped tightly; it need not be closed."
    )
    compound: Annotated[list["Part"], Field(min_length=1, max_length=MOST_COMPOUND_PARTS)] | None = Field(
        default=None, description="Several shapes in one piece, each with its place: [{sphere: 0.1, at: [0, 0, 1]}, ...]."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [kind for kind in SHAPES if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(SHAPES)}, got {' and '.join(given) or 'none'}")
        return self

    @property
    def kind(self) -> str:
        """One of `SHAPES`."""
        return next(kind for kind in SHAPES if getattr(self, kind) is not None)

    def to_document(self) -> dict[str, Any]:
        """As written in a scene, e.g. {"sphere": 0.2}: what takes and geometry work from."""
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        if self.blob is not None and not self.blob.curves:
            del document["blob"]["curves"]
        return document

    @property
    def half_size(self) -> float:
        """The smallest distance from its middle to its surface, in metres; unbounded for a plane."""
        from impel.geometry.kinds import inner_of

        return inner_of(self.to_document())

    def files(self) -> list[MeshFile]:
        """All that it is read from."""
        own = [mesh for mesh in (self.mesh, self.convex) if mesh is not None]
        return own + [mesh for part in self.compound or [] for mesh in part.files()]


class Part(Shape):
    """A shape with its place in a compound."""

    example: ClassVar[str] = "{sphere: 0.1, at: [0, 0, 0.2]}"
    at: Point = Field(default=(0.0, 0.0, 0.0), description="Where its middle is, seen from the body's `at`, in metres.")
    euler: Euler = Field(
        default=(0.0, 0.0, 0.0), description="How it is turned in the body: degrees about x, y and z, in Blender's order."
    )

    @model_validator(mode="after")
    def _is_solid(self) -> Self:
        if self.plane is not None:
            raise ValueError("a plane has no end and cannot be part of a body; a flat box can")
        return self


SHAPES = tuple(Shape.model_fields)
BAKED = ("mesh", "convex", "compound")  # of these
Shape.model_rebuild()


def rename_files(shape: Shape, rename: Callable[[str], str]) -> Shape:
    """A shape whose files have other names."""
    if not shape.files():
        return shape
    changes: dict[str, Any] = {
        kind: given.model_copy(update={"file": rename(given.file)})
        for kind in ("mesh", "convex")
        if (given := getattr(shape, kind)) is not None
    }
    if shape.compound is not None:
        changes["compound"] = [rename_files(part, rename) for part in shape.compound]
    return shape.model_copy(update=changes)


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

    Where two touch, they yield like two springs in a row, damping is the average in which the softer one counts more,
    and friction is the root of the product.
    """

    example: ClassVar[str] = "{stiffness: 2.0e5, thickness: 0.05, damping: 0.5, friction: 0.6}"
    stiffness: Positive | None = Field(
        default=None,
        description="How hard it is to press in, in newtons per cubic metre: 1e5 is foam, 1e7 is wood; "
        "left out, weight barely presses it in; what is fixed is rigid.",
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
        description="Where its centre of mass is, in the body's own frame, in metres; left out, where its form puts it.",
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
    collides: Flag = Field(
        default=True,
        description="false lets everything pass through it; what a joint ties together never collides anyway.",
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
