"""From a scene to flat arrays: what was written becomes what the compiled core works on."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.complaints import name_like
from impel.control.linkage import Tie
from impel.control.specs import ActuatorSpec, largest_stable_step, slow_to
from impel.files import Problem
from impel.geometry.kinds import Solid
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.assembly import assemble
from impel.physics.bodies import Bodies, make_bodies
from impel.physics.coating import Coating, default_coating
from impel.physics.contact import Contacts, make_contacts
from impel.physics.follow import Followers, Told, make_followers
from impel.physics.gaps import APART
from impel.physics.joint_matrix import spring_rates, undetermined
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import make_joints
from impel.physics.locks import Lock, locks
from impel.scene.bodies import Body
from impel.scene.checks import LARGEST_LEAN, ball_axis
from impel.scene.derived import mass_of, solid_of
from impel.scene.following import followed
from impel.scene.joints import Joint
from impel.scene.scene import Scene
from impel.scene.spans import Span
from impel.scene.values import WORLD
from impel.stage.burdens import Burden, borne_in_loops
from impel.stage.handles import make_handles
from impel.stage.pushes import make_pushes
from impel.stage.script import make_script
from impel.stage.state import Pace, Stage
from impel.stage.walkers import Troupe, troupe_of
from impel.stage.wishes import Wish, actuators_of, path_keys, spec_of, ties_of, wishes_of

Floats = NDArray[np.float64]

JOINT_STEP = 1 / 240  # s: the coarsest step with joints ...
CONTACT_STEP = 1 / 480  # s: ... and with contact; both measured
SPRING_SHARE = 0.5  # rad: of its swing, by which a spring may turn in a step; its period is right to 2 % then ...
SPRING_STEP = 1 / 1920  # s: ... but no step need be shorter for it: what swings so fast is not seen
HALVINGS = 8  # of the coarsest step: contact at 20 m/s needs six ...
JOINT_HALVINGS = 2  # more for joints alone: light bodies that carry heavy ones whip round in microseconds
JOINT_TRIES = 10000  # steps a second that they may take: a structure of 12 bodies needs 0.1 ms for one
SPARE_TRIES = 1.5  # ... or times as many as there are steps at least, where actuators ask for still more
FEWEST_HALVINGS = 2  # ... but an actuator or a spring that needs short steps anyway has halved it already
_SHARED = (
    "what it bears is not determined, for its bodies are held by other joints in the same way; "
    "leave it out, or make the others freer, such as balls instead of hinges"
)


class Compiled(NamedTuple):
    """The names of what is on a stage, and how it is played."""

    pace: Pace
    frames: int
    cast: dict[str, Body]  # the scene's own bodies, then those of its walkers
    troupe: Troupe
    bodies: list[str]  # the cast in the order of the arrays; the world itself, if joints need it, comes last
    joints: list[str]
    locks: list[Lock]  # what these lock, by a hair ...
    moved: float  # ... though bodies are so far from where they were put, in m, for them to hold
    actuators: list[str]  # "ball.move", "ball.turn"
    keys: list[list[int | None]]  # of each actuator: which written key each key of its path is, if any
    solids: list[Solid]
    centre: Floats  # (N, 3) of the cast: from each shape's origin to its centre of mass, in the shape's frame ...
    axes: Floats  # (N, 4) ... and the principal axes there
    start: Bodies  # as they are placed at the start ...
    ties: list[Tie]  # ... and hang together
    wishes: list[Wish]  # what actors want now ...
    specs: list[ActuatorSpec]  # ... and what that makes of their actuators
    borne: list[Burden]  # what these have to hold and to move by levers, as all is placed at the start
    spring_step: float  # s: the longest step that shows how the fastest spring of a joint swings


def compile_scene(scene: Scene, *, source: str = "scene") -> tuple[Stage, Compiled]:
    """Lay out a scene that was checked before; raises `Problem` if its joints cannot be brought together."""
    troupe = troupe_of(scene, source)
    cast = scene.bodies | {name: part.body for name, part in troupe.parts.items()}
    names = list(cast)
    solids = [solid_of(body) for body in cast.values()]
    index = {name: i for i, name in enumerate(names)} | {WORLD: len(names)}
    _check_parts(scene, troupe, index, source)
    needs_world = any(WORLD in joint.bodies for joint in scene.joints.values())

    bodies = _bodies(cast, solids, needs_world)
    specs = [_joint(scene, name, joint, index) for name, joint in scene.joints.items()]
    joints = make_joints(specs, bodies) if specs else None
    locked, placed = [], bodies.position.copy()
    if joints is not None:
        motion = {name: getattr(bodies, name).copy() for name in ("velocity", "momentum", "spin")}
        gap = assemble(bodies, joints)
        if not np.all(joints.apart <= APART):
            worst = list(scene.joints)[int(np.argmax(joints.apart.max(axis=1)))]
            raise Problem(
                f"{source}: joints: cannot be brought together: a gap of {gap:.3g} m (or rad) remains, "
                f"largest at joints.{worst}"
            )
        locked = locks(bodies, joints, scene.world.gravity)
        if any(lock.rounded for lock in locked):
            for name, before in motion.items():  # of which joints that lock have left nothing
                getattr(bodies, name)[:] = before
            for lock in locked:
                for k in lock.fixed if lock.rounded else ():
                    joints.fixed[k] = lock.fixed[k]
            assemble(bodies, joints)
        shared = undetermined(bodies, joints) if joints.breaks is not None else ()
        lines = [f"{source}: {specs[j].name}.breaks: {_SHARED}" for j in shared if min(specs[j].breaks) < math.inf]
        if lines:
            raise Problem(*lines)
    wishes = wishes_of(scene, index)
    actuator_specs = [spec_of(wish, solids, index) for wish in wishes]
    ties = ties_of(joints, specs, bodies) if wishes else []
    borne = borne_in_loops(bodies, joints, actuator_specs, ties, scene.world.gravity)
    actuators = actuators_of(actuator_specs, bodies, ties, scene, troupe, borne=borne) if wishes else None
    _let_sleep(bodies, specs, wishes)
    stage = Stage(
        bodies=bodies,
        followers=_followers(cast, troupe, solids, index),
        joints=joints,
        displaced=1 if scene.world.joints == "displacement" else None,
        printed=1 if scene.world.joints == "paper" else None,
        contacts=_contacts(cast, bodies, specs),
        actuators=actuators,
        handles=None if actuators is None else make_handles(actuators, bodies, joints),
        pushes=make_pushes(scene.pushes, index, solids, bodies),
        script=make_script(scene, joints),
        hand=None,  # until there is a controller
        gravity=scene.world.gravity,
        drag=scene.world.drag,
    )
    rates = np.zeros(0) if joints is None else spring_rates(bodies, joints)
    spring_step = _spring_step(rates)
    pace = pace_of(scene, stage, min(largest_stable_step(actuator_specs), spring_step))
    if actuators is not None and isinstance(scene.world.step, str):
        slow_to(actuators, actuator_specs, pace.frame_seconds / pace.steps)
    if joints is not None and joints.soft is not None:
        _calm(joints.soft, rates, pace)
    return stage, Compiled(
        pace=pace,
        frames=round(scene.world.seconds * scene.world.fps) + 1,
        cast=cast,
        troupe=troupe,
        bodies=[*names, WORLD] if needs_world else names,
        joints=list(scene.joints),
        locks=locked,
        moved=float(np.linalg.norm(bodies.position - placed, axis=1).max(initial=0.0)),
        actuators=[wish.label for wish in wishes],
        keys=[path_keys(wish)[1] for wish in wishes],
        solids=solids,
        centre=np.array([whole.offset for whole in solids], float),
        axes=np.array([whole.rotation for whole in solids], float),
        start=bodies,
        ties=ties,
        wishes=wishes,
        specs=actuator_specs,
        borne=borne,
        spring_step=spring_step,
    )


def _check_parts(scene: Scene, troupe: Troupe, index: dict[str, int], source: str) -> None:
    """Only now it is known which parts walkers have, and how many steps they make."""
    for name, appointment in scene.appointments.items():
        for i, cue in enumerate(appointment.cues):
            walker, kind, number = cue.split(".")
            steps = len(troupe.steps(walker)) if kind == "step" else 0
            if kind == "step" and int(number) >= steps:
                counts = f"counts from 0 to {steps - 1} within the take" if steps else "has no footfall within the take"
                raise Problem(f"{source}: appointments.{name}.cues.{i}: {walker}.step {counts}, got {number}")
    for name, actor in scene.actors.items():
        for kind, wish in (("move", actor.move), ("turn", actor.turn)):
            for i, key in enumerate(wish.keys if wish is not None else []):
                if key.in_ is not None and key.in_ not in index:
                    raise Problem(f"{source}: actors.{name}.{kind}.keys.{i}.in: {name_like(key.in_, index, 'part')}")
        for i, goal in enumerate(actor.goals.keys if actor.goals is not None else []):
            if goal.in_ is not None and goal.in_ not in index:
                where = f"actors.{name}.{actor.goals.where(i)}" if actor.goals is not None else ""
                raise Problem(f"{source}: {where}.in: {name_like(goal.in_, index, 'part')}")


def _bodies(cast: dict[str, Body], solids: list[Solid], needs_world: bool) -> Bodies:
    rows = []
    for body, whole in zip(cast.values(), solids, strict=True):
        at, turned = start_of(body)
        position, orientation = centre_of(whole, at, turned)
        spin = np.radians(body.spin)
        velocity = np.array(body.velocity) + np.cross(spin, position - at)
        mass = mass_of(body) if body.moves_freely else math.inf
        inertia = mass * whole.inertia if math.isfinite(mass) else np.ones(3)
        rows.append((position, orientation, velocity, spin, mass, inertia))
    if needs_world:
        rows.append((np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3), math.inf, np.ones(3)))
    return make_bodies(*(np.array(column, float) for column in zip(*rows, strict=True)))


def _let_sleep(bodies: Bodies, joints: list[JointSpec], wishes: list[Wish]) -> None:
    """What can fall asleep: bodies that nothing but contact and gravity moves."""
    bodies.restless[:] = bodies.inverse_mass == 0.0
    bodies.restless[[i for joint in joints for i in (joint.a, joint.b)] + [wish.body for wish in wishes]] = 1


def start_of(body: Body) -> tuple[Any, Any]:
    """Where a shape's origin is at time 0, and how it is turned."""
    if body.follows is None:
        return body.at, body.orientation
    told = followed(body)
    return told.positions[0], told.orientations[0]  # where it rests until its first key


