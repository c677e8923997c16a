"""Walkers on the stage: key-framed bodies that push whatever is in their way, and footfalls among the events."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.complaints import name_like
from impel.files import Problem
from impel.scene import Scene
from impel.scene.bodies import Body
from impel.scene.walkers import Walker

Floats = NDArray[np.float64]


class Limb(NamedTuple):
    """One of a walker's bodies and its keys."""

    body: Body
    times: Floats  # (F,) s
    positions: Floats  # (F, 3)
    orientations: Floats  # (F, 4)


class Troupe(NamedTuple):
    """All walkers of a scene."""

    parts: dict[str, Limb]  # "spider.body", "spider.front_left.upper" ...
    events: list[dict[str, Any]]  # footfalls, in order of time
    ways: dict[str, Floats]  # where each walks, a line in the world (P, 3), "spider.way"

    def steps(self, walker: str) -> list[float]:
        """When its feet come down, one after the other, in seconds."""
        return [event["time"] for event in self.events if event["subject"].split(".")[0] == walker]


def troupe_of(scene: Scene, source: str) -> Troupe:
    """Let every walker walk for as long as the take lasts; raise `Problem` for a walker that there is not, or a walk
    that its legs cannot do."""
    troupe = Troupe({}, [], {})
    lines = []
    for name, walker in scene.walkers.items():
        try:
            _join(troupe, name, walker, scene.world.seconds)
        except Problem as problem:
            lines += [f"{source}: {_name_field(f'walkers.{name}', line)}" for line in problem.lines]
    if lines:
        raise Problem(*lines)
    troupe.events.sort(key=lambda event: event["time"])
    return troupe


def _join(troupe: Troupe, name: str, walker: Walker, seconds: float) -> None:
    from impel.gaits.gait import TICK
    from impel.gaits.mood import library_names, moods_of
    from impel.gaits.record import footfalls, tracks
    from impel.gaits.walk import walk

    if not walker.from_file and walker.walker not in library_names():
        raise Problem(f"walker: {name_like(walker.walker, library_names(), 'walker')}")
    moods = moods_of(walker.walker, with_mood=walker.mood is not None)
    ground = walker.path[0][2]
    time = max(seconds - walker.start, 0.0) + 2 * TICK  # a little longer than the take, so that it ends on the move
    walked = walk(moods, path=[point[:2] for point in walker.path], seconds=time, **walker.wishes())
    keys = tracks(walked)
    for k, part in enumerate(keys.names):
        color = walker.color if part == "body" and walker.color else keys.colors[k]
        places = keys.positions[:, k] + [0.0, 0.0, ground]
        troupe.parts[f"{name}.{part}"] = Limb(
            # Fixed as far as physics is concerned: nothing pushes it.
            Body.model_validate({"shape": keys.shapes[k], "fixed": True, "color": color}),
            keys.times + walker.start,
            places,
            keys.orientations[:, k],
        )
    for event in footfalls(walked):
        moment = event["time"] + walker.start
        x, y, z = event["details"]["at"]
        if moment <= seconds:
            fields = {"time": moment, "subject": f"{name}.{event['subject']}", "details": {"at": [x, y, z + ground]}}
            troupe.events.append(event | fields)
    line = walked.way[::10]
    troupe.ways[f"{name}.way"] = np.column_stack([line[:, :2], np.full(len(line), ground)])


def _name_field(where: str, line: str) -> str:
    """A complaint about a walk as one about the scene."""
    field = line.split(":")[0]
    return f"{where}.{line}" if field in Walker.model_fields else f"{where}: {line}"
