"""The patch where body A presses into the field of body B: how much of A is inside B, and the force that gives.

Pressure is stiffness x depth, so the force is stiffness x volume of the overlap, along the gradient of B's
field. (Default coatings grow firmer: stiffness x depth x (1 + (depth/firm)⁴); others may vary as they are told to, see
`pressures.py`.) Round surfaces are sampled where they touch and the overlap is known in closed form; flat and free
surfaces carry fixed points with an area. All of this happens in B's frame. A patch is a row of sums.
"""

import math

from impel.geometry.bends import bends, cap_share, swept
from impel.geometry.fields import box_field, field
from impel.geometry.grids import THINNEST
from impel.geometry.kinds import BLOB, BOX, INNER, MESH
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, get3_at, rotate, scale, sub, transform
from impel.physics.pressures import energy_at, pressure, slope, sum_layers

# Columns of a patch, all in B's frame and about B's centre.
FORCE = 0  # (3) on A, with damping
MOMENT = 3  # (3) of that force
CENTRE = 6  # (3) elastic force x point
SPREAD = 9  # (6) elastic force x products of the point's coordinates: xx, xy, xz, yy, yz, zz
ELASTIC = 15  # normal force without damping
STIFFNESS = 16  # d(force)/d(depth), N/m
VOLUME = 17  # of the overlap
RATE = 18  # fastest change of depth, m/s
CALM = 19  # (6) stiffness x change of depth, for slow samples: N/s, as a force and its moment
DEPTH = 25  # of the deepest sample, m
TIGHT = 26  # 1/m: the inverse of the least limit in thin parts of B; 0 where there is none
COLUMNS = 27

BOUNCE = 0.1  # m/s: slower bounces, of half a millimetre, die out
CALMING = 0.3  # of critical: extra damping of what is slower than a bounce, so that things come to rest
FIRMEST = 1e4  # x: the most that a coating grows firmer
SURER = 8  # power: how much more is made of the side of a pair that found more of the overlap
LIMIT_SHARE = 0.4  # of half its thickness: how deep something may be pressed in before its coating stiffens
GRAZING = 0.3  # cosine below which a fixed point, nearly edge-on to the field, loses its weight


@kernel(inline=True)
def add_sample(patch, p, u, force, stiffness, volume, spread, motion, damping):
    """Add a sample at p that is pushed along u; `spread` is the mean square of its own extent."""
    rate = -dot(add(motion[0], cross(motion[1], p)), u)
    # Hunt and Crossley 1975: damping grows with the force, so there is no jerk at first touch and no pull at the last.
    load = force * max(0.0, 1.0 + damping * rate)
    lever = cross(p, u)
    f = scale(u, load)
    m = scale(lever, load)
    patch[FORCE] += f[0]
    patch[FORCE + 1] += f[1]
    patch[FORCE + 2] += f[2]
    patch[MOMENT] += m[0]
    patch[MOMENT + 1] += m[1]
    patch[MOMENT + 2] += m[2]
    patch[CENTRE] += force * p[0]
    patch[CENTRE + 1] += force * p[1]
    patch[CENTRE + 2] += force * p[2]
    wide = 0.5 * spread  # across u, the same to all sides
    patch[SPREAD] += force * (p[0] * p[0] + wide * (1.0 - u[0] * u[0]))
    patch[SPREAD + 1] += force * (p[0] * p[1] - wide * u[0] * u[1])
    patch[SPREAD + 2] += force * (p[0] * p[2] - wide * u[0] * u[2])
    patch[SPREAD + 3] += force * (p[1] * p[1] + wide * (1.0 - u[1] * u[1]))
    patch[SPREAD + 4] += force * (p[1] * p[2] - wide * u[1] * u[2])
    patch[SPREAD + 5] += force * (p[2] * p[2] + wide * (1.0 - u[2] * u[2]))
    patch[ELASTIC] += force
    patch[STIFFNESS] += stiffness
    patch[VOLUME] += volume
    patch[RATE] = max(patch[RATE], abs(rate))
    # That damping fades with the speed, and slow rocking would never end: see CALMING.
    if abs(rate) < BOUNCE:
        calm = stiffness * rate * (1.0 - (rate / BOUNCE) ** 2)
        f = scale(u, calm)
        m = scale(lever, calm)
        patch[CALM] += f[0]
        patch[CALM + 1] += f[1]
        patch[CALM + 2] += f[2]
        patch[CALM + 3] += m[0]
        patch[CALM + 4] += m[1]
        patch[CALM + 5] += m[2]


