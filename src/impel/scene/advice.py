"""What is allowed but probably not meant: one line each, for `impel check`."""

import math
from collections.abc import Iterator
from itertools import pairwise

from impel.scene.actors import RELAXATION, Move, Turn
from impel.scene.agreements import closed_circles
from impel.scene.checks import held, start_place, too_weak
from impel.scene.derived import Drive, drive, mass_of, sag, settled
from impel.scene.joints import Joint
from impel.scene.limits import beyond_limits
from impel.scene.meetings import goal_doubts
from impel.scene.reach import out_of_reach
from impel.scene.scene import Scene
from impel.scene.timing import acceleration, is_timed, key_times
from impel.scene.turning import turn_path
from impel.scene.values import angle_between

THIN = 0.01  # metres: plates below need hundreds of times as many steps (measured)
HUGE = 20.0  # m: larger meshes are seldom meant
FASTEST = 100.0  # m/s ...
SPINNING = 200.0  # ... and rad/s, 32 turns a second: what is told to go faster is hardly meant
LAGS = 0.3  # of the base distance, by which a clock begins to slow down
FAR = 3.0  # base distances from the first key at which an actor shoots off (9x its speed at 12.5, measured)


def warnings(scene: Scene) -> list[str]:
    """What a scene without problems may still have got wrong, one line each, beginning with the field."""
    lines = [
        *_idle_fields(scene),
        *_late(scene),
        *_thin(scene),
        *_huge(scene),
        *goal_doubts(scene),
        *out_of_reach(scene),
        *beyond_limits(scene),
    ]
    lines += closed_circles(scene)
    for name, joint in scene.joints.items():
        lines += [*_limits(joint, f"joints.{name}"), *_far_off(joint, f"joints.{name}", scene)]
    for name, actor in scene.actors.items():
        for kind, wish in (("move", actor.move), ("turn", actor.turn)):
            if wish is not None:
                lines += _path(wish, drive(settled(wish, scene.bodies)), name, f"actors.{name}.{kind}", scene)
    return lines


def _idle_fields(scene: Scene) -> Iterator[str]:
    """Fields of bodies that physics does not move."""
    for name, body in scene.bodies.items():
        if body.moves_freely:
            continue
        state = "fixed" if body.fixed else "key-framed"
        for field, default in (("mass", None), ("density", None), ("velocity", (0, 0, 0)), ("spin", (0, 0, 0))):
            if getattr(body, field) != default:
                yield f"bodies.{name}.{field}: has no effect, for the body is {state}"


def _thin(scene: Scene) -> Iterator[str]:
    """Plates that what lies on them could be pressed through: their two sides then fight, in ever shorter steps."""
    for name, body in scene.bodies.items():
        thick = 2 * body.shape.half_size
        if body.collides and not body.moves_freely and thick < THIN:
            yield (
                f"bodies.{name}.shape: is {1000 * thick:.3g} mm thin, which makes contact slow and rough; make it "
                f"{1000 * THIN:g} mm or thicker, sunk into the ground, or set collides: false"
            )


def _huge(scene: Scene) -> Iterator[str]:
    """Mesh files without a scale as large as houses: printers and drawings count in millimetres."""
    for name, body in scene.bodies.items():
        (kind, value), *_ = body.shape.to_document().items()
        if kind not in ("mesh", "convex") or value.get("scale", 1.0) != 1.0 or body.shape.half_size < HUGE / 100:
            continue
        from impel.geometry.baking import bake

        vertices = bake(body.form).vertices
        across = float((vertices.max(axis=0) - vertices.min(axis=0)).max())
        if across > HUGE:
            yield (
                f"bodies.{name}.shape: is {across:.3g} m across; if its file counts in millimetres, write "
                f"{kind}: {{file: {value['file']}, scale: 0.001}}"
            )


def _late(scene: Scene) -> Iterator[str]:
    """Moments that the take never gets to."""
    end = scene.world.seconds
    for name, body in scene.bodies.items():
        for i, key in enumerate(body.follows or []):
            if key.time > end:
                yield f"bodies.{name}.follows.{i}.time: {key.time:g} is after the end of the take at {end:g}"
    for name, walker in scene.walkers.items():
        if walker.start >= end:
            yield f"walkers.{name}.start: {walker.start:g} is after the end of the take at {end:g}"
    for name, actor in scene.actors.items():
        for kind, wish in (("move", actor.move), ("turn", actor.turn)):
            keys = wish.keys if wish is not None else []
            late = [i for i, passed in enumerate(keys) if passed.time is not None and passed.time > end]
            if late:  # of a clip, perhaps many
                others = f", with {len(late) - 1} more keys" if len(late) > 1 else ""
                where, time = f"actors.{name}.{kind}.keys.{late[0]}.time", keys[late[0]].time
                yield f"{where}: {time:g} is after the end of the take at {end:g}{others}"
        if actor.goals is not None:
            for i, goal in enumerate(actor.goals.keys):
                place = f"actors.{name}.{actor.goals.where(i)}"
                if goal.time is not None and goal.time > end:
                    yield f"{place}.time: {goal.time:g} is after the end of the take at {end:g}"
                if goal.weight is not None and goal.time is not None and (i == 0 or actor.goals.keys[i - 1].time):
                    yield f"{place}.weight: has no effect: the times on both sides say how fast to go there"


def _limits(joint: Joint, where: str) -> Iterator[str]:
    for field, what, range_ in (("limits", joint.kind, joint.limits), ("twist", "ball", joint.twist)):
        if range_ is not None and not range_[0] <= 0 <= range_[1]:
            low, high = range_
            yield (
                f"{where}.{field}: leave out 0, how the bodies are placed, so the {what} starts beyond "
                f"[{low:g}, {high:g}]"
            )
    if joint.spring is not None and joint.limits is not None and joint.spring.stiffness > 0:
        low, high = joint.limits
        if not low <= joint.spring.rest <= high:
            yield (
                f"{where}.spring.rest: {joint.spring.rest:g} is beyond the limits [{low:g}, {high:g}], "
                f"so the spring never comes to rest"
            )


