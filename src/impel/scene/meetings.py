"""Goals and appointments that wait for each other in vain."""

import math
from collections.abc import Iterator

from impel.scene.courses import times_of
from impel.scene.scene import Scene
from impel.scene.timing import key_times

ROUNDING = 1e-9  # s


def goal_doubts(scene: Scene) -> Iterator[str]:
    """Appointments of goals that are due at different times, or that time out before a cue is due, and holds that
    outlast the goals after them."""
    for name, appointment in scene.appointments.items():
        yield from _times_out(scene, name)
        due = {cue: _due(scene, cue) for cue in appointment.cues if cue.split(".")[1] == "goals"}
        early, late = (pick(due, key=lambda cue: due[cue] or 0.0) if due else "" for pick in (min, max))
        if due and (due[late] or 0.0) > (due[early] or 0.0) + ROUNDING:
            yield (
                f"appointments.{name}.cues: {early} ({due[early]:.4g} s) and {late} ({due[late]:.4g} s) are goals, "
                f"which wait for nobody, so they do not happen together"
            )
    for name, actor in scene.actors.items():
        if actor.goals is None:
            continue
        times = times_of(actor.goals, scene.bodies[name], scene)
        for i, goal in enumerate(actor.goals.keys):
            if goal.hold and isinstance(goal.until, str):
                yield from _waits(scene, name, i, goal.until, times, f"actors.{name}.{actor.goals.where(i)}.until")


def _times_out(scene: Scene, name: str) -> Iterator[str]:
    """Whether a cue of an appointment is due later than its timeout allows, which counts from when it begins."""
    appointment = scene.appointments[name]
    if appointment.timeout is None:
        return
    begins, after = 0.0, ""
    if appointment.after and appointment.needs is None:  # before all of them are over it does not
        begins = max(_over(scene, parent) for parent in appointment.after)
        after = f" after {' and '.join(appointment.after)}"
        if begins == math.inf:
            return
    elif appointment.after:
        return
    due = {cue: _due(scene, cue) or 0.0 for cue in appointment.cues}
    late = max(due, key=lambda cue: due[cue]) if due else ""
    if late and due[late] > begins + appointment.timeout + ROUNDING:
        yield (
            f"appointments.{name}.timeout: {appointment.timeout:g} s, counted from when it begins{after} at "
            f"{begins:.4g} s, are over before {late} is due at {due[late]:.4g} s, so it is missed"
        )


def _over(scene: Scene, name: str) -> float:
    """When an appointment whose cues have times is kept, if all goes well; never, if one has none."""
    due = [_due(scene, cue) for cue in _cues(scene, name)]
    return math.inf if None in due else max(time or 0.0 for time in due)


def _waits(scene: Scene, name: str, number: int, until: str, times: list[float], where: str) -> Iterator[str]:
    """What is wrong with holding a goal until an appointment."""
    cues = _cues(scene, until)
    later = [cue for cue in cues if cue.startswith(f"{name}.goals.") and int(cue.split(".")[2]) > number]
    if later and scene.appointments[until].timeout is None:
        yield f"{where}: {until} waits for {later[0]}, and that is never tried while goal {number} is held"
        return
    kept = max((_due(scene, cue) or 0.0 for cue in cues), default=0.0)
    if number + 1 < len(times) and kept >= times[number + 1]:
        yield (
            f"{where}: {until} is kept at {kept:.4g} s at the earliest, after {times[number + 1]:.4g} s, when goal "
            f"{number + 1} is due, which is missed so"
        )


def _cues(scene: Scene, appointment: str) -> list[str]:
    """All cues that must have happened for an appointment to be kept."""
    found, names = [], [appointment]
    for name in names:
        found += scene.appointments[name].cues
        names += [parent for parent in scene.appointments[name].after if parent not in names]
    return found


def _due(scene: Scene, cue: str) -> float | None:
    """When a cue is due, if that is told."""
    name, kind, number = cue.split(".")
    actor = scene.actors.get(name)
    if actor is None:
        return None
    if kind == "goals" and actor.goals is not None:
        return times_of(actor.goals, scene.bodies[name], scene)[int(number)]
    wish = actor.move if kind == "move" else actor.turn
    times = key_times(wish) if wish is not None else None
    return times[int(number)] if times else None