@kernel
def add_varied(patch, p, u, force, stiffness, volume, spread, motion, damping):
    """The same where stiffness varies with the depth: in a place of its own, so that it costs others nothing."""
    add_sample(patch, p, u, force, stiffness, volume, spread, motion, damping)


@kernel
def distance(shapes, b, p):
    """The field of b with a gradient of length 1; that of a blob is shorter where it blends, of a mesh at edges."""
    phi, g = field(shapes, b, p)
    if shapes.kind[b] == BLOB or shapes.kind[b] == MESH:
        return phi, scale(g, 1.0 / max(math.sqrt(dot(g, g)), 1e-3))
    return phi, g


@kernel
def thinnest_part(shapes, b, inner):
    """Half the thickness of the thinnest parts of B, if these are thinner than the rest, `inner`."""
    if shapes.kind[b] == MESH and shapes.place is not None:
        return min(shapes.place[shapes.part[b, 0], THINNEST], inner)
    return inner


@kernel
def where_thin(shapes, b, p, u, depth, material, patch):
    """What two coatings make together at a point so deep in B, from whose surface u leads straight to it. In parts that
    are thinner than the rest of B, walls or ears, it stiffens earlier: lest the point came out on the other side."""
    stiffness, damping, limit, hard, firm, row, contacts = material
    inner = contacts.extent[b, INNER]
    thinnest = thinnest_part(shapes, b, inner)
    if thinnest == inner or depth <= LIMIT_SHARE * thinnest:
        return material
    # Straight in from the surface, as far as asks for no other limit: behind the middle the other side is nearer.
    ahead = depth / LIMIT_SHARE
    behind = field(shapes, b, axpy(depth - ahead, u, p))[0]
    room = LIMIT_SHARE * max(0.5 * (ahead - behind), thinnest)
    if room >= min(limit, 0.99 * depth):
        return material
    patch[TIGHT] = max(patch[TIGHT], 1.0 / room)
    return stiffness, damping, room, hard * (limit / room) ** 2, firm, row, contacts


@kernel(inline=True)
def _cap_volume(r, depth):
    """Of the part of a ball that lies deeper than a plane; and its derivative."""
    d = min(max(depth, 0.0), 2.0 * r)
    return math.pi * d * d * (r - d / 3.0), math.pi * d * (2.0 * r - d)


@kernel(inline=True)
def firm_at(depth, material):
    """By how much a coating is firmer at a depth than at first, 0 for not at all, and whether this still rises: 1 or 0.

    A body that was placed deep inside another must not feel the millionfold.
    """
    square = depth * depth
    firmer = material[4] * square * square
    return (firmer, 1.0) if firmer < FIRMEST else (FIRMEST, 0.0)


@kernel
def held_by(load, depth, material):
    """The most energy that a patch can hold which presses so much: as if it were as deep all over."""
    row, contacts = material[5], material[6]
    if row >= 0:
        return load * energy_at(contacts.table[row], depth) / max(pressure(contacts.table[row], depth), 1e-300)
    firmer, rising = firm_at(depth, material)
    return 0.5 * load * depth * (1.0 + (firmer / 3.0 if rising == 1.0 else firmer)) / (1.0 + firmer)


