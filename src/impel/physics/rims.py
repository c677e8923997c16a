"""Rims of contacts with a steep wall, as where a crate stands in foam: triangles of a skin that lead down into one
begin at the rim itself. Else it would be as jagged as they are large."""

from impel.geometry.fields import field
from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, get3, norm, set3, sub
from impel.physics.skin_contacts import distance_from, judge

FLUSH = 1e-3  # of the size: what is nearer along the side of a neighbour goes with what is pressed in beside it
INSIDE = 1e-9  # of the size: what is less deep in a neighbour may as well lie along its side
SEEN = 5e-3  # of the size: a wall that is less high has no teeth to be seen
NEAR, STEPS = 1e-5, 4  # of the size: so near to a rim vertices are brought, in so many steps ...
WALL = 0.95  # ... if its wall is so steep: sine of the angle between the two surfaces
SHY, SLIM = 0.35, 0.1  # share of the way by which some go less far; of its area that is left of a triangle at least


@kernel
def fit_rim(touch, cover, a, k):
    """Bring vertices just outside of a contact with a steep wall to its rim, where a triangle leads down into it;
    they do not swell."""
    away, moved, entry = cover.mates, cover.held, cover.against
    steep = False
    for e in range(cover.first[k], cover.first[k + 1]):
        steep = steep or (cover.ring[e] == 0.0 and cover.away[e] < 0.0)
    if not steep:
        return
    for i in range(len(away)):
        away[i], moved[i] = 0.0, 0
        set3(cover.middle, i, get3(cover.place, i))
    for e in range(cover.first[k], cover.first[k + 1]):
        away[cover.of[e]], entry[cover.of[e]] = cover.away[e], e
    flush = FLUSH * cover.size
    for n in range(cover.many[0]):
        for c in range(3):
            i = cover.triangles[cover.beside[n], c]
            for turn in range(1, 3):
                j = cover.triangles[cover.beside[n], (c + turn) % 3]
                inside = away[j] < -INSIDE * cover.size
                if away[i] > flush and inside and cover.sharp[i] == 0 and _falls(touch, cover, a, k, entry[j]):
                    edge = norm(sub(get3(cover.at, j), get3(cover.at, i)))
                    p, found = _rim_beside(touch, cover, a, k, i, edge)
                    if found:
                        set3(cover.place, i, p)
                        away[i], moved[i], cover.free[i] = 0.0, 1, 0.0
    # What would become a line along the rim, or turn over, goes less far with its farthest corner, or else not at all.
    for share in range(2):
        for n in range(cover.many[0]):
            t = cover.beside[n]
            while not _keeps_its_side(cover, t):
                farthest, way = -1, 0.0
                for c in range(3):
                    i = cover.triangles[t, c]
                    back = norm(sub(get3(cover.middle, i), get3(cover.place, i)))
                    if moved[i] == 1 + share and back > way:
                        farthest, way = i, back
                if farthest < 0:
                    break
                p, q = get3(cover.place, farthest), get3(cover.middle, farthest)
                set3(cover.place, farthest, axpy(SHY if share == 0 else 1.0, sub(q, p), p))
                moved[farthest] += 1


@kernel
def _falls(touch, cover, a, k, e):
    """Whether a vertex goes so far down that it would be seen."""
    there = axpy(SEEN * cover.size, get3(cover.go, e), get3(cover.at, cover.of[e]))
    return judge(touch, a, cover.other[k], cover.to, k, there)[0] > 0.0


@kernel
def _keeps_its_side(cover, t):
    """Whether a triangle is not nearly a line, and looks the same way."""
    p = get3(cover.place, cover.triangles[t, 0])
    q, r = get3(cover.place, cover.triangles[t, 1]), get3(cover.place, cover.triangles[t, 2])
    rest = get3(cover.across, t)
    return dot(cross(sub(q, p), sub(r, p)), rest) > SLIM * dot(rest, rest)


@kernel
def _rim_beside(touch, cover, a, k, i, edge):
    """Where the rim of a contact is beside a vertex, and whether its wall is steep and no farther than an edge is
    long."""
    b, rim = cover.other[k], NEAR * cover.size
    p = get3(cover.at, i)
    for _ in range(STEPS):
        phi, u = distance_from(touch, b, cover.to, k, p)
        phi_a, out = field(touch.shapes, a, p)
        along = axpy(-dot(u, out), out, u)
        flat = norm(along)
        if flat < WALL:
            break
        p = axpy(-phi_a, out, axpy((rim - phi) / (flat * flat), along, p))
    there, _ = distance_from(touch, b, cover.to, k, p)
    return p, norm(sub(p, get3(cover.at, i))) < edge and 0.0 < there < 2.0 * rim
