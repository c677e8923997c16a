"""Joints as flat arrays, and the order in which their equations are solved; everything here runs once, in plain Python.

Each joint gives a fixed number of rows: conditions between its bodies a and b, and others along what is left free.
There its freedom may end (a hinge at its limit, a point at the end of its segment), and springs and friction act. Where
nothing acts these rows are out but stay in place, so that the pattern of the equations never changes. A ball has two
limits, for the lean and the twist of b, in its second tile; all others have one at most, in which their spring and
friction act too. Rows are counted in threes, the tiles of the matrix: what a joint does not fill is left out like a
limit that is not met.
"""

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.geometry import kinds as shapes
from impel.kernel import Floats2, Integers2, struct
from impel.physics.bodies import Bodies
from impel.physics.joint_specs import KINDS, Fitted, JointSpec, place, spec_problems

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BALL, HINGE, WELD, ON_SEGMENT, ON_CURVE, ON_SURFACE, IN_SPHERE, SLIDE = range(8)  # in the order of KINDS
ROWS = (3, 5, 6, 2, 2, 1, 0, 5)  # of each kind, without those along what is free

EACH = np.dtype(
    [
        ("index", "i8"),  # place among the specs, and in `coordinate`, `active` and `normal`
        ("kind", "i8"),
        ("a", "i8"),
        ("b", "i8"),
        ("row", "i8"),  # first row
        ("firm", "i8"),  # how many are always live, as long as the joint is whole
        ("limit", "i8"),  # row of the first limit, or -1
        ("limits", "i8"),  # how many there are, in a row
        ("second", "i8"),  # place of the second in `coordinate` and `active`, or -1
        ("soft", "i8"),  # place among the springs and frictions, or -1
        ("partial", "i8"),  # 1 if not all rows are always live
        ("collides", "i8"),  # 1 if its bodies may touch
        ("row_end", "i8"),
        ("tile", "i8"),  # the same in tiles of three rows; the last rows of the last one may be empty
        ("tile_end", "i8"),
        ("knot", "i8"),  # on_curve: where it begins and ends in `curves`
        ("last_knot", "i8"),
        ("closed", "i8"),
    ]
)

SOFT = np.dtype(
    [
        ("row", "i8"),  # first row ...
        ("count", "i8"),  # ... and how many: one for each way that is free, or three
        ("stiffness", "f8"),  # N·m/rad or N/m
        ("damping", "f8"),  # N·m·s/rad or N·s/m
        ("rest", "f8"),  # rad or m
        ("friction", "f8"),  # N·m or N
    ]
)

# Columns of `fixed`: the point in the frame of a and in that of b; the joint's frame in a and in b (a hinge's axis and
# a segment lie along its z); half sizes or radii of the surface, then the radius of its edges; the smallest and largest
# coordinate, then those of the second limit; 1 over the number of joints of the busier body (003, section 3.1).
AT_A, AT_B, FRAME_A, FRAME_B, SIZE, LOWER, UPPER, WEIGHT = 0, 3, 6, 10, 14, 18, 19, 22

# Columns of `rows`: how a row acts on the velocity of a (on b: the opposite), on the angular momenta of a and b and on
# their spins; 0 for a limit that is not met and for empty rows; its force in the last step and in the two before.
LINEAR, ANGULAR_A, ANGULAR_B, TURNING_A, TURNING_B, LIVE, FORCE, BEFORE, LONG_BEFORE = 0, 3, 6, 9, 12, 15, 16, 17, 18

# Columns of `grip`, what springs and friction know, three numbers each (of which a joint with one row uses the first):
# the coordinates now and at the start of the step; where friction holds; where all would rest in this step; the
# direction of slip, of a ball in the world; the impulse of friction that slips; that of the spring in half the step.
# A tile: what the rows add to the matrix, for they yield. And one each: is it stuck; the step, if they yield; what
# friction holds in half the step; how fast it slips; damping in the second half of the step.
NOW, FROM, ANCHOR, AIM, SLIP, GIVEN, PUSH, GIVE = 0, 3, 6, 9, 12, 15, 18, 21
STUCK, YIELD, BOUND, SPEED, DAMP = 30, 31, 32, 33, 34
GRIP = 35  # columns in all