@kernel
def press_balls(ra, rb, u, gap, motion, material, patch):
    """Ball A, beyond a gap from ball B along u: the exact lens."""
    stiffness, damping, limit, hard, _, row, contacts = material
    depth = -gap
    d = ra + rb + gap  # between the centres
    if d > abs(ra - rb):
        volume = math.pi * depth * depth * (d * d + 2.0 * d * (ra + rb) - 3.0 * (ra - rb) ** 2) / (12.0 * d)
        rim = max(0.0, ra * ra - ((d * d + ra * ra - rb * rb) / (2.0 * d)) ** 2)
    else:
        volume = 4.0 / 3.0 * math.pi * min(ra, rb) ** 3
        rim = 0.0
    beyond = max(0.0, depth - limit)
    r = ra * rb / (ra + rb)
    firmer, rising = firm_at(depth, material)
    patch[DEPTH] = max(patch[DEPTH], depth)
    p = scale(u, rb - depth * ra / (ra + rb))
    if row >= 0:
        force, steep = sum_layers(contacts.table[row], depth, volume, math.pi * rim, 0.0)
        force += hard * math.pi * r * beyond * beyond
        steep += hard * 2.0 * math.pi * r * beyond
        add_varied(patch, p, u, force, steep, volume, rim / 3.0, motion, damping)
        return
    force = stiffness * (volume + math.pi / 3.0 * firmer * r * depth * depth) + hard * math.pi * r * beyond * beyond
    steep = stiffness * math.pi * (rim + (2.0 + 4.0 * rising) / 3.0 * firmer * r * depth)
    steep += hard * 2.0 * math.pi * r * beyond
    add_sample(patch, p, u, force, steep, volume, rim / 3.0, motion, damping)


@kernel
def press_ball(shapes, b, r, centre, u, phi, share, motion, material, patch):
    """A ball, or the share of it that ends a capsule, against a body that is as round as where it is nearest."""
    stiffness, damping, limit, hard, _, row, contacts = material
    depth = r - phi
    if depth > 0.0 and shapes.kind[b] < BOX:
        share *= cap_share(r, depth, bends(shapes, b, contacts.extent[b, INNER], centre, phi, u))
    volume, area = _cap_volume(r, depth)
    more, more_area = _cap_volume(r, depth - limit)
    # The fifth powers of the depth, summed over the cap, and the derivative.
    d = min(depth, 2.0 * r)
    firmer, rising = firm_at(d, material)
    firmer *= 2.0 * math.pi * d
    firmer_area = firmer * (r - d / 6.0 if rising == 1.0 else r / 3.0 - d / 14.0)
    firmer *= d * (r / 6.0 - d / 42.0)
    patch[DEPTH] = max(patch[DEPTH], depth)
    # A paraboloid: mean square radius of its pressure a third of the rim's, centre of volume at 2/3 of its depth.
    p = axpy(min(depth, r) * 2.0 / 3.0 - r, u, centre)
    spread = area / (3.0 * math.pi)
    if row >= 0:
        force, steep = sum_layers(contacts.table[row], d, volume, area, 0.0)
        force, steep = share * (force + hard * more), share * (steep + hard * more_area)
        add_varied(patch, p, u, force, steep, share * volume, spread, motion, damping)
        return
    force = share * (stiffness * (volume + firmer) + hard * more)
    steep = share * (stiffness * (area + firmer_area) + hard * more_area)
    add_sample(patch, p, u, force, steep, share * volume, spread, motion, damping)


@kernel(inline=True)
def press_point(patch, p, u, depth, area, motion, material):
    stiffness, damping, limit, hard, _, row, contacts = material
    patch[DEPTH] = max(patch[DEPTH], depth)
    beyond = max(0.0, depth - limit)
    if row >= 0:
        force = area * (pressure(contacts.table[row], depth) + hard * beyond)
        steep = area * (slope(contacts.table[row], depth) + (hard if depth > limit else 0.0))
        add_varied(patch, p, u, force, steep, area * depth, 0.0, motion, damping)
        return
    firmer, rising = firm_at(depth, material)
    force = area * (stiffness * depth * (1.0 + firmer) + hard * beyond)
    steep = area * (stiffness * (1.0 + (1.0 + 4.0 * rising) * firmer) + (hard if depth > limit else 0.0))
    add_sample(patch, p, u, force, steep, area * depth, 0.0, motion, damping)


@kernel(inline=True)
def facing(normal, u):
    """How squarely a surface faces the field, faded where it is nearly edge-on."""
    return weighed(-dot(normal, u))


@kernel(inline=True)
def weighed(c):
    """What a point weighs, by the cosine of the angle at which its surface faces the field."""
    if c >= GRAZING:
        return c
    return c * c / GRAZING if c > 0.0 else 0.0


