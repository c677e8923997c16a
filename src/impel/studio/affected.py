"""From when on a changed scene goes otherwise: what was simulated until then need not be simulated again."""

import math
from typing import Any

from impel.scene import Scene

LOOKS = ("camera", "cameras")  # only how it is seen
ALWAYS = ("impel", "joints", "actors", "walkers", "appointments", "in_step")  # may matter from the start


def affected_from(before: Scene, after: Scene) -> float:
    """The time, in seconds, from which on two scenes may differ; infinite if only their looks do."""
    since = math.inf
    for name in type(after).model_fields:
        one, other = getattr(before, name), getattr(after, name)
        if name in LOOKS or one == other:
            continue
        if name == "pushes":
            since = min(since, _first_other(one, other, lambda push: push.from_))
        elif name == "changes":
            since = min(since, _first_other(one, other, lambda change: change.time))
        elif name == "world":
            since = min(since, _world(one, other))
        elif name == "bodies":
            since = 0.0 if not _same_bodies(one, other) else since
        else:
            return 0.0
    return since


def _first_other(before: list[Any], after: list[Any], time_of: Any) -> float:
    """When the first entry begins that is not in both, or not in the same place."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return float(min((time_of(entry) for entry in [*before[same:], *after[same:]]), default=math.inf))


def _world(before: Any, after: Any) -> float:
    if before.model_copy(update={"seconds": after.seconds}) == after:
        return float(min(before.seconds, after.seconds))
    return 0.0


def _same_bodies(before: dict[str, Any], after: dict[str, Any]) -> bool:
    if list(before) != list(after):
        return False
    return all(
        one == other or one.model_copy(update={"color": other.color}) == other
        for one, other in zip(before.values(), after.values())
    )
