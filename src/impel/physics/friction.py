"""Coulomb friction that lets bodies rest."""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, get3_at, norm, scale, set3_at

# Columns of `contacts.friction`: what the springs of a pair did last, on the first body, and how stiff they were; and
# whether the pair was crushed, deeper than its coatings, and is still being pushed apart, or goes through; and the
# whole force on the first body when either of the two fell asleep.
FORCE, TORQUE, STIFFNESS, ROLL, CRUSHED, KEPT = 0, 3, 4, 5, 8, 9
REMEMBERED = 12  # columns in all
THROUGH = 2.0  # of CRUSHED: one of the two is key-framed, and the other held up by something at rest

# Tangential stiffness over normal: at the rim of a rolling ball 2/7 of its mass is felt, so both directions
# swing equally fast and friction never asks for shorter steps.
SHEAR = 2.0 / 7.0
SHEAR_DAMPING = 0.5  # of critical: what rests on friction comes to rest
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
