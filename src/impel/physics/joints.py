"""Joints as flat arrays, and the order in which their equations are solved; everything here runs once, in plain Python.

Each joint gives a fixed number of rows: conditions between its bodies a and b, and one more, the last, where its
freedom ends (a hinge at its limit, a point at the end of its segment). The rows of a joint with a limit
stay in place while the limit is not met, so that the pattern of the equations never changes. Rows are counted in
threes, the tiles of the matrix: what a joint does not fill is left out like a limit that is not met.
"""

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.kernel import Floats2, Integers2, struct
from impel.physics.bodies import Bodies
from impel.physics.joint_specs import KINDS, JointSpec, Placed, place, spec_problems
from impel.physics.surface import SURFACES

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BALL, HINGE, WELD, ON_SEGMENT, ON_CURVE, ON_SURFACE, IN_SPHERE = range(7)  # in the order of KINDS
ROWS = (3, 5, 6, 2, 2, 1, 0)  # of each kind, without the one for its limit

EACH = np.dtype(
    [
        ("index", "i8"),  # place among the specs, and in `coordinate`, `active` and `normal`
        ("kind", "i8"),
        ("a", "i8"),
        ("b", "i8"),
        ("row", "i8"),  # first row
        ("limit", "i8"),  # row of the limit, or -1
        ("row_end", "i8"),
        ("tile", "i8"),  # the same in tiles of three rows; the last rows of the last one may be empty
        ("tile_end", "i8"),
        ("knot", "i8"),  # on_curve: where it begins and ends in `curves`
        ("last_knot", "i8"),
        ("closed", "i8"),
    ]
)

# Columns of `fixed`: the point in the frame of a and in that of b; the joint's frame in a and in b (a hinge's axis and
# a segment lie along its z); half sizes or radii of the surface, then the radius of its edges; the smallest and largest
# coordinate; 1 over the number of joints of the busier body (003, section 3.1).
AT_A, AT_B, FRAME_A, FRAME_B, SIZE, LOWER, UPPER, WEIGHT = 0, 3, 6, 10, 14, 18, 19, 20

# Columns of `rows`: how a row acts on the velocity of a (on b: the opposite), on the angular momenta of a and b and on
# their spins; 0 for a limit that is not met and for empty rows; its force in the last step and in the one before.
LINEAR, ANGULAR_A, ANGULAR_B, TURNING_A, TURNING_B, LIVE, FORCE, BEFORE = 0, 3, 6, 9, 12, 15, 16, 17

# Columns of `place`: position and orientation before the step; inverse inertia in the world's frame (6, upper half);
# velocity and angular momentum before the joints act; the best position and orientation while gaps are closed.
KEPT_POSITION, KEPT_ORIENTATION, INVERSE, KEPT_VELOCITY, KEPT_MOMENTUM = 0, 3, 7, 13, 16
BEST_POSITION, BEST_ORIENTATION = 19, 22

# Columns of `island`: where its joints, their tiles, its bodies, the pairs of joints and the blank tiles begin.
JOINT, TILE, MEMBER, PAIR, BLANK = range(5)

# Columns of `pairs`: two joints that meet in a body, the later and the earlier one (or the same), on which side of each
# that body is (0: a, 1: b), the body, and 1 if the two have met before, in their other bodies.
LATER, EARLIER, LATER_SIDE, EARLIER_SIDE, SHARED, AGAIN = range(6)


# Columns of what is kept of a joint itself: its coordinate, whether it is at a limit, its first normal.
COORDINATE, ACTIVE, NORMAL = 0, 1, 2

MOST_ROWS = 240  # of an island that `exact` can solve: its matrix is full


@struct
class Spare:
    """Scratch for where the quick way fails: `exact` and `closing`. M is the most rows of an island."""

    kept: Floats2  # (J, 5) before the step: COORDINATE ... NORMAL
    best: Floats2  # (J, 5) at the best place while gaps are closed
    even: Floats2  # (N, 4) inverse mass and inertia of bodies that count alike; see closing.close_evenly
    start: Floats2  # (R, 9) LINEAR ... ANGULAR_B at the start of the step
    step: Floats  # (R,) the last change of the impulses
    turning: Floats2  # (N, 9) how the orientation at the end of the step changes with the angular momentum
    slot: Integers  # (R,) place in the matrix of rows that act, or -1
    matrix: Floats2  # (M, M)
    right: Floats  # (M,)
    scale: Floats  # (M,) of columns
    row: Integers  # (M,) in which order rows ...
    column: Integers  # (M,) ... and columns are eliminated