# Columns of `place`: position and orientation before the step; inverse inertia in the world's frame (6, upper half);
# velocity and angular momentum before the joints act; the best position and orientation while gaps are closed.
KEPT_POSITION, KEPT_ORIENTATION, INVERSE, KEPT_VELOCITY, KEPT_MOMENTUM = 0, 3, 7, 13, 16
BEST_POSITION, BEST_ORIENTATION = 19, 22
KEPT_SPIN = BEST_POSITION  # while impulses are sought, which is never while gaps are closed

# Columns of `island`: where its joints, their tiles, its bodies, the pairs of joints and the blank tiles begin.
JOINT, TILE, MEMBER, PAIR, BLANK = range(5)

# Columns of `pairs`: two joints that meet in a body, the later and the earlier one (or the same), on which side of each
# that body is (0: a, 1: b), the body, and 1 if the two have met before, in their other bodies.
LATER, EARLIER, LATER_SIDE, EARLIER_SIDE, SHARED, AGAIN = range(6)

# Columns of what is kept of a joint itself: its coordinate, whether it is at a limit, its first normal; the same of its
# second limit.
COORDINATE, ACTIVE, NORMAL, SECOND, SECOND_ACTIVE = 0, 1, 2, 5, 6

HOLDS, BROKEN, OPEN = 0.0, 1.0, 2.0  # in `broken`

MOST_ROWS = 240  # of an island that `exact` can solve: its matrix is full


@struct
class Spare:
    """Scratch for where the quick way fails: `exact` and `closing`. M is the most rows of an island."""

    kept: Annotated[Floats2, 7]  # (J, 7) before the step: COORDINATE ... SECOND_ACTIVE
    grip: Annotated[Floats2, 35]  # (G, 35) likewise: what springs and friction knew
    best: Annotated[Floats2, 7]  # (J, 7) at the best place while gaps are closed
    even: Annotated[Floats2, 4]  # (N, 4) inverse mass and inertia of bodies that count alike; see closing.close_evenly
    start: Annotated[Floats2, 9]  # (R, 9) LINEAR ... ANGULAR_B at the start of the step
    step: Floats  # (R,) the last change of the impulses
    turning: Annotated[Floats2, 9]  # (N, 9) how the orientation at the end changes with the angular momentum
    slot: Integers  # (R,) place in the matrix of rows that act, or -1
    matrix: Floats2  # (M, M)
    right: Floats  # (M,)
    scale: Floats  # (M,) of columns
    row: Integers  # (M,) in which order rows ...
    column: Integers  # (M,) ... and columns are eliminated
    work: Floats  # (1,) done by them in the present step, in iterations of `exact`


