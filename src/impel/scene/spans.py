"""Moments that the script tells: a time, or an appointment that was kept; and what is there from one to another."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from impel.complaints import name_like, say
from impel.scene.values import LARGEST, Model, is_number


def _when(value: Any) -> Any:
    if isinstance(value, str) or (is_number(value) and 0 <= value <= LARGEST):
        return value if isinstance(value, str) else float(value)
    raise ValueError("must be a time in seconds, from 0 on, or the name of an appointment")


When = float | str
Moment = Annotated[
    When,
    BeforeValidator(_when),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": LARGEST}, {"type": "string"}]}),
]


class Span(Model):
    """From one moment to another, each a time or an appointment."""

    example: ClassVar[str] = "{from: 2, until: parting}"
    from_: Moment | None = Field(
        default=None,
        alias="from",
        description="Since when, in seconds, or the appointment that must be kept; left out, since the start.",
    )
    until: Moment | None = Field(
        default=None, description="Until when, in seconds, or until which appointment is kept; left out, for good."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.from_ is None and self.until is None:
            raise ValueError("needs from or until")
        return self

    @property
    def at_start(self) -> bool:
        return self.from_ in (None, 0.0)

    @classmethod
    def of(cls, from_: When | None, until: When | None) -> "Span | None":
        """None if it is there all the time."""
        if until is None and from_ in (None, 0.0):
            return None
        return cls.model_validate({"from": from_, "until": until})


def span_problems(from_: When | None, until: When | None, where: str, appointments: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the moments of something, one line each."""
    unknown = False
    for field, when in (("from", from_), ("until", until)):
        if isinstance(when, str) and when not in appointments:
            unknown = True
            yield f"{where}.{field}: {name_like(when, appointments, 'appointment')}"
    if unknown or until is None:
        return
    first = 0.0 if from_ is None else from_
    if isinstance(first, float) and isinstance(until, float) and until <= first:
        yield f"{where}.until: must be later than {first:g}, when it begins, got {until:g}"
    elif isinstance(first, str) and isinstance(until, str) and until in _before(first, appointments):
        same = "which it begins with" if until == first else f"which is over before {say(first)} is kept"
        yield f"{where}.until: must come after it begins, got {say(until)}, {same}"


def _before(name: str, appointments: dict[str, Any]) -> set[str]:
    """An appointment, and all that must be over before it begins."""
    found, pending = {name}, [name]
    while pending:
        here = appointments[pending.pop()]
        parents = set(here.after) if here.needs is None or here.needs == len(here.after) else set()
        pending += [parent for parent in parents - found if parent in appointments]
        found |= parents
    return found
