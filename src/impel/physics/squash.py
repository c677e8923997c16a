"""How the skin of a soft body lies where others press: on the surface where both press alike, with a bulge around it.

Every vertex that would lie beyond a shared surface is brought onto it, straight to a root along a way of its own; these
ways differ little from vertex to vertex, so that no triangle turns over. What is pressed in comes out again: part of it
as a ring that leaves the contact smoothly, the rest swells the free surface until the volume is that at rest. All is a
function of where the bodies are: there is no history.
"""

import math

from impel.geometry.fields import field
from impel.geometry.kinds import INNER
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, norm, scale, set3, sub
from impel.physics.far_sides import may_be_past
from impel.physics.rims import FLUSH, fit_rim
from impel.physics.skin_contacts import (
    FLATTEST,
    choose_way,
    choose_ways,
    distance_from,
    judge,
    judge_at,
    list_neighbours,
    near_side,
    pressed_behind,
    ramp,
)

ROUNDS = 4  # of swelling, each by the volume that is missing ...
MISSING = 1e-3  # ... unless it is less than this share
SWOLLEN = 0.3  # of the half thickness: more is not made good
REACH = 0.5  # of the half thickness: over how wide a strip around a contact swelling begins; no ring is wider
SWEEPS = 12  # over all neighbours, until no vertex is beyond any of them
EXACT = 1e-13  # of the size: how near a vertex comes to the surface
HELD = 1e-9  # of the size: what is nearer lies against it
GUESSES, ALIKE = 16, 1e-6  # at how wide a ring is, until what comes out is nearly what shall
LONGEST, SHORT = 4.0, 0.1  # of the half thickness: ways onto the shared surface; of that: those that lead nowhere else
STEPS, LOOKS = 15, 60  # of Newton's at most along a way; then bounds are halved
TANGLES = 40  # times that triangles that are turned over are mended


@kernel
def _widest_ring(touch, cover, a, k, limit):
    """How wide a ring may be. Around a ball on a floor it is √(6 x share) times as wide as the contact is deep."""
    deepest = 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        deepest = max(deepest, -cover.away[e])
    return min(limit, 1.1 * math.sqrt(6.0 * touch.bulge[a]) * deepest)


@kernel
def _ring_width(touch, cover, a, k, widest):
    """How wide the ring around a contact is, so that its share of what is pressed in comes out there, or 0; also how
    much is pressed in, and how much comes out."""
    pressed = 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        if cover.away[e] < 0.0:
            i = cover.of[e]
            inwards = -dot(get3(cover.normal, i), get3(cover.go, e))
            pressed += cover.area[i] * cover.over[e] / cover.steep[e] * inwards
    wanted = touch.bulge[a] * pressed
    if not wanted > 0.0:
        return 0.0, pressed, 0.0
    # Of these vertices a + bx + cx² comes out, with x = 1/width: a root of that is the next guess.
    low, high, width, out = 0.0, widest, widest, 0.0
    for guess in range(GUESSES):
        a0, a1, a2 = 0.0, 0.0, 0.0
        for e in range(cover.first[k], cover.first[k + 1]):
            away = cover.away[e]
            if 0.0 < away < width:
                i = cover.of[e]
                inwards = -dot(get3(cover.normal, i), get3(cover.go, e))
                part = -cover.area[i] * cover.over[e] * cover.ring[e] * inwards
                a0 += part
                a1 += part * away
                a2 += part * away * away
        out = a0 - 2.0 * a1 / width + a2 / (width * width)
        if out < wanted:
            if guess == 0:
                return widest, pressed, out
            low = width
        else:
            high = width
        if abs(out - wanted) < ALIKE * wanted:
            break
        square = a1 * a1 - a2 * (a0 - wanted)
        width = (a1 + math.sqrt(square)) / (a0 - wanted) if square > 0.0 and a0 > wanted else 0.0
        if not low < width < high:
            width = 0.5 * (low + high)
    return width, pressed, out


@kernel
def _settle(touch, cover, a, k, p, go, over, slope):
    """From a point beyond the shared surface to where the way `go` meets it, or else the steepest way; if even that
    does not, it stays."""
    there, out, found = _meet(touch, cover, a, k, p, go, over, slope)
    if not found:
        there, out, found = _meet(touch, cover, a, k, p, scale(slope, -1.0 / max(norm(slope), FLATTEST)), over, slope)
    return (there, out) if found else (p, slope)