@struct
class Joints:
    """J joints with R rows in T tiles, over N bodies in I islands (groups that share no body that can move).

    What a scene does not use (curves, surfaces) is None.
    """

    each: Annotated[NDArray[np.void], EACH]  # (J,) who is tied by what, in the order of the rows
    fixed: Annotated[Floats2, 23]  # (J, 23) where, in the same order: AT_A ... WEIGHT
    curves: Annotated[Floats2, 13] | None  # (K, 13) their pieces, in b: curve.KNOT ...; if there are any
    surfaces: Integers | None  # (J,) which surface, if there are any
    soft: Annotated[NDArray[np.void], SOFT] | None  # (G,) springs and friction, if there are any
    breaks: Annotated[Floats2, 2] | None  # (J, 2) force in N and torque in N·m at which each lets go, if one does
    island: Annotated[Integers2, 5]  # (I + 1, 5) where each island begins: JOINT ... BLANK
    members: Integers  # bodies that can move, island by island
    loose: Integers  # bodies that can move and have no joint
    pairs: Annotated[Integers2, 6]  # (P, 6) joints that meet in a body, island by island: LATER ... AGAIN
    blank: Integers  # tiles of the envelope where no joints meet
    envelope: Annotated[Integers2, 2]  # (T, 2) of a row of tiles: skyline.FIRST, skyline.ZERO

    coordinate: Floats  # (J + second limits,) angle (of hinges with limits), distance along the segment or the slide,
    # parameter on the curve, distance from the centre, lean of a ball with limits; then the twists
    active: Floats  # (J + second limits,) -1 at the lower limit, 1 at the upper one, else 0
    broken: Floats  # (J,) HOLDS, BROKEN for good, or OPEN: not made yet, or let go
    load: Annotated[Floats2, 2]  # (J, 2) force in N and torque in N·m, smoothed; of those that can break
    grip: Annotated[Floats2, 35]  # (G, 35) NOW ... DAMP
    normal: Annotated[Floats2, 3]  # (J, 3) in b; on_curve: first normal, carried along; on_surface: the last one, or 0
    rows: Annotated[Floats2, 19]  # (R, 19) LINEAR ... LONG_BEFORE
    factor: Floats  # the skyline of rows·inverse mass·rows, factored: nine numbers a tile

    change: Floats  # (R,) scratch: residual, then impulse
    impulse: Floats  # (R,) scratch
    place: Annotated[Floats2, 26]  # (N, 26) scratch: KEPT_POSITION ... BEST_ORIENTATION
    effort: Floats  # (I,) scratch, J: of the joints in the first half of a hard step, else infinite
    poor: Floats  # (I,) scratch: 1 where the joints did not stand the step well
    spare: Spare

    size: Floats  # (I,) m: of the structure that an island is
    apart: Annotated[Floats2, 2]  # (J, 2) gap over that size, and rad: how far each joint is apart; see gaps.py

    worth: Floats  # (I,) J: the energy before poor steps that were taken all the same, else infinite; see thrift.py

    STATE = ("coordinate", "active", "broken", "load", "grip", "normal", "rows", "factor", "worth")
    KEPT = ("fixed",)  # a joint that is made later takes its bodies as they are then


def make_joints(specs: Sequence[JointSpec], bodies: Bodies) -> Joints:
    """Lay the joints out. Follow with `assemble`, which closes their gaps and prepares the first step."""
    problems = [line for spec in specs for line in spec_problems(spec, bodies)]
    if problems:
        raise Problem(*problems)
    movable = bodies.inverse_mass > 0.0
    at_body: dict[int, list[int]] = {}
    for j, spec in enumerate(specs):
        for body in (spec.a, spec.b):
            if movable[body]:
                at_body.setdefault(body, []).append(j)
    islands = _islands([[i for i in (s.a, s.b) if movable[i]] for s in specs], at_body)
    order = [j for island in islands for j in island]

    placed = [place(spec, bodies) for spec in specs]
    each, soft = _lay_out(specs, placed, order)
    pattern = _pattern(each, [len(island) for island in islands], movable)
    crowd = [max(len(at_body.get(i, ())) for i in (spec.a, spec.b)) for spec in specs]
    curves = [piece for j in order for piece in placed[j].curve]
    surfaces = np.array([shapes.KINDS[shapes.kind_of(specs[j].surface)].number for j in order], np.int64)
    rows = 3 * len(pattern.envelope)
    slots = len(specs) + int(np.sum(each["second"] >= 0))
    coordinate = np.zeros(slots)
    coordinate[: len(specs)] = [p.coordinate for p in placed]
    return Joints(
        each=each,
        fixed=np.array([[*placed[j].fixed, 1.0 / crowd[j]] for j in order]),
        curves=np.array(curves) if curves else None,
        surfaces=surfaces if ON_SURFACE in each["kind"] else None,
        soft=soft if len(soft) else None,
        breaks=np.array([spec.breaks for spec in specs]) if np.any(np.isfinite([s.breaks for s in specs])) else None,
        island=pattern.island,
        members=pattern.members,
        loose=np.array([i for i in range(len(movable)) if movable[i] and i not in at_body], np.int64),
        pairs=pattern.pairs,
        blank=pattern.blank,
        envelope=pattern.envelope,
        coordinate=coordinate,
        active=np.zeros(slots),
        broken=np.array([HOLDS if spec.begins else OPEN for spec in specs]),
        load=np.zeros((len(specs), 2)),
        grip=np.zeros((len(soft), GRIP)),
        normal=np.array([p.normal for p in placed], float).reshape(-1, 3),
        rows=np.zeros((rows, 19)),
        factor=np.zeros(9 * pattern.tiles),
        change=np.zeros(rows),
        impulse=np.zeros(rows),
        place=np.zeros((len(movable), 26)),
        effort=np.full(len(islands), np.inf),
        poor=np.zeros(len(islands)),
        worth=np.full(len(islands), np.inf),
        spare=_spare(specs, bodies, pattern, len(soft)),
        size=_sizes(specs, bodies, islands),
        apart=np.zeros((len(specs), 2)),
    )


