"""Contact: elastic coatings press on each other, with damping, and Coulomb friction that holds bodies at rest.

Before a step `find_pairs` lists the bodies that may touch; in the step `contact_forces` gives the forces at the
present state and judges whether the step was too long to be believed.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, Shapes
from impel.geometry.samples import Samples, make_samples
from impel.geometry.shapes import make_shapes, solid
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, conjugate, cross, dot, get3, get4, multiply, norm, rotate, scale, set3, sub, unrotate
from impel.physics import broadphase as near
from impel.physics import patches as of
from impel.physics.bodies import Bodies
from impel.physics.broadphase import both_press, find_pairs, grow, with_capacity
from impel.physics.patches import (
    COLUMNS,
    distance,
    press_ball,
    press_balls,
    press_flat_end,
    press_points,
    press_round_end,
    press_side,
)

__all__ = ["Coating", "Contacts", "contact_forces", "default_coating", "find_pairs", "grow", "make_contacts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

GOOD, TOO_STIFF, TOO_DEEP, TOO_FAR, NOT_A_NUMBER = 0, 1, 2, 4, 5  # verdicts
STIFFNESS_BOUND = 3.0  # a step is too long when this x stiffness x dt² / mass > 1, that is dt > 0.58/ω
DEPTH_SHARE = 0.5  # of the limit, by which the depth may change in a step
ROOM_SHARE = 0.5  # of the room, by which bodies may approach each other in a step

# Tangential stiffness over normal: at the rim of a rolling ball 2/7 of its mass is felt, so both directions
# swing equally fast and friction never asks for shorter steps.
SHEAR = 2.0 / 7.0
SHEAR_DAMPING = 0.5  # of critical: what rests on friction comes to rest

# The default coating yields this much under the body's own weight: 0.5 mm for round shapes, 0.1 mm for flat
# ones, so that ω = √(2g/depth) resp. √(g/depth) is 200-310 s⁻¹ whatever the mass, and steps of 1-2 ms do.
ROUND_SINK, FLAT_SINK = 5e-4, 1e-4


class Coating(NamedTuple):
    """The elastic layer of a body."""

    stiffness: float  # N/m³: pressure per depth; infinite is rigid
    thickness: float  # m: pressed deeper than this it stiffens
    damping: float = 0.5  # s/m (Hunt and Crossley): restitution 0.85, 0.51, 0.33 for 0.1, 0.5, 1 at 2.4 m/s
    friction: float = 0.6


class Contacts(NamedTuple):
    """The coatings of N bodies, and room for P pairs of them."""

    # What pairs remember: all that a step may change.
    touching: Floats  # (P,) 1 while the two overlap
    friction: Floats  # (P, 5) force on the first body (3), torque about the normal, tangential stiffness
    # What pairs feel at the present state; valid where touching.
    load: Floats  # (P,) normal force, N
    point: Floats  # (P, 3) centre of pressure
    normal: Floats  # (P, 3) from the second body to the first
    # The pairs: written by `find_pairs` only.
    pair: Integers  # (P, 2)
    material: Floats  # (P, 6) see broadphase.STIFFNESS ...
    info: Integers  # (4,) pairs listed, wanted, whether the list is built, how often it was
    next_pair: Integers
    next_touching: Floats
    next_friction: Floats
    table: Integers
    low: Floats  # (N, 3) fattened boxes
    high: Floats
    margin: Floats  # (N,)
    order: Integers  # (N,)
    built_position: Floats  # (N, 3)
    built_orientation: Floats  # (N, 4)
    # The bodies.
    softness: Floats  # (N,) 1 / stiffness
    thickness: Floats
    damping: Floats
    roughness: Floats
    collides: NDArray[np.bool_]
    excluded: Integers  # sorted keys i·N + j with i < j
    finest: Floats  # (N,) area of the finest fixed point
    shapes: Shapes
    samples: Samples | None
    bars: bool | None  # None when no body is a capsule or cylinder, so that their kernels are not compiled
    strain: Floats  # (N,) scratch: stiffness felt by a body over its inertia, 1/s²
    patch: Floats  # (2, COLUMNS) scratch

    STATE = ("touching", "friction")


def default_coating(shape: dict[str, Any], mass: float) -> Coating:
    """A stiff coating that barely yields under the body's own weight; a fixed body is rigid."""
    arrays = make_shapes([shape])
    kind, (r, half, _) = int(arrays.kind[0]), arrays.size[0]
    if not math.isfinite(mass):
        return Coating(math.inf, math.inf)
    if kind == SPHERE:
        overlap = math.pi * r * ROUND_SINK**2
    elif kind in (CAPSULE, CYLINDER):  # lying
        overlap = 4 / 3 * math.sqrt(2 * r) * ROUND_SINK**1.5 * 2 * half
        if kind == CAPSULE:
            overlap += math.pi * r * ROUND_SINK**2
    elif kind == PLANE:
        return Coating(math.inf, math.inf)
    else:
        overlap = solid(shape).volume ** (2 / 3) * FLAT_SINK
    return Coating(mass * 9.81 / overlap, 0.25 * float(arrays.inner[0]))