@kernel
def _meet(touch, cover, a, k, p, go, over, slope):
    """Where a way meets the shared surface, and whether it does: Newton, between bounds. What it meets after it has
    left the body again, as an ear that is pressed in as a whole, does not count."""
    b, to, exact = cover.other[k], cover.to, EXACT * cover.size
    longest = LONGEST * touch.extent[a, INNER]
    t, low, high, hurry = 0.0, 0.0, longest, 1.0
    out = slope
    for look in range(LOOKS):
        if over > 0.0:
            low = t
        else:
            high = t
        t += hurry * over / max(-dot(out, go), FLATTEST)
        if high == longest:
            hurry *= 1.2
        if not low < t < high or look > STEPS:
            t = 0.5 * (low + high)
        over, out = judge(touch, a, b, to, k, axpy(t, go, p))
        if abs(over) < exact:
            break
    there = axpy(t, go, p)
    found = abs(over) < HELD * cover.size
    if found and t > SHORT * longest:
        found = field(touch.shapes, a, there)[0] < FLUSH * cover.size
    return there, out, found


@kernel
def _press(touch, cover, a, count, swollen):
    """Bring all vertices that are beyond a shared surface onto it, when the skin has swollen by so much."""
    exact, held = EXACT * cover.size, HELD * cover.size
    for i in range(len(cover.held)):
        cover.held[i] = 0
    for sweep in range(SWEEPS):
        moved = False
        for k in range(count):
            b, to = cover.other[k], cover.to
            for e in range(cover.first[k], cover.first[k + 1]):
                i = cover.of[e]
                if cover.away[e] > cover.width[k] and cover.over[e] < -2.0 * swollen and count == 1:
                    continue  # it cannot have come so far
                p = get3(cover.place, i)
                phi, u = distance_from(touch, b, to, k, p)
                past = may_be_past(touch, a, b, phi, dot(u, get3(cover.way, i)))
                if past:
                    p, phi, u = near_side(touch, cover, a, b, k, i, p, phi, u)
                over, out = judge_at(touch, a, b, p, phi, u)
                if past and over < 0.0:
                    p, over, out = pressed_behind(touch, cover, a, b, k, i, p, over, out)
                if over > exact:
                    choose_way(cover, k, e)
                    p, out = _settle(touch, cover, a, k, p, get3(cover.go, e), over, out)
                    set3(cover.place, i, p)
                    moved = True
                elif over < -held:
                    continue
                cover.against[i] = k
                set3(cover.by, i, out)
                if sweep == 0:
                    cover.held[i] += 1
        if not moved or count == 1:
            break


@kernel
def _list_beside(cover):
    """Note the triangles that neighbours are near to; all others only swell. Returns the volume below those, as a
    polynomial of how far they have come out."""
    many, last = 0, len(cover.triangles)
    v0, v1, v2, v3 = cover.swell[last, 0], cover.swell[last, 1], cover.swell[last, 2], cover.swell[last, 3]
    for t in range(last):
        i, j, k = cover.triangles[t, 0], cover.triangles[t, 1], cover.triangles[t, 2]
        if cover.free[i] + cover.free[j] + cover.free[k] < 3.0:
            cover.beside[many] = t
            many += 1
            v0 -= cover.swell[t, 0]
            v1 -= cover.swell[t, 1]
            v2 -= cover.swell[t, 2]
            v3 -= cover.swell[t, 3]
    cover.many[0] = many
    return v0, v1, v2, v3


@kernel
def _look_beside(cover):
    """Note which way the triangles face that a neighbour is near to; returns the volume below them."""
    six = 0.0
    for n in range(cover.many[0]):
        t = cover.beside[n]
        p = get3(cover.place, cover.triangles[t, 0])
        q, r = get3(cover.place, cover.triangles[t, 1]), get3(cover.place, cover.triangles[t, 2])
        out = cross(sub(q, p), sub(r, p))
        set3(cover.out, n, out)
        six += dot(p, out)
    return six / 6.0


@kernel
def _flush(touch, cover, a, k, e):
    """Whether a vertex lies along the side of a neighbour, so that its way leads beyond the shared surface at once: as
    all round two equal boxes, one pressed into the other. Left there it would be a fold as thin as paper."""
    step = FLUSH * cover.size
    if cover.over[e] > EXACT * cover.size or cover.away[e] > step:
        return False
    at = axpy(step, get3(cover.go, e), get3(cover.place, cover.of[e]))
    return judge(touch, a, cover.other[k], cover.to, k, at)[0] > HELD * cover.size


