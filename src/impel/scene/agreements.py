"""What actors need of each other: keys in each other's frames, and appointments; never in endless circles."""

from collections.abc import Iterator
from itertools import combinations

from impel.complaints import name_like, say
from impel.scene.actors import Appointment
from impel.scene.scene import Scene
from impel.scene.timing import is_timed


def frame_problems(scene: Scene) -> Iterator[str]:
    """Last keys that lie in each other's frames: a handshake if the offsets cancel, a chase for ever if not."""
    for kind in ("move", "turn"):
        wishes = {name: getattr(actor, kind) for name, actor in scene.actors.items()}
        last = {name: wish.keys[-1] for name, wish in wishes.items() if wish is not None and not wish.loop}
        next_frame = {name: key.in_ for name, key in last.items() if key.in_ is not None}
        for circle in _circles({name: [frame] for name, frame in next_frame.items()}):
            if _mismatch(scene, kind, [(last[name], next_frame[name]) for name in circle]) > 1e-6:
                first = circle[0]
                yield (
                    f"actors.{first}.{kind}.keys.{len(wishes[first].keys) - 1}.in: leads round in a circle "
                    f"({_round(circle)}) whose offsets do not cancel, so they would chase each other for ever"
                )


def closed_circles(scene: Scene) -> Iterator[str]:
    """Last keys that lie in each other's frames, of bodies that nothing holds: so close they are, but nowhere."""
    tied = {name for joint in scene.joints.values() for name in joint.bodies}
    for kind in ("move", "turn"):
        wishes = {name: getattr(actor, kind) for name, actor in scene.actors.items()}
        last = {name: wish.keys[-1] for name, wish in wishes.items() if wish is not None and not wish.loop}
        for circle in _circles({name: [key.in_] for name, key in last.items() if key.in_ is not None}):
            if not tied & set(circle):
                first = circle[0]
                yield (
                    f"actors.{first}.{kind}.keys.{len(wishes[first].keys) - 1}.in: leads round in a circle "
                    f"({_round(circle)}), and none of them is held: what pushes one moves all of them for good"
                )


def in_circles(scene: Scene) -> set[str]:
    """Actors whose keys lie in what hangs together with a body that has keys in what hangs together with them, or in
    what follows that."""
    whole = {name: name for name in scene.bodies}

    def root(name: str) -> str:
        while whole[name] != name:
            name = whole[name]
        return name

    for joint in scene.joints.values():
        a, b = joint.bodies
        if a in whole and b in whole and scene.bodies[a].moves_freely and scene.bodies[b].moves_freely:
            whole[root(a)] = root(b)
    leads: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    for name, actor in scene.actors.items():
        keys = [key for wish in (actor.move, actor.turn) if wish is not None for key in wish.keys]
        own[name] = {root(key.in_) for key in keys if key.in_ in whole} - {root(name)}
        leads.setdefault(root(name), set()).update(own[name])
    found = set()
    for name, nexts in own.items():
        seen, pending = set(nexts), list(nexts)
        while pending:
            for other in leads.get(pending.pop(), set()) - seen:
                seen.add(other)
                pending.append(other)
        if root(name) in seen:
            found.add(name)
    return found


def _mismatch(scene: Scene, kind: str, links: list) -> float:
    """How far a circle of relative keys is from closing, as the bodies are turned at the start."""
    import numpy as np

    from impel.motion.orientations import matrix_from_quaternion

    if kind == "move":
        turned = [matrix_from_quaternion(scene.bodies[frame].orientation) @ key.at for key, frame in links]
        return float(np.linalg.norm(sum(turned)))
    product = np.eye(3)
    for key, _ in links:
        product = matrix_from_quaternion(key.orientation) @ product
    return float(np.linalg.norm(product - np.eye(3)))


def appointment_problems(scene: Scene) -> Iterator[str]:
    for name, appointment in scene.appointments.items():
        yield from _appointment(appointment, f"appointments.{name}", scene)
    known = {name: [n for n in a.after if n in scene.appointments] for name, a in scene.appointments.items()}
    for circle in _circles(known):
        yield f"appointments.{circle[0]}.after: goes round in a circle: {_round(circle)}; none of them could ever begin"
    yield from _crossed(scene)


def _crossed(scene: Scene) -> Iterator[str]:
    """Appointments at which actors would wait for each other for ever, each at another one."""
    places: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name, each in scene.appointments.items():
        waits = len(each.cues) > 1 and each.timeout is None and each.regulator != "paper"
        for cue in each.cues if waits else ():
            label, _, number = cue.rpartition(".")
            if _cue(cue, scene) is None and label.endswith((".move", ".turn")):
                # Only those that begin at the same time hold each other up.
                places.setdefault((label, f"{sorted(each.after)} {each.needs}"), []).append((int(number), name))
    before: dict[str, list[str]] = {name: [] for name in scene.appointments}
    for met in places.values():
        for (low, first), (high, second) in combinations(sorted(met), 2):
            if low < high and first != second:
                before[second].append(first)
    for circle in _circles(before):
        yield (
            f"appointments.{circle[0]}.cues: can never be kept: those who come wait for each other in a circle "
            f"({_round(circle)}), each at a key before the next; change the order of the keys, or give a timeout"
        )