def make_contacts(
    bodies: Bodies,
    shapes: list[dict[str, Any]],
    coatings: list[Coating | None],
    *,
    collides: list[bool] | None = None,
    tied: list[tuple[int, int]] | None = None,
    capacity: int | None = None,
) -> Contacts:
    """Contacts of bodies with these shapes; `tied` pairs never touch. A missing coating becomes the stiff default."""
    n = len(shapes)
    coating = [c or default_coating(s, m) for s, c, m in zip(shapes, coatings, bodies.mass)]
    arrays = make_shapes(shapes)
    samples = make_samples(shapes, arrays)
    finest = np.full(n, math.inf)
    for i in range(n):
        if arrays.kind[i] == CYLINDER:
            finest[i] = arrays.size[i, 0] ** 2 * of.DISC[:, 2].min()
        elif samples is not None and samples.clusters[i, 1] > samples.clusters[i, 0]:
            first, last = samples.clusters[i]
            spans = samples.range[first:last]
            area = samples.area[spans[0, 0] : spans[-1, 1]]
            finest[i] = 4 * area.min() if arrays.kind[i] == BOX else np.median(area)
    keys = sorted({min(i, j) * n + max(i, j) for i, j in tied or []})
    contacts = Contacts(
        touching=np.zeros(0),
        friction=np.zeros((0, 5)),
        load=np.zeros(0),
        point=np.zeros((0, 3)),
        normal=np.zeros((0, 3)),
        pair=np.zeros((0, 2), np.int64),
        material=np.zeros((0, 6)),
        info=np.zeros(4, np.int64),
        next_pair=np.zeros((0, 2), np.int64),
        next_touching=np.zeros(0),
        next_friction=np.zeros((0, 5)),
        table=np.zeros(0, np.int64),
        low=np.zeros((n, 3)),
        high=np.zeros((n, 3)),
        margin=np.zeros(n),
        order=np.arange(n),
        built_position=np.zeros((n, 3)),
        built_orientation=np.zeros((n, 4)),
        softness=np.array([1.0 / c.stiffness for c in coating]),
        thickness=np.array([c.thickness for c in coating]),
        damping=np.array([c.damping for c in coating]),
        roughness=np.array([c.friction for c in coating]),
        collides=np.ones(n, bool) if collides is None else np.array(collides, bool),
        excluded=np.array(keys, np.int64),
        finest=finest,
        shapes=arrays,
        samples=samples,
        bars=True if np.isin(arrays.kind, (CAPSULE, CYLINDER)).any() else None,
        strain=np.zeros(n),
        patch=np.zeros((2, COLUMNS)),
    )
    return with_capacity(contacts, capacity or 16 + 6 * n)


