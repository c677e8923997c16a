"""Coulomb friction that lets bodies rest, and what pairs remember besides."""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, get3_at, norm, scale, set3_at

# Columns of `contacts.friction`: what the springs of a pair did last, on the first body, and how stiff they were; and
# whether the pair was crushed, deeper than its coatings, and is still being pushed apart, or goes through; and the
# whole force on the first body when either of the two fell asleep. And, see `give_back`, the work that pressing them
# together took and that which came back, and the last force between them with its torques on both. And, see haste.py,
# the whole force on the first body with its moment about the origin.
FORCE, TORQUE, STIFFNESS, ROLL, CRUSHED, KEPT, TAKEN, GIVEN, PRESS = 0, 3, 4, 5, 8, 9, 12, 13, 14
WRENCH = 23
REMEMBERED = 29  # columns in all
THROUGH = 2.0  # of CRUSHED: one of the two is key-framed, and the other held up by something at rest

# Tangential stiffness over normal: at the rim of a rolling ball 2/7 of its mass is felt, so both directions
# swing equally fast and friction never asks for shorter steps.
SHEAR = 2.0 / 7.0
SHEAR_DAMPING = 0.5  # of critical: what rests on friction comes to rest
GAIN = 3e-3  # of the work that pressing two together took: so much more may come back
FEW, MANY = 0.6, 2.0  # of what a patch holds at most; one that is round holds two thirds of that
FORGOTTEN = 0.02  # s: after which what is at rest no longer has more to give than it holds
MOST_RETURNED = 4.0  # x a force: the most by which it grows so that all that was taken comes back
GENTLE = 0.05  # m/s: as fast as this what has nothing to give is pushed apart in any case

ROLL_SHARE = 0.05  # stiffness against rolling over shear's: soft enough to need no care, and yields by 0.1° at most


@kernel
def rub(friction, p, slip, spin, turn, normal, grip, stiffness, spread, mass, dt):
    """Friction on A, a force at the centre of pressure and a torque about the normal, at most `grip`.

    A spring holds the surfaces together where they met and slips when it would exceed Coulomb's limit (Cundall and
    Strack 1979). What is remembered is the spring's force, not its length: a spring that grows stiffer while the
    bodies are pressed together must not gain energy by it, and one that grows softer loses force in proportion.
    """
    shear = SHEAR * stiffness
    slip = axpy(-dot(slip, normal), normal, slip)
    held = get3_at(friction, p, FORCE)
    torque = friction[p, TORQUE]
    kept = min(1.0, shear / max(friction[p, STIFFNESS], 1e-300))
    size = norm(held)
    if size > 0.0:
        # The spring turns along with the pair, and stays in the plane of contact.
        held = axpy(dt, cross(spin, held), held)
        held = axpy(-dot(held, normal), normal, held)
        held = scale(held, kept * size / max(norm(held), 1e-300))
    held = axpy(-shear * dt, slip, held)
    held = scale(held, min(1.0, grip / max(norm(held), 1e-300)))
    limit = 2.0 / 3.0 * grip * math.sqrt(spread)
    torque = min(max(kept * torque - shear * spread * dt * turn, -limit), limit)
    if dt > 0.0:
        set3_at(friction, p, FORCE, held)
        friction[p, TORQUE] = torque
        friction[p, STIFFNESS] = shear
    damping = 2.0 * SHEAR_DAMPING * math.sqrt(shear * SHEAR * mass)
    rub = axpy(-damping, slip, held)
    rub = scale(rub, min(1.0, grip / max(norm(rub), 1e-300)))
    return rub, min(max(torque - damping * spread * turn, -limit), limit)


@kernel
def resist_rolling(friction, p, spin, turning, normal, most, radius, stiffness, mass, dt):
    """The torque on A that holds back what rolls, at most `most`; `turning` is A's spin against B's.

    A spring like that of friction, so that what lies on a gentle slope stays there.
    """
    stiff = ROLL_SHARE * SHEAR * stiffness * radius * radius
    turning = axpy(-dot(turning, normal), normal, turning)
    held = get3_at(friction, p, ROLL)
    held = axpy(dt, cross(spin, held), held)
    held = axpy(-dot(held, normal), normal, held)
    held = axpy(-stiff * dt, turning, held)
    held = scale(held, min(1.0, most / max(norm(held), 1e-300)))
    if dt > 0.0:
        set3_at(friction, p, ROLL, held)
    held = axpy(-2.0 * radius * math.sqrt(stiff * mass), turning, held)
    return scale(held, min(1.0, most / max(norm(held), 1e-300)))


@kernel
def give_back(friction, p, force, torques, velocity, spins, load, ease, holds, steep, returns, slow, dt):
    """The share of an elastic force that acts, so that no more energy comes back than pressing two bodies together
    took; and no less where nothing damps it, `returns`.

    Of points on a surface it depends on the way how hard they press: an edge that comes in from the side meets nothing
    until another face is nearer. On the way out that would be energy from nowhere, or lost. What has none left to give
    is pushed apart gently. What has more left than a patch of this depth `holds` at most presses harder by the ratio;
    but while all is `slow`, calming takes energy away, and such a surplus is forgotten.

    `torques` and `spins` are those of both bodies, `velocity` is that of the first against the second; motions are of
    half a step ago, between the kicks of this force and of the one before, and energies those of kicks.
    """
    before = dot(get3_at(friction, p, PRESS), velocity)
    before += dot(get3_at(friction, p, PRESS + 3), spins[0]) + dot(get3_at(friction, p, PRESS + 6), spins[1])
    power = dot(force, velocity) + dot(torques[0], spins[0]) + dot(torques[1], spins[1])
    was, eighth = norm(get3_at(friction, p, PRESS)), 0.125 * ease * dt * dt
    kept = friction[p, TAKEN] - friction[p, GIVEN] - 0.5 * dt * before
    left = kept + (0.0 if returns else GAIN * friction[p, TAKEN]) + eighth * was * was
    # What this kick gives, half of it in this step and half in the next. That may be twice as long, which tells where
    # forces are steep, or do not suit what is left.
    span = 1.5 if steep or kept < FEW * holds or kept > MANY * holds else 1.0
    share, half, squared = 1.0, 0.5 * span * dt * power, 4.0 * span * span * eighth * load * load
    if returns and dt > 0.0:
        share = min(max(1.0, kept / max(holds, 1e-300)), MOST_RETURNED)
        if slow:
            friction[p, TAKEN] -= min(1.0, dt / FORGOTTEN) * max(0.0, kept - holds)
            share = 1.0
    if share * (2.0 * half + squared * share) > left:
        share = (math.sqrt(max(half * half + squared * left, 0.0)) - half) / max(squared, 1e-300)
        gentle = (GENTLE - power / load) / max(ease * load * dt, 1e-300)
        share = min(max(share, gentle, 0.0), 1.0)
    work = 0.5 * dt * (before + share * power) + eighth * (share * share * load * load - was * was)
    friction[p, GIVEN if work > 0.0 else TAKEN] += abs(work)
    set3_at(friction, p, PRESS, scale(force, share))
    set3_at(friction, p, PRESS + 3, scale(torques[0], share))
    set3_at(friction, p, PRESS + 6, scale(torques[1], share))
    return share
