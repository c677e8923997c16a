"""Actors: bodies with wishes. Keys to move or turn along, goals to meet on time, appointments with others."""

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer

from impel.scene.clips import Clip
from impel.scene.goals import ListOrTable
from impel.scene.values import (
    AGAIN,
    CHANGES,
    CHANGES_IN_PLACE,
    BodyName,
    Direction,
    Euler,
    Flag,
    Model,
    Name,
    NotNegative,
    Point,
    Positive,
    Quaternion,
    Share,
    Strength,
    orientation,
)

MOST_KEYS = 10_000

# 003, section 2, with the values that notes and measurements recommend.
ALPHA = 0.1
RELAXATION = 0.05  # seconds
ELASTICITY = 1 / math.sqrt(2)  # follows circles at their true radius, overshoots 4.6 %
ADAPTATION = 5.0  # per second


class Key(Model):
    """What keys of both kinds may say."""

    in_: BodyName | None = Field(
        default=None, alias="in", description="The body or part of a walker in whose frame this key is; it moves along."
    )
    time: NotNegative | None = Field(
        default=None,
        description="When to be there, in seconds; without times on its keys it goes as fast as it can.",
    )
    hold: NotNegative | None = Field(default=None, description="How long to stay there, in seconds.")
    pin: Flag | None = Field(
        default=None,
        description="Whether a key in a body is kept where it is in the world once passed; left out, it is when the "
        "path leaves that body, and never at the end of a path.",
    )