@kernel
def contact_forces(bodies, contacts, dt):
    """Set the forces and torques of contact at the present state; returns the verdict on the step of dt that led here.

    dt = 0 looks without letting friction's springs move on.
    """
    for i in range(len(bodies.mass)):
        contacts.strain[i] = 0.0
        for k in range(3):
            bodies.force[i, k] = 0.0
            bodies.torque[i, k] = 0.0
    verdict = GOOD
    shapes = contacts.shapes
    for p in range(contacts.info[near.COUNT]):
        a, b = contacts.pair[p, 0], contacts.pair[p, 1]
        apart = sub(get3(bodies.position, a), get3(bodies.position, b))
        reach = shapes.radius[a] + shapes.radius[b]
        square = dot(apart, apart)
        if square > reach * reach:
            _part(contacts, p)
            # Far apart now, but in a long step they may have passed through each other.
            way = sub(get3(bodies.velocity, a), get3(bodies.velocity, b))
            step2 = dot(way, way) * dt * dt
            if step2 > (ROOM_SHARE * contacts.material[p, near.ROOM]) ** 2 and step2 > (math.sqrt(square) - reach) ** 2:
                verdict = max(verdict, TOO_FAR)
            continue
        verdict = max(verdict, _meet(bodies, contacts, contacts.samples, p, a, b, dt))
    for i in range(len(bodies.mass)):
        if STIFFNESS_BOUND * contacts.strain[i] * dt * dt > 1.0:
            verdict = max(verdict, TOO_STIFF)
    return verdict


@kernel(inline=True)
def _part(contacts, p):
    """A pair that is apart remembers nothing."""
    if contacts.touching[p] != 0.0:
        contacts.touching[p] = 0.0
        for k in range(5):
            contacts.friction[p, k] = 0.0


@kernel(inline=True)
def _frame(bodies, shapes, b):
    """The frame in which a patch on b is summed up: any will do for a ball."""
    if shapes.kind[b] == SPHERE:
        return 1.0, 0.0, 0.0, 0.0
    return get4(bodies.orientation, b)


@kernel
def _meet(bodies, contacts, samples, p, a, b, dt):
    """One pair whose bounding balls overlap."""
    shapes = contacts.shapes
    patch = contacts.patch
    gap, approach = _press(bodies, contacts, samples, p, a, b, dt, patch[0])
    verdict = GOOD
    if approach > ROOM_SHARE * contacts.material[p, near.ROOM] and abs(gap) < approach:
        verdict = TOO_FAR
    if gap >= 0.0:
        _part(contacts, p)
        return verdict
    both = both_press(shapes.kind[a], shapes.kind[b])
    if both:
        _press(bodies, contacts, samples, p, b, a, dt, patch[1])
    elastic = patch[0, of.ELASTIC] + (patch[1, of.ELASTIC] if both else 0.0)
    if elastic > 0.0:
        contacts.touching[p] = 1.0
        return max(verdict, _push(bodies, contacts, p, a, b, both, dt))
    _part(contacts, p)
    return verdict if elastic == 0.0 else NOT_A_NUMBER


@kernel
def _press(bodies, contacts, samples, p, a, b, dt, patch):
    """Sum up how A's surface presses into B's field; returns a lower bound of the gap and the way they came nearer."""
    shapes = contacts.shapes
    q = _frame(bodies, shapes, b)
    apart = sub(get3(bodies.position, a), get3(bodies.position, b))
    spin = get3(bodies.spin, a)
    v = sub(sub(get3(bodies.velocity, a), get3(bodies.velocity, b)), cross(spin, apart))
    centre = unrotate(q, apart)
    # Velocity of A's points in B's frame: that at B's centre, and the spin.
    motion = (unrotate(q, v), unrotate(q, sub(spin, get3(bodies.spin, b))))
    phi, g = distance(shapes, b, centre)
    gap = phi - shapes.radius[a]
    approach = abs(dot(add(motion[0], cross(motion[1], centre)), g)) * dt
    kind = shapes.kind[a]
    if kind != SPHERE:
        approach += norm(motion[1]) * shapes.radius[a] * dt
    if gap >= 0.0:
        return gap, approach
    for k in range(COLUMNS):
        patch[k] = 0.0
    material = (
        contacts.material[p, near.STIFFNESS],
        contacts.material[p, near.DAMPING],
        contacts.material[p, near.LIMIT],
        contacts.material[p, near.HARD],
    )
    r, half = shapes.size[a, 0], shapes.size[a, 1]
    if kind == SPHERE:
        if shapes.kind[b] == SPHERE:
            press_balls(r, shapes.size[b, 0], g, gap, motion, material, patch)
        else:
            press_ball(r, centre, g, phi, 1.0, motion, material, patch)
    elif kind == CAPSULE or kind == CYLINDER:
        axis = unrotate(q, rotate(get4(bodies.orientation, a), (0.0, 0.0, 1.0)))
        _press_bar(contacts.bars, shapes, b, centre, axis, half, r, kind == CYLINDER, motion, material, patch)
    else:
        turn = multiply(conjugate(q), get4(bodies.orientation, a))
        columns = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
        rows = (
            (columns[0][0], columns[1][0], columns[2][0]),
            (columns[0][1], columns[1][1], columns[2][1]),
            (columns[0][2], columns[1][2], columns[2][2]),
        )
        press_points(shapes, b, samples, a, centre, rows, motion, material, contacts.finest[b], patch)
    return gap, approach