@kernel
def set_square(patch, normal, u, depth, area, material):
    """Turn a point that presses until it is as square to the field as it may: what it presses with depends on that, and
    without this torque it could gain energy by turning."""
    stiffness, _, limit, hard, _, row, contacts = material
    c = -dot(normal, u)
    beyond = max(0.0, depth - limit)
    firmer, rising = firm_at(depth, material)
    energy = 0.5 * stiffness * depth * depth * (1.0 + (firmer / 3.0 if rising == 1.0 else firmer))
    if row >= 0:
        energy = energy_at(contacts.table[row], depth)
    energy = area * (energy + 0.5 * hard * beyond * beyond)
    moment = scale(cross(normal, u), energy * (1.0 if c >= GRAZING else 2.0 * c / GRAZING))
    patch[MOMENT] += moment[0]
    patch[MOMENT + 1] += moment[1]
    patch[MOMENT + 2] += moment[2]


@kernel(inline=True)
def is_soft(material):
    """Whether no coating of a pair grows firmer by itself, as those do whose author did not tell how stiff they are."""
    return material[4] == 0.0


@kernel(inline=True)
def press_facing(patch, p, normal, u, depth, area, motion, material, turns):
    """Add a point of a surface that counts for so much area if it faces the field; perhaps one that turns by that."""
    seen = facing(normal, u)
    if seen > 0.0:
        press_point(patch, p, u, depth, seen * area, motion, material)
        if turns:
            set_square(patch, normal, u, depth, area, material)


@kernel
def press_deep(patch, shapes, b, p, normal, u, depth, area, own, motion, material):
    """The same of a soft pair, in which points may be so deep that it matters how round B is; `own` is the mean
    curvature of the point's own surface."""
    seen = facing(normal, u)
    if seen > 0.0:
        share, energy = 1.0, 1.0
        if shapes.kind[b] < BOX:
            inner = material[6].extent[b, INNER]
            share, energy = swept(bends(shapes, b, inner, p, -depth, u), own, depth)
        press_point(patch, p, u, depth, share * seen * area, motion, material)
        set_square(patch, normal, u, depth, energy * area, material)


@kernel
def press_points(shapes, b, samples, a, centre, turn, half, motion, material, finest, patch):
    """The fixed points of a box or blob; `turn` holds the rows of the rotation from A's frame to B's,
    `half` the half extents of B.

    No point counts for more area than `finest`, the finest point of B: else a sparse floor would press with a
    square metre on whatever happens to lie on one of its points.
    """
    if samples is None:
        return
    low, high = box_around(centre, turn, half)
    flat, boxed = shapes.kind[a] == BOX, shapes.kind[b] == BOX
    normal = (0.0, 0.0, 0.0)
    for c in range(samples.clusters[a, 0], samples.clusters[a, 1]):
        first, last = get3_at(samples.box, c, 0), get3_at(samples.box, c, 3)
        if not overlap(first, last, low, high):
            continue
        p = add(centre, transform(turn, scale(add(first, last), 0.5)))
        if distance(shapes, b, p)[0] > samples.radius[c]:
            continue
        if flat:
            normal = transform(turn, get3(samples.normal, samples.range[c, 0]))
        for s in range(samples.range[c, 0], samples.range[c, 1]):
            at = get3(samples.at, s)
            if not overlap(at, at, low, high):
                continue
            p = add(centre, transform(turn, at))
            if abs(p[0]) > half[0] or abs(p[1]) > half[1] or abs(p[2]) > half[2]:
                continue
            phi, g = box_field(p, half[0], half[1], half[2]) if boxed else distance(shapes, b, p)
            if phi < 0.0:
                if not flat:
                    normal = transform(turn, get3(samples.normal, s))
                area = min(samples.area[s], finest)
                here = where_thin(shapes, b, p, g, -phi, material, patch)
                if is_soft(here):
                    press_deep(patch, shapes, b, p, normal, g, -phi, area, samples.bend[s], motion, here)
                else:
                    press_facing(patch, p, normal, g, -phi, area, motion, here, False)


@kernel(inline=True)
def rows_of(turn):
    """The matrix of a rotation."""
    x, y, z = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@kernel(inline=True)
