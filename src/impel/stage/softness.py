"""The surfaces of soft bodies in a take: those whose author told how stiff they are, where others press them in."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.shapes import make_extents, make_shapes
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.coating import make_tables
from impel.physics.covers import Stretch, soft_surfaces
from impel.physics.skin_contacts import Touch
from impel.scene.bodies import Body
from impel.stage.compile import Compiled, coatings_of
from impel.stage.state import Stage
from impel.takes.soft import Arrays, pack_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def is_soft(body: Body) -> bool:
    """Whether it may be seen to yield."""
    return body.coating.stiffness is not None


def who_touches(stage: Stage, compiled: Compiled) -> Integers:
    """One row that tells who may touch whom now: for each body whether it collides at all, then pairs that do not."""
    if stage.contacts is None:
        return np.array([body.collides is not False for body in compiled.cast.values()], np.int64)
    near = stage.contacts.near
    return np.concatenate([near.collides[: len(compiled.cast)].astype(np.int64), near.excluded])


def soft_of(compiled: Compiled, stage: Stage, position: Floats, orientation: Floats, touching: Integers) -> Arrays:
    """What a take holds of its soft surfaces: bodies are there (F, N, 3), turned so (F, N, 4), and may touch (F, K) as
    `who_touches` tells."""
    cast = list(compiled.cast.values())
    soft: Arrays = {}
    if not any(map(is_soft, cast)):
        return {}
    touch = _touch(compiled, stage, position, orientation)
    stretches = _stretches(touching, len(cast), len(stage.bodies.mass))
    for i, (name, body) in enumerate(compiled.cast.items()):
        if is_soft(body):
            surfaces = soft_surfaces(
                touch, i, body.shape.to_document(), compiled.centre[i], compiled.axes[i], stretches
            )
            if surfaces is not None:
                painted = surfaces.colors if body.color is None else None
                soft |= pack_rows(name, surfaces[:3], surfaces.moved, painted)
    return soft


def _touch(compiled: Compiled, stage: Stage, position: Floats, orientation: Floats) -> Touch:
    cast = list(compiled.cast.values())
    shapes = make_shapes([body.form for body in cast])
    coatings = coatings_of(compiled.cast, stage.bodies)[: len(cast)]
    offset = np.einsum("fbij,bj->fbi", matrix_from_quaternion(orientation), compiled.centre)
    return Touch(
        shapes=shapes,
        extent=make_extents(shapes),
        softness=np.array([0.0 if math.isinf(own.stiffness) else 1.0 / own.stiffness for own in coatings]),
        tables=make_tables(coatings),
        varies=np.array([len(own.curve) > 0 for own in coatings], np.int64),
        bulge=np.array([body.coating.bulge for body in cast]),
        position=np.ascontiguousarray(position + offset),
        orientation=np.ascontiguousarray(multiply_quaternions(orientation, compiled.axes)),
    )


def _stretches(touching: Integers, count: int, bodies: int) -> list[Stretch]:
    """Frames in which the same bodies may touch."""
    changes = np.flatnonzero(np.any(touching[1:] != touching[:-1], axis=1)) + 1
    stretches: list[Any] = []
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), len(touching)]):
        collides, excluded = touching[first, :count] != 0, touching[first, count:]
        meets = collides[:, None] & collides
        i, j = np.divmod(excluded[excluded >= 0], bodies)
        within = (i < count) & (j < count)
        meets[i[within], j[within]] = meets[j[within], i[within]] = False
        stretches.append((first, last, meets))
    return stretches