class MoveKey(Key):
    """A place to pass through."""

    example: ClassVar[str] = "[0, 0, 1] or {at: [0, 0, 1]}"
    at: Point = Field(description="Where to pass, in metres, in the world or in a body.")
    speed: NotNegative | None = Field(
        default=None, description="How fast to pass it, in m/s; 0 stops for a moment; left out, as its times suggest."
    )
    direction: Direction | None = Field(
        default=None, description="In which direction to pass it, as [x, y, z]; left out, along a smooth path."
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> Any:
        place = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
        return {"anyOf": [place, handler.resolve_ref_schema(handler(core_schema))]}

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> Any:
        bare = all(getattr(self, name) is None for name in type(self).model_fields if name != "at")
        return list(self.at) if bare else handler(self)


class TurnKey(Key):
    """An orientation to pass through."""

    example: ClassVar[str] = "{euler: [0, 0, 90]} or {quaternion: [1, 0, 0, 0]}"
    euler: Euler | None = Field(
        default=None,
        description="How to be turned: degrees about x, y and z, in Blender's XYZ order. Through angles 180 or more "
        "apart it turns as written: 0 to 360 is once round.",
    )
    quaternion: Quaternion | None = Field(
        default=None, description="How to be turned, as a quaternion [w, x, y, z]; it turns there the shorter way."
    )
    speed: NotNegative | None = Field(
        default=None, description="How fast to turn there, in degrees/s; 0 stops; left out, as its times suggest."
    )

    @property
    def orientation(self) -> tuple[float, float, float, float]:
        """The unit quaternion (w, x, y, z)."""
        return orientation(self.euler, self.quaternion)


def _or_list(value: Any) -> Any:
    return {"at": value} if isinstance(value, list | tuple) else value


def _or_file(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


class Actuator(Model):
    """What move and turn have in common: how the body is driven to its target."""

    keys: list[Any] = Field(
        min_length=1, max_length=MOST_KEYS, description="What to pass through, in order; a single one is held."
    )
    keys_from: Annotated[Clip, BeforeValidator(_or_file)] | None = Field(
        default=None,
        description="A file with many keys and their times instead, .npz or .csv: a take, or a clip from elsewhere.",
        json_schema_extra={CHANGES: AGAIN},
    )
    speed: Positive | None = Field(default=None, description="How fast to go on a straight stretch; replaces alpha.")
    alpha: Positive | None = Field(
        default=None, description="How fast it follows, as the paper's α, instead of speed; 0.1 if neither is given."
    )
    relaxation: Positive = Field(
        default=RELAXATION,
        description="How long a correction takes, in seconds (the paper's Δt): shorter is snappier; without effect "
        "where speed is given.",
    )
    elasticity: Positive = Field(
        default=ELASTICITY,
        description="How it settles (the paper's B): below 0.7 it swings, at 1 it creeps in, above it drags.",
    )
    adaptation: NotNegative = Field(
        default=ADAPTATION,
        description="How fast it learns to resist lasting pushes such as gravity, per second (the paper's γ); 0 never.",
    )
    strength: Strength = Field(
        default="auto",
        description="How hard it may push, in N or N·m: the less, the more a blow moves it; auto suits its structure, "
        '"60 %" is a share of that; [[0, 60], [2, 0]] goes limp.',
    )
    press: NotNegative | None = Field(
        default=None,
        description="How hard to press what blocks its way, in N for move and N·m for turn; left out, as hard as it "
        "pulls at base distance, and as it takes to hold what is loose.",
    )
    late: Literal["catch_up", "wait"] = Field(
        default="catch_up",
        description="What to do about time lost on a path with times: catch_up goes a quarter faster, wait stays late.",
    )
    loop: Flag = Field(
        default=False,
        description="true leads from the last key back to the first, round and round; a turn takes the shorter way.",
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> Any:
        schema = handler(core_schema)
        handler.resolve_ref_schema(schema).pop("required", None)  # keys may come from a file
        return schema

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> Any:
        document = handler(self)
        if self.keys_from is not None:
            document.pop("keys", None)
        return document


class Move(Actuator):
    """Keys that the body travels through."""

    example: ClassVar[str] = "{keys: [[0, 0, 1], [2, 0, 1]], base_distance: 0.3}"
    keys: list[Annotated[MoveKey, BeforeValidator(_or_list)]] = Field(
        min_length=1,
        max_length=MOST_KEYS,
        description="The places to pass through, in order, as [x, y, z] in metres; a single one is held.",
    )
    base_distance: Positive | None = Field(
        default=None,
        description="How far ahead the target runs, in metres: small keeps close to the path, large cuts corners; "
        "left out, a quarter of the way between keys, less at sharp turns.",
    )
    speed: Positive | None = Field(
        default=None, description="How fast to travel on a straight stretch, in m/s; replaces alpha."
    )
    point: Point | None = Field(
        default=None,
        description="The point of the body that goes through the keys, in metres in its own frame, as if held there "
        "and free to swing; left out, its origin.",
    )


class Turn(Actuator):
    """Orientations that the body turns through."""

    example: ClassVar[str] = "{keys: [{euler: [0, 0, 0]}, {euler: [0, 0, 90]}], base_angle: 20}"
    keys: list[TurnKey] = Field(
        min_length=1, max_length=MOST_KEYS, description="The orientations to turn through, in order; one is held."
    )
    base_angle: Positive | None = Field(
        default=None,
        description="How far ahead the target turns, in degrees: small follows closely, large smooths and turns back "
        "early; left out, a quarter of the turns, less at returns.",
    )
    speed: Positive | None = Field(default=None, description="How fast to turn, in degrees/s; replaces alpha.")
    against: Name | None = Field(
        default=None,
        description="The body to push off, like a muscle: it gets the opposite torque, and keys are seen from it; left "
        "out, the neighbour that all keys are in, or none; or world.",
    )
    trail: Share = Field(
        default=0.0,
        description="How much it is left behind by the body that its keys are in: from 0, rigid, to 1, follow-through.",
    )


class Actor(Model):
    """What the body of this name wants."""

    example: ClassVar[str] = "{move: {keys: [[0, 0, 1], [2, 0, 1]]}}"
    move: Move | None = Field(default=None, description="Places to travel through.", json_schema_extra=CHANGES_IN_PLACE)
    turn: Turn | None = Field(
        default=None, description="Orientations to turn through.", json_schema_extra=CHANGES_IN_PLACE
    )
    goals: ListOrTable | None = Field(
        default=None, description="States to meet exactly and on time, as a list, or a table with keys."
    )


class Appointment(Model):
    """Moments of several actors that must happen together: who would be early waits for the others."""

    example: ClassVar[str] = "{cues: [left.move.2, right.move.2]}"
    cues: list[str] = Field(
        min_length=1,
        max_length=MOST_KEYS,
        description="The moments that must coincide, as ACTOR.move.KEY, ACTOR.turn.KEY, ACTOR.goals.GOAL or, for a "
        "footfall, WALKER.step.NUMBER; all count from 0.",
    )
    after: list[str] = Field(
        default_factory=list,
        max_length=MOST_KEYS,
        description="Appointments that must be over, kept or missed, before this one counts.",
    )
    needs: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        default=None,
        description="How many of the appointments in after must be over; those that were missed count, too; left out, "
        "all of them.",
    )
    timeout: Positive | None = Field(
        default=None,
        description="After how many seconds, counted from when those in after are over, it is given up and all go on; "
        "left out, they wait as long as it takes.",
    )
    regulator: Literal["clocks", "paper"] = Field(
        default="clocks",
        description="How those who would be early are slowed down: clocks, or, to compare, the rule of the paper.",
    )
