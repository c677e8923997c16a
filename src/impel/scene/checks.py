"""What cannot be right about a scene whose fields each look right: names, contradictions, and physics."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from impel.complaints import name_like, say
from impel.files import Problem
from impel.scene.actors import Actor, Move, MoveKey, Turn, TurnKey
from impel.scene.agreements import appointment_problems, frame_problems, step_problems
from impel.scene.bodies import Body, FollowKey, Placed
from impel.scene.cameras import camera_problems
from impel.scene.changing import while_it_plays
from impel.scene.courses import goal_problems
from impel.scene.derived import Drive, base_of, drive, sag, settled, weight
from impel.scene.joints import Joint
from impel.scene.pushes import push_problems
from impel.scene.scene import Scene
from impel.scene.shapes import BAKED, Shape
from impel.scene.spans import Span, span_problems
from impel.scene.timing import timing_problems
from impel.scene.turning import MOST_STRIDES, STRIDE, strides
from impel.scene.values import LARGEST_SIZE, WORLD
from impel.scene.walkers import MOST_PARTS, walker_problems

MOST_BODIES = 10_000
MOST_JOINTS = 20_000
MOST_FRAMES = 200_000  # almost an hour at 60 frames a second
MOST_POSES = 20_000_000  # frames times bodies: about a gigabyte of motion
MOST_STEPS = 100_000_000
SMALLEST_CONE, LARGEST_CONE = 0.1, 175.0  # degrees: no lean has no direction, and turned over it has none again
LARGEST_LEAN = 150.0  # degrees: of a ball with a twist, which cannot be told of what is turned over
SHORTEST_STEP = 1e-6  # seconds an actuator may ask for before it is surely a mistake


def problems(scene: Scene) -> list[str]:
    """Everything that is wrong, one line per mistake, each beginning with the field."""
    if not isinstance(scene, Scene):
        return [f"must be a Scene, got {say(scene)}; load_scene reads one from a file"]
    lines = list(_size(scene))
    for name, body in scene.bodies.items():
        lines += _body(body, f"bodies.{name}")
        if isinstance(body.collides, Span):
            when = body.collides
            lines += span_problems(when.from_, when.until, f"bodies.{name}.collides", scene.appointments)
        if name == WORLD:
            lines.append(f"bodies.{name}: is the name of the world itself; call the body something else")
    for name, joint in scene.joints.items():
        lines += _joint(joint, f"joints.{name}", scene)
    for name, actor in scene.actors.items():
        lines += _actor(actor, name, f"actors.{name}", scene)
    lines += walker_problems(scene.walkers, [*scene.bodies, WORLD])
    for i, push in enumerate(scene.pushes):
        lines += push_problems(push, f"pushes.{i}", scene.bodies)
    sound = not lines  # else these would only repeat what is wrong already
    lines += [*frame_problems(scene)] if sound else []
    lines += [*appointment_problems(scene), *step_problems(scene)]
    return lines + ([*_changes(scene)] if sound else [])


def _changes(scene: Scene) -> Iterator[str]:
    """What is wrong with changes, each after those before it."""
    now = scene.model_copy(update={"changes": [], "pushes": []})
    for i in sorted(range(len(scene.changes)), key=lambda i: scene.changes[i].time):
        change = scene.changes[i]
        try:
            now = next_scene(now, change.field, change.value)
        except Problem as problem:
            yield from (f"changes.{i}: {line}" for line in problem.lines)


def next_scene(scene: Scene, field: str, value: Any) -> Scene:
    """What a scene becomes when a field is changed while it plays; raises `Problem` if it cannot be, one line each."""
    after: Scene = while_it_plays(scene, field, value)
    kind, _, rest = field.partition(".")
    lines: list[str] = []
    if kind == "bodies":
        name = rest.split(".")[0]
        lines += _body(after.bodies[name], f"bodies.{name}")
    elif kind in ("actors", "world"):
        for name, actor in after.actors.items():
            if kind == "world" or actor is not scene.actors[name]:
                lines += _actor(actor, name, f"actors.{name}", after)
    else:
        lines += _size(after)
    if not lines:
        lines += frame_problems(after)
    if not lines and kind == "actors":  # whose keys cues count, and whose clocks keep step
        lines += [*appointment_problems(after), *step_problems(after)]
    if lines:
        raise Problem(*lines)
    return after


def _size(scene: Scene) -> Iterator[str]:
    world, count = scene.world, len(scene.bodies) + MOST_PARTS * len(scene.walkers)
    if not count:
        yield "bodies: is empty: a scene needs at least one body"
    if len(scene.bodies) > MOST_BODIES:
        yield f"bodies: must have at most {MOST_BODIES} entries, got {len(scene.bodies)}"
    if len(scene.joints) > MOST_JOINTS:
        yield f"joints: must have at most {MOST_JOINTS} entries, got {len(scene.joints)}"
    frames, got = world.seconds * world.fps, f"at {world.fps:g} fps, got {world.seconds:g}"
    if frames < 1:
        yield f"world.seconds: must be at least one frame, {1 / world.fps:g} {got}"
    elif frames > MOST_FRAMES:
        yield f"world.seconds: must be at most {MOST_FRAMES / world.fps:g} {got}"
    elif frames * count > MOST_POSES:
        yield (
            f"world.seconds: {frames:.0f} frames of {count} bodies are too much to keep; "
            f"at most {MOST_POSES // count} frames fit"
        )
    if not isinstance(world.step, str) and world.seconds / world.step > MOST_STEPS:
        yield f"world.step: {world.step:g} needs over {MOST_STEPS} steps; at least {world.seconds / MOST_STEPS:g} works"
    yield from camera_problems(scene.camera, scene.cameras, scene.bodies, scene.walkers)


def _files(shape: Shape, where: str) -> Iterator[str]:
    """What is wrong with the meshes behind a shape, or with what they make together."""
    if shape.kind not in ("blob", *BAKED):
        return
    from impel.geometry.kinds import solid

    try:
        solid(shape.to_document())
    except Problem as problem:
        lines = (line.removeprefix("shape.blob: ").removeprefix("shape: ") for line in problem.lines)
        yield from (f"{where}.{shape.kind}: {line}" for line in lines)


def _body(body: Body, where: str) -> Iterator[str]:
    yield from _one_orientation(body, where)
    if body.mass is not None and body.density is not None:
        yield f"{where}.density: give mass or density, not both"
    if body.shape.plane is not None and body.moves_freely:
        yield f"{where}.shape: a plane is endless and cannot move freely; write fixed: true"
    unread = list(_files(body.shape, f"{where}.shape"))
    if unread:
        yield from unread
        return
    if body.inertia is not None and body.mass is None:
        yield f"{where}.inertia: needs a mass to go with it; write mass:"
    if body.shape.plane is not None and (body.center is not None or body.inertia is not None):
        yield f"{where}.shape: a plane is endless and has neither a center nor an inertia"
    thickness, half = body.coating.thickness, body.shape.half_size
    if thickness is not None and thickness > half:
        yield f"{where}.coating.thickness: must be at most {half:g}, the way to the body's middle, got {thickness:g}"
    if body.follows is not None:
        if body.fixed:
            yield f"{where}.follows: give fixed or follows, not both: a fixed body does not move"
        yield from _later_and_later(body.follows, f"{where}.follows")
        for i, key in enumerate(body.follows):
            yield from _one_orientation(key, f"{where}.follows.{i}")
        yield from _whole_turns(body.follows, f"{where}.follows")
    elif body.linear:
        yield f"{where}.linear: is about the way between the keys of follows, and there are none"


def _one_orientation(thing: Placed | FollowKey | TurnKey, where: str) -> Iterator[str]:
    if thing.euler is not None and thing.quaternion is not None:
        yield f"{where}.quaternion: give euler or quaternion, not both"


def _whole_turns(keys: Sequence[FollowKey] | Sequence[TurnKey], where: str) -> Iterator[str]:
    """Too many turns for their way to be kept."""
    written = [key.euler for key in keys if key.euler is not None]
    if sum(strides(a, b) for a, b in pairwise(written)) > MOST_STRIDES:
        yield f"{where}: turn round too often; at most {STRIDE * MOST_STRIDES / 360:.0f} whole turns can be kept"


def _later_and_later(keys: Iterable[FollowKey], where: str) -> Iterator[str]:
    times = [key.time for key in keys]
    for i, (before, after) in enumerate(pairwise(times), 1):
        if after <= before:
            yield f"{where}.{i}.time: must be later than {before:g}, the time before it, got {after:g}"


def _joint(joint: Joint, where: str, scene: Scene) -> Iterator[str]:
    first, second = joint.bodies
    known = [*scene.bodies, WORLD]
    unknown = [name for name in dict.fromkeys(joint.bodies) if name not in known]
    for name in unknown:
        yield f"{where}.{joint.kind}: {name_like(name, known, 'body')}"
    if first == second:
        yield f"{where}.{joint.kind}: must tie two different bodies, got {say(first)} twice"
    elif not unknown and not any(name != WORLD and scene.bodies[name].moves_freely for name in joint.bodies):
        yield f"{where}.{joint.kind}: one of the two must be free to move, but {say(first)} and {say(second)} are not"
    if joint.kind == "on_surface" and second == WORLD and joint.surface is None:
        yield f"{where}.surface: is missing: the world itself has no surface"
    placed = joint.surface or scene.bodies.get(second)
    if joint.kind == "on_surface" and placed is not None and placed.shape.kind in ("blob", *BAKED):
        kind = placed.shape.kind
        yield f"{where}.surface: a point cannot slide over a {kind}; give a simpler surface, such as a sphere"
    if joint.surface is not None:
        yield from _one_orientation(joint.surface, f"{where}.surface")
    yield from _freedom(joint, where, scene)
    yield from span_problems(joint.from_, joint.until, where, scene.appointments)
    points = joint.segment or joint.curve or ()
    ring = joint.loop and len(points) > 2
    for i, (a, b) in enumerate(zip(points, [*points[1:], *(points[:1] if ring else [])]), 1):
        if math.dist(a, b) < 1e-9:
            kind = "segment" if joint.segment else "curve"
            yield f"{where}.{kind}.{i % len(points)}: must differ from the point before it, got {say(list(b))} for both"


def _freedom(joint: Joint, where: str, scene: Scene) -> Iterator[str]:
    """What is wrong with how far a joint may go, and with what acts in it."""
    for field, value in (("limits", joint.limits), ("twist", joint.twist)):
        if value is None:
            continue
        low, high = value
        if joint.along and not low < high:
            yield f"{where}.{field}: must be two rising places in metres, got [{low:g}, {high:g}]"
        elif not joint.along and not -180 <= low < high <= 180:
            yield f"{where}.{field}: must be two rising angles from -180 to 180, got [{low:g}, {high:g}]"
    largest = LARGEST_CONE if joint.twist is None else LARGEST_LEAN
    if joint.cone is not None and joint.cone < SMALLEST_CONE:
        yield f"{where}.cone: must be at least {SMALLEST_CONE:g}, got {joint.cone:g}; a hinge or a weld does not lean"
    elif joint.cone is not None and joint.cone > largest:
        cure = "leave it out to let it lean at will" if joint.twist is None else "turned over, there is no twist"
        yield f"{where}.cone: must be at most {largest:g}, got {joint.cone:g}; {cure}"
    if (joint.cone is not None or joint.twist is not None) and joint.axis is None and ball_axis(joint, scene) is None:
        yield f"{where}.axis: is missing: the second body is placed at the joint, so it points nowhere by itself"
    spring = joint.spring
    if spring is not None and spring.stiffness == 0 and spring.damping == 0:
        yield f"{where}.spring: does nothing; give it stiffness or damping"
    if spring is not None and joint.kind == "ball" and spring.rest != 0:
        yield f"{where}.spring.rest: must be 0 in a ball joint, which has no one angle; got {spring.rest:g}"
    if spring is not None and not abs(spring.rest) <= (LARGEST_SIZE if joint.along else 360):
        most, unit = (LARGEST_SIZE, "metres") if joint.along else (360, "degrees")
        yield f"{where}.spring.rest: must be within {most:g} {unit}, got {spring.rest:g}"
    if joint.breaks is not None and joint.breaks.force is None and joint.breaks.torque is None:
        yield f"{where}.breaks: needs force or torque"
    if scene.world.joints != "rattle":
        names = ("slide", "cone", "twist", "friction", "spring", "breaks", "from_", "until")
        given = [name.rstrip("_") for name in names if getattr(joint, name)]
        if given:
            yield f"{where}.{given[0]}: is only simulated with world.joints: rattle, got {scene.world.joints}"


def ball_axis(joint: Joint, scene: Scene) -> tuple[float, float, float] | None:
    """The direction that a ball's cone and twist are about: the one given, or that to the second body (if that is the
    world, to the first); None if that is at the joint, or not there."""
    if joint.axis is not None or joint.at is None:
        return joint.axis
    first, second = joint.bodies
    body = scene.bodies.get(first if second == WORLD else second)
    at = joint.at_b if joint.at_b is not None and second != WORLD else joint.at
    if body is None or math.dist(start_place(body), at) < 1e-6:
        return None
    x, y, z = (b - a for a, b in zip(at, start_place(body)))
    return x, y, z


def start_place(body: Body) -> tuple[float, float, float]:
    """Where a body is placed at the start; one that follows keys is where the first of them is."""
    first = body.follows[0].at if body.follows else None
    return body.at if first is None else first


def _actor(actor: Actor, name: str, where: str, scene: Scene) -> Iterator[str]:
    body = scene.bodies.get(name)
    if body is None:
        yield f"{where}: {name_like(name, scene.bodies, 'body')}"
    elif body.fixed:
        yield f"{where}: is fixed and cannot act; remove fixed from bodies.{name} or the actor"
    elif body.follows is not None:
        yield f"{where}: follows keys with times and cannot act; remove follows from bodies.{name} or the actor"
    if actor.move is None and actor.turn is None and actor.goals is None:
        yield f"{where}: wants nothing; give it move or turn, or goals"
    for kind, wish in (("move", actor.move), ("turn", actor.turn)):
        if wish is not None:
            yield from _wish(wish, name, f"{where}.{kind}", scene)
    if actor.goals is not None:
        if actor.move is not None and any(goal.places for goal in actor.goals.keys):
            yield f"{where}.goals: give move or goals with places, not both"
        if actor.turn is not None and any(goal.turns for goal in actor.goals.keys):
            yield f"{where}.goals: give turn or goals with orientations, not both"
        yield from goal_problems(actor.goals, name, scene)


def _wish(wish: Move | Turn, name: str, where: str, scene: Scene) -> Iterator[str]:
    count = 0
    for line in _keys(wish, name, where, scene):
        count += 1
        yield line
    if isinstance(wish, Turn):
        yield from _against(wish, name, where, scene)
    if wish.speed is not None and wish.alpha is not None:
        yield f"{where}.alpha: give speed or alpha, not both: a speed is reached by choosing alpha"
    elif not count:
        base = "base_distance" if isinstance(wish, Move) else "base_angle"
        wish = settled(wish, scene.bodies)
        if base_of(wish) is None:
            usual = "try 0.2" if isinstance(wish, Move) else "try 15"
            yield f"{where}.{base}: is missing: it cannot be derived from keys that are in different bodies, {usual}"
        else:
            yield from _physics(wish, drive(wish), name, where, scene)


def _against(wish: Turn, name: str, where: str, scene: Scene) -> Iterator[str]:
    if wish.against == name:
        yield f"{where}.against: a body cannot push off itself"
    elif wish.against not in (None, WORLD) and wish.against not in scene.bodies:
        yield f"{where}.against: {name_like(wish.against, scene.bodies, 'body')}"


def _keys(wish: Move | Turn, name: str, where: str, scene: Scene) -> Iterator[str]:
    keys: Sequence[MoveKey | TurnKey] = wish.keys
    if isinstance(wish, Turn):
        yield from _whole_turns(wish.keys, f"{where}.keys")
    yield from timing_problems(wish, where)
    for i, key in enumerate(keys):
        if isinstance(key, TurnKey):
            yield from _one_orientation(key, f"{where}.keys.{i}")
            if key.euler is None and key.quaternion is None:
                yield f"{where}.keys.{i}: needs euler or quaternion"
        if key.in_ == name:
            yield f"{where}.keys.{i}.in: a key cannot be in its own body"
        elif key.in_ is not None and key.in_ not in scene.bodies and key.in_.split(".")[0] not in scene.walkers:
            yield f"{where}.keys.{i}.in: {name_like(key.in_, scene.bodies, 'body')}"
        elif key.in_ is not None and isinstance(wish, Turn) and wish.against not in (None, WORLD, key.in_):
            yield f"{where}.keys.{i}.in: must be {say(wish.against)}, which it pushes off, got {say(key.in_)}"
        if key.pin is not None and key.in_ is None:
            yield f"{where}.keys.{i}.pin: is about keys in a body, and this one is in the world"


def _physics(wish: Move | Turn, numbers: Drive, name: str, where: str, scene: Scene) -> Iterator[str]:
    longest = numbers.longest_step
    nearer = "base_distance" if isinstance(wish, Move) else "base_angle"
    knob, cure = ("speed", f"larger {nearer}") if wish.speed is not None else ("alpha", "longer relaxation")
    if longest < SHORTEST_STEP:
        yield (
            f"{where}.{knob}: is too violent: the actuator would need steps below {longest:.2g} s; "
            f"give a lower {knob} or a {cure}"
        )
    elif not isinstance(scene.world.step, str):
        frame = 1 / scene.world.fps
        step = frame / math.ceil(frame / scene.world.step)  # a fixed step becomes equal parts of a frame
        if step >= longest:
            yield f"world.step: must be below {longest:.3g} for {where} to be stable, got {scene.world.step:g}"
    if isinstance(wish, Move) and not held(scene, name):
        yield from too_weak(wish, numbers, name, where, scene)


def held(scene: Scene, name: str) -> bool:
    """Whether a joint may carry some of the body's weight."""
    return any(name in joint.bodies for joint in scene.joints.values())


def too_weak(wish: Move, numbers: Drive, name: str, where: str, scene: Scene) -> Iterator[str]:
    """What keeps a move actuator from holding its own body against gravity."""
    depth = sag(numbers, scene.world)
    if wish.adaptation == 0 and depth >= numbers.base:
        yield (
            f"{where}.base_distance: must be above {depth:.3g}, how far gravity makes it sag without adaptation, "
            f"got {numbers.base:.3g}; or give an adaptation such as 5"
        )
    if numbers.strength is not None and not numbers.fades and name in scene.bodies:
        needed = 2 * weight(scene.bodies[name], scene.world)
        if numbers.strength < needed:
            yield (
                f"{where}.strength: must be at least {needed:.3g}, twice the body's weight, got {numbers.strength:g}; "
                f'or leave it to "auto"'
            )
