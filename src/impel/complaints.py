"""Plain words for what is wrong: one short line that names the field and what would be right."""

import difflib
import types
import typing
from collections.abc import Iterable
from typing import Any, TypeVar

from impel.files import Problem

M = TypeVar("M")

LISTED, TABLED = "<list>", "<table>"  # parts of a location: what may be written as a list, or as a table that has one


def say(value: Any) -> str:
    """A value as it can stand in an error line: short, and on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    text = repr(value) if isinstance(value, str | int | float | bool | list | tuple) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def field(*parts: str | int) -> str:
    """The name of a field in an error line, such as `bodies.ball.mass`."""
    words = (str(part) for part in parts)
    return ".".join(word if word.isprintable() and len(word) <= 80 else say(word) for word in words)


def name_like(name: str, known: Iterable[str], what: str) -> str:
    """The complaint about a name that does not exist, with the closest one that does."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]}?" if close else f"there is {', '.join(known)}" if 0 < len(known) <= 8 else ""
    return f"there is no {what} called {say(name)}" + (f"; {hint}" if hint else "")


def empty_fields(document: Any, *where: str | int) -> list[str]:
    """One line for each field without a value: in YAML usually a forgotten value or an unquoted color."""
    if document is None:
        hint = ' (in YAML a color needs quotes: "#e4572e")' if where[-1:] == ("color",) else ""
        return [f"{field(*where)}: is empty: give it a value or remove it{hint}"]
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [line for key, value in items for line in empty_fields(value, *where, key)]


def validated(model: type[M], document: Any, subject: str) -> M:
    """A pydantic model made of plain data; raises `Problem` with one line per mistake, beginning with `subject`."""
    from pydantic import ValidationError

    if not isinstance(document, dict):
        first = next(iter(model.model_fields))  # type: ignore[attr-defined]
        raise Problem(f"{subject}: must have fields such as `{first}: ...`, got {say(document)}")
    try:
        return model.model_validate(document)  # type: ignore[attr-defined]
    except ValidationError as error:
        lines = (line.removeprefix(": ") for line in plain_lines(error, model))
        raise Problem(*(f"{subject}: {line}" for line in lines)) from None


def plain_lines(error: Any, model: Any) -> list[str]:
    """What a pydantic `ValidationError` of `model` means, one plain line per mistake, naming field and cure."""
    return [f"{field(*_place(one['loc']))}: {_complaint(one, model)}" for one in error.errors(include_url=False)]


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    place = location[:-1] if location[-1:] == ("[key]",) else location
    return tuple(part for part in place if part not in (LISTED, TABLED))


def _complaint(error: dict[str, Any], model: Any) -> str:
    kind, value, context, location = error["type"], error["input"], error.get("ctx", {}), error["loc"]
    got = f", got {say(value)}"
    if kind == "value_error":
        return str(context["error"]) + ("" if isinstance(value, dict) else got)
    if kind == "missing":
        owner = _model_at(model, location[:-1])
        described = owner and next((f for n, f in owner.model_fields.items() if (f.alias or n) == location[-1]), None)
        return f"is missing: {described.description}" if described and described.description else "is missing"
    if kind == "extra_forbidden":
        owner = _model_at(model, location[:-1])
        fields = owner.model_fields.items() if owner else ()
        known = [f.alias or name for name, f in fields]
        close = difflib.get_close_matches(str(location[-1]), known, 1)
        return "is not a known field; " + (f"did you mean {close[0]}?" if close else f"known here: {', '.join(known)}")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        owner = _model_at(model, location)
        return f"must be written like {getattr(owner, 'example', '{name: ...}')}{got}"
    if kind == "literal_error":
        return f"must be {context['expected']}{got}"
    if kind in ("too_short", "too_long"):
        few = kind == "too_short"
        bound = context["min_length" if few else "max_length"]
        entries = "entry" if bound == 1 else "entries"
        return f"must have at {'least' if few else 'most'} {bound} {entries}, got {context['actual_length']}"
    if kind == "greater_than_equal" and isinstance(value, int | float) and context["ge"] > 0 >= value:
        return f"must be greater than 0{got}"
    if kind in _COMPLAINTS:
        return _COMPLAINTS[kind].format(**context) + got
    return error["msg"][0].lower() + error["msg"][1:] + got


_COMPLAINTS = {
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_pattern_mismatch": "is not written as it should be",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
}


def _model_at(model: Any, location: tuple[str | int, ...]) -> Any:
    """The pydantic model that stands at a place of a document, or None."""
    here = written = model
    for part in location:
        if part in (LISTED, TABLED):
            forms = (_without_none(form) for form in _forms(written))
            written = next((f for f in forms if hasattr(f, "model_fields") == (part == TABLED)), None)
        elif hasattr(here, "model_fields"):
            written = next((f.annotation for n, f in here.model_fields.items() if (f.alias or n) == part), None)
        else:  # a dict's value or a list's entry
            written = typing.get_args(here)[-1] if typing.get_args(here) else None
        here = _without_none(written)
    return here if hasattr(here, "model_fields") else None


def _forms(annotation: Any) -> list[Any]:
    """What a field may be, without None and notes."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _forms(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [form for a in typing.get_args(annotation) for form in _forms(a) if form is not type(None)]
    return [annotation]


def _without_none(annotation: Any) -> Any:
    return next(iter(_forms(annotation)), None)