def _spare(specs: Sequence[JointSpec], bodies: Bodies, pattern: "_Pattern", springs: int) -> Spare:
    joints, rows, n = len(specs), 3 * len(pattern.envelope), len(bodies.mass)
    most = min(3 * int(np.diff(pattern.island[:, TILE]).max()), MOST_ROWS)
    arm = np.array([_gyration(bodies, i) for i in range(n)])
    for spec in specs:
        for body, at in ((spec.a, spec.at), (spec.b, spec.at if spec.at_b is None else spec.at_b)):
            arm[body] = max(arm[body], float(np.linalg.norm(np.asarray(at, float) - bodies.position[body])))
    free = (bodies.inverse_mass > 0.0)[:, None]
    return Spare(
        kept=np.zeros((joints, 7)),
        grip=np.zeros((springs, GRIP)),
        best=np.zeros((joints, 7)),
        even=np.where(free, np.c_[np.ones(n), np.repeat(arm[:, None] ** -2.0, 3, axis=1)], 0.0),
        start=np.zeros((rows, 9)),
        step=np.zeros(rows),
        turning=np.zeros((n, 9)),
        slot=np.zeros(rows, np.int64),
        matrix=np.zeros((most, most)),
        right=np.zeros(most),
        scale=np.zeros(most),
        row=np.zeros(most, np.int64),
        column=np.zeros(most, np.int64),
        work=np.zeros(1),
    )


def _gyration(bodies: Bodies, i: int) -> float:
    """About how far a body reaches from its centre, in m."""
    mass = float(bodies.mass[i])
    return math.sqrt(float(bodies.inertia[i].max()) / mass) if math.isfinite(mass) else 1.0


def _sizes(specs: Sequence[JointSpec], bodies: Bodies, islands: list[list[int]]) -> Floats:
    """How far each structure reaches: the diagonal of a box around its joints and its bodies."""
    sizes = []
    for island in islands:
        points = [np.asarray(specs[j].at, float) for j in island]
        for i in {i for j in island for i in (specs[j].a, specs[j].b) if bodies.inverse_mass[i] > 0.0}:
            points += [bodies.position[i] - _gyration(bodies, i), bodies.position[i] + _gyration(bodies, i)]
        sizes.append(float(np.linalg.norm(np.ptp(points, axis=0))))
    return np.array(sizes)


