"""Fields of a scene by name: what becomes of a scene when one is changed, and what it takes while the scene plays.

A field is changed "in place", and the scene plays on; or the scene is "laid out again", and begins anew; or it becomes
a "new kind" of scene, for which kernels are compiled. What a field says holds for all that is in it.
"""

import difflib
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from impel.complaints import name_like, plain_lines, say
from impel.files import Problem
from impel.scene.values import AGAIN, CHANGES, IN_PLACE, Model, NotNegative

MOST_CHANGES = 10_000
LONGEST_FIELD = 400  # characters
SINGULAR = {"bodies": "body"}


class Change(Model):
    """A field that gets another value while the scene plays."""

    example: ClassVar[str] = "{time: 1.5, field: actors.ball.move.speed, value: 2}"
    time: NotNegative = Field(description="When, in seconds: from the first frame on that is not before it.")
    field: str = Field(
        max_length=LONGEST_FIELD,
        description="Which field, such as actors.ball.move.speed: of an actor's move or turn, a coating, gravity, drag "
        "or a color, or the mood, pace, height or limp of a walker.",
    )
    value: Any = Field(default=None, description="What it becomes; left out, what it is if it is not written.")


def changed(scene: Any, field: str, value: Any) -> Any:
    """A scene with one field changed, which shares all the rest with the one given; None takes the field out.

    Raises `Problem` with a plain line, that begins with the field, if there is no such field, or it cannot be this.
    """
    parts = field.split(".") if isinstance(field, str) else []
    if not parts or not all(parts):
        raise Problem(f"field: must be written like actors.ball.move.speed, got {say(field)}")
    return _with(scene, parts, value, "")


def how_it_changes(scene: Any, field: str) -> str:
    """What it takes to change a field of a scene: IN_PLACE, AGAIN or NEW_KIND."""
    here, told = scene, AGAIN
    for part in field.split("."):
        if isinstance(here, Model):
            name = _name_of(here, part)
            info = None if name is None else type(here).model_fields[name]
            told = _told(info) or told
            here = None if name is None else getattr(here, name)
        elif isinstance(here, dict):
            here = here.get(part)
        elif isinstance(here, list):
            here = here[int(part)] if part.isdecimal() and int(part) < len(here) else None
    return told


def while_it_plays(scene: Any, field: str, value: Any) -> Any:
    """The same as `changed`, but only of what can be changed in place."""
    after = changed(scene, field, value)
    told = how_it_changes(scene, field)
    if told == IN_PLACE and _wishes(scene) != _wishes(after):
        told = AGAIN
    if told != IN_PLACE:
        raise Problem(f"{field}: cannot be changed while the scene plays; change it in the scene and play that anew")
    return after


def _wishes(scene: Any) -> list[tuple[str, bool, bool]]:
    return [(name, actor.move is None, actor.turn is None) for name, actor in scene.actors.items()]


def _told(info: Any) -> str | None:
    extra = None if info is None else info.json_schema_extra
    return extra.get(CHANGES) if isinstance(extra, dict) else None


def _name_of(model: Model, written: str) -> str | None:
    fields = type(model).model_fields
    return next((name for name, info in fields.items() if (info.alias or name) == written), None)


def _with(here: Any, parts: list[str], value: Any, where: str) -> Any:
    head, rest = parts[0], parts[1:]
    place = f"{where}.{head}" if where else head
    if isinstance(here, Model):
        return _with_field(here, head, rest, value, where, place)
    if isinstance(here, dict):
        if head not in here:
            group = where.rsplit(".", 1)[-1]
            raise Problem(f"{where}: {name_like(head, here, SINGULAR.get(group, group.removesuffix('s')))}")
        return here | {head: _with(here[head], rest, value, place) if rest else _given(value, place)}
    if isinstance(here, list):
        if not head.isdecimal() or int(head) >= len(here):
            raise Problem(f"{where}: counts from 0 to {len(here) - 1}, got {say(head)}")
        entry = _with(here[int(head)], rest, value, place) if rest else _given(value, place)
        return [*here[: int(head)], entry, *here[int(head) + 1 :]]
    raise Problem(f"{where}: {'is not there' if here is None else 'has no fields'}, so there is no {head} in it")


def _with_field(here: Model, head: str, rest: list[str], value: Any, where: str, place: str) -> Any:
    name = _name_of(here, head)
    if name is None:
        known = [info.alias or name for name, info in type(here).model_fields.items()]
        close = difflib.get_close_matches(head, known, 1)
        hint = f"did you mean {close[0]}?" if close else f"known here: {', '.join(known)}"
        raise Problem(f"{place}: is not a known field; {hint}")
    info = type(here).model_fields[name]
    if rest:
        value = _with(getattr(here, name), rest, value, place)
    elif value is None:
        value = _given(None if info.is_required() else info.get_default(call_default_factory=True), place, info)
    after = here.model_copy()
    try:
        setattr(after, name, value)
    except ValidationError as error:
        lines = plain_lines(error, type(here))
        raise Problem(*(f"{where}.{line}" if where else line for line in lines)) from None
    return after


def _given(value: Any, place: str, info: Any = None) -> Any:
    if value is None and (info is None or info.is_required()):
        raise Problem(f"{place}: cannot be left out")
    return value
