"""Key-framed bodies: they move exactly as told and push whatever is in their way."""

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats2, kernel, struct
from impel.motion.follow import follow
from impel.motion.rotations import conjugate, get3, get4, logarithm, multiply, normalize, scale, set3, set4, sub

Floats = NDArray[np.float64]


@struct
class Followers:
    """The keys of all key-framed bodies, one body after the other, by time."""

    body: NDArray[np.int64]  # (K,)
    first: NDArray[np.int64]  # (K + 1,) where each body's keys begin
    time: Floats  # (keys,) s
    position: Floats2  # (keys, 3) of the centre of mass
    orientation: Floats2  # (keys, 4) of the principal axes


@kernel
def lead_followers(bodies, followers, time, dt):
    """Give every key-framed body the velocities that bring it to its place at time + dt."""
    for k in range(len(followers.body)):
        i = followers.body[k]
        x, q = _told(followers, k, time + dt)
        set3(bodies.velocity, i, scale(sub(x, get3(bodies.position, i)), 1.0 / dt))
        turned = logarithm(multiply(q, conjugate(get4(bodies.orientation, i))))
        set3(bodies.spin, i, scale(turned, 1.0 / dt))


@kernel
def place_followers(bodies, followers, time):
    """Take every key-framed body to its place."""
    for k in range(len(followers.body)):
        i = followers.body[k]
        x, q = _told(followers, k, time)
        set3(bodies.position, i, x)
        set4(bodies.orientation, i, q)


@kernel
def _told(followers, k, time):
    first, last = followers.first[k], followers.first[k + 1]
    x, q = follow(followers.time, followers.position, followers.orientation, first, last, time)
    return x, normalize(q)
