"""How a stage takes a change while it is played: what the field goes into is made anew, and the motion goes on.

Nothing that is constant is changed in place: snapshots share it. What is state is.
"""

import math
from typing import Any

import numpy as np

from impel.control.actuators import Actuators
from impel.control.clocks import place_at
from impel.control.frames import pin, place_keys
from impel.control.specs import ActuatorSpec, largest_stable_step, slow_to
from impel.control.targets import KEY
from impel.kernel import replace
from impel.motion.splines import pose_at
from impel.physics.bodies import Bodies
from impel.physics.broadphase import COUNT
from impel.physics.coating import FINEST, make_tables, mix
from impel.physics.contact import Contacts, coating_row, room_for_tables
from impel.physics.friction import TAKEN
from impel.physics.sleep import rouse_all
from impel.scene.scene import Scene
from impel.stage.burdens import borne_in_loops, posed
from impel.stage.compile import Compiled, coatings_of, pace_of
from impel.stage.state import Stage
from impel.stage.walkers import rewished
from impel.stage.wishes import actuators_of, path_keys, spec_of, wishes_of


def adopt(stage: Stage, compiled: Compiled, scene: Scene, field: str) -> tuple[dict[str, Any], Compiled]:
    """Which parts of a stage are others, and what belongs to it, after a field has become what it is in `scene`."""
    kind, *rest = field.split(".")
    parts: dict[str, Any] = {}
    if kind == "world":
        rouse_all(stage.bodies)
        parts = {"gravity": scene.world.gravity, "drag": scene.world.drag}
    elif kind == "bodies":
        compiled = compiled._replace(cast=compiled.cast | {rest[0]: scene.bodies[rest[0]]})
        if stage.contacts is not None and rest[1] == "coating":
            rouse_all(stage.bodies)
            parts = {"contacts": _coated(stage, compiled, stage.contacts, rest[0])}
    elif kind == "walkers":
        compiled = compiled._replace(troupe=rewished(compiled.troupe, scene, rest[0]))
    if stage.actuators is not None and kind in ("world", "actors"):
        actuators, compiled = _driven(stage, compiled, scene, stage.actuators)
        parts["actuators"] = actuators
    return parts, compiled


def _coated(stage: Stage, compiled: Compiled, contacts: Contacts, name: str) -> Contacts:
    """The contacts with another coating of one body."""
    i, body = compiled.bodies.index(name), compiled.cast[name]
    coating = contacts.coating.copy()
    coatings = coatings_of(compiled.cast, stage.bodies)
    coating[i] = coating_row(coatings[i], body.form, coating[i, FINEST])
    count, kind, inverse_mass = int(contacts.near.info[COUNT]), contacts.shapes.kind, stage.bodies.inverse_mass
    tables = make_tables(coatings)
    mix(contacts.pair, count, kind, contacts.extent, coating, tables, inverse_mass, contacts.material)
    pairs = len(contacts.joined)
    contacts.friction[(contacts.pair == i).any(axis=1), TAKEN] = math.inf  # what it pressed so far is another coating's
    room = room_for_tables(tables, pairs)
    return replace(contacts, coating=coating, tables=tables, table=room, joined=np.zeros(pairs, np.int64))


