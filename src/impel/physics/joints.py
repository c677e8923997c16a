"""Joints as flat arrays, and the order in which their equations are solved; everything here runs once, in plain Python.

Each joint gives a fixed number of rows: conditions between its bodies a and b, and one more, the last, where its
freedom ends (a hinge at its limit, a point at the end of its segment). The rows of a joint with a limit
stay in place while the limit is not met, so that the pattern of the equations never changes.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.motion.rotations import conjugate, multiply, rotate
from impel.physics.bodies import Bodies
from impel.physics.curve import make_spline

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Vector = Sequence[float]

BALL, HINGE, WELD, ON_SEGMENT, ON_CURVE, ON_SURFACE, IN_SPHERE = range(7)
KINDS = ("ball", "hinge", "weld", "on_segment", "on_curve", "on_surface", "in_sphere")
ROWS = (3, 5, 6, 2, 2, 1, 0)  # of each kind, without the one for its limit
SURFACES = ("plane", "sphere", "box", "cylinder", "capsule")
SIZES = (0, 1, 3, 2, 2)  # numbers that `size` holds for each surface
ROUNDED_EDGE = 0.05  # radius of a surface's edges over its smallest half size: a point cannot turn round a sharp one


class JointSpec(NamedTuple):
    """What ties body a to body b, in world coordinates at time 0. The point is always a's, its freedom always b's."""

    kind: str
    a: int
    b: int
    at: Vector  # the point of a
    at_b: Vector | None = None  # the point of b, or the surface's origin; not given: the same place
    axis: Vector = (0.0, 0.0, 1.0)  # hinge
    limits: tuple[float, float] | None = None  # hinge: angle of b relative to a, radians, zero as placed
    points: Sequence[Vector] = ()  # on_segment: its two ends; on_curve: what the curve goes through
    closed: bool = False  # on_curve
    surface: str = "plane"  # on_surface: one of SURFACES
    size: Vector = ()  # sphere: radius; box: full sizes; cylinder, capsule: radius, length (along local z)
    orientation: Vector = (1.0, 0.0, 0.0, 0.0)  # of the surface in the world; a plane's normal is its local z
    radius: float = 0.0  # in_sphere
    name: str = "joint"  # for messages


class Joints(NamedTuple):
    """J joints with R rows, over N bodies in I islands (groups that share no body that can move)."""

    kind: Integers  # (J,)
    a: Integers  # (J,)
    b: Integers  # (J,)
    at_a: Floats  # (J, 3) in the frame of a
    at_b: Floats  # (J, 3) in the frame of b
    frame_a: Floats  # (J, 4) the joint's frame in a: a hinge's axis is its z
    frame_b: Floats  # (J, 4) the same in b: a segment lies along its z
    lower: Floats  # (J,) smallest coordinate: angle, distance along the segment or curve
    upper: Floats  # (J,) largest one; of in_sphere, its radius
    surface: Integers  # (J,)
    size: Floats  # (J, 4) half sizes or radii of the surface, then the radius of its edges
    knots: Floats  # parameters where the pieces of all curves begin, and where each curve ends
    pieces: Floats  # (len(knots), 4, 3) cubic coefficients, in the frame of b
    curve: Integers  # (J, 3) first and last knot, closed
    row: Integers  # (J,) first row
    limit: Integers  # (J,) row of the limit, or -1
    row_end: Integers  # (J,)
    sequence: Integers  # (J,) joints in the order of their rows
    island: Integers  # (I + 1, 4) where each island begins: in sequence, rows, members, pairs
    members: Integers  # bodies that can move, island by island
    loose: Integers  # bodies that can move and have no joint
    pairs: Integers  # (P, 5) joints that meet in a body: later joint, earlier one, their sides, the body
    count: Integers  # (N,) joints of each body
    first: Integers  # (R,) first column
    start: Integers  # (R,) where column 0 would be in `factor`

    coordinate: Floats  # (J,) angle, distance along the segment, parameter on the curve, distance from the centre
    active: Floats  # (J,) -1 at the lower limit, 1 at the upper one, else 0
    normal: Floats  # (J, 3) on_curve: first normal, in b, carried along
    live: Floats  # (R,) 0 for rows of limits that are not met
    force: Floats  # (R,) in the last step
    before: Floats  # (R,) in the step before
    linear: Floats  # (R, 3) how a row acts on the velocity of a; on b the opposite
    angular: Floats  # (R, 6) how it acts on the angular momentum of a, then of b
    turning: Floats  # (R, 6) how it acts on the spin of a, then of b
    factor: Floats  # the skyline of rows·inverse mass·rows, factored

    change: Floats  # (R,) scratch: residual, then impulse
    impulse: Floats  # (R,) scratch
    place: Floats  # (N, 7) scratch: position and orientation before the step
    inverse: Floats  # (N, 6) scratch: inverse inertia in the world's frame

    STATE = (
        "coordinate", "active", "normal", "live", "force", "before", "linear", "angular", "turning", "factor",
    )  # fmt: skip


def make_joints(specs: Sequence[JointSpec], bodies: Bodies) -> Joints:
    """Lay the joints out. Follow with `assemble`, which closes their gaps and prepares the first step."""
    problems = [line for spec in specs for line in _problems(spec, bodies)]
    if problems:
        raise Problem(*problems)
    n = len(specs)
    a = np.array([s.a for s in specs], np.int64)
    b = np.array([s.b for s in specs], np.int64)
    kind = np.array([KINDS.index(s.kind) for s in specs], np.int64)
    columns = [_place(spec, bodies) for spec in specs]
    lower, upper = (np.array([c[key] for c in columns], float) for key in ("lower", "upper"))
    locked = (kind == HINGE) & (lower == upper)  # no freedom is left
    kind[locked] = WELD
    limited = (kind != WELD) & (np.isfinite(lower) | np.isfinite(upper))
    height = np.array(ROWS)[kind] + limited

    curves = [c["spline"] for c in columns]
    lengths = [len(s[0]) if s else 0 for s in curves]
    ends = np.cumsum(lengths)
    curve = np.array(
        [(end - length, end - 1, spec.closed) for end, length, spec in zip(ends, lengths, specs)], np.int64
    )
    knots = [s[0] for s in curves if s] or [np.zeros(1)]
    pieces = [s[1] for s in curves if s] or [np.zeros((1, 4, 3))]

    movable = bodies.inverse_mass > 0.0
    at_body: dict[int, list[int]] = {}
    for j in range(n):
        for body in (int(a[j]), int(b[j])):
            if movable[body]:
                at_body.setdefault(body, []).append(j)
    islands = _islands(n, a, b, at_body)
    sequence = np.array([j for island in islands for j in island], np.int64)
    row_end = np.zeros(n, np.int64)
    row_end[sequence] = np.cumsum(height[sequence])
    row = row_end - height

    first = np.zeros(int(height.sum()), np.int64)
    pairs: list[tuple[int, int, int, int, int]] = []
    members: list[int] = []
    marks = [(0, 0, 0, 0)]
    for island in islands:
        for j in island:
            bodies_of_joint = [int(x) for x in (a[j], b[j]) if movable[x]]
            neighbours = [k for body in bodies_of_joint for k in at_body[body] if row[k] <= row[j]]
            first[row[j] : row_end[j]] = min(row[k] for k in neighbours)
            for body in bodies_of_joint:
                pairs += [(j, k, int(b[j] == body), int(b[k] == body), body) for k in at_body[body] if row[k] <= row[j]]
                if body not in members[marks[-1][2] :]:
                    members.append(body)
        marks.append((marks[-1][0] + len(island), int(row_end[island[-1]]), len(members), len(pairs)))
    widths = np.arange(len(first)) - first + 1
    start = np.cumsum(widths) - widths - first

    rows = len(first)
    return Joints(
        kind=kind,
        a=a,
        b=b,
        at_a=np.array([c["at_a"] for c in columns]),
        at_b=np.array([c["at_b"] for c in columns]),
        frame_a=np.array([c["frame_a"] for c in columns]),
        frame_b=np.array([c["frame_b"] for c in columns]),
        lower=lower,
        upper=upper,
        surface=np.array([SURFACES.index(s.surface) for s in specs], np.int64),
        size=np.array([c["size"] for c in columns]),
        knots=np.concatenate(knots),
        pieces=np.concatenate(pieces),
        curve=curve,
        row=row,
        limit=np.where(limited, row_end - 1, -1),
        row_end=row_end,
        sequence=sequence,
        island=np.array(marks, np.int64),
        members=np.array(members, np.int64),
        loose=np.array([i for i in range(len(movable)) if movable[i] and i not in at_body], np.int64),
        pairs=np.array(pairs, np.int64),
        count=np.array([len(at_body.get(i, ())) for i in range(len(movable))], np.int64),
        first=first,
        start=start,
        coordinate=np.array([c["coordinate"] for c in columns]),
        active=np.zeros(n),
        normal=np.array([c["normal"] for c in columns]),
        live=np.ones(rows),
        force=np.zeros(rows),
        before=np.zeros(rows),
        linear=np.zeros((rows, 3)),
        angular=np.zeros((rows, 6)),
        turning=np.zeros((rows, 6)),
        factor=np.zeros(int(widths.sum())),
        change=np.zeros(rows),
        impulse=np.zeros(rows),
        place=np.zeros((len(movable), 7)),
        inverse=np.zeros((len(movable), 6)),
    )


def _problems(spec: JointSpec, bodies: Bodies) -> Iterable[str]:
    """What keeps a joint from being built, one line each."""
    n = len(bodies.mass)
    if spec.kind not in KINDS:
        yield f"{spec.name}: kind: must be one of {', '.join(KINDS)}, got {spec.kind}"
        return
    if not (0 <= spec.a < n and 0 <= spec.b < n) or spec.a == spec.b:
        yield f"{spec.name}: {spec.kind}: must name two different bodies"
    elif not (bodies.inverse_mass[spec.a] > 0.0 or bodies.inverse_mass[spec.b] > 0.0):
        yield f"{spec.name}: {spec.kind}: ties two bodies that cannot give way; at least one must be free"
    if spec.kind == "hinge" and not np.linalg.norm(spec.axis) > 0.0:
        yield f"{spec.name}: axis: must not be zero"
    if spec.limits is not None and not spec.limits[0] <= spec.limits[1]:
        yield f"{spec.name}: limits: the first must not be greater than the second"
    if spec.kind == "on_segment" and len(spec.points) != 2:
        yield f"{spec.name}: points: a segment has two ends, got {len(spec.points)}"
    if spec.kind == "on_curve" and len(spec.points) < (3 if spec.closed else 2):
        yield f"{spec.name}: points: a curve needs at least {3 if spec.closed else 2}, got {len(spec.points)}"
    if spec.kind in ("on_segment", "on_curve") and len(spec.points) > 1:
        points = [*spec.points, spec.points[0]] if spec.closed else spec.points
        steps = np.diff(np.array(points, float), axis=0)
        if not np.all(np.linalg.norm(steps, axis=1) > 0.0):
            yield f"{spec.name}: points: neighbours must not be at the same place"
    if spec.kind == "on_surface":
        if spec.surface not in SURFACES:
            yield f"{spec.name}: surface: must be one of {', '.join(SURFACES)}, got {spec.surface}"
        elif len(spec.size) != SIZES[SURFACES.index(spec.surface)] or not all(s > 0.0 for s in spec.size):
            yield f"{spec.name}: size: a {spec.surface} has {SIZES[SURFACES.index(spec.surface)]} sizes greater than 0"
    if spec.kind == "in_sphere" and not spec.radius > 0.0:
        yield f"{spec.name}: radius: must be greater than 0, got {spec.radius:g}"


def _place(spec: JointSpec, bodies: Bodies) -> dict[str, object]:
    """A joint in the frames of its bodies."""
    at = np.asarray(spec.at, float)
    at_b = at if spec.at_b is None else np.asarray(spec.at_b, float)
    frame: Vector = (1.0, 0.0, 0.0, 0.0)
    lower, upper, coordinate = -math.inf, math.inf, 0.0
    size = [0.0] * 4
    spline = None
    normal = (1.0, 0.0, 0.0)
    if spec.kind == "hinge":
        frame = _to_axis(spec.axis)
        lower, upper = spec.limits or (lower, upper)
    elif spec.kind == "on_segment":
        at_b = np.asarray(spec.points[0], float)
        along = np.asarray(spec.points[1], float) - at_b
        frame = _to_axis(along)
        lower, upper = 0.0, float(np.linalg.norm(along))
        coordinate = float((at - at_b) @ along) / upper
    elif spec.kind == "on_curve":
        spline = make_spline([_into(bodies, spec.b, p) for p in spec.points], closed=spec.closed)
        point = _into(bodies, spec.b, at)
        nearest = np.argmin([np.linalg.norm(piece[0] - point) for piece in spline[1]])
        coordinate = float(spline[0][nearest])
        tangent = spline[1][nearest, 1]
        normal = np.cross(tangent, np.eye(3)[np.argmin(np.abs(tangent))])
        if not spec.closed:
            lower, upper = 0.0, float(spline[0][-1])
    elif spec.kind == "on_surface":
        frame = spec.orientation
        size = _surface_size(spec)
    elif spec.kind == "in_sphere":
        upper = float(spec.radius)
    return {
        "at_a": _into(bodies, spec.a, at),
        "at_b": _into(bodies, spec.b, at_b),
        "frame_a": _frame_in(bodies, spec.a, frame),
        "frame_b": _frame_in(bodies, spec.b, frame),
        "lower": lower,
        "upper": upper,
        "coordinate": coordinate,
        "size": size,
        "spline": spline,
        "normal": normal,
    }


def _surface_size(spec: JointSpec) -> list[float]:
    if spec.surface == "box":
        half = [0.5 * s for s in spec.size]
        return [*half, ROUNDED_EDGE * min(half)]
    if spec.surface == "cylinder":
        radius, half_length = spec.size[0], 0.5 * spec.size[1]
        return [radius, half_length, 0.0, ROUNDED_EDGE * min(radius, half_length)]
    if spec.surface == "capsule":
        return [spec.size[0], 0.5 * spec.size[1], 0.0, 0.0]
    return [*spec.size, *[0.0] * (4 - len(spec.size))]


# The plain Python behind the kernels' vector helpers: the same formulas, nothing to compile.
_multiply, _conjugate, _rotate = multiply.py_func, conjugate.py_func, rotate.py_func


def _into(bodies: Bodies, i: int, point: Vector | Floats) -> Floats:
    q = tuple(bodies.orientation[i])
    return np.array(_rotate(_conjugate(q), tuple(np.asarray(point, float) - bodies.position[i])))


def _frame_in(bodies: Bodies, i: int, frame: Vector) -> Floats:
    return np.array(_multiply(_conjugate(tuple(bodies.orientation[i])), tuple(frame)))


def _to_axis(axis: Vector | Floats) -> Vector:
    """The shortest rotation that brings z to the axis."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    if z < -0.999999:
        return 0.0, 1.0, 0.0, 0.0
    q = np.array([1.0 + z, -y, x, 0.0])
    return tuple(q / np.linalg.norm(q))