def box_around(centre, turn, half):
    """The lowest and the highest corner of a box around B in A's frame."""
    if half[0] == math.inf:
        return (-math.inf, -math.inf, -math.inf), (math.inf, math.inf, math.inf)
    x, y, z = turn
    wide = add(add(_sides(x, half[0]), _sides(y, half[1])), _sides(z, half[2]))
    middle = axpy(-centre[0], x, axpy(-centre[1], y, scale(z, -centre[2])))
    return sub(middle, wide), add(middle, wide)


@kernel(inline=True)
def _sides(axis, half):
    return abs(axis[0]) * half, abs(axis[1]) * half, abs(axis[2]) * half


@kernel(inline=True)
def overlap(first, last, low, high):
    along = first[0] <= high[0] and last[0] >= low[0]
    across = first[1] <= high[1] and last[1] >= low[1]
    return along and across and first[2] <= high[2] and last[2] >= low[2]


@kernel(inline=True)
def _in_world(patch, side, q, mass):
    """Force, moment, and centre of pressure of a patch, turned into the world's directions."""
    force, moment = get3_at(patch, side, FORCE), get3_at(patch, side, MOMENT)
    calm = get3_at(patch, side, CALM)
    seconds = 2.0 * CALMING * math.sqrt(mass / max(patch[side, STIFFNESS], 1e-300))
    pull = -seconds * dot(calm, force)
    push = dot(force, force)
    if pull > push:  # contact never pulls
        seconds *= push / pull
    force = rotate(q, axpy(seconds, calm, force))
    moment = rotate(q, axpy(seconds, get3_at(patch, side, CALM + 3), moment))
    share = 1.0 / max(patch[side, ELASTIC], 1e-300)
    centre = scale(get3_at(patch, side, CENTRE), share)
    xx, xy, xz = scale(get3_at(patch, side, SPREAD), share)
    yy, yz, zz = scale(get3_at(patch, side, SPREAD + 3), share)
    x, y, z = centre
    rows = (
        (xx - x * x, xy - x * y, xz - x * z),
        (xy - x * y, yy - y * y, yz - y * z),
        (xz - x * z, yz - y * z, zz - z * z),
    )
    a, b, c = rotate(q, rows[0]), rotate(q, rows[1]), rotate(q, rows[2])  # the rows, then the columns
    u, v, w = rotate(q, (a[0], b[0], c[0])), rotate(q, (a[1], b[1], c[1])), rotate(q, (a[2], b[2], c[2]))
    return force, moment, rotate(q, centre), (u, v, w)


@kernel(inline=True)
def _mean(a, b, share):
    """Of two triples of triples."""
    return (
        axpy(share, a[0], scale(b[0], 1.0 - share)),
        axpy(share, a[1], scale(b[1], 1.0 - share)),
        axpy(share, a[2], scale(b[2], 1.0 - share)),
    )


@kernel
def sum_up(patch, both, qa, qb, apart, mass):
    """Force on A, its moment about B's centre, centre of pressure from there, mean products of the patch's extent
    (rows), elastic force, stiffness, fastest change of depth, and largest depth."""
    force, moment, centre, spread = _in_world(patch, 0, qb, mass)
    elastic, stiffness, rate, depth = patch[0, ELASTIC], patch[0, STIFFNESS], patch[0, RATE], patch[0, DEPTH]
    if both:
        # Whoever found more of the overlap is the better witness.
        v0, v1 = patch[0, VOLUME], patch[1, VOLUME]
        odds = (min(v0, v1) / max(v0, v1)) ** SURER
        w = (1.0 if v0 >= v1 else odds) / (1.0 + odds)
        force1, moment1, centre1, spread1 = _in_world(patch, 1, qa, mass)
        moment1 = add(moment1, cross(apart, force1))
        force = axpy(w, force, scale(force1, w - 1.0))
        moment = axpy(w, moment, scale(moment1, w - 1.0))
        total = w * elastic + (1.0 - w) * patch[1, ELASTIC]
        share = w * elastic / total
        centre = axpy(share, centre, scale(add(centre1, apart), 1.0 - share))
        spread = _mean(spread, spread1, share)
        elastic = total
        stiffness = w * stiffness + (1.0 - w) * patch[1, STIFFNESS]
        rate, depth = max(rate, patch[1, RATE]), max(depth, patch[1, DEPTH])
    return force, moment, centre, spread, elastic, stiffness, rate, depth