def _driven(stage: Stage, compiled: Compiled, scene: Scene, before: Actuators) -> tuple[Actuators, Compiled]:
    """Other actuators, which go on from where the present ones are."""
    index = {name: i for i, name in enumerate(compiled.bodies)}
    wishes = wishes_of(scene, index)
    pairs = list(zip(wishes, compiled.wishes, compiled.specs, strict=True))
    specs = [spec if wish.wish is was.wish else spec_of(wish, compiled.solids, index) for wish, was, spec in pairs]
    moved = [_where(spec) for spec in specs] != [_where(spec) for spec in compiled.specs]
    linkage = None if moved else before.linkage
    borne = compiled.borne
    if stage.joints is not None and (moved or stage.gravity != scene.world.gravity):
        start = posed(compiled.start, stage.joints, compiled.start.position, compiled.start.orientation)
        borne = borne_in_loops(*start, specs, compiled.ties, scene.world.gravity)
    actuators = actuators_of(specs, compiled.start, compiled.ties, scene, compiled.troupe, linkage, borne)
    for a, (spec, was) in enumerate(zip(specs, compiled.specs)):
        if len(actuators.frames.key) > 0:
            _find_frames(actuators, before, stage.bodies, a, spec is was)
        if spec is not was:
            _find_target(actuators, before, a)
    if len(actuators.frames.key) == len(before.frames.key):  # else its own state goes with it
        for name in before.frames.STATE:
            getattr(before.frames, name)[...] = getattr(actuators.frames, name)
    pace = pace_of(scene, stage, min(largest_stable_step(specs), compiled.spring_step))
    if isinstance(scene.world.step, str):
        slow_to(actuators, specs, pace.frame_seconds / pace.steps)
    keys = [path_keys(wish)[1] if wish.wish is not was.wish else k for (wish, was, _), k in zip(pairs, compiled.keys)]
    return actuators, compiled._replace(pace=pace, keys=keys, wishes=wishes, specs=specs, borne=borne)


def _find_frames(other: Actuators, now: Actuators, bodies: Bodies, a: int, same: bool) -> None:
    """Put the framed keys of another path where they are, those that have been passed pinned there."""
    frames, was = other.frames, now.frames
    frames.alone[a] = was.alone[a]
    rows = slice(frames.first[a], frames.first[a + 1])
    if same:
        before = slice(was.first[a], was.first[a + 1])
        for name in ("pinned", "place", "velocity", "rate"):
            getattr(frames, name)[rows] = getattr(was, name)[before]
    place_keys(bodies, other.paths, other.clocks, frames, a)
    if not same and other.paths.loops[a] == 0:
        for f in range(rows.start, rows.stop):
            if 0 <= frames.pinned_at[f] <= now.segment[a]:
                pin(bodies, other.paths, other.clocks, frames, a, f, bool(other.paths.turns[a]))
        place_keys(bodies, other.paths, other.clocks, frames, a)


def _where(spec: ActuatorSpec) -> tuple[Any, ...]:
    """Where an actuator acts."""
    return spec.point, spec.pulled, spec.against


def _find_time(other: Actuators, now: Actuators, a: int, first: int, count: int, loops: bool) -> None:
    """Put a clock on other times: what was due is what counts, however the keys are now; of a path that had no times,
    from where its target is."""
    clocks = now.clocks
    if clocks.timed[a] == 1:
        i, u, time, laps = place_at(other.clocks, first, count, loops, 0, float(clocks.time[a]))
        now.segment[a], now.u[a], clocks.time[a] = i, u, time
        now.lap[a] += laps
    else:
        k = first + int(now.segment[a])
        clocks.time[a] = other.clocks.begin[k] + now.u[a] * other.clocks.span[k]
        clocks.pace[a], clocks.late[a] = 1.0, 0.0


def _find_target(other: Actuators, now: Actuators, a: int) -> None:
    """Put a target back on its path, if that is another: as many keys on from the first as before."""
    (first, last), (was_first, was_last) = (paths.first_segment[a : a + 2] for paths in (other.paths, now.paths))
    rows, count, was_count = other.paths.segments[first:last], last - first, was_last - was_first
    if count == was_count and np.array_equal(rows, now.paths.segments[was_first:was_last]):
        return
    if now.segment[a] >= count:
        now.segment[a], now.u[a] = count - 1, 1.0
    loops = other.paths.loops[a] == 1
    if other.clocks.timed[a] == 1:
        _find_time(other, now, a, first, count, bool(loops))
    now.lap[a] *= loops
    for table in (now.heading, now.reached):
        if table[a, KEY] >= 0:
            lap, key = divmod(int(table[a, KEY]), int(was_count))
            table[a, KEY] = loops * lap * count + min(key, count - 1)
    was = now.pose[a].copy()
    now.pose[a], now.tangent[a] = pose_at(rows[int(now.segment[a])], now.u[a], bool(other.paths.turns[a]))
    ends = not loops and now.segment[a] == count - 1 and now.u[a] == 1.0
    if not ends or math.dist(was, now.pose[a]) > 0.0:
        now.done[a] = 0.0
