"""Which bodies are near enough to touch: fattened boxes, sorted along one axis, remade only when a body leaves its own.

`find_pairs` is called between steps, never inside one: what it writes is constant during a step. The kernels are
handed the arrays they need, one by one: numba's compile time grows with every array a function takes.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.geometry.kinds import CORE, INNER, PLANE, RADIUS, SKIN, SPHERE
from impel.kernel import Floats2, Integers2, kernel, replace, struct
from impel.motion.rotations import get3, get3_at, get4, norm, rotate, set3_at, set4_at, sub
from impel.physics.coating import mix
from impel.physics.friction import REMEMBERED

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MARGIN_SIZE = 0.06  # a body's margin: this share of its size ...
MARGIN_TIME = 0.03  # ... plus the way it goes in this time, s. Measured: benchmarks/balls.py and boxes.py
MARGIN_MOST = 0.15  # of its radius: what falls in a crowd must not list the whole crowd

# Entries of `near.info`: pairs listed, pairs there should be room for, whether the list is built, how often it was.
COUNT, WANTED, BUILT, BUILDS = range(4)
LOWEST, HIGHEST = 0, 3  # columns of `near.box`
POSITION, ORIENTATION = 0, 3  # columns of `near.built`
# Columns of `contacts.place`: centre of pressure; normal from the second body to the first; 1 where they touch, falling
# to 0 when they are no longer near; stiffness (N/m); mean products of the patch's extent (m²): xx, xy, xz, yy, yz, zz;
# normal force (N), where they touch.
POINT, NORMAL, MET, STIFF, SPREAD, LOAD, PLACE = 0, 3, 6, 7, 8, 14, 15

HASTE, EASE = 0, 1  # columns of `contacts.haste`

# Columns of `contacts.seen`: where two boxes or meshes were, how they were turned, how many points of each were listed
# then; and of meshes, how far they may move until others must be, and how far they did.
COUNTS, ALLOWED, MOVED, SEEN = 7, 9, 10, 11
MOST = 40  # points of either that `contacts.listed` has room for; where there are more, all are looked at ...
MOST_OF_MESH = 400  # ... as many where there are meshes
UNLISTED = -1.0


@struct
class Near:
    """The broad phase of N bodies with room for P pairs."""

    info: Integers  # (4,) COUNT ...
    box: Floats2  # (N, 6) fattened: LOWEST and HIGHEST corner
    margin: Floats  # (N,) by how much
    built: Floats2  # (N, 7) POSITION and ORIENTATION when the boxes were made
    order: Integers  # (N,) bodies by the lower ends of their boxes
    collides: NDArray[np.bool_]  # (N,)
    excluded: Integers  # sorted keys i·N + j with i < j, some of them twice; -1 leaves room for more
    pair: Integers2  # (P, 2) scratch
    memory: Floats2  # (P, 46) scratch: touching, haste, friction, place
    table: Integers  # scratch: pairs that touch or touched, by a hash of their bodies

    KEPT = ("info", "margin", "built", "order", "collides", "excluded")


@kernel
def find_pairs(bodies, contacts, dt):
    """List every pair that may touch during the coming dt; is there room for all?

    If not, `grow` the contacts and call again.
    """
    near, kind, extent = contacts.near, contacts.shapes.kind, contacts.extent
    if near.info[BUILT] == 1 and _all_inside(
        bodies.position, bodies.orientation, bodies.velocity, bodies.spin, near.built, near.margin, kind, extent, dt
    ):
        return True
    _bound(
        bodies.position,
        bodies.orientation,
        bodies.velocity,
        bodies.spin,
        bodies.inverse_mass,
        kind,
        extent,
        near.built,
        near.margin,
        near.box,
        dt,
    )
    axis = _widest_axis(bodies.position)
    _sort(near.order, near.box, axis)
    found = _sweep(
        near.order, near.box, axis, near.collides, near.excluded, bodies.inverse_mass, kind, extent, near.pair
    )
    near.info[WANTED] = found
    if found > len(contacts.touching):
        near.info[BUILT] = 0
        return False
    _carry_over(
        near.table,
        near.pair,
        near.memory,
        contacts.pair,
        contacts.touching,
        contacts.haste,
        contacts.friction,
        contacts.place,
        near.info[COUNT],
        found,
    )
    mix(
        contacts.pair,
        found,
        kind,
        extent,
        contacts.coating,
        contacts.tables,
        bodies.inverse_mass,
        contacts.material,
    )
    for p in range(found):
        contacts.seen[p, COUNTS] = UNLISTED
    near.info[COUNT] = found
    near.info[BUILT] = 1
    near.info[BUILDS] += 1
    return True


@kernel
def _all_inside(position, orientation, velocity, spin, built, margin, kind, extent, dt):
    """Whether no point of any body can leave its fattened box within dt."""
    for i in range(len(margin)):
        way = norm(sub(get3(position, i), get3_at(built, i, POSITION)))
        way += norm(get3(velocity, i)) * dt
        if kind[i] != SPHERE and kind[i] != PLANE:
            turned, same = 0.0, 0.0
            for k in range(4):
                same += orientation[i, k] * built[i, ORIENTATION + k]
            sign = 1.0 if same >= 0.0 else -1.0
            for k in range(4):
                turned += (orientation[i, k] - sign * built[i, ORIENTATION + k]) ** 2
            # A turn by θ moves a point at radius r by 2r·sin(θ/2) ≤ 2r·|q - q0|.
            way += extent[i, RADIUS] * (2.0 * math.sqrt(turned) + norm(get3(spin, i)) * dt)
        if way > margin[i]:
            return False
    return True


@kernel
def _bound(position, orientation, velocity, spin, inverse_mass, kind, extent, built, margin, box, dt):
    """Make the fattened boxes, and note what they were made from."""
    for i in range(len(margin)):
        q = get4(orientation, i)
        set3_at(built, i, POSITION, get3(position, i))
        set4_at(built, i, ORIENTATION, q)
        if kind[i] == PLANE:
            margin[i] = 0.0
            for k in range(3):
                box[i, LOWEST + k] = -math.inf
                box[i, HIGHEST + k] = math.inf
            continue
        way = MARGIN_TIME * (norm(get3(velocity, i)) + extent[i, RADIUS] * norm(get3(spin, i)))
        margin[i] = min(way, max(MARGIN_MOST * extent[i, RADIUS], 2.0 * dt / MARGIN_TIME * way))
        if inverse_mass[i] > 0.0:
            margin[i] += MARGIN_SIZE * min(extent[i, RADIUS], 2.0 * extent[i, INNER])
        x = rotate(q, (extent[i, CORE], 0.0, 0.0))
        y = rotate(q, (0.0, extent[i, CORE + 1], 0.0))
        z = rotate(q, (0.0, 0.0, extent[i, CORE + 2]))
        for k in range(3):
            half = abs(x[k]) + abs(y[k]) + abs(z[k]) + extent[i, SKIN] + margin[i]
            box[i, LOWEST + k] = position[i, k] - half
            box[i, HIGHEST + k] = position[i, k] + half


@kernel
def _widest_axis(position):
    """The axis along which the bodies are spread most."""
    best, widest = 0, -1.0
    n = len(position)
    for k in range(3):
        mean, square = 0.0, 0.0
        for i in range(n):
            mean += position[i, k] / n
        for i in range(n):
            square += (position[i, k] - mean) ** 2
        if square > widest:
            best, widest = k, square
    return best


@kernel
def _sort(order, box, axis):
    """Insertion sort: from one build to the next the order hardly changes."""
    for a in range(1, len(order)):
        i = order[a]
        key = box[i, LOWEST + axis]
        b = a - 1
        while b >= 0 and box[order[b], LOWEST + axis] > key:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = i


@kernel
def _is_excluded(excluded, key):
    low, high = 0, len(excluded)
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(excluded) and excluded[low] == key


@kernel
def _sweep(order, box, axis, collides, excluded, inverse_mass, kind, extent, pair):
    """List the pairs whose boxes overlap, as far as there is room; returns how many there are."""
    n = len(order)
    found = 0
    for a in range(n):
        i = order[a]
        if not collides[i]:
            continue
        for b in range(a + 1, n):
            j = order[b]
            if box[j, LOWEST + axis] > box[i, HIGHEST + axis]:
                break
            apart = not collides[j] or inverse_mass[i] + inverse_mass[j] == 0.0
            for k in range(3):
                apart = apart or box[j, LOWEST + k] > box[i, HIGHEST + k] or box[i, LOWEST + k] > box[j, HIGHEST + k]
            if apart or _is_excluded(excluded, min(i, j) * n + max(i, j)):
                continue
            if found < len(pair):
                # The one that is sampled best comes first; of two alike the smaller.
                ahead = kind[i] < kind[j]
                if kind[i] == kind[j]:
                    more = extent[j, RADIUS] - extent[i, RADIUS]
                    ahead = more > 0.0 or (more == 0.0 and i < j)
                pair[found, 0] = i if ahead else j
                pair[found, 1] = j if ahead else i
            found += 1
    return found


@kernel(inline=True)
def _slot(pair, p, mask):
    """Where a search for a pair begins in the table (hash of Teschner et al. 2003)."""
    return (pair[p, 0] * 73856093 ^ pair[p, 1] * 19349663) & mask


@kernel
def _carry_over(table, new, memory, pair, touching, haste, friction, place, count, found):
    """Put new pairs in place of the old ones; a pair that stays keeps its memory (hash table, linear probing)."""
    mask = len(table) - 1
    for slot in range(len(table)):
        table[slot] = -1
    for p in range(count):
        if touching[p] > 0.0 or place[p, MET] > 0.0:
            memory[p, 0], memory[p, 1], memory[p, 2] = touching[p], haste[p, HASTE], haste[p, EASE]
            for k in range(REMEMBERED):
                memory[p, 3 + k] = friction[p, k]
            for k in range(PLACE):
                memory[p, 3 + REMEMBERED + k] = place[p, k]
            slot = _slot(pair, p, mask)
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = p
    for p in range(max(count, found)):  # the rest was never written
        old = -1
        if p < found:
            slot = _slot(new, p, mask)
            old = table[slot]
            while old >= 0 and (pair[old, 0] != new[p, 0] or pair[old, 1] != new[p, 1]):
                slot = (slot + 1) & mask
                old = table[slot]
        touching[p] = memory[old, 0] if old >= 0 else 0.0
        haste[p, HASTE] = memory[old, 1] if old >= 0 else 0.0
        haste[p, EASE] = memory[old, 2] if old >= 0 else 0.0
        for k in range(REMEMBERED):
            friction[p, k] = memory[old, 3 + k] if old >= 0 else 0.0
        for k in range(PLACE):
            place[p, k] = memory[old, 3 + REMEMBERED + k] if old >= 0 else 0.0
    for p in range(found):
        pair[p, 0], pair[p, 1] = new[p, 0], new[p, 1]


def grow(contacts):
    """The same contacts with room for the pairs that `find_pairs` wanted."""
    return with_capacity(contacts, max(2 * len(contacts.touching), int(1.25 * contacts.near.info[WANTED]) + 16))


def with_capacity(contacts, capacity):
    """Give every array that has a row for each pair this many rows."""

    def larger(old):
        new = np.zeros((capacity, *old.shape[1:]), old.dtype)
        new[: len(old)] = old
        return new

    near = replace(
        contacts.near,
        pair=larger(contacts.near.pair),
        memory=larger(contacts.near.memory),
        table=np.full(2 ** int(2 * capacity).bit_length(), -1, np.int64),
    )
    per_pair = [
        "share",
        "urge",
        "wish",
        "touching",
        "haste",
        "friction",
        "place",
        "pair",
        "material",
        "joined",
        "table",
        "seen",
        "listed",
        "clear",
    ]
    return replace(contacts, near=near, **{name: larger(getattr(contacts, name)) for name in per_pair})
