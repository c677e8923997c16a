"""A walker that is played: it goes on tick by tick and hands out the keys of its bodies for a little while ahead."""

import math

from impel.gaits.gait import TICK
from impel.gaits.posing import pose_parts
from impel.gaits.route import place_on
from impel.gaits.steps import ALONG, GOING, PITCH, ROLL, WISHES, tick_on
from impel.kernel import kernel

FALL = 5  # columns of a landing: tick, leg, place


@kernel
def stride_on(
    state, wish, moods, wishes, going, first, lame, born_lame, rig, route, surfaces, smooth,
    lift, start, time, position, orientation, base, width, fresh, out, landed,
):  # fmt: skip
    """Move the window of keys on, so that it begins at the tick `first`; return how many feet landed in it anew.

    Each part of the walker has `width` keys, one a tick, from the row `base` on, one part after the other. The state is
    that of the last of them; `fresh` of them are to be walked. `wishes` (T, 5) are those of each tick since the start,
    before which it stands; `going` says whether it may go on. Fills `landed` (·, 5) by tick, leg and place.
    """
    n = state.foot.shape[0]
    count = 0
    for part in range(1 + 3 * n):
        row = base + part * width
        for k in range(row, row + width - fresh):
            time[k] = time[k + fresh]
            for c in range(3):
                position[k, c] = position[k + fresh, c]
            for c in range(4):
                orientation[k, c] = orientation[k + fresh, c]
    for k in range(width - fresh, width):
        tick = first + k
        if tick > 0:
            up = 0
            for i in range(n):
                up |= int(state.lifted[i]) << i
            for c in range(WISHES):
                wish[c] = wishes[min(tick, wishes.shape[0] - 1), c]
            wish[GOING] = going
            tick_on(state, moods, wish, lame, born_lame, rig, route, surfaces, smooth, out)
            for i in range(n):
                if (up >> i) & 1 == 1 and not state.lifted[i] and count < landed.shape[0]:
                    landed[count, 0] = tick
                    landed[count, 1] = i
                    for c in range(3):
                        landed[count, 2 + c] = state.foot[i, c]
                    count += 1
        heading = place_on(route, min(state.clock[ALONG], route.length))[2]
        for part in range(1 + 3 * n):
            time[base + part * width + k] = start + tick * TICK
        roll, pitch = state.carried[0, ROLL], state.carried[0, PITCH]
        before = base + k - 1 if k > 0 else -1
        pose_parts(
            state.body, heading, roll, pitch, state.foot, rig, lift, position, orientation, base + k, width, before
        )
    return count


def window(frame_seconds: float) -> int:
    """How many keys a part needs for a frame."""
    return math.ceil(frame_seconds / TICK - 1e-9) + 2


def first_tick(time: float, start: float) -> int:
    """The tick at or before a time, since a walker's start."""
    return math.floor((time - start) / TICK + 1e-9)
