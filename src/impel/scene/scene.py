"""The scene: everything the animator wrote, whether in a file or in Python."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError

from impel.complaints import name_like, plain_lines
from impel.files import Problem, name_beside, write_document
from impel.scene.actors import Actor, Appointment
from impel.scene.bodies import Body, move_files
from impel.scene.cameras import MOST_CUTS, Camera, Cut
from impel.scene.changing import MOST_CHANGES, Change
from impel.scene.clips import name_clips, read_clips
from impel.scene.joints import Joint
from impel.scene.pushes import MOST_PUSHES, Push
from impel.scene.shapes import SHAPES
from impel.scene.values import CHANGES_IN_PLACE, MAKES_A_NEW_KIND, Model, Name, NotNegative, Point, Positive, Step
from impel.scene.walkers import Walker, name_walkers

SUBJECT = "scene"  # what error lines begin with as long as there is no file


class World(Model):
    """The stage itself: gravity, air, and how long the take is."""

    example: ClassVar[str] = "{gravity: [0, 0, -9.81], seconds: 8, fps: 60}"
    gravity: Point = Field(
        default=(0.0, 0.0, -9.81),
        description="The pull on everything, in m/s²; [0, 0, 0] is outer space.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    seconds: Positive = Field(default=5.0, description="How long the take lasts, in seconds.")
    fps: Positive = Field(default=60.0, description="How many frames a second are recorded.")
    drag: NotNegative = Field(
        default=0.0,
        description="How fast free motion and spin die out in the air, per second: 0.1 loses a tenth each second.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    step: Step = Field(
        default="adaptive",
        description='The time step in seconds, or "adaptive", which takes care of hits by itself.',
    )
    joints: Literal["rattle", "displacement", "paper"] = Field(
        default="rattle",
        description="How joints are held: rattle is exact; displacement and paper are there to compare.",
        json_schema_extra=MAKES_A_NEW_KIND,
    )


class Scene(Model):
    """Everything the animator wrote: loaded from a file, or built with `body`, `joint`, `walker` and `appointment`."""

    example: ClassVar[str] = "{world: {...}, bodies: {...}, actors: {...}}"
    impel: Literal[1] = Field(default=1, description="The version of this file format, 1.")
    world: World = Field(default_factory=World, description="Gravity, air, and how long the take is.")
    bodies: dict[Name, Body] = Field(default_factory=dict, description="The solids of the scene, by name.")
    joints: dict[Name, Joint] = Field(default_factory=dict, description="What ties bodies together, by name.")
    actors: dict[Name, Actor] = Field(default_factory=dict, description="What bodies want, by the body's name.")
    walkers: dict[Name, Walker] = Field(
        default_factory=dict, description="Legged creatures that walk through the scene, by name."
    )
    appointments: dict[Name, Appointment] = Field(
        default_factory=dict,
        description="Moments of several actors that must happen together, by name.",
    )
    in_step: dict[Name, Annotated[list[str], Field(min_length=2)]] = Field(
        default_factory=dict,
        description="Moves and turns with times, as ACTOR.move or ACTOR.turn, that wait for the one that is held up.",
    )
    pushes: list[Push] = Field(
        default_factory=list,
        max_length=MOST_PUSHES,
        description="Pushes and pulls from outside, each on a body for a while.",
    )
    changes: list[Change] = Field(
        default_factory=list,
        max_length=MOST_CHANGES,
        description="Fields that get other values while the scene plays.",
    )
    camera: Camera | None = Field(
        default=None,
        description="Where pictures are taken from; left out, it frames the action.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    cameras: list[Cut] = Field(
        default_factory=list,
        max_length=MOST_CUTS,
        description="Several cameras instead, each from its time on; before the first, the action is framed.",
        json_schema_extra=CHANGES_IN_PLACE,
    )

    def __init__(self, /, **fields: Any) -> None:
        """Accepts the world's fields directly, so that `Scene(seconds=8)` is enough to begin with."""
        fields = _plain(fields)
        world = {name: fields.pop(name) for name in World.model_fields if name in fields and name != "joints"}
        if world:
            written = fields.get("world", {})
            given = written.model_dump() if isinstance(written, World) else written
            fields["world"] = {**given, **world} if isinstance(given, dict) else given
        if "actors" in fields:
            try:
                fields["actors"] = read_clips(fields["actors"])
            except Problem as problem:
                raise Problem(*(f"{SUBJECT}: {line}" for line in problem.lines)) from None
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise Problem(*(f"{SUBJECT}: {line}" for line in plain_lines(error, Scene))) from None

    def body(self, name: str, **fields: Any) -> "Handle":
        """Add a body: `scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 1])`; then `.move(...)` it."""
        shape = {kind: fields.pop(kind) for kind in SHAPES if kind in fields}
        if shape:
            fields["shape"] = shape
        self._add("bodies", name, fields)
        return Handle(self, name)

    def joint(self, name: str, **fields: Any) -> Joint:
        """Add a joint: `scene.joint("elbow", hinge=[upper, lower], at=[0, 0, 1], axis=[0, 1, 0])`.

        One that is made later says when, or with which appointment: `from_=2`, `from_="meet"`.
        """
        return self._add("joints", name, _without_dashes(fields))

    def walker(self, name: str, walker: str = "creature", **fields: Any) -> Walker:
        """Add a walker: `scene.walker("spider", "creature", path=[[0, 0, 0], [4, 0, 0]], mood=40)`."""
        return self._add("walkers", name, {"walker": walker, **fields})

    def appointment(self, name: str, cues: list[str], **fields: Any) -> Appointment:
        """Add an appointment: `scene.appointment("handshake", cues=["left.move.2", "right.move.2"])`."""
        return self._add("appointments", name, {"cues": cues, **fields})

    def push(self, body: "str | Handle", **fields: Any) -> None:
        """Add a push: `scene.push("ball", from_=1, until=1.3, force=[20, 0, 0])`."""
        self.pushes = [*self.pushes, *Scene(pushes=[{"body": body, **_without_dashes(fields)}]).pushes]

    def change(self, field: str, value: Any = None, *, time: float) -> None:
        """Add a change: `scene.change("actors.ball.move.speed", 2, time=1.5)`."""
        entry = {"time": time, "field": field, "value": value}
        self.changes = [*self.changes, *Scene(changes=[entry]).changes]

    def __getitem__(self, name: str) -> "Handle":
        """The body of that name, to give it wishes: `scene["ball"].move(...)`."""
        if name not in self.bodies:
            raise Problem(f"{SUBJECT}: bodies.{name}: {name_like(name, self.bodies, 'body')}")
        return Handle(self, name)

    def to_document(self) -> dict[str, Any]:
        """Plain data as in a scene file, with only what differs from the defaults; reading it gives an equal scene."""
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        world = self.world.model_dump(mode="json")
        return _tidy({"impel": self.impel, "world": world, **{k: v for k, v in document.items() if k != "world"}})

    def save(self, path: str | Path) -> None:
        """Write the scene as YAML, or as JSON if the name ends so."""
        named = {
            "walkers": name_walkers(self.walkers, path),
            "actors": name_clips(self.actors, path),
            "bodies": move_files(self.bodies, lambda name: name_beside(path, name)),
        }
        seen_from_there = self.model_copy(update=named)
        write_document(path, seen_from_there.to_document())

    def _add(self, group: str, name: str, fields: dict[str, Any]) -> Any:
        members = getattr(self, group)
        if name in members:
            raise Problem(f"{SUBJECT}: {group}.{name}: is there already")
        return self._put(group, name, fields)

    def _put(self, group: str, name: str, fields: dict[str, Any]) -> Any:
        """Check one entry as a file's would be, then put it in."""
        entry = getattr(Scene(**{group: {name: fields}}), group)[name]
        getattr(self, group)[name] = entry
        return entry


