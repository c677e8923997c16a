"""What the fields of a scene are made of: finite numbers, points, colours and names, each with a plain complaint."""

import math
import re
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

# Beyond these a number is a slip of the pen: squares and products of what lies within stay far from overflow.
LARGEST = 1e12
SMALLEST = 1e-12
SMALLEST_SIZE = 1e-6  # metres
LARGEST_SIZE = 1e6  # metres
LONGEST_NAME = 80  # characters
MOST_MOMENTS = 10_000  # of something that changes over time
MOST_DEPTHS = 16  # at which a stiffness is told
PERCENT = r"^[0-9]{1,6}(\.[0-9]{1,6})? ?%$"

# What it takes to change a field, see changing.py; a field that does not say belongs to what is laid out.
CHANGES = "changes"
IN_PLACE, AGAIN, NEW_KIND = "in place", "laid out again", "new kind"
Extra = dict[str, JsonValue]
CHANGES_IN_PLACE: Extra = {CHANGES: IN_PLACE}
MAKES_A_NEW_KIND: Extra = {CHANGES: NEW_KIND}

WORLD = "world"  # stands in joints for the world itself, so no body may be called so


class Model(BaseModel):
    """Plain data: unknown fields are refused, assignments are checked."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, allow_inf_nan=False)
    example: ClassVar[str] = "{...}"  # how it is written, for error messages


def _vector(length: int, form: str) -> Any:
    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != length or not all(map(is_number, value)):
            raise ValueError(f"must be {form}")
        if not all(abs(v) <= LARGEST for v in value):  # also false for NaN
            raise ValueError(f"must be {form}, each a finite number of at most {LARGEST:g}")
        return tuple(map(float, value))

    return BeforeValidator(check), WithJsonSchema(
        {"type": "array", "items": {"type": "number"}, "minItems": length, "maxItems": length}
    )


def is_number(value: Any) -> bool:
    """To Python, true and false are numbers too; to an animator they are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _not_zero(value: tuple[float, ...]) -> tuple[float, ...]:
    if math.hypot(*value) < 1e-9:
        raise ValueError("must not be all zeros")
    return value


def _sizes(value: tuple[float, ...]) -> tuple[float, ...]:
    if not all(SMALLEST_SIZE <= v <= LARGEST_SIZE for v in value):
        raise ValueError(f"each side must be between {SMALLEST_SIZE:g} and {LARGEST_SIZE:g} metres")
    return value


def _moments(value: tuple[float, ...]) -> tuple[float, ...]:
    if not all(v >= SMALLEST for v in value) or 2 * max(value) > sum(value) * (1 + 1e-9):
        raise ValueError("must be three moments greater than 0, none of them more than the other two together")
    return value


def _color(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"#([0-9a-fA-F]{2}){3,4}", value):
        raise ValueError('must be a color like "#e4572e", or "#e4572e60" for glass (in YAML with the quotes)')
    return value.lower()


def _name(value: Any) -> Any:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"a name must be text of 1 to {LONGEST_NAME} characters")
    if "." in value or not value.isprintable() or value != value.strip():
        raise ValueError("a name must not contain dots, line breaks or spaces at its ends")
    return value


def _part(value: Any) -> Any:
    for name in value.split(".") if isinstance(value, str) else [value]:
        _name(name)
    return value


