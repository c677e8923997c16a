"""What gaits cost on a whole way, from standing to standing, over stairs and obstacles if there are any: a population
at a time."""

import math

import numpy as np

from impel.gaits.carrying import GRAVITY
from impel.gaits.energy import COLUMNS, Measured, share_out
from impel.gaits.gait import Curve, leg_index
from impel.gaits.ground import Ground
from impel.gaits.route import make_route
from impel.gaits.steps import WISHES, new_state, walk_rows
from impel.gaits.walker import Floats, Walker, rig_of

# Times as long as a body would take at √(g·leg): gaits that take longer are not tried, if nobody asks for their time.
TOO_SLOW = 16.0
SLOW = 5.0  # gaits that take so long are tried in any case


def measure_walks(
    walker: Walker,
    rows: Floats,
    *,
    distance: float,
    ground: Ground | None = None,
    curve: Curve = "smooth",
    lame: str | None = None,
    patience: float | None = None,
) -> Measured:
    """As `energy.measure`, but of the whole walk over a straight way. Who is slow, and not there after `patience`
    seconds either, never arrives."""
    rows = np.ascontiguousarray(np.atleast_2d(rows), np.float64)
    out = np.empty((len(rows), COLUMNS))
    rig, leg, length = rig_of(walker), leg_index(walker, lame), walker.leg_length
    route = make_route([(0.0, 0.0), (distance, 0.0)], walker.size)
    surfaces = (ground or Ground()).surfaces(route, rig.unit)
    briefly = (distance + 2.0 * length) / math.sqrt(GRAVITY * length)
    longest = TOO_SLOW * briefly if patience is None else max(patience, SLOW * briefly)
    wishes = np.ones(WISHES)
    wishes[[0, 3]] = 0.0
    smooth = curve == "smooth"

    def work(first: int, last: int) -> None:
        state = new_state(len(walker.legs))
        walk_rows(state, rows, first, last, longest, wishes, leg, rig, route, surfaces, smooth, out)

    share_out(work, len(rows))
    return Measured(*out.T)