@struct
class Joints:
    """J joints with R rows in T tiles, over N bodies in I islands (groups that share no body that can move).

    What a scene does not use (curves, surfaces) is None.
    """

    each: Annotated[NDArray[np.void], EACH]  # (J,) who is tied by what, in the order of the rows
    fixed: Floats2  # (J, 21) where, in the same order: AT_A ... WEIGHT
    curves: Floats2 | None  # (K, 13) their pieces, in b: curve.KNOT ...; if there are any
    surfaces: Integers | None  # (J,) which surface, if there are any
    island: Integers2  # (I + 1, 5) where each island begins: JOINT ... BLANK
    members: Integers  # bodies that can move, island by island
    loose: Integers  # bodies that can move and have no joint
    pairs: Integers2  # (P, 6) joints that meet in a body, island by island: LATER ... AGAIN
    blank: Integers  # tiles of the envelope where no joints meet
    envelope: Integers2  # (T, 2) of a row of tiles: skyline.FIRST, skyline.ZERO

    coordinate: Floats  # (J,) angle (of hinges with limits), distance along the segment, parameter on the curve,
    # distance from the centre
    active: Floats  # (J,) -1 at the lower limit, 1 at the upper one, else 0
    normal: Floats2  # (J, 3) on_curve: first normal, in b, carried along
    rows: Floats2  # (R, 18) LINEAR ... BEFORE
    factor: Floats2  # (., 3) the skyline of rows·inverse mass·rows, factored: three rows a tile

    change: Floats  # (R,) scratch: residual, then impulse
    impulse: Floats  # (R,) scratch
    place: Floats2  # (N, 26) scratch: KEPT_POSITION ... BEST_ORIENTATION
    effort: Floats  # (I,) scratch, J: of the joints in the first half of a hard step, else infinite
    spare: Spare

    size: Floats  # (I,) m: of the structure that an island is
    apart: Floats2  # (J, 2) gap over that size, and rad: how far each joint is apart; see gaps.py

    STATE = ("coordinate", "active", "normal", "rows", "factor")


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
    each = _lay_out(specs, placed, order)
    pattern = _pattern(each, [len(island) for island in islands], movable)
    crowd = [max(len(at_body.get(i, ())) for i in (spec.a, spec.b)) for spec in specs]
    curves = [piece for j in order for piece in placed[j].curve]
    surfaces = np.array([SURFACES.index(specs[j].surface) for j in order], np.int64)
    rows = 3 * len(pattern.envelope)
    return Joints(
        each=each,
        fixed=np.array([[*placed[j].fixed, 1.0 / crowd[j]] for j in order]),
        curves=np.array(curves) if curves else None,
        surfaces=surfaces if ON_SURFACE in each["kind"] else None,
        island=pattern.island,
        members=pattern.members,
        loose=np.array([i for i in range(len(movable)) if movable[i] and i not in at_body], np.int64),
        pairs=pattern.pairs,
        blank=pattern.blank,
        envelope=pattern.envelope,
        coordinate=np.array([p.coordinate for p in placed]),
        active=np.zeros(len(specs)),
        normal=np.array([p.normal for p in placed], float).reshape(-1, 3),
        rows=np.zeros((rows, 18)),
        factor=np.zeros((3 * pattern.tiles, 3)),
        change=np.zeros(rows),
        impulse=np.zeros(rows),
        place=np.zeros((len(movable), 26)),
        effort=np.full(len(islands), np.inf),
        spare=_spare(specs, bodies, pattern),
        size=_sizes(specs, bodies, islands),
        apart=np.zeros((len(specs), 2)),
    )


def _spare(specs: Sequence[JointSpec], bodies: Bodies, pattern: "_Pattern") -> Spare:
    joints, rows, n = len(specs), 3 * len(pattern.envelope), len(bodies.mass)
    most = min(3 * int(np.diff(pattern.island[:, TILE]).max()), MOST_ROWS)
    arm = np.array([_gyration(bodies, i) for i in range(n)])
    for spec in specs:
        for body, at in ((spec.a, spec.at), (spec.b, spec.at if spec.at_b is None else spec.at_b)):
            arm[body] = max(arm[body], float(np.linalg.norm(np.asarray(at, float) - bodies.position[body])))
    free = (bodies.inverse_mass > 0.0)[:, None]
    return Spare(
        kept=np.zeros((joints, 5)),
        best=np.zeros((joints, 5)),
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


def _lay_out(specs: Sequence[JointSpec], placed: Sequence[Placed], order: Sequence[int]) -> NDArray[np.void]:
    """Who is tied by what, in this order, and where each joint's rows, tiles and pieces of a curve are."""
    each = np.zeros(len(order), EACH)
    tile = knot = 0
    for k, j in enumerate(order):
        joint, lower, upper = each[k], *placed[j].fixed[LOWER : UPPER + 1]
        kind = KINDS.index(specs[j].kind)
        if kind == HINGE and lower == upper:  # no freedom is left
            kind = WELD
        limited = kind != WELD and (math.isfinite(lower) or math.isfinite(upper))
        joint["index"], joint["kind"], joint["a"], joint["b"] = j, kind, specs[j].a, specs[j].b
        joint["tile"], joint["row"] = tile, 3 * tile
        joint["row_end"] = 3 * tile + ROWS[kind] + limited
        joint["limit"] = joint["row_end"] - 1 if limited else -1
        tile = joint["tile_end"] = -(-joint["row_end"] // 3)
        joint["knot"], joint["last_knot"] = knot, knot + len(placed[j].curve) - 1
        joint["closed"] = specs[j].closed
        knot += len(placed[j].curve)
    return each


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