@kernel
def squash(touch, cover, frame, a, meets):
    """Put the skin where it lies in a frame; returns how deep it is pressed in, 0 where nobody is near, and how far
    what nobody is near to has come out."""
    inner = touch.extent[a, INNER]
    count = list_neighbours(touch, cover, frame, a, meets, REACH * inner)
    deepest = 0.0
    for e in range(cover.first[count]):
        deepest = max(deepest, min(cover.over[e], -cover.away[e]))
    if deepest == 0.0:
        return 0.0, 0.0
    for i in range(len(cover.at)):
        cover.free[i] = 1.0
        set3(cover.place, i, get3(cover.at, i))
    missing = 0.0
    for k in range(count):
        widest = _widest_ring(touch, cover, a, k, REACH * inner)
        choose_ways(cover, k, max(widest, FLUSH * cover.size))
        width, pressed, out = _ring_width(touch, cover, a, k, widest)
        cover.width[k] = width
        missing += pressed - out
        for e in range(cover.first[k], cover.first[k + 1]):
            i = cover.of[e]
            cover.free[i] *= ramp(cover.away[e] / (REACH * inner))
            if _flush(touch, cover, a, k, e):
                set3(cover.place, i, axpy(FLUSH * cover.size, get3(cover.go, e), get3(cover.place, i)))
            elif 0.0 < cover.away[e] < width:
                left = 1.0 - cover.away[e] / width
                out = cover.over[e] * cover.ring[e] * left * left
                set3(cover.place, i, axpy(out, get3(cover.go, e), get3(cover.place, i)))
    total, swollen = 0.0, 0.0
    for i in range(len(cover.at)):
        total += cover.area[i] * cover.free[i] * cover.lift[i]
    v0, v1, v2, v3 = _list_beside(cover)
    for k in range(count):
        fit_rim(touch, cover, a, k)
    whole = cover.swell[len(cover.triangles), 0]
    for _ in range(ROUNDS):
        most = SWOLLEN * inner
        more = min(max(missing / total, -most - swollen), most - swollen) if total > 0.0 else 0.0
        swollen += more
        for i in range(len(cover.at)):
            set3(cover.place, i, axpy(more * cover.free[i], get3(cover.way, i), get3(cover.place, i)))
        _press(touch, cover, a, count, abs(swollen))
        missing = whole - (v0 + swollen * (v1 + swollen * (v2 + swollen * v3))) - _look_beside(cover)
        if abs(missing) < MISSING * whole:
            break
    return deepest, swollen


@kernel(inline=True)
def _unit(v):
    return scale(v, 1.0 / max(norm(v), 1e-9))


@kernel(inline=True)
def _faces(cover, i):
    """Which way the surface faces at a vertex; not of length 1."""
    return get3(cover.normal, i) if cover.held[i] == 0 else get3(cover.by, i)


@kernel
def untangle(touch, cover, a):
    """Mend triangles on contacts that are turned over."""
    for _ in range(TANGLES):
        if not _loosen(touch, cover, a):
            break
        _look_beside(cover)


@kernel
def _loosen(touch, cover, a):
    """Look for triangles on contacts and at their rims that are turned over, and move their corners towards the middle
    of their neighbours, along the shared surface; were there any?"""
    found, mates = False, cover.mates
    for i in range(len(mates)):
        mates[i] = -1.0
    for row in range(cover.many[0]):
        t = cover.beside[row]
        i, j, k = cover.triangles[t, 0], cover.triangles[t, 1], cover.triangles[t, 2]
        if max(cover.held[i], cover.held[j], cover.held[k]) != 1:
            continue
        across, n, m, o = get3(cover.out, row), _faces(cover, i), _faces(cover, j), _faces(cover, k)
        if min(dot(across, n), dot(across, m), dot(across, o)) > 0.0:
            continue
        n, m, o = _unit(n), _unit(m), _unit(o)
        level = min(dot(n, m), dot(m, o), dot(o, n)) > 0.5
        if level and dot(across, add(n, add(m, o))) <= 0.0:
            for c in range(3):
                if cover.held[cover.triangles[t, c]] == 1:
                    mates[cover.triangles[t, c]] = 0.0
            found = True
    if not found:
        return found
    for i in range(len(mates)):
        set3(cover.middle, i, (0.0, 0.0, 0.0))
    for n in range(cover.many[0]):
        t = cover.beside[n]
        for c in range(3):
            i = cover.triangles[t, c]
            if mates[i] >= 0.0:
                p = get3(cover.place, cover.triangles[t, (c + 1) % 3])
                q = get3(cover.place, cover.triangles[t, (c + 2) % 3])
                set3(cover.middle, i, add(get3(cover.middle, i), add(p, q)))
                mates[i] += 2.0
    for i in range(len(mates)):
        if mates[i] > 0.0:
            k = cover.against[i]
            p = scale(get3(cover.middle, i), 1.0 / mates[i])
            for _ in range(STEPS):
                over, out = judge(touch, a, cover.other[k], cover.to, k, p)
                if abs(over) < EXACT * cover.size:
                    set3(cover.place, i, p)
                    set3(cover.by, i, out)
                    break
                p = axpy(-over / max(dot(out, out), FLATTEST), out, p)
    return found
