"""Goals as they are written: states to meet at given times, and how to go about it."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)

from impel.complaints import LISTED, TABLED
from impel.scene.values import (
    BodyName,
    Euler,
    Flag,
    Model,
    Point,
    Positive,
    Quaternion,
    Strength,
    TimeOrName,
    orientation,
)

MOST_GOALS = 10_000
MOST_POINTS = 1000  # of a path


class Goal(Model):
    """A state to be met exactly at a given time."""

    example: ClassVar[str] = "{at: [1, 0, 1], time: 1.0}"
    time: Positive | None = Field(
        default=None,
        description="When to be there, in seconds from the start; between two goals with times it may be left out.",
    )
    at: Point | None = Field(default=None, description="Where to be then, in metres, in the world or in a body.")
    euler: Euler | None = Field(
        default=None,
        description="How to be turned then: degrees about x, y and z. Through angles 180 or more apart it turns as "
        "written: 0 to 360 is a somersault.",
    )
    quaternion: Quaternion | None = Field(
        default=None, description="How to be turned then, as a quaternion [w, x, y, z]; it turns there the shorter way."
    )
    on: list[Point] | None = Field(
        default=None,
        min_length=2,
        max_length=MOST_POINTS,
        description="A path to go along, as points in metres; its end is where to be then.",
    )
    in_: BodyName | None = Field(
        default=None,
        alias="in",
        description="The body or part of a walker in whose frame this goal is; it moves along.",
    )
    weight: Positive | None = Field(
        default=None,
        description="How fast to go there, as against the goals next to it, where times are left out; 1 if left out.",
    )
    hold: Flag | None = Field(default=None, description="Whether to stay there once it is met, whatever pushes.")
    until: TimeOrName | None = Field(
        default=None,
        description="How long to hold it: until that time in seconds, or until that appointment is kept; left out, to "
        "the end.",
    )

    @property
    def places(self) -> bool:
        return self.at is not None or self.on is not None

    @property
    def turns(self) -> bool:
        return self.euler is not None or self.quaternion is not None

    @property
    def orientation(self) -> tuple[float, float, float, float]:
        """The unit quaternion (w, x, y, z)."""
        return orientation(self.euler, self.quaternion)


class Goals(Model):
    """States to meet one after the other, and how to go about it."""

    example: ClassVar[str] = "[{at: [1, 0, 1], time: 1.0}]"
    _listed: bool = PrivateAttr(default=False)
    keys: list[Goal] = Field(min_length=1, max_length=MOST_GOALS, description="The states to meet, in order.")
    point: Point | None = Field(
        default=None,
        description="The point of the body that meets the goals, in metres in its own frame; if no goal says how to be "
        "turned, it swings about it; left out, its origin.",
    )
    strength: Strength = Field(
        default="auto",
        description='How hard it may push, in N, and at its rim when it turns; "auto" suits its goals, "60 %" is a '
        'share of that, "unlimited" ten times that; more is never used.',
    )
    ending: Literal["smooth", "paper"] = Field(
        default="smooth",
        description="How to pass a goal: smooth keeps the speed even; paper is the published choice, to compare.",
    )
    behaviour: Literal["sequential", "dynamic"] = Field(
        default="sequential",
        description="sequential goes evenly and is there on time; dynamic rushes there and then creeps, to compare.",
    )

    def where(self, number: int) -> str:
        """How a goal is called in an error line, after the actor's name."""
        return f"goals.{number}" if self._listed else f"goals.keys.{number}"

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> Any:
        document = handler(self)
        bare = self._listed and all(
            getattr(self, name) == info.default for name, info in type(self).model_fields.items() if name != "keys"
        )
        return document["keys"] if bare else document


def _as_table(value: Any) -> Any:
    if isinstance(value, list):
        goals = Goals(keys=value)
        goals._listed = True
        return goals
    return value


def _form(value: Any) -> str:
    return LISTED if isinstance(value, list | tuple) else TABLED


if TYPE_CHECKING:
    ListOrTable = Goals
else:
    ListOrTable = Annotated[
        Annotated[Annotated[list[Goal], Field(min_length=1, max_length=MOST_GOALS)], Tag(LISTED)]
        | Annotated[Goals, Tag(TABLED)],
        Discriminator(_form),
        AfterValidator(_as_table),
    ]