def _lay_out(
    specs: Sequence[JointSpec], placed: Sequence[Fitted], order: Sequence[int]
) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Who is tied by what, in this order, and where each joint's rows, tiles and pieces of a curve are; then what
    springs and friction there are."""
    each = np.zeros(len(order), EACH)
    soft: list[tuple[float, ...]] = []
    tile = knot = 0
    slots = len(order)
    for k, j in enumerate(order):
        joint, spec = each[k], specs[j]
        kind = KINDS.index(spec.kind)
        if kind == HINGE and spec.limits is not None and spec.limits[0] == spec.limits[1]:  # no freedom is left
            kind = WELD
        yields = kind != WELD and (spec.friction > 0.0 or any(spec.spring[:2]))
        limited = kind != WELD and any(map(math.isfinite, placed[j].fixed[LOWER:WEIGHT]))
        joint["index"], joint["kind"], joint["a"], joint["b"] = j, kind, spec.a, spec.b
        joint["tile"], joint["row"], joint["firm"] = tile, 3 * tile, ROWS[kind]
        joint["row_end"] = 3 * tile + ROWS[kind]
        joint["limit"] = joint["second"] = joint["soft"] = -1
        if kind == SLIDE:  # along the axis, between what holds it across and what keeps it from turning
            joint["limit"], joint["limits"] = 3 * tile + 2, 1
            joint["row_end"] += 1
        elif kind == BALL and limited:
            joint["limit"], joint["limits"], joint["second"] = joint["row_end"], 2, slots
            slots += 1
            joint["row_end"] += 2
        elif kind != BALL and (limited or yields):
            joint["limit"], joint["limits"] = joint["row_end"], 1
            joint["row_end"] += 1
        if yields:
            joint["soft"] = len(soft)
            first, count = (3 * -(-joint["row_end"] // 3), 3) if kind == BALL else (joint["limit"], 1)
            joint["row_end"] = max(joint["row_end"], first + count)
            soft.append((first, count, *spec.spring, spec.friction))
        firm = spec.begins and spec.lasts and not any(map(math.isfinite, spec.breaks))
        joint["partial"] = joint["limits"] > 0 or yields or not firm
        tile = joint["tile_end"] = -(-joint["row_end"] // 3)
        joint["knot"], joint["last_knot"] = knot, knot + len(placed[j].curve) - 1
        joint["closed"], joint["collides"] = spec.closed, spec.collides
        knot += len(placed[j].curve)
    return each, np.array(soft, SOFT)


class _Pattern(NamedTuple):
    """Where joints meet, and so which tiles of their matrix are kept and what fills them; as in `Joints`."""

    island: Integers
    members: Integers
    pairs: Integers
    blank: Integers
    envelope: Integers
    tiles: int


def _pattern(each: NDArray[np.void], counts: Sequence[int], movable: NDArray[np.bool_]) -> _Pattern:
    """The pattern of islands of so many joints each."""
    ends = [(int(joint["a"]), int(joint["b"])) for joint in each]
    at_body: dict[int, list[int]] = {}
    pairs: list[tuple[int, int, int, int, int, bool]] = []
    blank: list[int] = []
    envelope: list[tuple[int, int]] = []
    marks = [(0, 0, 0, 0, 0)]
    size = 0
    for count in counts:
        begin = marks[-1][JOINT]
        for k in range(begin, begin + count):
            met: set[int] = set()
            for side, body in enumerate(ends[k]):
                if movable[body]:
                    here = at_body.setdefault(body, [])
                    here.append(k)
                    pairs += [(k, e, side, int(ends[e][1] == body), body, e in met) for e in here]
                    met.update(here)
            filled = {t for e in met for t in range(each[e]["tile"], each[e]["tile_end"])}
            first = min(filled)
            for t in range(each[k]["tile"], each[k]["tile_end"]):
                envelope.append((first, size - first))
                blank += [size + c - first for c in range(first, t) if c not in filled]
                size += t - first + 1
        marks.append((begin + count, len(envelope), len(at_body), len(pairs), len(blank)))
    return _Pattern(
        island=np.array(marks, np.int64),
        members=np.array(list(at_body), np.int64),
        pairs=np.array(pairs, np.int64).reshape(-1, 6),
        blank=np.array(blank, np.int64),
        envelope=np.array(envelope, np.int64),
        tiles=size,
    )


def _islands(bodies_of: list[list[int]], at_body: dict[int, list[int]]) -> list[list[int]]:
    """Groups of joints that share bodies that move, each ordered so that joints that meet stay close.

    This is the order of Cuthill and McKee, reversed: breadth first, the least connected joints first.
    """
    meets = [sorted({k for body in bodies_of[j] for k in at_body[body]} - {j}) for j in range(len(bodies_of))]
    waiting = set(range(len(meets)))
    islands = []
    while waiting:
        seed = _spread(min(waiting, key=lambda j: (len(meets[j]), j)), meets)[-1]
        island = _spread(seed, meets)[::-1]
        waiting -= set(island)
        islands.append(island)
    return islands


def _spread(seed: int, meets: list[list[int]]) -> list[int]:
    """Everything connected to the seed, breadth first; its last one is about as far away as one can get."""
    found = [seed]
    seen = {seed}
    for j in found:
        for k in sorted(meets[j], key=lambda k: (len(meets[k]), k)):
            if k not in seen:
                seen.add(k)
                found.append(k)
    return found
