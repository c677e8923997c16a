"""Between two steps the script acts: it makes joints and lets them go, and bodies come to touch others."""

from impel.control.appointments import DONE
from impel.kernel import kernel
from impel.physics.breaking import make, release, see_who_touches
from impel.physics.broadphase import BUILT
from impel.physics.joints import HOLDS, OPEN
from impel.physics.sleep import rouse_all
from impel.stage.events import LET_GO, MADE, tell
from impel.stage.script import FROM, UNTIL

ROUNDING = 1e-9  # s: of a sum of many steps


@kernel
def follow_script(stage, events, time):
    """Let what the script says come true before the step that begins at `time`; has anything changed?"""
    script, joints, contacts, changed = stage.script, stage.joints, stage.contacts, False
    if joints is not None:
        for n in range(len(script.joint)):
            k = script.joint[n]
            j = joints.each[k].index
            held, holds = joints.broken[j] == HOLDS, is_on(script.holds[n], time, stage.actuators)
            if holds == held or joints.broken[j] not in (HOLDS, OPEN):
                continue
            if holds:
                make(stage.bodies, joints, k)
            else:
                release(stage.bodies, joints, k, OPEN)
            if contacts is not None:
                see_who_touches(joints, contacts, k)
            tell(events, time, MADE if holds else LET_GO, j, 0, 0.0)
            changed = True
    if contacts is not None:
        for n in range(len(script.body)):
            i, touches = script.body[n], is_on(script.touches[n], time, stage.actuators)
            if contacts.near.collides[i] != touches:
                contacts.near.collides[i] = touches
                contacts.near.info[BUILT] = 0
                changed = True
    if changed:
        rouse_all(stage.bodies)
    return changed


@kernel
def is_on(span, time, actuators):
    return has_come(span, FROM, time, actuators) and not has_come(span, UNTIL, time, actuators)


@kernel
def has_come(span, which, time, actuators):
    """Whether it is time, or the appointment was kept."""
    kept = int(span[which + 1])
    if kept >= 0:
        return actuators is not None and actuators.appointments.state[kept] == DONE
    return time >= span[which] - ROUNDING