def centre_of(whole: Solid, at: Any, orientation: Any) -> tuple[Floats, Floats]:
    """Where the centre of mass and the principal axes are when a shape's origin is placed, once or many times."""
    position = np.asarray(at, float) + matrix_from_quaternion(orientation) @ whole.offset
    return position, multiply_quaternions(orientation, whole.rotation)


def _followers(cast: dict[str, Body], troupe: Troupe, solids: list[Solid], index: dict[str, int]) -> Followers | None:
    told = [
        Told(index[name], solids[index[name]], *followed(body), body.linear)
        for name, body in cast.items()
        if body.follows is not None
    ]
    for name, part in troupe.parts.items():
        keys = part.times, part.positions, part.orientations
        told.append(Told(index[name], solids[index[name]], *keys, linear=True))
    return make_followers(told) if told else None


def _joint(scene: Scene, name: str, joint: Joint, index: dict[str, int]) -> JointSpec:
    a, b = joint.bodies
    at = joint.at
    fields: dict[str, Any] = {"at_b": joint.at_b}
    unit = 1.0 if joint.along else math.radians(1)
    if at is None:  # of a weld or slide; made later, it holds the second body where that is then
        at = start_of(scene.bodies[b if b != WORLD else a])[0]
    if joint.kind in ("hinge", "slide"):
        fields["axis"] = joint.axis
        fields["limits"] = None if joint.limits is None else tuple(unit * limit for limit in joint.limits)
    elif joint.kind == "ball" and (joint.cone is not None or joint.twist is not None):
        fields["axis"] = ball_axis(joint, scene)
        fields["cone"] = math.radians(LARGEST_LEAN if joint.cone is None else joint.cone)
        if joint.twist is not None:
            fields["twist"] = tuple(map(math.radians, joint.twist))
    elif joint.kind == "on_segment":
        fields["points"] = joint.segment
    elif joint.kind == "on_curve":
        fields |= {"points": joint.curve, "closed": joint.loop}
    elif joint.kind == "on_surface":
        placed = joint.surface or scene.bodies[b]
        at_b, turned = (placed.at, placed.orientation) if joint.surface else start_of(scene.bodies[b])
        fields |= {"at_b": at_b, "orientation": turned, "surface": placed.shape.to_document()}
    elif joint.kind == "in_sphere":
        fields |= {"at_b": joint.center, "radius": joint.radius}
    if joint.spring is not None:
        fields["spring"] = joint.spring.stiffness / unit, joint.spring.damping / unit, joint.spring.rest * unit
    if joint.breaks is not None:
        fields["breaks"] = joint.breaks.force or math.inf, joint.breaks.torque or math.inf
    fields |= {"friction": joint.friction, "collides": joint.collides, "name": f"joints.{name}"}
    fields |= {"begins": joint.from_ in (None, 0.0), "lasts": joint.until is None}
    return JointSpec(joint.kind, index[a], index[b], at, **fields)