def _appointment(appointment: Appointment, where: str, scene: Scene) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for i, cue in enumerate(appointment.cues):
        place = f"{where}.cues.{i}"
        wrong = _cue(cue, scene)
        if wrong:
            yield f"{place}: {wrong}"
            continue
        actor, kind, _ = cue.split(".")
        before = seen.setdefault((actor, kind), cue)
        if before == cue and i != appointment.cues.index(cue):
            yield f"{place}: is written twice: {say(cue)}"
        elif before != cue:
            yield f"{place}: {say(cue)} and {say(before)} are on the same path and cannot happen together"
        if appointment.regulator == "paper" and _goes_by_times(scene, actor, kind):
            yield f"{place}: {actor}.{kind} has times on its keys, which the rule of the paper knows nothing of"
    if appointment.cues and all(cue.split(".")[1:2] == ["step"] for cue in appointment.cues):
        yield f"{where}.cues: are all of walkers, and these do not wait for each other; add a cue of an actor"
    if appointment.needs is not None and appointment.needs > len(appointment.after):
        count = len(appointment.after)
        yield f"{where}.needs: must be at most {count}, the number of appointments in after, got {appointment.needs}"
    for i, parent in enumerate(appointment.after):
        if parent not in scene.appointments:
            yield f"{where}.after.{i}: {name_like(parent, scene.appointments, 'appointment')}"


def _goes_by_times(scene: Scene, actor: str, kind: str) -> bool:
    return kind not in ("move", "turn") or is_timed(getattr(scene.actors[actor], kind))


def step_problems(scene: Scene) -> Iterator[str]:
    """What is wrong with those that should be in step."""
    seen: dict[str, str] = {}
    for name, group in scene.in_step.items():
        for i, label in enumerate(group):
            place = f"in_step.{name}.{i}"
            actor, _, kind = label.rpartition(".")
            wish = getattr(scene.actors.get(actor), kind, None) if kind in ("move", "turn") else None
            if wish is None:
                known = [f"{n}.{k}" for n, a in scene.actors.items() for k in ("move", "turn") if getattr(a, k)]
                yield f"{place}: {name_like(label, known, 'move or turn')}"
            elif not is_timed(wish):
                yield f"{place}: {say(label)} has no times on its keys, so it has no clock to keep step with"
            elif label in seen:
                yield f"{place}: {say(label)} is in step in {seen[label]} already"
            seen.setdefault(label, f"in_step.{name}")


def _cue(cue: str, scene: Scene) -> str | None:
    """What is wrong with a cue, or None."""
    parts = cue.split(".")
    kinds = ("move", "turn", "goals", "step")
    if len(parts) != 3 or parts[1] not in kinds or not parts[2].isdecimal() or len(parts[2]) > 6:
        return f"must be written ACTOR.move.KEY, ACTOR.turn.KEY, ACTOR.goals.GOAL or WALKER.step.NUMBER, got {say(cue)}"
    name, kind, number = parts[0], parts[1], int(parts[2])
    if kind == "step":  # how many there are is known when it has walked
        return None if name in scene.walkers else name_like(name, scene.walkers, "walker")
    if name not in scene.actors:
        return name_like(name, scene.actors, "actor")
    wish = getattr(scene.actors[name], kind)
    if wish is None:
        return f"{name} has no {kind}"
    count = len(wish.keys)
    if number >= count:
        return f"{name}.{kind} counts from 0 to {count - 1}, got {number}"
    return None


def _circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """The circles of a directed graph that a depth-first walk meets, each once; without recursion, for long chains."""
    found = []
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        place: dict[str, int] = {}
        pending = [(start, iter(graph[start]))] if start not in done else []
        if pending:
            place[start] = 0
            path.append(start)
        while pending:
            node, children = pending[-1]
            child = next((c for c in children if c in graph and c not in done), None)
            if child is None:
                pending.pop()
                done.add(node)
                del place[path.pop()]
            elif child in place:
                found.append(path[place[child] :])
            else:
                place[child] = len(path)
                path.append(child)
                pending.append((child, iter(graph[child])))
    return found


def _round(circle: list[str]) -> str:
    names = circle if len(circle) <= 6 else [*circle[:5], "..."]
    return " -> ".join([*names, circle[0]])
