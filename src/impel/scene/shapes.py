"""Shapes: what bodies look like, and touch with."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from impel.scene.values import Euler, Flag, Model, NotNegative, Point, Sides, Size

MOST_BLOB_PARTS = 100
MOST_BLOB_CURVES, MOST_CURVE_POINTS = 10, 20
MOST_COMPOUND_PARTS = 100


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


Mesh = Annotated[MeshFile, BeforeValidator(_short, json_schema_input_type=str | MeshFile)]


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
        default=None,
        description="The hull of a mesh from a file: as if it were wrapped tightly; it need not be closed.",
    )
    compound: Annotated[list["Part"], Field(min_length=1, max_length=MOST_COMPOUND_PARTS)] | None = Field(
        default=None,
        description="Several shapes in one piece, each with its place: [{sphere: 0.1, at: [0, 0, 1]}, ...].",
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [kind for kind in SHAPES if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(SHAPES)}, got {' and '.join(given) or 'none'}")
        if self._parts() > MOST_COMPOUND_PARTS:
            raise ValueError(f"must have at most {MOST_COMPOUND_PARTS} parts, got {self._parts()}")
        return self

    def _parts(self) -> int:
        return 1 if self.compound is None else sum(part._parts() for part in self.compound)

    @property
    def kind(self) -> str:
        """One of `SHAPES`."""
        return next(kind for kind in SHAPES if getattr(self, kind, None) is not None)

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
        default=(0.0, 0.0, 0.0),
        description="How it is turned in the body: degrees about x, y and z, in Blender's order.",
    )

    @model_validator(mode="after")
    def _is_solid(self) -> Self:
        if self.plane is not None:
            raise ValueError("a plane has no end and cannot be part of a body; a flat box can")
        return self


SHAPES = tuple(Shape.model_fields)
BAKED = ("mesh", "convex", "compound")  # of these

F = TypeVar("F", bound=Shape)


def rename_files(shape: F, rename: Callable[[str], str]) -> F:
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