def _islands(n: int, a: Integers, b: Integers, at_body: dict[int, list[int]]) -> list[list[int]]:
    """Groups of joints that share bodies that move, each ordered so that joints that meet stay close.

    This is the order of Cuthill and McKee, reversed: breadth first, the least connected joints first.
    """
    meets = [sorted({k for body in (int(a[j]), int(b[j])) for k in at_body.get(body, ()) if k != j}) for j in range(n)]
    waiting = set(range(n))
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


def carried_order(a: Sequence[int], b: Sequence[int], roots: Iterable[int], n: int) -> tuple[list[int], list[int]]:
    """Which joint carries each body, seen from the roots: (parent body of each body or -1, bodies nearest first).

    Breadth first, so loops are broken where the two ways round are equally long. Bodies that no root reaches are
    left out of the order and have no parent.
    """
    ties: list[list[int]] = [[] for _ in range(n)]
    for i, j in zip(a, b):
        ties[i].append(j)
        ties[j].append(i)
    parent = [-1] * n
    order = list(dict.fromkeys(roots))
    seen = set(order)
    queue = deque(order)
    while queue:
        i = queue.popleft()
        for j in ties[i]:
            if j not in seen:
                seen.add(j)
                parent[j] = i
                order.append(j)
                queue.append(j)
    return parent, order
