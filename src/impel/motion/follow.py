"""Motion that is told exactly: straight lines and even turns between keys with times."""

from impel.kernel import kernel
from impel.motion.rotations import axpy, conjugate, exponential, get3, get4, logarithm, multiply, scale, sub


@kernel
def follow(times, positions, orientations, first, last, t):
    """Where keys first..last-1 put a body at time t: position and orientation.

    Before its first key and after its last a body rests.
    """
    if t < times[first] or last - first == 1:
        return get3(positions, first), get4(orientations, first)
    if t >= times[last - 1]:
        return get3(positions, last - 1), get4(orientations, last - 1)
    i, after = first, last - 1
    while after - i > 1:  # by halves, for a walker has 240 keys a second
        middle = (i + after) // 2
        if t >= times[middle]:
            i = middle
        else:
            after = middle
    span = times[i + 1] - times[i]
    velocity = scale(sub(get3(positions, i + 1), get3(positions, i)), 1.0 / span)
    q = get4(orientations, i)
    spin = scale(logarithm(multiply(get4(orientations, i + 1), conjugate(q))), 1.0 / span)
    gone = t - times[i]
    return axpy(gone, velocity, get3(positions, i)), multiply(exponential(scale(spin, gone)), q)
