"""Which bodies are near enough to touch: fattened boxes, sorted along one axis, rebuilt only when somebody leaves his.

`find_pairs` is called between steps, never inside one: what it writes is constant during a step.
"""

import math

import numpy as np

from impel.geometry.fields import BLOB, CAPSULE, CYLINDER, PLANE, SPHERE
from impel.kernel import kernel
from impel.motion.rotations import add, dot, get3, get4, norm, rotate, scale, sub

MARGIN_SIZE = 0.15  # a body's margin: this share of its size ...
MARGIN_TIME = 0.08  # ... plus the way it goes in this time, s. Measured: benchmarks/balls.py

# Columns of `contacts.material`, what two coatings make together.
STIFFNESS, DAMPING, FRICTION, LIMIT, HARD, ROOM = range(6)
# Entries of `contacts.info`.
COUNT, WANTED, BUILT, BUILDS = range(4)

STOPPING_SPEED = 30.0  # m/s: beyond its limit a coating stiffens so much that it stops a body as fast as this


@kernel
def find_pairs(bodies, contacts, dt):
    """Make sure that every pair that may touch during the coming dt is listed. 0: good; 1: call `grow` and try again."""
    if contacts.info[BUILT] == 1:
        stay = True
        for i in range(len(bodies.mass)):
            if contacts.collides[i] and _reach(bodies, contacts, i, dt) > contacts.margin[i]:
                stay = False
                break
        if stay:
            return 0
    return _rebuild(bodies, contacts)


@kernel(inline=True)
def _reach(bodies, contacts, i, dt):
    """How far any point of a body can be from where it was when the list was built, dt from now."""
    way = norm(sub(get3(bodies.position, i), get3(contacts.built_position, i)))
    way += norm(get3(bodies.velocity, i)) * dt
    if contacts.shapes.kind[i] != SPHERE and contacts.shapes.kind[i] != PLANE:
        turned = 0.0
        sign = 0.0
        for k in range(4):
            sign += bodies.orientation[i, k] * contacts.built_orientation[i, k]
        sign = 1.0 if sign >= 0.0 else -1.0
        for k in range(4):
            turned += (bodies.orientation[i, k] - sign * contacts.built_orientation[i, k]) ** 2
        # A turn by θ moves a point at radius r by 2r·sin(θ/2) ≤ 2r·|q - q0|.
        way += contacts.shapes.radius[i] * (2.0 * math.sqrt(turned) + norm(get3(bodies.spin, i)) * dt)
    return way


@kernel
def _bound(bodies, contacts, i):
    """Write the fattened box of body i, and what it was built from."""
    shapes = contacts.shapes
    for k in range(3):
        contacts.built_position[i, k] = bodies.position[i, k]
    for k in range(4):
        contacts.built_orientation[i, k] = bodies.orientation[i, k]
    if shapes.kind[i] == PLANE:
        contacts.margin[i] = 0.0
        for k in range(3):
            contacts.low[i, k] = -math.inf
            contacts.high[i, k] = math.inf
        return
    speed = norm(get3(bodies.velocity, i)) + shapes.radius[i] * norm(get3(bodies.spin, i))
    margin = MARGIN_TIME * speed
    if bodies.inverse_mass[i] > 0.0:
        margin += MARGIN_SIZE * min(shapes.radius[i], 2.0 * shapes.inner[i])
    contacts.margin[i] = margin
    q = get4(bodies.orientation, i)
    x = rotate(q, (shapes.core[i, 0], 0.0, 0.0))
    y = rotate(q, (0.0, shapes.core[i, 1], 0.0))
    z = rotate(q, (0.0, 0.0, shapes.core[i, 2]))
    for k in range(3):
        half = abs(x[k]) + abs(y[k]) + abs(z[k]) + shapes.skin[i] + margin
        contacts.low[i, k] = bodies.position[i, k] - half
        contacts.high[i, k] = bodies.position[i, k] + half


@kernel
def _sort(contacts, axis):
    """Insertion sort: from one build to the next the order hardly changes."""
    order, low = contacts.order, contacts.low
    for a in range(1, len(order)):
        i = order[a]
        key = low[i, axis]
        b = a - 1
        while b >= 0 and low[order[b], axis] > key:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = i


@kernel
def _widest_axis(bodies):
    """The axis along which the bodies are spread most."""
    best, widest = 0, -1.0
    n = len(bodies.mass)
    for k in range(3):
        mean, square = 0.0, 0.0
        for i in range(n):
            mean += bodies.position[i, k] / n
        for i in range(n):
            square += (bodies.position[i, k] - mean) ** 2
        if square > widest:
            best, widest = k, square
    return best


@kernel
def _excluded(contacts, i, j):
    key = min(i, j) * len(contacts.margin) + max(i, j)
    low, high = 0, len(contacts.excluded)
    while low < high:
        middle = (low + high) // 2
        if contacts.excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(contacts.excluded) and contacts.excluded[low] == key


