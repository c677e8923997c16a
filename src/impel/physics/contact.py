"""Contact: elastic coatings press on each other, with damping, and Coulomb friction that holds bodies at rest.

Before a step `broadphase.find_pairs` lists the bodies that may touch; in the step `contact_forces` gives the forces at
the present state and judges whether the step was too long to be believed.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import Shapes
from impel.geometry.kinds import BOX, CAPSULE, CORE, CYLINDER, INNER, MESH, PLANE, RADIUS, SKIN, SPHERE
from impel.geometry.samples import Samples, make_samples
from impel.geometry.shapes import make_extents, make_shapes
from impel.kernel import Floats2, Floats3, Integers2, Shorts2, Singles2, kernel, struct
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    dot,
    get3,
    get3_at,
    get4,
    multiply,
    norm,
    rotate,
    scale,
    set3,
    set3_at,
    sub,
    unrotate,
)
from impel.physics import broadphase
from impel.physics import coating as coating_of
from impel.physics.bars import DISC, press_bar
from impel.physics.bodies import Bodies, weighted
from impel.physics.box_points import KEPT as KEPT_INSIDE
from impel.physics.box_points import list_points, press_listed
from impel.physics.broadphase import (
    COUNTS,
    HASTE,
    LOAD,
    MET,
    MOST,
    MOST_OF_MESH,
    NORMAL,
    PLACE,
    POINT,
    SEEN,
    SPREAD,
    STIFF,
    Near,
    with_capacity,
)
from impel.physics.coating import (
    CARELESS,
    Coating,
    both_press,
    default_coating,
    keeps_account,
    make_tables,
    rolling_radius,
)
from impel.physics.friction import (
    CRUSHED,
    FORCE,
    KEPT,
    REMEMBERED,
    SHEAR,
    TAKEN,
    THROUGH,
    WRENCH,
    give_back,
    resist_rolling,
    rub,
)
from impel.physics.haste import STIFFNESS_BOUND, is_too_long, let_go_of, owe, part_of
from impel.physics.hollows import FOUND, press_ball_all_round
from impel.physics.mesh_points import list_mesh_points, press_mesh_points, presses_as_mesh
from impel.physics.patches import (
    BOUNCE,
    COLUMNS,
    ELASTIC,
    TIGHT,
    distance,
    held_by,
    press_ball,
    press_balls,
    press_points,
    rows_of,
    sum_up,
    thinnest_part,
)
from impel.physics.pressures import COLUMNS as TABLED
from impel.physics.pressures import ROWS, join
from impel.physics.sleep import REST_PULL, is_still, push, wake
from impel.physics.verdicts import GOOD, NOT_A_NUMBER, TOO_DEEP, TOO_FAR, TOO_STIFF

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STRONGEST = 0.7  # damping of a body's contacts at rest takes at most so much of its speed in a step, lest it ring
BLOW_CARE = 8.0  # x that for blows: undamped ones then keep their energy within 1 %
PUSH, PUSHED = 200.0, 0.5  # m/s², m/s: how bodies that are crushed, deeper than their coatings, are pushed apart ...
THROWN = 1.0  # m/s: how fast at most what is pressed flat between two that never give way is thrown off one of them
CAUGHT = 0.25  # of the limit: what is pressed so deep on something at rest yields no more to what is key-framed ...
CAUGHT_FIRM = 870.0  # x: ... or what grew firmer by so much, as a ball is there; meshes are so hard long before that
CRUSHED_STRAIN = 1e7  # 1/s²: ... and the strain they ask care for: the limit on their force keeps them from ringing
SLIDES = 1e-4  # m/s: what slips this fast at Coulomb's limit slides
DEPTH_SHARE = 0.5  # of the limit, by which the depth may change in a step
FAINT = 1e-3  # of its elastic part: what is left of a force that damping all but takes away
NOW = 2.0  # what is added to `caught` and `passed` at the present state, beside that of the last one
NEAR = 1e-3  # m: what is so near is as good as touching for whoever stands there
ROOM_SHARE = 0.5  # of the room, by which bodies may approach each other in a step


@struct
class Contacts:
    """The coatings of N bodies, and room for P pairs of them."""

    touching: Floats  # (P,) 1 while the two overlap
    haste: Floats2  # (P, 2) in how much haste a pair is, see haste.py, and for how many steps less would have done
    friction: Floats2  # (P, 29) friction.FORCE ...
    place: Floats2  # (P, 15) POINT ...: where the two touch, or touched and are still near
    pair: Integers2  # (P, 2) written by `find_pairs`, as is the next
    material: Floats2  # (P, 10) coating.STIFFNESS ...
    coating: Floats2  # (N, 9) coating.SOFTNESS ...
    tables: Floats3  # (N, rows, 6) how pressure grows with the depth, see pressures.py; no rows where none varies
    joined: Integers  # (P,) scratch: which two bodies ...
    table: Floats3  # (P, 0 or 64, 6) ... the table of a pair was made for, when they last touched
    extent: Floats2  # (N, 6) geometry.shapes.RADIUS ...
    shapes: Shapes
    samples: Samples | None
    near: Near
    seen: Floats2  # (P, 11) of two boxes or meshes: where they were when ...
    listed: Shorts2  # (P, 80 or 800) ... the points of each that may be inside the other were listed, see box_points.py
    clear: Singles2  # (P, 0 or 800) ... and how far each of a mesh's was from the other then
    caught: Floats  # (N,) 1 for what is pressed deep on something at rest
    passed: Floats  # (N,) 1 for what is so, and something key-framed goes through it
    damped: (
        Floats  # (N,) how much of its speed the contacts of a body would take in a step, where pairs may be in haste
    )
    damping: Floats  # (N,) scratch: the same at the present state
    strain: Floats  # (N,) scratch: stiffness felt by a body over its inertia, 1/s² ...
    share: Floats2  # (P, 2) scratch: ... and the share that a pair has in it, of either body
    urge: Floats  # (P,) scratch: other reasons for short steps, as 1/dt²
    wish: Floats  # (P,) scratch: in how much haste it should be, see haste.py
    finest: Floats  # (N,) scratch: the most haste of the pairs of a body
    owed: Floats2  # (N, 6) scratch: momentum and angular momentum that it will get
    weight: Floats  # (N,) scratch: how much of what a body stands all its contacts take ...
    heaviest: Floats  # (N,) scratch: ... and the heaviest of them
    care: Floats  # (N,) scratch: how many times it must stand a step
    bound: Floats  # (N,) scratch: 1 for who cannot be in haste
    patch: Floats2  # (2 + FOUND, COLUMNS) scratch
    inside: Floats2  # (MOST + 1, 9) scratch: points of a box that press, box_points.INSIDE ...

    STATE = ("caught", "passed", "damped", "touching", "haste", "friction", "place")
    KEPT = ("pair", "material")


def make_contacts(
    bodies: Bodies,
    shapes: list[dict[str, Any]],
    coatings: Sequence[Coating | None],
    *,
    collides: list[bool] | None = None,
    tied: list[tuple[int, int]] | None = None,
    to_be_tied: int = 0,
    capacity: int | None = None,
) -> Contacts:
    """Contacts of bodies with these shapes; `tied` pairs never touch, and so many others may be `to_be_tied`. A
    missing coating becomes the stiff default."""
    n = len(shapes)
    arrays = make_shapes(shapes)
    samples = make_samples(shapes, arrays)
    finest = _finest_points(arrays, samples)
    own = [coatings[i] or default_coating(shapes[i], bodies.mass[i]) for i in range(n)]
    coating = np.array([coating_row(own[i], shapes[i], finest[i]) for i in range(n)])
    tables = make_tables(own)
    near = Near(
        info=np.zeros(4, np.int64),
        box=np.zeros((n, 6)),
        margin=np.zeros(n),
        built=np.zeros((n, 7)),
        order=np.arange(n),
        collides=np.ones(n, bool) if collides is None else np.array(collides, bool),
        excluded=np.array([-1] * to_be_tied + sorted({min(i, j) * n + max(i, j) for i, j in tied or []}), np.int64),
        pair=np.zeros((0, 2), np.int64),
        memory=np.zeros((0, 3 + REMEMBERED + PLACE)),
        table=np.zeros(0, np.int64),
    )
    contacts = Contacts(
        touching=np.zeros(0),
        haste=np.zeros((0, 2)),
        friction=np.zeros((0, REMEMBERED)),
        place=np.zeros((0, PLACE)),
        pair=np.zeros((0, 2), np.int64),
        material=np.zeros((0, 10)),
        coating=coating,
        tables=tables,
        joined=np.zeros(0, np.int64),
        table=room_for_tables(tables, 0),
        extent=make_extents(arrays),
        shapes=arrays,
        samples=samples,
        near=near,
        seen=np.zeros((0, SEEN)),
        listed=np.zeros((0, 2 * (MOST if arrays.grid is None else MOST_OF_MESH)), np.int32),
        clear=np.zeros((0, 0 if arrays.grid is None else 2 * MOST_OF_MESH), np.float32),
        caught=np.zeros(n),
        passed=np.zeros(n),
        damped=np.zeros(n),
        damping=np.zeros(n),
        strain=np.zeros(n),
        share=np.zeros((0, 2)),
        urge=np.zeros(0),
        wish=np.zeros(0),
        finest=np.zeros(n),
        owed=np.zeros((n, 6)),
        weight=np.zeros(n),
        heaviest=np.zeros(n),
        care=np.zeros(n),
        bound=np.zeros(n),
        patch=np.zeros((2 + FOUND, COLUMNS)),
        inside=np.zeros((MOST + 1, KEPT_INSIDE)),
    )
    return with_capacity(contacts, capacity or 16 + 6 * n)


def coating_row(own: Coating, shape: dict[str, Any], finest: float) -> tuple[float, ...]:
    """(9,) a coating as kernels know it; `finest` is the area of a typical point of its body."""
    firmness, curved = 1.0 / own.firm**4, rolling_radius(shape)
    row = (1.0 / own.stiffness, own.thickness, own.damping, own.friction, finest, firmness, own.rolling, curved)
    return *row, 1.0 if own.curve else 0.0


def room_for_tables(tables: Floats, pairs: int) -> Floats:
    """(P, 0 or 64, 6) for what the tables of so many pairs make together."""
    return np.zeros((pairs, ROWS if tables.shape[1] else 0, TABLED))


def _finest_points(shapes: Shapes, samples: Samples | None) -> Floats:
    """(N,) the area of a typical point of each body; infinite where the points are not fixed."""
    finest = np.full(len(shapes.kind), math.inf)
    for i, kind in enumerate(shapes.kind):
        if kind == CYLINDER:
            finest[i] = shapes.size[i, 0] ** 2 * DISC[:, 2].min()
        elif samples is not None and CYLINDER < kind < PLANE:
            rows = samples.range[slice(*samples.clusters[i])]
            rows = rows[rows[:, 0] >= 0]
            area = samples.area[rows[0, 0] : rows[-1, 1]]
            area = area[area > 0.0]  # without edges
            # A corner of a box has a quarter of a cell, so that four times the least is a cell of its finest face. A
            # mesh or a blob has fine points where it is curved, and is as flat as its coarse ones.
            finest[i] = 4 * area.min() if kind == BOX else np.quantile(area, 0.9)
    return finest


@kernel
def contact_forces(bodies, contacts, dt):
    """Set the forces and torques of contact at the present state; returns the verdict on the step of dt that led here.

    dt = 0 looks without letting friction's springs move on.
    """
    return forces_of(bodies, contacts, dt, 0.0)


@kernel
def forces_of(bodies, contacts, dt, haste):
    """The same after a part of a step of dt, of the pairs that are at least in so much haste."""
    if haste == 0.0:
        for i in range(len(bodies.mass)):
            contacts.strain[i] = contacts.weight[i] = contacts.damping[i] = 0.0
            set3(bodies.force, i, (0.0, 0.0, 0.0))
            set3(bodies.torque, i, (0.0, 0.0, 0.0))
    verdict = GOOD
    for p in range(contacts.near.info[broadphase.COUNT]):
        a, b, quick = contacts.pair[p, 0], contacts.pair[p, 1], contacts.haste[p, HASTE]
        if quick >= haste and not (is_still(bodies, a) and is_still(bodies, b)):
            late = contacts.finest[a] + contacts.finest[b] > 2.0 * quick
            if late:
                owe(bodies, contacts, p, dt, -1.0)
            if haste > 0.0:
                let_go_of(bodies, contacts, p)
            verdict = max(verdict, _meet(bodies, contacts, p, part_of(dt, quick)))
            if late:
                owe(bodies, contacts, p, dt, 1.0)
    if haste == 0.0:
        verdict = max(verdict, _judge(bodies, contacts))
    return verdict


@kernel
def _judge(bodies, contacts):
    """When all pairs were looked at: who wakes, who is caught and gone through, and what bodies do not stand."""
    verdict = GOOD
    wake(bodies, contacts.extent[:, RADIUS])
    for i in range(len(bodies.mass)):
        contacts.caught[i] = 1.0 if contacts.caught[i] >= NOW else 0.0
        contacts.passed[i] = 1.0 if contacts.passed[i] >= NOW else 0.0
        if contacts.weight[i] > 1.0 and bodies.asleep[i] == 0.0:
            verdict = TOO_STIFF
    return verdict


@kernel
def meet_near(bodies, contacts, gravity):
    """Note where bodies that are near each other would touch: some are lowered a little, looked at, and put back.

    Two bodies differ in a digit of their binary numbers; so each is lowered once while the other is not.
    """
    size = norm(gravity)
    n = len(bodies.mass)
    digit = 1
    while digit < n and size > 0.0:
        for value in range(2):
            for by in (NEAR, 0.0, -NEAR):
                if by == 0.0:
                    contact_forces(bodies, contacts, 0.0)
                for i in range(n):
                    if bodies.inverse_mass[i] > 0.0 and (i // digit) % 2 == value:
                        set3(bodies.position, i, axpy(by / size, gravity, get3(bodies.position, i)))
        digit *= 2


@kernel(inline=True)  # called once, and 4 % faster so
def _meet(bodies, contacts, p, dt):
    """Add the forces between the bodies of a pair, if they touch; returns the verdict on the way they came."""
    extent, patch, materials = contacts.extent, contacts.patch, contacts.material
    a, b = contacts.pair[p, 0], contacts.pair[p, 1]
    apart = sub(get3(bodies.position, a), get3(bodies.position, b))
    approach = sub(get3(bodies.velocity, a), get3(bodies.velocity, b))
    reach = extent[a, RADIUS] + extent[b, RADIUS]
    square = dot(apart, apart)
    contacts.share[p, 0] = contacts.share[p, 1] = contacts.urge[p] = 0.0
    room = ROOM_SHARE * _least_room(contacts, p, a, b)
    if square > reach * reach:
        if contacts.touching[p] != 0.0 or contacts.place[p, MET] > 0.0:
            _part(bodies, contacts, p, dt)
        # Far apart now, but in a long step they may have passed through each other.
        speed = math.sqrt(dot(approach, approach))
        gap = math.sqrt(square) - reach
        return _urge(contacts, p, speed / room, dt, TOO_FAR) if speed * dt > gap else GOOD

    kind_a, kind_b = contacts.shapes.kind[a], contacts.shapes.kind[b]
    qa, qb = get4(bodies.orientation, a), get4(bodies.orientation, b)
    if kind_b == SPHERE:
        qb = (1.0, 0.0, 0.0, 0.0)  # a ball is the same from all sides
    spin_a, spin_b = get3(bodies.spin, a), get3(bodies.spin, b)
    mass = 1.0 / (bodies.inverse_mass[a] + bodies.inverse_mass[b])
    most = max(contacts.damped[a], contacts.damped[b])
    calming = mass if most <= STRONGEST else mass * (STRONGEST / most) ** 2
    damping, limit = materials[p, coating_of.DAMPING], materials[p, coating_of.LIMIT]
    hard, firm = materials[p, coating_of.HARD], materials[p, coating_of.FIRM]
    varied = materials[p, coating_of.VARIED] == 1.0
    if varied and contacts.joined[p] != 1 + a * len(bodies.mass) + b:
        join(contacts.tables[a], contacts.tables[b], contacts.table[p])
        contacts.joined[p] = 1 + a * len(bodies.mass) + b
    row = p if varied else -1  # and by reference: an array in a tuple would be handed on as ten numbers
    material = (materials[p, coating_of.STIFFNESS], damping, limit, hard, firm, row, contacts)
    motion = (sub(approach, cross(spin_a, apart)), sub(spin_a, spin_b))
    gap, speed = _press_into(contacts, p, 0, a, b, qa, qb, apart, motion, material, patch[0])
    verdict = _urge(contacts, p, speed / room, dt, TOO_FAR) if gap < speed * dt else GOOD
    elastic = patch[0, ELASTIC]
    both = gap < 0.0 and both_press(kind_a, kind_b)
    listed = kind_a == BOX or (kind_a == MESH and kind_b == BOX) or (kind_a == MESH and kind_b == MESH)
    if both and listed and contacts.seen[p, COUNTS] + contacts.seen[p, COUNTS + 1] == 0.0:
        both = False
    if both:
        # Seen from A: B's points move against A's.
        back = scale(apart, -1.0)
        motion = (sub(scale(approach, -1.0), cross(spin_b, back)), sub(spin_b, spin_a))
        _press_into(contacts, p, 1, b, a, qb, qa, back, motion, material, patch[1])
        elastic += patch[1, ELASTIC]
    if not elastic > 0.0:
        _part(bodies, contacts, p, dt)
        return verdict if elastic == elastic else NOT_A_NUMBER

    force, moment, centre, products, elastic, stiffness, rate, depth = sum_up(patch, both, qa, qb, apart, calming)
    tight = max(patch[0, TIGHT], patch[1, TIGHT]) if both else patch[0, TIGHT]
    if tight > 0.0:
        limit = min(limit, 1.0 / tight)
    spread = max(0.0, products[0][0] + products[1][1] + products[2][2])
    # Crushed, by a blow that something damps, between bodies that do not give way, or placed so: until it is out of its
    # firm depth again.
    placed = dt == 0.0 or contacts.friction[p, CRUSHED] > 0.0
    deep = depth > limit or firm * depth**4 > 1.0
    pressed = depth > CAUGHT * limit or firm * depth**4 > CAUGHT_FIRM
    through = deep and _goes_through(bodies, contacts, p, pressed)
    # What holds up a body that something goes through would throw it off with all the work of pressing them together,
    # where coatings have grown firmer by that.
    held = deep and firm > 0.0 and contacts.passed[a] % NOW + contacts.passed[b] % NOW > 0.0
    crushed = (depth > limit and damping > 0.0) or (placed and deep) or through or held
    contacts.friction[p, CRUSHED] = THROUGH if through else 1.0 if crushed else 0.0
    load = norm(force)
    normal = scale(force, 1.0 / max(load, 1e-300))
    arm = sub(centre, apart)
    give_a, give_b = bodies.inverse_mass[a], bodies.inverse_mass[b]
    if kind_a != SPHERE:
        give_a = _give(give_a, get3(bodies.inverse_inertia, a), arm, normal, spread)
    if kind_b != SPHERE:
        give_b = _give(give_b, get3(bodies.inverse_inertia, b), centre, normal, spread)
    care = 1.0 + (BLOW_CARE - 1.0) * min(1.0, rate / BOUNCE) * max(0.0, 1.0 - damping / CARELESS)
    most = CRUSHED_STRAIN if crushed else math.inf
    share_a, share_b = min(care * stiffness * give_a, most), min(care * stiffness * give_b, most)
    contacts.share[p, 0], contacts.share[p, 1] = share_a, share_b
    contacts.strain[a] += share_a
    contacts.strain[b] += share_b
    contacts.weight[a] += STIFFNESS_BOUND * share_a * dt * dt
    contacts.weight[b] += STIFFNESS_BOUND * share_b * dt * dt
    if is_too_long(STIFFNESS_BOUND * max(share_a, share_b), dt):
        verdict = max(verdict, TOO_STIFF)
    contacts.damping[a] += math.sqrt(stiffness * mass) * give_a * dt
    contacts.damping[b] += math.sqrt(stiffness * mass) * give_b * dt
    verdict = max(verdict, _urge(contacts, p, rate / (DEPTH_SHARE * limit), dt, TOO_DEEP))
    # Damping acts with the speed of half a step ago: it must not turn that speed round.
    if not crushed:
        verdict = max(verdict, _urge(contacts, p, damping * elastic * (give_a + give_b), dt, TOO_STIFF))

    # A step that must be accepted all the same (fixed, or the shortest there is) shall not blow up: the spring is
    # at most as stiff as the step allows, and damping at most stops the bodies.
    slip = sub(add(approach, cross(spin_a, arm)), cross(spin_b, centre))
    give = give_a + give_b
    if crushed:
        give = _ease(bodies, a, cross(arm, normal)) + _ease(bodies, b, cross(centre, normal))
    excess = stiffness * give * dt * dt
    if not crushed and STIFFNESS_BOUND * stiffness * max(give_a, give_b) * dt * dt <= 1.0:
        excess = 1.0  # a step that is good for this pair, which must find its balance whatever the step
    excess = max(1.0, excess)
    allowed = min(load, elastic) / excess
    if load > elastic:
        allowed += min(load - elastic, rate / max(give * dt, 1e-300))
    if crushed:  # it is stopped with any force, but not thrown back
        closing = -dot(slip, normal)
        push_out = PUSH * max(0.0, 1.0 + min(closing, 0.0) / PUSHED) / give
        back = THROWN if held else 0.0  # what holds it up outweighs what goes through it
        stop = max(closing + back, 0.0) / (give * dt) if dt > 0.0 and not through else 0.0
        allowed = min(allowed, push_out + stop)
    if allowed < load:
        force, moment = scale(force, allowed / load), scale(moment, allowed / load)
        load, stiffness = allowed, stiffness / excess
    if keeps_account(materials, p):
        if dt == 0.0 and contacts.touching[p] == 0.0:
            contacts.friction[p, TAKEN] = elastic * depth  # at least: they were placed so
        torques = (sub(moment, cross(apart, force)), scale(moment, -1.0))
        ease = _ease(bodies, a, cross(arm, normal)) + _ease(bodies, b, cross(centre, normal))
        spins, holds, steep, slow = (spin_a, spin_b), held_by(load, depth, material), firm > 0.0, rate < BOUNCE
        memory, lossless = contacts.friction, damping == 0.0
        share = give_back(memory, p, force, torques, approach, spins, load, ease, holds, steep, lossless, slow, dt)
        force, moment, load = scale(force, share), scale(moment, share), share * load

    spin, turn = scale(add(spin_a, spin_b), 0.5), dot(sub(spin_a, spin_b), normal)
    grip_most = materials[p, coating_of.FRICTION] * load
    grip, torque = rub(contacts.friction, p, slip, spin, turn, normal, grip_most, stiffness, spread, calming, dt)
    force = add(force, grip)
    moment = axpy(torque, normal, add(moment, cross(centre, grip)))
    rolling, radius = materials[p, coating_of.ROLLING], materials[p, coating_of.ROUND]
    if rolling > 0.0 and radius < math.inf:
        most, turning = rolling * radius * load, sub(spin_a, spin_b)
        held = resist_rolling(contacts.friction, p, spin, turning, normal, most, radius, stiffness, calming, dt)
        moment = add(moment, held)
    contacts.touching[p] = 1.0
    contacts.place[p, LOAD] = load
    met = contacts.place[p, MET] > 0.0
    if load > FAINT * elastic or (load > 0.0 and not met):  # else rounding is all that its direction is
        set3_at(contacts.place, p, POINT, add(get3(bodies.position, b), centre))
        set3_at(contacts.place, p, NORMAL, normal)
        contacts.place[p, STIFF] = stiffness
        set3_at(contacts.place, p, SPREAD, products[0])
        set3_at(contacts.place, p, SPREAD + 3, (products[1][1], products[1][2], products[2][2]))
        met = True
    contacts.place[p, MET] = 1.0 if met else 0.0  # what parts faster than it is pushed has no direction yet
    if bodies.asleep[a] == 0.0 and bodies.asleep[b] == 0.0:
        set3_at(contacts.friction, p, KEPT, force)
        # What slides, or lies on something that is moved, is not at rest, however slow it is.
        slides = norm(get3_at(contacts.friction, p, FORCE)) > 0.999 * grip_most and norm(slip) > SLIDES
        if slides and grip_most * (bodies.inverse_mass[a] + bodies.inverse_mass[b]) > REST_PULL:
            bodies.calm[a] = bodies.calm[b] = 0.0
        if bodies.inverse_mass[a] * bodies.inverse_mass[b] == 0.0 and not (is_still(bodies, a) or is_still(bodies, b)):
            bodies.calm[a] = bodies.calm[b] = 0.0
    set3_at(contacts.friction, p, WRENCH, force)
    set3_at(contacts.friction, p, WRENCH + 3, add(moment, cross(get3(bodies.position, b), force)))
    kept = get3_at(contacts.friction, p, KEPT)
    push(bodies, a, force, sub(moment, cross(apart, force)), kept, arm)
    push(bodies, b, scale(force, -1.0), scale(moment, -1.0), scale(kept, -1.0), centre)
    return verdict


@kernel
def _least_room(contacts, p, a, b):
    """How far the two of a pair can go into each other where they are thinnest."""
    extent, shapes = contacts.extent, contacts.shapes
    room = contacts.material[p, coating_of.ROOM]
    thin = thinnest_part(shapes, b, extent[b, INNER]) + (extent[a, INNER] if shapes.kind[a] <= CAPSULE else 0.0)
    return min(room, thin, thinnest_part(shapes, a, room))


@kernel(inline=True)
def _urge(contacts, p, most, dt, verdict):
    """The verdict on a step of a pair that should not be longer than 1/`most`; and a note of that."""
    contacts.urge[p] = max(contacts.urge[p], most * most)
    return verdict if is_too_long(most * most, dt) else GOOD


@kernel
def _goes_through(bodies, contacts, p, pressed):
    """Whether a body of a pair, which is key-framed, goes through the other, which something at rest holds up.

    Neither would ever give way. What stands on the ground must not be trodden into it: so it is the one that moves that
    is let through, and only pushes gently. Notes who is held up and who is to be gone through.
    """
    for side in range(2):
        loose, led = contacts.pair[p, side], contacts.pair[p, 1 - side]
        if bodies.inverse_mass[led] == 0.0 and not is_still(bodies, led):
            if contacts.caught[loose] % NOW == 1.0 and contacts.passed[loose] < NOW:
                contacts.passed[loose] += NOW
            return contacts.friction[p, CRUSHED] == THROUGH or contacts.passed[loose] % NOW == 1.0
        if bodies.inverse_mass[led] == 0.0 and pressed and contacts.caught[loose] < NOW:
            contacts.caught[loose] += NOW
    return False


@kernel
def _part(bodies, contacts, p, dt):
    """A pair that is apart remembers nothing of its friction, and where it met only while it is near; one of the two
    that sleeps misses the other."""
    if contacts.touching[p] != 0.0:
        kept, nothing = get3_at(contacts.friction, p, KEPT), (0.0, 0.0, 0.0)
        push(bodies, contacts.pair[p, 0], nothing, nothing, kept, nothing)
        push(bodies, contacts.pair[p, 1], nothing, nothing, scale(kept, -1.0), nothing)
        contacts.touching[p] = 0.0
        for k in range(REMEMBERED):
            contacts.friction[p, k] = 0.0
    if contacts.place[p, MET] > 0.0:
        rate = 0.0
        for side in range(2):
            i = contacts.pair[p, side]
            arm = sub(get3_at(contacts.place, p, POINT), get3(bodies.position, i))
            v = add(get3(bodies.velocity, i), cross(get3(bodies.spin, i), arm))
            rate += (1.0 - 2.0 * side) * dot(v, get3_at(contacts.place, p, NORMAL))
        contacts.place[p, MET] = max(0.0, min(1.0, contacts.place[p, MET] - rate * dt / NEAR))


@kernel
def _press_into(contacts, p, side, a, b, qa, qb, apart, motion, material, patch):
    """Sum up how A's surface presses into B's field, which is one side of pair p: 0, or 1 where A is its second body.

    `motion` is the velocity of A's points against B's, at B's centre, and the spin; `material` is stiffness,
    damping, limit, hardness and firmness of the two coatings together, and where their stiffness varies with the depth,
    the row of `contacts.table` that tells how, else -1.
    Returns a lower bound of the gap, and an upper bound of the speed at which it closes or opens.
    """
    shapes, extent, finest = contacts.shapes, contacts.extent, contacts.coating[b, coating_of.FINEST]
    radius, skin = extent[a, RADIUS], extent[b, SKIN]
    half = (extent[b, CORE] + skin, extent[b, CORE + 1] + skin, extent[b, CORE + 2] + skin)
    for k in range(COLUMNS):
        patch[k] = 0.0
    centre = unrotate(qb, apart)
    motion = (unrotate(qb, motion[0]), unrotate(qb, motion[1]))
    phi, g = distance(shapes, b, centre)
    gap = phi - radius
    speed = abs(dot(add(motion[0], cross(motion[1], centre)), g))
    kind = shapes.kind[a]
    if kind != SPHERE:
        speed += norm(motion[1]) * radius
    if gap >= 0.0:
        return gap, speed
    if kind == SPHERE:
        if shapes.kind[b] == SPHERE:
            press_balls(radius, half[0], g, gap, motion, material, patch)
        elif shapes.kind[b] == MESH:
            press_ball_all_round(shapes, b, radius, centre, phi, g, motion, material, patch, contacts.patch)
        else:
            press_ball(shapes, b, radius, centre, g, phi, 1.0, motion, material, patch)
        return gap, speed
    turn = multiply(conjugate(qb), qa)
    if kind == BOX and shapes.kind[b] == BOX:
        if side == 0:
            list_points(contacts, p, a, b, centre, turn)
        count = contacts.seen[p, COUNTS + side]
        if count == 0.0:
            return gap, speed
        if count <= MOST:
            press_listed(contacts, p, side, centre, rows_of(turn), half, motion, material, finest, patch)
            return gap, speed
    if presses_as_mesh(kind, shapes.kind[b]):
        rows = rows_of(turn)
        if side == 0 or shapes.kind[b] < MESH:
            list_mesh_points(contacts, p, side, a, b, centre, turn, speed)
        press_mesh_points(contacts, p, side, a, b, centre, rows, half, motion, material, finest, patch)
        return gap, speed
    if kind <= CYLINDER:
        x, z = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
        r, length = shapes.size[a, 0], shapes.size[a, 1]
        press_bar(shapes, b, centre, z, x, length, r, kind == CYLINDER, motion, material, finest, patch)
        return gap, speed
    press_points(shapes, b, contacts.samples, a, centre, rows_of(turn), half, motion, material, finest, patch)
    return gap, speed


@kernel
def _give(inverse_mass, inverse_inertia, arm, normal, spread):
    """How readily a body yields to a force at the contact: an upper bound of how its fastest swing answers.

    Of shift and turn together: [[1/m, lever/m·I], [lever/m·I, lever²/I + spread/I]] made symmetric, its largest root.
    """
    if inverse_mass == 0.0:
        return 0.0
    lever = cross(arm, normal)
    swing = max(inverse_inertia[0], inverse_inertia[1], inverse_inertia[2])
    turn = spread * swing
    whole = inverse_mass + dot(lever, lever) * swing + turn
    across = 0.5 * (whole + math.sqrt(max(0.0, whole * whole - 4.0 * inverse_mass * turn)))
    return max(across, SHEAR * (inverse_mass + dot(arm, arm) * swing))


@kernel
def _ease(bodies, i, lever):
    """How much faster a force with this lever makes the place where it acts, per newton second."""
    q, inverse_inertia = get4(bodies.orientation, i), get3(bodies.inverse_inertia, i)
    return bodies.inverse_mass[i] + dot(lever, weighted(q, inverse_inertia, lever))
