"""Key-framed bodies: they move exactly as told and push whatever is in their way."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel
from impel.motion.rotations import (
    axpy,
    conjugate,
    exponential,
    get3,
    get4,
    logarithm,
    multiply,
    normalize,
    scale,
    set3,
    set4,
    sub,
)

Floats = NDArray[np.float64]


class Followers(NamedTuple):
    """The keys of all key-framed bodies, one body after the other, by time."""

    body: NDArray[np.int64]  # (K,)
    first: NDArray[np.int64]  # (K + 1,) where a body's keys begin
    time: Floats  # (keys,) s
    position: Floats  # (keys, 3) of the centre of mass
    orientation: Floats  # (keys, 4)


@kernel
def key_framed_place(followers, k, time):
    """Where the k-th key-framed body is: linear and spherical-linear between keys, at rest before and after."""
    a = followers.first[k]
    last = followers.first[k + 1] - 1
    while a < last and followers.time[a + 1] <= time:
        a += 1
    x, q = get3(followers.position, a), get4(followers.orientation, a)
    if a == last or time <= followers.time[a]:
        return x, q
    u = (time - followers.time[a]) / (followers.time[a + 1] - followers.time[a])
    x = axpy(u, sub(get3(followers.position, a + 1), x), x)
    way = logarithm(multiply(get4(followers.orientation, a + 1), conjugate(q)))
    return x, normalize(multiply(exponential(scale(way, u)), q))


@kernel
def follow(bodies, followers, time, dt):
    """Take every key-framed body to its place at time + dt, with the velocity that brings it there."""
    for k in range(len(followers.body)):
        i = followers.body[k]
        x, q = key_framed_place(followers, k, time + dt)
        x0, q0 = get3(bodies.position, i), get4(bodies.orientation, i)
        set3(bodies.velocity, i, scale(sub(x, x0), 1.0 / dt))
        set3(bodies.spin, i, scale(logarithm(multiply(q, conjugate(q0))), 1.0 / dt))
        set3(bodies.position, i, x)
        set4(bodies.orientation, i, q)