@kernel
def _press_bar(bars, shapes, b, centre, axis, half, r, flat_ends, motion, material, patch):
    if bars is None:
        return
    press_side(shapes, b, centre, axis, half, r, flat_ends, motion, material, patch)
    for side in (-1.0, 1.0):
        end, outward = axpy(side * half, axis, centre), scale(axis, side)
        if flat_ends:
            press_flat_end(shapes, b, end, outward, r, motion, material, patch)
        else:
            press_round_end(shapes, b, end, outward, r, motion, material, patch)


@kernel(inline=True)
def _in_world(patch, q):
    """Force, moment, and centre of pressure of a patch, turned into the world's directions."""
    force = rotate(q, (patch[of.FORCE], patch[of.FORCE + 1], patch[of.FORCE + 2]))
    moment = rotate(q, (patch[of.MOMENT], patch[of.MOMENT + 1], patch[of.MOMENT + 2]))
    share = 1.0 / max(patch[of.ELASTIC], 1e-300)
    centre = (patch[of.CENTRE] * share, patch[of.CENTRE + 1] * share, patch[of.CENTRE + 2] * share)
    spread = max(0.0, patch[of.SPREAD] * share - dot(centre, centre))
    return force, moment, rotate(q, centre), spread


@kernel
def _push(bodies, contacts, p, a, b, both, dt):
    """Turn the patches of a touching pair into equal and opposite forces on its bodies, and add friction."""
    shapes = contacts.shapes
    patch = contacts.patch
    apart = sub(get3(bodies.position, a), get3(bodies.position, b))
    force, moment, centre, spread = _in_world(patch[0], _frame(bodies, shapes, b))
    elastic, stiffness, rate = patch[0, of.ELASTIC], patch[0, of.STIFFNESS], patch[0, of.RATE]
    if both:
        # Whoever found more of the overlap is the better witness.
        v0, v1 = patch[0, of.VOLUME] ** 2, patch[1, of.VOLUME] ** 2
        w = v0 / (v0 + v1)
        force1, moment1, centre1, spread1 = _in_world(patch[1], _frame(bodies, shapes, a))
        moment1 = add(moment1, cross(apart, force1))
        force = axpy(w, force, scale(force1, w - 1.0))
        moment = axpy(w, moment, scale(moment1, w - 1.0))
        share = w * elastic / (w * elastic + (1.0 - w) * patch[1, of.ELASTIC])
        centre = axpy(share, centre, scale(add(centre1, apart), 1.0 - share))
        spread = share * spread + (1.0 - share) * spread1
        elastic = w * elastic + (1.0 - w) * patch[1, of.ELASTIC]
        stiffness = w * stiffness + (1.0 - w) * patch[1, of.STIFFNESS]
        rate = max(rate, patch[1, of.RATE])
    arm_a, arm_b = sub(centre, apart), centre
    load = norm(force)
    normal = scale(force, 1.0 / max(load, 1e-300))
    strain_a = _give(bodies, shapes, a, arm_a, normal, spread)
    strain_b = _give(bodies, shapes, b, arm_b, normal, spread)
    damped = elastic * contacts.material[p, near.DAMPING]
    verdict = GOOD
    if rate * dt > DEPTH_SHARE * contacts.material[p, near.LIMIT]:
        verdict = TOO_DEEP
    # Damping acts on the speed of the step before: it must not turn that speed round.
    if damped * (strain_a + strain_b) * dt > 1.0:
        verdict = TOO_STIFF
    contacts.strain[a] += stiffness * strain_a
    contacts.strain[b] += stiffness * strain_b

    rub, twist = _rub(bodies, contacts, p, a, b, arm_a, arm_b, normal, load, stiffness, spread, dt)
    force = add(force, rub)
    moment = add(add(moment, cross(centre, rub)), scale(normal, twist))
    contacts.load[p] = load
    set3(contacts.normal, p, normal)
    set3(contacts.point, p, add(get3(bodies.position, b), centre))
    set3(bodies.force, a, add(get3(bodies.force, a), force))
    set3(bodies.force, b, sub(get3(bodies.force, b), force))
    set3(bodies.torque, a, add(get3(bodies.torque, a), sub(moment, cross(apart, force))))
    set3(bodies.torque, b, sub(get3(bodies.torque, b), moment))
    return verdict