def _strength(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return _strengths(value)
    if isinstance(value, str) and re.fullmatch(PERCENT, value) and 0 < float(value.rstrip(" %")) <= LARGEST:
        return value
    if value in ("auto", "unlimited") if isinstance(value, str) else is_number(value) and 0 < value <= LARGEST:
        return value
    raise ValueError(
        'must be a number greater than 0, "auto", a share of that such as "60 %", "unlimited", '
        "or [[seconds, strength], ...]"
    )


def _stiffness(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        if not is_number(value) or not SMALLEST <= value <= LARGEST:  # also for NaN
            raise ValueError(f"must be a number greater than 0 and at most {LARGEST:g}, or [[metres, stiffness], ...]")
        return float(value)
    pairs = [p for p in value if isinstance(p, list | tuple) and len(p) == 2 and all(map(is_number, p))]
    if not 0 < len(value) <= MOST_DEPTHS or len(pairs) < len(value):
        raise ValueError(
            f"must be 1 to {MOST_DEPTHS} pairs [[metres, stiffness], ...], such as [[0, 1.0e5], [0.02, 1.0e6]]"
        )
    depths = [depth for depth, _ in pairs]
    if not all(0 <= depth <= LARGEST_SIZE for depth in depths):
        raise ValueError("its depths must be metres from 0 on")
    if any(deeper - depth < SMALLEST_SIZE for depth, deeper in pairwise(depths)):
        raise ValueError(f"its depths must increase from pair to pair, by at least {SMALLEST_SIZE:g}")
    if not all(SMALLEST <= stiffness <= LARGEST for _, stiffness in pairs):
        raise ValueError(f"its stiffness must be greater than 0 and at most {LARGEST:g} at each depth")
    return [(float(depth), float(stiffness)) for depth, stiffness in pairs]


def _is_none(value: Any) -> bool:
    """Whether a strength is 0 or "0 %"."""
    if isinstance(value, str):
        return bool(re.fullmatch(PERCENT, value)) and float(value.rstrip(" %")) == 0
    return is_number(value) and value == 0


def _strengths(pairs: list[Any] | tuple[Any, ...]) -> Any:
    """A strength over time."""
    if not 0 < len(pairs) <= MOST_MOMENTS or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise ValueError("must be pairs [[seconds, strength], ...], such as [[0, 60], [2, 0]]")
    times = [time for time, _ in pairs]
    if not all(is_number(time) and 0 <= time <= LARGEST for time in times) or times != sorted(times):
        raise ValueError("its times must be seconds from 0 on, and must not go back")
    values = [0 if _is_none(value) else _strength(value) for _, value in pairs]
    kinds = {type(value) is str for value in values if value != 0}
    if "unlimited" in values or any(isinstance(value, list) for value in values) or len(kinds) > 1:
        raise ValueError('must be numbers throughout, or "auto" and shares of that such as "60 %", or 0')
    return [(float(time), value if isinstance(value, str) else float(value)) for time, value in zip(times, values)]


def _time_or_name(value: Any) -> Any:
    if is_number(value) and 0 < value <= LARGEST:
        return float(value)
    if isinstance(value, str) and value:
        return value
    raise ValueError("must be a time in seconds greater than 0, or the name of an appointment")


def _number_or(low: float, what: str, *words: str) -> Any:
    choices = " or ".join((f"a number {what}", *(f'"{w}"' for w in words)))

    def check(value: Any) -> Any:
        if value in words if isinstance(value, str) else is_number(value) and low < value <= LARGEST:
            return value
        raise ValueError(f"must be {choices}")

    schema = {"anyOf": [{"type": "number", "exclusiveMinimum": low, "maximum": LARGEST}, {"enum": list(words)}]}
    return BeforeValidator(check), WithJsonSchema(schema)


NotNegative = Annotated[float, Field(strict=True, ge=0, le=LARGEST)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Positive = Annotated[float, Field(strict=True, ge=SMALLEST, le=LARGEST)]
Size = Annotated[float, Field(strict=True, ge=SMALLEST_SIZE, le=LARGEST_SIZE)]
Flag = Annotated[bool, Field(strict=True)]
Point = Annotated[tuple[float, float, float], *_vector(3, "three numbers [x, y, z]")]
Euler = Annotated[tuple[float, float, float], *_vector(3, "three angles in degrees [x, y, z]")]
Sides = Annotated[tuple[float, float, float], *_vector(3, "three full sizes [x, y, z]"), AfterValidator(_sizes)]
Inertia = Annotated[
    tuple[float, float, float], *_vector(3, "three moments [about x, about y, about z]"), AfterValidator(_moments)
]
Direction = Annotated[Point, AfterValidator(_not_zero)]
Quaternion = Annotated[
    tuple[float, float, float, float], *_vector(4, "four numbers [w, x, y, z]"), AfterValidator(_not_zero)
]
Place = Annotated[tuple[float, float, float, float], *_vector(4, "four numbers [seconds, x, y, z]")]
Range = Annotated[tuple[float, float], *_vector(2, "two numbers [lowest, highest]")]
Color = Annotated[
    str, BeforeValidator(_color), WithJsonSchema({"type": "string", "pattern": "^#([0-9a-fA-F]{2}){3,4}$"})
]
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "maxLength": LONGEST_NAME})]
BodyName = Annotated[str, BeforeValidator(_part), WithJsonSchema({"type": "string"})]  # a body, or one of a walker
_STRENGTHS: list[dict[str, Any]] = [
    {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST},
    {"enum": ["auto", "unlimited"]},
    {"type": "string", "pattern": PERCENT},
]
Strength = Annotated[
    float | str | list[tuple[float, float | str]],
    BeforeValidator(_strength),
    WithJsonSchema(
        {
            "anyOf": [
                *_STRENGTHS,
                {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 2, "maxItems": 2}},
            ]
        }
    ),
]
Stiffness = Annotated[
    float | list[tuple[float, float]],
    BeforeValidator(_stiffness),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": SMALLEST, "maximum": LARGEST},
                {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MOST_DEPTHS,
                    "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                },
            ]
        }
    ),
]
TimeOrName = Annotated[
    float | str,
    BeforeValidator(_time_or_name),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST}, {"type": "string"}]}),
]
Step = Annotated[float | Literal["adaptive"], *_number_or(0, "of seconds greater than 0", "adaptive")]


def orientation(
    euler: tuple[float, float, float] | None, quaternion: tuple[float, float, float, float] | None
) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z) of whichever of the two was written; upright if neither was."""
    if quaternion is not None:
        size = math.hypot(*quaternion)
        w, x, y, z = quaternion
        return w / size, x / size, y / size, z / size
    if euler is not None:
        from impel.motion.orientations import quaternion_from_euler

        w, x, y, z = quaternion_from_euler(euler).tolist()
        return w, x, y, z
    return 1.0, 0.0, 0.0, 0.0


def angle_between(p: tuple[float, ...], q: tuple[float, ...]) -> float:
    """How far apart two orientations are, in [0, π]."""
    cosine = abs(sum(a * b for a, b in zip(p, q)))
    sine = math.dist(p, q) * math.hypot(*(a + b for a, b in zip(p, q))) / 2
    return 2 * math.atan2(sine, cosine)