def _contacts(cast: dict[str, Body], bodies: Bodies, joints: list[JointSpec]) -> Contacts | None:
    shapes = [body.form for body in cast.values()]
    spans = [body.collides if isinstance(body.collides, Span) else None for body in cast.values()]
    collides = [bool(body.collides) if span is None else span.at_start for span, body in zip(spans, cast.values())]
    if len(bodies.mass) > len(shapes):  # the world itself
        shapes.append({"sphere": 1.0})
        collides.append(False)
    able = np.array([*(a or b is not None for a, b in zip(collides, spans)), *collides[len(spans) :]])
    if able.sum() < 2 or not np.any(able & np.isfinite(bodies.mass)):
        return None
    apart = [j for j in joints if not j.collides]
    return make_contacts(
        bodies,
        shapes,
        coatings_of(cast, bodies),
        collides=collides,
        tied=[(j.a, j.b) for j in apart if j.begins],
        to_be_tied=sum(not j.begins for j in apart),
    )


def coatings_of(cast: dict[str, Body], bodies: Bodies) -> list[Coating]:
    """The coating of each body; the world itself, where it is one, is rigid."""
    own = [coating_of(body, float(mass)) for body, mass in zip(cast.values(), bodies.mass)]
    return own + [Coating(math.inf, math.inf)] * (len(bodies.mass) - len(own))


