"""Bodies that lie still fall asleep one by one and cost next to nothing, until what they feel changes.

A body falls asleep when it has been all but still for a while, is held by what it touches, and slides on nothing. It
then stays where it is. What touches it and is awake goes on pushing it as before; the change of that push since it fell
asleep is added up, and as soon as it would move the body, it wakes, with the forces that act on it then.
"""

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, get3, get3_at, get4, norm, set3, set3_at, set4_at, sub

REST_SPEED = 0.01  # m/s: what moves faster, anywhere on it, is awake ...
REST_TIME = 0.25  # s: ... and what was not slower for so long ...
REST_WAY = 2e-4  # m: ... or went farther than this in that time ...
REST_PULL = 0.5  # m/s²: ... or is about to move
WAKE_PULL = 1.0  # m/s²: a change of what it feels that wakes a body


@kernel
def settle(bodies, radius, gravity, dt):
    """At the end of a step, put to sleep what lies still; `radius[i]` holds body i."""
    for i in range(len(bodies.mass)):
        if bodies.restless[i] == 1 or bodies.asleep[i] == 1.0:
            continue
        x, q = get3(bodies.position, i), get4(bodies.orientation, i)
        if norm(get3(bodies.velocity, i)) + radius[i] * norm(get3(bodies.spin, i)) > REST_SPEED:
            bodies.calm[i] = 0.0
        if bodies.calm[i] == 0.0:
            set3(bodies.mark, i, x)
            set4_at(bodies.mark, i, 3, q)
        bodies.calm[i] += dt
        if bodies.calm[i] < REST_TIME:
            continue
        turned = 0.0
        for k in range(4):
            turned += (q[k] - bodies.mark[i, 3 + k]) ** 2
        way = norm(sub(x, get3_at(bodies.mark, i, 0))) + 2.0 * radius[i] * turned**0.5
        force = get3(bodies.force, i)
        pull = norm(axpy(bodies.inverse_mass[i], force, gravity))
        if way > REST_WAY or pull > REST_PULL or norm(force) == 0.0:
            bodies.calm[i] = 0.0
            continue
        bodies.asleep[i] = 1.0
        set3_at(bodies.felt, i, 0, force)
        set3_at(bodies.felt, i, 3, get3(bodies.torque, i))
        set3(bodies.velocity, i, (0.0, 0.0, 0.0))
        set3(bodies.momentum, i, (0.0, 0.0, 0.0))
        set3(bodies.spin, i, (0.0, 0.0, 0.0))


@kernel
def wake(bodies, radius):
    """Wake those whose forces, which are changes while they sleep, would move them."""
    for i in range(len(bodies.mass)):
        if bodies.asleep[i] == 1.0:
            force, torque = get3(bodies.force, i), get3(bodies.torque, i)
            if (norm(force) + norm(torque) / radius[i]) * bodies.inverse_mass[i] > WAKE_PULL:
                rouse(bodies, i)


@kernel
def rouse(bodies, i):
    """Wake a body, with all that it feels."""
    bodies.asleep[i] = 0.0
    bodies.calm[i] = 0.0
    set3(bodies.force, i, add(get3(bodies.force, i), get3_at(bodies.felt, i, 0)))
    set3(bodies.torque, i, add(get3(bodies.torque, i), get3_at(bodies.felt, i, 3)))


@kernel
def rouse_all(bodies):
    for i in range(len(bodies.mass)):
        if bodies.asleep[i] == 1.0:
            rouse(bodies, i)


@kernel(inline=True)
def is_still(bodies, i):
    """Asleep, or immovable and not on the move."""
    if bodies.inverse_mass[i] > 0.0:
        return bodies.asleep[i] == 1.0
    return norm(get3(bodies.velocity, i)) == 0.0 and norm(get3(bodies.spin, i)) == 0.0


@kernel
def all_sleep(bodies):
    for i in range(len(bodies.mass)):  # noqa: SIM110 - kernels have no generators
        if not is_still(bodies, i):
            return False
    return True


@kernel(inline=True)
def push(bodies, i, force, torque, kept, arm):
    """Add what a pair does to a body, or what has changed since a sleeping one fell asleep; `kept` was its force then,
    `arm` is where it acts."""
    if bodies.asleep[i] == 1.0:
        change = sub(force, kept)
        set3(bodies.force, i, add(get3(bodies.force, i), change))
        set3(bodies.torque, i, add(get3(bodies.torque, i), cross(arm, change)))
    else:
        set3(bodies.force, i, add(get3(bodies.force, i), force))
        set3(bodies.torque, i, add(get3(bodies.torque, i), torque))
