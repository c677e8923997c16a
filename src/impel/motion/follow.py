"""Motion that is told exactly by keys with times: smoothly, or in straight lines and even turns."""

from impel.kernel import kernel
from impel.motion.rotations import axpy, conjugate, exponential, get3, get4, logarithm, multiply, normalize, scale, sub
from impel.motion.splines import orientation_at, position_at
from impel.motion.timed import segment_at


@kernel
def follow(times, positions, orientations, first, last, t):
    """Where keys first..last-1 put a body at time t, in straight lines and even turns: position and orientation.

    Before its first key and after its last a body rests.
    """
    if t < times[first] or last - first == 1:
        return get3(positions, first), get4(orientations, first)
    if t >= times[last - 1]:
        return get3(positions, last - 1), get4(orientations, last - 1)
    i = segment_at(times, first, last, t)
    span = times[i + 1] - times[i]
    velocity = scale(sub(get3(positions, i + 1), get3(positions, i)), 1.0 / span)
    q = get4(orientations, i)
    spin = scale(logarithm(multiply(get4(orientations, i + 1), conjugate(q))), 1.0 / span)
    gone = t - times[i]
    return axpy(gone, velocity, get3(positions, i)), multiply(exponential(scale(spin, gone)), q)


@kernel
def follow_smoothly(times, positions, orientations, first, last, moves, turns, row, t):
    """The same by the cubics of `timed.py`, which are the segments from `row` on."""
    if t <= times[first] or t >= times[last - 1]:
        return follow(times, positions, orientations, first, last, t)
    i = segment_at(times, first, last, t)
    u = (t - times[i]) / (times[i + 1] - times[i])
    s = row + i - first
    return position_at(moves[s], u)[0], normalize(orientation_at(turns[s], u)[0])