def _far_off(joint: Joint, where: str, scene: Scene) -> Iterator[str]:
    """Joints that are made later, of a point that lies far from both bodies as they are placed: so far from them it
    will hold them then."""
    if joint.from_ in (None, 0.0) or joint.at is None or any(name not in scene.bodies for name in joint.bodies):
        return
    from impel.geometry.kinds import KINDS, RADIUS, kind_of, size_of

    off = {}
    for name, at in zip(joint.bodies, (joint.at, joint.at_b or joint.at)):
        body = scene.bodies[name]
        document = body.shape.to_document()
        reach = float(KINDS[kind_of(document)].extent(size_of(document))[RADIUS])
        if not 0.0 < 2 * reach < math.dist(start_place(body), at):  # of blobs and meshes it is not known here
            return
        off[name] = math.dist(start_place(body), at)
    (first, one), (second, other) = off.items()
    yield (
        f"{where}.at: is {one:.3g} m from {first} and {other:.3g} m from {second} as they are placed at the start, "
        f"which is what it is told for: so far from them it will hold them"
    )


def _path(wish: Move | Turn, numbers: Drive, name: str, where: str, scene: Scene) -> Iterator[str]:
    if isinstance(wish, Move) and held(scene, name):
        for line in too_weak(wish, numbers, name, where, scene):
            yield f"{line} (unless its joints carry it)"
    nearer = "base_distance" if isinstance(wish, Move) else "base_angle"
    timed = is_timed(wish)
    if wish.speed is not None and wish.relaxation != RELAXATION and (not timed or getattr(wish, nearer) is not None):
        yield f"{where}.relaxation: has no effect, for speed is given; a smaller {nearer} is what makes it snappier"
    if any(key.in_ is not None for key in wish.keys):
        return  # the path is not known before the other bodies move
    body = scene.bodies[name]
    if isinstance(wish, Move):
        away, unit, scale = math.dist(body.at, wish.keys[0].at), "m", 1.0
        ways = [math.dist(a.at, b.at) for a, b in pairwise(wish.keys)]
    else:
        away, unit, scale = angle_between(body.orientation, wish.keys[0].orientation), "°", math.degrees(1)
        turned, written = turn_path(wish)
        ways = [angle_between(a, b) for a, b in pairwise(turned)]
        for i, way in zip(written[1:], ways):
            if way > math.pi - 1e-3:
                yield f"{where}.keys.{i}: is half a turn from the key before, so either way round is as good; add a key"
    if away > FAR * numbers.base:
        yield (
            f"{where}.keys.0: is {away * scale:.3g} {unit} from where the body starts, over {FAR:g} base distances "
            f"({numbers.base * scale:.3g} {unit}), so it will rush there as fast as its strength allows"
        )
    if timed:
        yield from _rushed(wish, ways, where)
        yield from _timed(wish, numbers, name, where, scene)
        return
    reach = numbers.speed * scene.world.seconds
    if not wish.loop and sum(ways) > reach:
        yield (
            f"{where}.speed: at {numbers.speed * scale:.4g} {unit}/s the {sum(ways) * scale:.4g} {unit} between the "
            f"keys take longer than the {scene.world.seconds:g} s of the take"
        )
    if isinstance(wish, Move):
        from impel.motion.paths import make_paths, skipped_loops

        for i in skipped_loops(make_paths([[key.at for key in wish.keys]], [wish.loop]), 0, numbers.base):
            yield (
                f"{where}.keys.{i}: the path loops here within half the base distance ({numbers.base / 2:.3g} m), "
                f"so the loop will be skipped; a smaller base_distance keeps it"
            )


def _rushed(wish: Move | Turn, ways: list[float], where: str) -> Iterator[str]:
    """Times that nothing could keep, such as of a sample in a clip that is wrong."""
    most, unit = (FASTEST, "m/s") if isinstance(wish, Move) else (SPINNING, "rad/s")
    times = key_times(wish) or []
    if len(ways) != len(wish.keys) - 1:  # turns that lead through more than is written
        return
    spans = [b - a - (key.hold or 0.0) for key, (a, b) in zip(wish.keys, pairwise(times))]
    fast = [(i, way / span) for i, (way, span) in enumerate(zip(ways, spans), 1) if span > 0 and way / span > most]
    if fast:
        (i, speed), more = fast[0], f" ({len(fast)} keys are so)" if len(fast) > 1 else ""
        yield (
            f"{where}.keys.{i}.time: asks for {speed:.0f} {unit} on the way there, which is over {most:g} and hardly "
            f"meant{more}; give more time"
        )


def _timed(wish: Move | Turn, numbers: Drive, name: str, where: str, scene: Scene) -> Iterator[str]:
    """What keeps an actor from being on time."""
    if not isinstance(wish, Move):
        return
    depth = sag(numbers, scene.world)
    if wish.adaptation == 0 and depth > LAGS * numbers.base and not held(scene, name):
        yield (
            f"{where}.adaptation: without it gravity makes the body sag by {depth:.3g} m, which slows its clock for "
            f"ever; give an adaptation such as 5"
        )
    if numbers.strength is not None and math.isfinite(numbers.strength):
        needed = mass_of(scene.bodies[name]) * acceleration(wish)
        if numbers.strength < needed:
            yield (
                f"{where}.strength: the times on its keys take {needed:.3g} N at their peak, got {numbers.strength:g}; "
                f"it will be late"
            )
