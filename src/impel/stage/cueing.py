"""The cues of a scene by name: what appointments can be made of."""

from collections.abc import Iterator

from impel.geometry.kinds import CORE, SKIN
from impel.geometry.shapes import form
from impel.scene import Scene
from impel.scene.courses import times_of
from impel.scene.shapes import Shape
from impel.scene.timing import key_times
from impel.stage.walkers import troupe_of

MOST_NAMED = 8  # cues of a path that are told one by one; of more, the first and the last


def cues(scene: Scene, source: str = "scene") -> Iterator[str]:
    """One line for each move, turn, goals and walker: its cues, when they are due if that is told, and a walker's
    parts."""
    for name, actor in scene.actors.items():
        for kind in ("move", "turn"):
            wish = getattr(actor, kind)
            if wish is not None:
                due = key_times(wish)
                told = [_cue(f"{name}.{kind}.{k}", due[k] if due else None) for k in range(len(wish.keys))]
                yield f"actors.{name}.{kind}: cues {_listed(told)}"
        if actor.goals is not None:
            times = times_of(actor.goals, scene.bodies[name], scene)
            yield f"actors.{name}.goals: cues {_listed([_cue(f'{name}.goals.{k}', t) for k, t in enumerate(times)])}"
    troupe = troupe_of(scene, source)
    for name in scene.walkers:
        told = [_cue(f"{name}.step.{k}", time) for k, time in enumerate(troupe.steps(name))]
        parts = [part for part in troupe.parts if part.startswith(f"{name}.")]
        if told:
            yield f"walkers.{name}: cues {_listed(told)}"
        yield f"walkers.{name}: parts {', '.join(parts)}"
        body = f"{name}.body"
        if body in troupe.parts:
            shape = troupe.parts[body].body.shape
            x, y, z = troupe.parts[body].positions[0]
            yield (
                f"walkers.{name}: {body} is a {shape.kind} {_extent(shape)}, its origin at [{x:.3g}, {y:.3g}, {z:.3g}] "
                f"at the start; x is ahead, z is up"
            )


def _cue(name: str, time: float | None) -> str:
    return name if time is None else f"{name} ({time:.4g} s)"


def _listed(told: list[str]) -> str:
    return ", ".join(told) if len(told) <= MOST_NAMED else f"{told[0]} to {told[-1]}"


def _extent(shape: Shape) -> str:
    """How large a shape is from side to side."""
    extent = form(shape.to_document()).extent
    return " x ".join(f"{2 * (half + extent[SKIN]):.3g}" for half in extent[CORE:SKIN]) + " m"
