"""A step in which some pairs are in haste, see haste.py: their bodies are kicked, move and meet several times in it."""

from impel.kernel import kernel
from impel.physics.bodies import drift_one
from impel.physics.contact import forces_of
from impel.physics.follow import place_followers
from impel.physics.haste import NO_USE, advise, drift_parts, kick_parts
from impel.physics.verdicts import GOOD, NOT_A_NUMBER


@kernel
def drift_slow(bodies, contacts, dt):
    """Move those by the whole step that are in no haste."""
    for i in range(len(bodies.mass)):
        if contacts.finest[i] == 0.0 and bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            drift_one(bodies, i, dt)


@kernel
def take_back(bodies, contacts, dt):
    """Of those who were moved by a whole step, take back who is in haste."""
    for i in range(len(bodies.mass)):
        if contacts.finest[i] > 0.0 and bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            drift_one(bodies, i, -dt)


@kernel
def meet_in_parts(bodies, followers, contacts, gravity, drag, time, dt, most, limit):
    """Contact and kicks of a step from `time` of dt, in 2**`most` parts, after the first half-kick. Returns the
    verdict, at once if a shorter step or more haste, up to `limit`, would do better."""
    verdict = GOOD
    count = 1 << int(most)
    for part in range(1, count + 1):
        haste, k = most, part
        while k % 2 == 0:
            haste, k = haste - 1.0, k // 2
        if followers is not None:
            place_followers(bodies, followers, time + dt * part / count)
        drift_parts(bodies, contacts, dt, haste)
        verdict = max(verdict, forces_of(bodies, contacts, dt, haste))
        if verdict == NOT_A_NUMBER or (verdict != GOOD and advise(bodies, contacts, dt, limit) != NO_USE):
            return verdict
        kick_parts(bodies, contacts, gravity, drag, dt, haste)
    return verdict