def coating_of(body: Body, mass: float) -> Coating:
    """What the animator wrote about a coating, completed by the default one; what is written stays as it is."""
    given = body.coating.model_dump(exclude_none=True, exclude={"bulge"})
    if body.coating.stiffness is not None or body.coating.thickness is not None:
        given["firm"] = math.inf
    if isinstance(body.coating.stiffness, list):
        given |= {"stiffness": body.coating.stiffness[0][1], "curve": tuple(body.coating.stiffness)}
    return default_coating(body.form, mass)._replace(**given)


def _spring_step(rates: Floats) -> float:
    """The longest step that shows how the fastest spring swings; all are stable in any."""
    fastest = float(rates.max(initial=0.0))
    return max(SPRING_SHARE / fastest, SPRING_STEP) if fastest > 0.0 else math.inf


def _calm(soft: NDArray[np.void], rates: Floats, pace: Pace) -> None:
    """Springs that swing too fast for the steps to show come to rest within one instead: what is left of such a swing
    would be neither seen nor right."""
    step = pace.frame_seconds / pace.steps
    unseen = rates * step > 1.001 * SPRING_SHARE
    soft["damping"][unseen] = np.maximum(soft["damping"], step * soft["stiffness"])[unseen]


def pace_of(scene: Scene, stage: Stage, longest: float) -> Pace:
    frame = 1 / scene.world.fps
    if not isinstance(scene.world.step, str):
        return Pace(frame, math.ceil(frame / scene.world.step - 1e-9), 0, 0, 0)
    usual = min(
        frame,
        JOINT_STEP if stage.joints is not None else math.inf,
        CONTACT_STEP if stage.contacts is not None else math.inf,
    )
    coarsest = min(usual, longest)
    halvings = max(HALVINGS - round(math.log2(usual / coarsest)), FEWEST_HALVINGS)
    reserve = JOINT_HALVINGS if stage.joints is not None else 0
    tries = math.ceil(max(JOINT_TRIES * frame, SPARE_TRIES * frame / coarsest))
    return Pace(frame, math.ceil(frame / coarsest - 1e-9), halvings + reserve, reserve, tries)
