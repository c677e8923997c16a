"""The behaviour equation of sequential goals (paper 004, section 3, corrected): a deviation that is gone on time.

    D'' − 2α·D' + (α² + β²)·D = 0        with D(T) = 0 and D'(T) = −k·D(0)/T        (eqs. 3 to 5)

α and β follow from where D is, how fast it changes, and k. With b = βT and γ = D'(0)/D(0), eq. 9 reads
F(b²) = γT − log k + 1, where F(s) = log(sin b / b) − b·cot b + 1 grows from 0 to infinity on 0 < b < π. Below 0 the
same F, with sinh and coth, grows on from minus infinity: so the paper's bound on k is none. At 0 the way is straight
and even. Where k is so small, or F so low or high, that exponentials cancel, a cubic goes the same way.

Solved anew in every step from where things are, it absorbs what nobody told it of.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, norm, scale, sub

SMALLEST_K = 0.05  # of the mean speed: who ends slower goes by a cubic
LOWEST = -144.0  # of b²: below it exponentials cancel
TINY = 1e-12
SERIES = 1e-4  # of |b²|: below it F is its series, to 1e-13
LOOKS = 60
CLOSE = 1e-7  # so short a step of Newton's method leaves the square of that
NEAR_PI = 9.869604401089  # π², a little less
SHARES = (0.98, 0.94, 0.9, 0.86, 0.82)  # c of eqs. 12 and 13, in the order in which they are tried


@kernel
def shape_of(s):
    """F(s), and how fast it grows."""
    if abs(s) < SERIES:
        return s * (1.0 / 6.0 + s * (1.0 / 60.0 + s / 567.0)), 1.0 / 6.0 + s * (1.0 / 30.0 + s / 189.0)
    b = math.sqrt(abs(s))
    if s > 0.0:
        sine = math.sin(b)
        return math.log(sine / b) - b * math.cos(b) / sine + 1.0, 0.5 * (1.0 / (sine * sine) - 1.0 / s)
    sine = math.sinh(b)
    return math.log(sine / b) - b * math.cosh(b) / sine + 1.0, 0.5 * (-1.0 / s - 1.0 / (sine * sine))


@kernel
def solve_shape(y, guess):
    """The s with F(s) = y: Newton's method within a bracket, from a guess if that is in it."""
    low, high = (LOWEST, 0.0) if y < 0.0 else (0.0, NEAR_PI)
    s = guess
    if not low < s < high:
        s = 6.0 * y / (1.0 + 0.6 * y) if y > 0.0 else max(6.0 * y, LOWEST)
    for _ in range(LOOKS):
        if not low < s < high:
            s = 0.5 * (low + high)
        value, growth = shape_of(s)
        if value < y:
            low = s
        else:
            high = s
        step = (y - value) / growth
        s += step
        if abs(step) <= CLOSE * (1.0 + abs(s)):
            break
    return min(max(s, LOWEST), NEAR_PI)


LEAST_SHAPE = -2.1779  # F(LOWEST), a little more
MOST_SHAPE = 50.0  # beyond it a body would first go fifty times as far the other way


@kernel
def rate_after(d, rate, left, ending, h, cubic, bend):
    """How fast a component d of a deviation, which now changes at `rate`, shall change after h, so that it is gone when
    `left` is over, and changes at `ending` then; whether it goes by a cubic, 1, from now on; and β², for the next time
    (`bend` is that of the last)."""
    k = -ending * left
    if cubic == 0.0 and abs(d) > TINY and k / d >= SMALLEST_K:
        k /= d
        growth = rate * left / d
        y = growth - math.log(k) + 1.0
        if LEAST_SHAPE <= y <= MOST_SHAPE:
            s = solve_shape(y, bend * left * left)
            return _equation(d, rate, left, growth, s, h), 0.0, s / (left * left)
    u = h / left
    soon = 6.0 * d * u * (u - 1.0) / left + rate * (1.0 + u * (3.0 * u - 4.0)) + ending * u * (3.0 * u - 2.0)
    return soon, 1.0, 0.0


