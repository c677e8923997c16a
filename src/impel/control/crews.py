"""Crews: actuators that act on one structure together, and what they feel there.

linkage.py knows what turned bodies carry, and what a force on the root of a tree moves that nothing holds. Any other
force pulls at the middle of something, or at the tip of what is held elsewhere. There it feels neither its own
body's mass nor the whole one but something between, different in each direction, that changes with the pose; and what
one actuator does the others feel. So the joints themselves are asked: how does each body answer to each actuator?
(`stage.feel` asks them before every step.)
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats2, Integers2, kernel, struct
from impel.motion.rotations import add, dot, get3, set3

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@struct
class Crews:
    """C crews with D workers, on islands of jointed bodies.

    Workers d and e of a crew meet in tile `row[d, 1] + e`, which is three rows of a (., 3) array.
    """

    island: Integers  # (C,) of the joints
    first: Integers  # (C + 1,) where the workers of each crew begin
    worker: Integers  # (D,) actuators
    row: Integers2  # (D, 2) its crew's first worker, and where column 0 of its row of tiles would be
    # What is felt in the present pose.
    answer: Floats2  # tiles: acceleration, or angular acceleration, of one body over the force or torque on the other
    inertia: Floats2  # tiles: the inverse of that, as far as there is one
    fall: Floats2  # (D, 3) acceleration by gravity alone, with no actuator at work
    # Scratch.
    ease: Floats  # (D,) how easily a worker's body gives way: its largest answer to itself, never nothing
    square: Floats2  # tiles
    column: Floats  # (3D,)
    free: Floats2  # (N, 3) acceleration that each body would have without joints ...
    free_turning: Floats2  # (N, 3) ... and angular acceleration


def make_crews(
    body: Sequence[int], turns: Sequence[bool], leads: Sequence[bool], island_of: Mapping[int, int], bodies: int
) -> Crews | None:
    """Who works with whom: all on one island, if there is a force that does not lead, or more than one.

    `body`, `turns` and `leads` tell of each actuator its body, if it turns, and if it moves a root that nothing holds.
    """
    groups: dict[int, list[int]] = {}
    for a, i in enumerate(body):
        if i in island_of:
            groups.setdefault(island_of[i], []).append(a)
    for island, workers in list(groups.items()):
        moves = [a for a in workers if not turns[a]]
        if not moves or (len(moves) == 1 and leads[moves[0]]):
            del groups[island]
    if not groups:
        return None
    first = np.cumsum([0, *map(len, groups.values())])
    rows, tiles = [], 0
    for start, workers in zip(first, groups.values()):
        n = len(workers)
        rows += [(start, tiles + d * n - start) for d in range(n)]
        tiles += n * n
    return Crews(
        island=np.array(list(groups), np.int64),
        first=first.astype(np.int64),
        worker=np.array([a for workers in groups.values() for a in workers], np.int64),
        row=np.array(rows, np.int64),
        answer=np.zeros((3 * tiles, 3)),
        inertia=np.zeros((3 * tiles, 3)),
        fall=np.zeros((first[-1], 3)),
        ease=np.zeros(first[-1]),
        square=np.zeros((3 * tiles, 3)),
        column=np.zeros(3 * first[-1]),
        free=np.zeros((bodies, 3)),
        free_turning=np.zeros((bodies, 3)),
    )


@kernel
def work_together(crews, accelerations, forces):
    """The forces and torques that give the bodies of the crews these accelerations; both by actuator."""
    if crews is None:
        return
    for c in range(len(crews.island)):
        for d in range(crews.first[c], crews.first[c + 1]):
            force = (0.0, 0.0, 0.0)
            for e in range(crews.first[c], crews.first[c + 1]):
                asked = get3(accelerations, crews.worker[e])
                at = 3 * (crews.row[d, 1] + e)
                u, v, w = get3(crews.inertia, at), get3(crews.inertia, at + 1), get3(crews.inertia, at + 2)
                force = add(force, (dot(u, asked), dot(v, asked), dot(w, asked)))
            set3(forces, crews.worker[d], force)
