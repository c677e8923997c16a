"""The mass and inertia that an actuator really has to move: its body, and what hangs on it."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from impel.motion.rotations import matrix_from_quaternion

Floats = NDArray[np.float64]


class Placed(Protocol):
    """What is needed of `physics.bodies.Bodies`."""

    @property
    def position(self) -> Floats: ...
    @property
    def orientation(self) -> Floats: ...
    @property
    def mass(self) -> Floats: ...
    @property
    def inertia(self) -> Floats: ...


class Tree(NamedTuple):
    """How bodies hang together: a tree that spans the joints, rooted at what is fixed or, failing that, anywhere."""

    parent: NDArray[np.int64]  # (N,) -1 for roots and free bodies
    pivot: Floats  # (N, 3) the joint to the parent, in the body's own frame; ignored for roots
    welded: NDArray[np.bool_]  # (N,) to the parent, so that both turn as one


class Felt(NamedTuple):
    """Per body, in its own frame, constant as long as the joints hold."""

    mass: Floats  # (N,) of the body and all that it carries
    inertia: Floats  # (N, 3, 3) about the joint to the parent; about the centre of mass for roots
    lever: Floats  # (N, 3) mass times arm about the joint to the parent; about the body's centre for roots


def what_is_felt(bodies: Placed, tree: Tree | None) -> Felt:
    """Masses and inertias felt at each body.

    A carried body turns as it likes, so it counts as a point mass where it is attached: this is the diagonal of the mass
    matrix in absolute angles. Welded bodies count with their whole inertia.
    """
    n = len(bodies.mass)
    free = np.isfinite(bodies.mass)
    mass = np.where(free, bodies.mass, 0.0)
    # Mass, first and second moment about each body's origin, of all that turns with it.
    first = np.zeros((n, 3))
    second = np.zeros((n, 3, 3))
    second[:, range(3), range(3)] = np.where(free[:, None], bodies.inertia, 0.0)
    pivot = np.full((n, 3), np.nan)
    if tree is not None:
        axes = matrix_from_quaternion(bodies.orientation)
        pivot = np.where((tree.parent >= 0)[:, None], tree.pivot, np.nan)
        for child in _leaves_first(tree.parent):
            parent = tree.parent[child]
            if parent < 0 or not free[parent]:
                continue
            turn = axes[parent].T @ axes[child]
            apart = axes[parent].T @ (bodies.position[child] - bodies.position[parent])
            if tree.welded[child]:
                moment = turn @ first[child]
                second[parent] += turn @ second[child] @ turn.T + _shifted(mass[child], moment, apart)
                first[parent] += moment + mass[child] * apart
            else:
                anchor = apart + turn @ pivot[child]
                second[parent] += _shifted(mass[child], np.zeros(3), anchor)
                first[parent] += mass[child] * anchor
            mass[parent] += mass[child]
    lever = first.copy()
    inertia = second.copy()
    for i in np.flatnonzero(free):
        if np.isnan(pivot[i, 0]):
            inertia[i] += _shifted(mass[i], first[i], -first[i] / mass[i])
        else:
            inertia[i] += _shifted(mass[i], first[i], -pivot[i])
            lever[i] -= mass[i] * pivot[i]
    return Felt(mass=mass, inertia=inertia, lever=lever)


def _shifted(mass: float, moment: Floats, by: Floats) -> Floats:
    """What the inertia about the origin grows by when everything is moved `by`."""
    both = np.outer(moment, by)
    both = both + both.T + mass * np.outer(by, by)
    return np.trace(both) * np.eye(3) - both


def _leaves_first(parent: NDArray[np.int64]) -> list[int]:
    children: list[list[int]] = [[] for _ in parent]
    for child, above in enumerate(parent):
        if above >= 0:
            children[above].append(child)
    order = [i for i, above in enumerate(parent) if above < 0]
    for i in order:  # grows while it is read: parents first
        order.extend(children[i])
    return order[::-1]