@kernel
def _equation(d, rate, left, growth, s, h):
    """D'(h) of eq. 3, for b² = s."""
    b = math.sqrt(abs(s))
    w, u = b / left, b * h / left
    if abs(s) < SERIES:  # cos and sin(βh)/β, or cosh and sinh(βh)/β
        x = s * (h / left) ** 2
        turn = 1.0 - s / 3.0 - s * s / 45.0
        cosine, sine = 1.0 - 0.5 * x, h * (1.0 - x / 6.0)
    elif s > 0.0:
        turn = b * math.cos(b) / math.sin(b)
        cosine, sine = math.cos(u), math.sin(u) / w
    else:
        turn = b * math.cosh(b) / math.sinh(b)
        cosine, sine = math.cosh(u), math.sinh(u) / w
    alpha = (growth + turn) / left
    other, size = rate - alpha * d, math.exp(alpha * h)
    here = d * cosine + other * sine
    return size * (alpha * here - s / (left * left) * d * sine + other * cosine)


@kernel
def axes_for(way, onward):
    """The course's own axes (section 3): in them a deviation along `way` has three equal components, and `onward` lies
    in the plane of (1, 1, 1) and (1, 0, 0)."""
    size = norm(way)
    if size <= TINY:
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    u = scale(way, 1.0 / size)
    w = axpy(-dot(u, onward), u, onward)
    if norm(w) <= 1e-9 * (norm(onward) + TINY):  # parallel courses: any perpendicular does
        least = min(abs(u[0]), abs(u[1]), abs(u[2]))
        w = (1.0, 0.0, 0.0) if abs(u[0]) == least else (0.0, 1.0, 0.0) if abs(u[1]) == least else (0.0, 0.0, 1.0)
        w = axpy(-dot(u, w), u, w)
    w = scale(w, 1.0 / norm(w))
    w = axpy(-dot(u, w), u, w)  # once more: of nearly parallel courses mostly rounding was left
    w = scale(w, 1.0 / norm(w))
    n = cross(u, w)
    along, aside, across = math.sqrt(1.0 / 3.0), math.sqrt(1.0 / 6.0), math.sqrt(0.5)
    low = axpy(-aside, w, scale(u, along))
    return axpy(2.0 * aside, w, scale(u, along)), axpy(across, n, low), axpy(-across, n, low)


@kernel
def smooth_ending(mean, span, next_mean, next_span):
    """The velocity between two courses: their means, each as much as the other course takes; none before a rest."""
    if norm(mean) * span <= TINY or norm(next_mean) * next_span <= TINY:
        return 0.0, 0.0, 0.0
    return scale(axpy(next_span, mean, scale(next_mean, span)), 1.0 / (span + next_span))


@kernel
def paper_ending(mean, span, next_mean, next_span, third_mean):
    """The velocity between two courses as the paper chooses it: components between those of the means (eqs. 12, 13),
    and slower than the next mean as the next course sees it (eq. 14)."""
    if norm(mean) * span <= TINY or norm(next_mean) * next_span <= TINY:
        return 0.0, 0.0, 0.0
    axes, later = axes_for(mean, next_mean), axes_for(next_mean, third_mean)
    ending = next_mean
    for c in SHARES:
        ending = (0.0, 0.0, 0.0)
        for axis in axes:
            own, following = dot(axis, mean), dot(axis, next_mean)
            speed = c * following if following < own else max(own, c * following)
            ending = axpy(speed, axis, ending)
        slower = True
        for axis in later:
            slower &= dot(axis, ending) < dot(axis, next_mean)
        if slower:
            break
    return ending


@kernel
def left_jacobian(d, v):
    """The spin of a rotation exp(d) whose vector d changes by v."""
    angle2 = dot(d, d)
    if angle2 < 1e-6:
        first, second = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    else:
        angle = math.sqrt(angle2)
        first, second = (1.0 - math.cos(angle)) / angle2, (angle - math.sin(angle)) / (angle2 * angle)
    turned = cross(d, v)
    return add(v, axpy(first, turned, scale(cross(d, turned), second)))


@kernel
def inverse_left_jacobian(d, spin):
    """How the vector of a rotation changes that turns on with a spin."""
    angle2 = dot(d, d)
    second = 1.0 / 12.0 + angle2 / 720.0
    if angle2 > 1e-4:
        angle = math.sqrt(angle2)
        second = 1.0 / angle2 - 0.5 / (angle * math.tan(0.5 * angle))
    turned = cross(d, spin)
    return add(sub(spin, scale(turned, 0.5)), scale(cross(d, turned), second))
