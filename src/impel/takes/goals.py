"""The goals of a take: where and when each should have been met, and what became of it."""

import math
from typing import Any, NamedTuple

import numpy as np

from impel.motion.orientations import matrix_from_quaternion
from impel.takes.take import Floats, Take


class GoalMark(NamedTuple):
    """One goal of a body."""

    subject: str  # "rod.goals"
    number: int
    time: float  # s
    at: Any | None  # the place as it was written; None for orientations alone
    frame: str | None  # the body that this is in
    met: bool | None  # None: the take ends before


def goals_of(take: Take) -> list[GoalMark]:
    """All goals, in the order in which they were written."""
    told: dict[Any, bool] = {}
    for event in take.events:
        if event["kind"] in ("goal met", "goal missed"):
            key = event["subject"], event["details"].get("goal")
            told[key] = told.get(key, True) and event["kind"] == "goal met"
    marks = []
    for subject, goals in take.keys.items():
        for i, goal in enumerate(goals if subject.endswith(".goals") else ()):
            if isinstance(goal, dict) and _number(goal.get("time")):  # a foreign take may say anything
                path = goal.get("on")
                at = path[-1] if isinstance(path, list) and path else goal.get("at")
                at = at if isinstance(at, list) and len(at) == 3 and all(map(_number, at)) else None
                marks.append(GoalMark(subject, i, goal["time"], at, goal.get("in"), told.get((subject, i))))
    return marks


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def place_of(take: Take, mark: GoalMark, frame: int) -> Floats | None:
    """Where a goal is in a frame; nowhere if it is an orientation alone, or in a body that the take does not have."""
    if mark.at is None or (mark.frame is not None and mark.frame not in take.names):
        return None
    at = np.asarray(mark.at, float)
    if mark.frame is None:
        return at
    body = take.index(mark.frame)
    return np.asarray(take.position[frame, body] + matrix_from_quaternion(take.orientation[frame, body]) @ at)