@kernel
def _rebuild(bodies, contacts):
    n = len(bodies.mass)
    for i in range(n):
        _bound(bodies, contacts, i)
    axis = _widest_axis(bodies)
    _sort(contacts, axis)
    kind, low, high = contacts.shapes.kind, contacts.low, contacts.high
    found = 0
    for a in range(n):
        i = contacts.order[a]
        if not contacts.collides[i]:
            continue
        for b in range(a + 1, n):
            j = contacts.order[b]
            if low[j, axis] > high[i, axis]:
                break
            apart = False
            for k in range(3):
                apart = apart or low[j, k] > high[i, k] or low[i, k] > high[j, k]
            if apart or not contacts.collides[j] or _excluded(contacts, i, j):
                continue
            if bodies.inverse_mass[i] + bodies.inverse_mass[j] == 0.0:
                continue
            if found < len(contacts.touching):
                # The one that is sampled best comes first; of two alike the smaller.
                ahead = kind[i] < kind[j] or (
                    kind[i] == kind[j]
                    and (contacts.shapes.radius[i], i) < (contacts.shapes.radius[j], j)
                )
                contacts.next_pair[found, 0] = i if ahead else j
                contacts.next_pair[found, 1] = j if ahead else i
            found += 1
    contacts.info[WANTED] = found
    if found > len(contacts.touching):
        contacts.info[BUILT] = 0
        return 1
    _carry_over(contacts, found)
    for p in range(found):
        _mix(bodies, contacts, p)
    contacts.info[BUILT] = 1
    contacts.info[BUILDS] += 1
    return 0


@kernel
def _carry_over(contacts, found):
    """Replace the pairs, keeping what a pair that stays in the list remembers (hash table, linear probing)."""
    table = contacts.table
    mask = len(table) - 1
    for slot in range(len(table)):
        table[slot] = -1
    pair = contacts.pair
    for p in range(contacts.info[COUNT]):
        if contacts.touching[p] > 0.0:
            slot = (pair[p, 0] * 73856093 ^ pair[p, 1] * 19349663) & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = p
    for p in range(found):
        i, j = contacts.next_pair[p, 0], contacts.next_pair[p, 1]
        slot = (i * 73856093 ^ j * 19349663) & mask
        old = table[slot]
        while old >= 0 and (pair[old, 0] != i or pair[old, 1] != j):
            slot = (slot + 1) & mask
            old = table[slot]
        contacts.next_touching[p] = 0.0
        for k in range(5):
            contacts.next_friction[p, k] = 0.0
        if old >= 0:
            contacts.next_touching[p] = contacts.touching[old]
            for k in range(5):
                contacts.next_friction[p, k] = contacts.friction[old, k]
    for p in range(len(contacts.touching)):
        kept = p < found
        pair[p, 0] = contacts.next_pair[p, 0] if kept else 0
        pair[p, 1] = contacts.next_pair[p, 1] if kept else 0
        contacts.touching[p] = contacts.next_touching[p] if kept else 0.0
        for k in range(5):
            contacts.friction[p, k] = contacts.next_friction[p, k] if kept else 0.0
    contacts.info[COUNT] = found


@kernel(inline=True)
def has_points(kind):
    """Flat or free surfaces, whose corners can reach between another's samples: both bodies press then."""
    return kind == CYLINDER or (kind > CYLINDER and kind != PLANE)


@kernel(inline=True)
def both_press(kind_a, kind_b):
    return (has_points(kind_a) and has_points(kind_b)) or (kind_a == CAPSULE and kind_b == BLOB)


@kernel
def _mix(bodies, contacts, p):
    """What the coatings of a pair make together: two springs in a row.

    The layers share the depth in the ratio of their softness, so the pair stiffens when the first of them is
    pressed to its full thickness, or earlier where a thin body leaves no room.
    """
    a, b = contacts.pair[p, 0], contacts.pair[p, 1]
    shapes, material = contacts.shapes, contacts.material
    soft_a, soft_b = contacts.softness[a], contacts.softness[b]
    soft = soft_a + soft_b
    kind_a, kind_b = shapes.kind[a], shapes.kind[b]
    is_round = kind_a == SPHERE or kind_a == CAPSULE
    room = min(shapes.inner[b] + (shapes.inner[a] if is_round else 0.0), 2.0 * shapes.inner[a])
    if both_press(kind_a, kind_b):
        room = min(room, shapes.inner[a])
    limit = 0.25 * room
    if soft_a > 0.0:
        limit = min(limit, contacts.thickness[a] * soft / soft_a)
    if soft_b > 0.0:
        limit = min(limit, contacts.thickness[b] * soft / soft_b)
    # A body at the stopping speed is to be halted within a quarter of the room, even when only its smallest
    # sample touches: mass·speed² = hardness·area·way².
    way = 0.25 * room
    area = 2.0 / 3.0 * math.pi * shapes.inner[a] * way
    if not is_round:
        area = min(area, contacts.finest[a], contacts.finest[b])
    mass = 1.0 / (bodies.inverse_mass[a] + bodies.inverse_mass[b])
    material[p, STIFFNESS] = 1.0 / soft
    material[p, DAMPING] = (contacts.damping[a] * soft_a + contacts.damping[b] * soft_b) / soft
    material[p, FRICTION] = math.sqrt(contacts.roughness[a] * contacts.roughness[b])
    material[p, LIMIT] = limit
    material[p, HARD] = mass * STOPPING_SPEED**2 / (area * way * way)
    material[p, ROOM] = room


def grow(contacts):
    """The same contacts with room for the pairs that `find_pairs` wanted."""
    capacity = max(2 * len(contacts.touching), int(1.25 * contacts.info[WANTED]) + 16)
    return with_capacity(contacts, capacity)


def with_capacity(contacts, capacity):
    """Give every array that has a row for each pair this many rows."""
    per_pair = (
        "touching", "friction", "load", "point", "normal", "pair", "material",
        "next_pair", "next_touching", "next_friction",
    )
    larger = {}
    for name in per_pair:
        old = getattr(contacts, name)
        larger[name] = np.zeros((capacity, *old.shape[1:]), old.dtype)
        larger[name][: len(old)] = old
    slots = 2 ** int(2 * capacity).bit_length()
    return contacts._replace(**larger, table=np.full(slots, -1, np.int64))