class Handle:
    """A body of a scene in Python code, to give it wishes."""

    def __init__(self, scene: Scene, name: str) -> None:
        self.scene = scene
        self.name = name

    def __repr__(self) -> str:
        return f"<body {self.name}>"

    def move(self, keys: Any, **fields: Any) -> "Handle":
        """Travel through places: `ball.move([[0, 0, 1], [2, 0, 1]], base_distance=0.3, speed=2)`."""
        return self._wish(move={"keys": keys, **fields})

    def turn(self, keys: Any, **fields: Any) -> "Handle":
        """Turn through orientations: `ball.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}], base_angle=20)`."""
        return self._wish(turn={"keys": keys, **fields})

    def goals(self, goals: Any, **fields: Any) -> "Handle":
        """Meet states on time: `rod.goals([{"at": [1, 0, 1], "time": 1.0}], ending="paper")`."""
        return self._wish(goals={"keys": goals, **fields} if fields else goals)

    def _wish(self, **wish: Any) -> "Handle":
        present = self.scene.actors.get(self.name)
        fields = present.model_dump(by_alias=True, exclude_none=True) if present else {}
        self.scene._put("actors", self.name, {**fields, **wish})
        return self


def _without_dashes(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as files name them: `from` is a word of Python's own, so it is `from_` there."""
    return {name.removesuffix("_"): value for name, value in fields.items()}


def _plain(value: Any) -> Any:
    """Python conveniences as plain data: handles become names, arrays and tuples lists."""
    if isinstance(value, Handle):
        return value.name
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        return value.tolist()
    return value


def _tidy(value: Any) -> Any:
    """Whole numbers without a decimal point, as a person writes them."""
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return int(value)
    return value