@kernel(inline=True)
def _give(bodies, shapes, i, arm, normal, spread):
    """How readily a body yields to a force at the contact: an upper bound of 1/m + lever²/inertia."""
    give = bodies.inverse_mass[i]
    if give > 0.0 and shapes.kind[i] != SPHERE:
        lever = cross(arm, normal)
        swing = max(bodies.inverse_inertia[i, 0], bodies.inverse_inertia[i, 1], bodies.inverse_inertia[i, 2])
        across = give + (dot(lever, lever) + spread) * swing
        give = max(across, SHEAR * (give + dot(arm, arm) * swing))
    return give


@kernel
def _rub(bodies, contacts, p, a, b, arm_a, arm_b, normal, load, stiffness, spread, dt):
    """Friction on A, a force at the centre of pressure and a torque about the normal.

    A spring holds the surfaces together where they met and slips when it would exceed Coulomb's limit (Cundall and
    Strack 1979). What is remembered is the spring's force, not its length: a spring that grows stiffer while the
    bodies are pressed together must not gain energy by it, and one that grows softer loses force in proportion.
    """
    memory = contacts.friction
    shear = SHEAR * stiffness
    slip = sub(
        add(get3(bodies.velocity, a), cross(get3(bodies.spin, a), arm_a)),
        add(get3(bodies.velocity, b), cross(get3(bodies.spin, b), arm_b)),
    )
    slip = axpy(-dot(slip, normal), normal, slip)
    turn = dot(sub(get3(bodies.spin, a), get3(bodies.spin, b)), normal)
    held = (memory[p, 0], memory[p, 1], memory[p, 2])
    torque = memory[p, 3]
    kept = 1.0
    if memory[p, 4] > shear:
        kept = shear / memory[p, 4]
    size = norm(held)
    if size > 0.0:
        # The spring turns along with the pair, and stays in the plane of contact.
        held = axpy(0.5 * dt, cross(add(get3(bodies.spin, a), get3(bodies.spin, b)), held), held)
        held = axpy(-dot(held, normal), normal, held)
        held = scale(held, kept * size / max(norm(held), 1e-300))
    held = axpy(-shear * dt, slip, held)
    torque = kept * torque - shear * spread * dt * turn

    grip = contacts.material[p, near.FRICTION] * load
    held = scale(held, min(1.0, grip / max(norm(held), 1e-300)))
    limit = 2.0 / 3.0 * grip * math.sqrt(spread)
    torque = min(max(torque, -limit), limit)
    if dt > 0.0:
        memory[p, 0], memory[p, 1], memory[p, 2] = held
        memory[p, 3] = torque
        memory[p, 4] = shear

    mass = SHEAR / (bodies.inverse_mass[a] + bodies.inverse_mass[b])
    damping = 2.0 * SHEAR_DAMPING * math.sqrt(shear * mass)
    rub = axpy(-damping, slip, held)
    rub = scale(rub, min(1.0, grip / max(norm(rub), 1e-300)))
    torque = min(max(torque - damping * spread * turn, -limit), limit)
    return rub, torque
