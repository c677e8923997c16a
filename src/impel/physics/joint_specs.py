"""Joints as they are written: between two bodies, in world coordinates at time 0; and seen from these bodies."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry import kinds as shapes
from impel.motion.rotations import conjugate, multiply, rotate
from impel.physics.bodies import Bodies
from impel.physics.curve import KNOT, POINT, SLOPE, SQUARE, make_curve

Floats = NDArray[np.float64]
Vector = Sequence[float]

KINDS = ("ball", "hinge", "weld", "on_segment", "on_curve", "on_surface", "in_sphere", "slide")
SURFACES = tuple(name for name in shapes.KINDS if name != "blob")
FLAT: dict[str, Any] = {"plane": {}}
ROUNDED_EDGE = 0.05  # radius of a surface's edges over its smallest half size: a point cannot turn round a sharp one


class JointSpec(NamedTuple):
    """What ties body a to body b, in world coordinates at time 0. The point is always a's, its freedom always b's."""

    kind: str
    a: int
    b: int
    at: Vector  # the point of a
    at_b: Vector | None = None  # the point of b, or the surface's origin; not given: the same place
    axis: Vector = (0.0, 0.0, 1.0)  # hinge, slide; of a ball, what `cone` and `twist` are about
    limits: tuple[float, float] | None = None  # hinge: angle of b relative to a, radians; slide: metres; zero as placed
    cone: float = math.inf  # ball: how far b may lean, radians
    twist: tuple[float, float] = (-math.inf, math.inf)  # ball: how far b may turn about its axis, radians
    points: Sequence[Vector] = ()  # on_segment: its two ends; on_curve: what the curve goes through
    closed: bool = False  # on_curve
    surface: dict[str, Any] = FLAT  # on_surface: a shape as a scene writes it, of one of SURFACES
    orientation: Vector = (1.0, 0.0, 0.0, 0.0)  # of the surface in the world; a plane's normal is its local z
    radius: float = 0.0  # in_sphere
    friction: float = 0.0  # N·m, or N along a slide or segment
    spring: tuple[float, float, float] = (0.0, 0.0, 0.0)  # stiffness, damping, rest: N·m, s, rad, or N, s, m on a slide
    breaks: tuple[float, float] = (math.inf, math.inf)  # N, N·m
    collides: bool = False  # whether the two may touch
    begins: bool = True  # whether it is there from the start
    lasts: bool = True  # whether it stays as long as it does not break
    name: str = "joint"  # for messages


def spec_problems(spec: JointSpec, bodies: Bodies) -> Iterable[str]:
    """What keeps a joint from being built, one line each."""
    n = len(bodies.mass)
    if spec.kind not in KINDS:
        yield f"{spec.name}: kind: must be one of {', '.join(KINDS)}, got {spec.kind}"
        return
    if not (0 <= spec.a < n and 0 <= spec.b < n) or spec.a == spec.b:
        yield f"{spec.name}: {spec.kind}: must name two different bodies"
    elif not (bodies.inverse_mass[spec.a] > 0.0 or bodies.inverse_mass[spec.b] > 0.0):
        yield f"{spec.name}: {spec.kind}: ties two bodies that cannot give way; at least one must be free"
    if spec.kind in ("hinge", "slide") and not np.linalg.norm(spec.axis) > 0.0:
        yield f"{spec.name}: axis: must not be zero"
    if spec.limits is not None and not spec.limits[0] <= spec.limits[1]:
        yield f"{spec.name}: limits: the first must not be greater than the second"
    if spec.limits is not None and spec.limits[0] == spec.limits[1] != 0.0:
        yield f"{spec.name}: limits: are equal; use a weld of bodies that are placed as they shall stay"
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
        kind = next(iter(spec.surface), "nothing")
        if kind not in SURFACES:
            yield f"{spec.name}: surface: must be one of {', '.join(SURFACES)}, got {kind}"
        elif not _has_size(spec.surface):
            yield f"{spec.name}: surface: {kind}: needs sizes greater than 0, got {spec.surface[kind]}"
    if spec.kind == "in_sphere" and not spec.radius > 0.0:
        yield f"{spec.name}: radius: must be greater than 0, got {spec.radius:g}"


class Fitted(NamedTuple):
    """A joint in the frames of its bodies."""

    fixed: list[float]  # columns AT_A to WEIGHT
    coordinate: float
    curve: list[Floats]
    normal: Vector


def place(spec: JointSpec, bodies: Bodies) -> Fitted:
    """A joint as its bodies see it where they are now."""
    at = np.asarray(spec.at, float)
    at_b = at if spec.at_b is None else np.asarray(spec.at_b, float)
    frame: Vector = (1.0, 0.0, 0.0, 0.0)
    lower, upper, coordinate = -math.inf, math.inf, 0.0
    second = (-math.inf, math.inf)
    size = [0.0] * 4
    curve: list[Floats] = []
    normal: Vector = (0.0, 0.0, 0.0)
    if spec.kind in ("hinge", "slide"):
        frame = _to_axis(spec.axis)
        lower, upper = spec.limits or (lower, upper)
    elif spec.kind == "ball":
        frame = _to_axis(spec.axis)
        upper, second = spec.cone, spec.twist
    elif spec.kind == "on_segment":
        at_b = np.asarray(spec.points[0], float)
        along = np.asarray(spec.points[1], float) - at_b
        frame = _to_axis(along)
        lower, upper = 0.0, float(np.linalg.norm(along))
    elif spec.kind == "on_curve":
        curve = list(make_curve(np.array([_into(bodies, spec.b, p) for p in spec.points]), closed=spec.closed))
        point = _into(bodies, spec.b, at)
        nearest = min(curve, key=lambda piece: float(np.linalg.norm(piece[POINT:SLOPE] - point)))
        coordinate = float(nearest[KNOT])
        tangent = nearest[SLOPE:SQUARE]
        normal = tuple(np.cross(tangent, np.eye(3)[np.argmin(np.abs(tangent))]))
        if not spec.closed:
            lower, upper = 0.0, float(curve[-1][KNOT])
    elif spec.kind == "on_surface":
        frame = spec.orientation
        size = _core_size(spec.surface)
    elif spec.kind == "in_sphere":
        upper = float(spec.radius)
    fixed = [
        *_into(bodies, spec.a, at),
        *_into(bodies, spec.b, at_b),
        *_frame_in(bodies, spec.a, frame),
        *_frame_in(bodies, spec.b, frame),
        *size,
        lower,
        upper,
        *second,
    ]
    return Fitted(fixed, coordinate, curve, normal)


def _has_size(surface: dict[str, Any]) -> bool:
    kind = shapes.KINDS[shapes.kind_of(surface)]
    try:
        return all(size > 0.0 for size in kind.size(surface[shapes.kind_of(surface)]))
    except (TypeError, ValueError, LookupError):
        return False


def _core_size(surface: dict[str, Any]) -> list[float]:
    """The size of a surface without its edges, and the radius of these."""
    kind, size = shapes.KINDS[shapes.kind_of(surface)], shapes.size_of(surface)
    edge = ROUNDED_EDGE * float(kind.extent(size)[shapes.INNER]) if kind.edged else 0.0
    return [*(s - edge for s in size), edge]


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
