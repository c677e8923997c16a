"""What gaits cost over stairs and obstacles, a population at a time."""

import numpy as np

from impel.gaits.energy import COLUMNS, DISTANCE, Measured, share_out
from impel.gaits.gait import Curve, leg_index
from impel.gaits.ground import Ground
from impel.gaits.route import make_route
from impel.gaits.steps import new_state, traverse
from impel.gaits.walker import Floats, Walker, rig_of


def measure_over(
    walker: Walker,
    rows: Floats,
    ground: Ground,
    *,
    distance: float = DISTANCE,
    curve: Curve = "smooth",
    lame: str | None = None,
) -> Measured:
    """As `energy.measure`, but in full stride over stairs and obstacles; still given per `DISTANCE`."""
    rows = np.ascontiguousarray(np.atleast_2d(rows), np.float64)
    out = np.empty((len(rows), COLUMNS))
    rig, edges, leg = rig_of(walker), ground.edges(), leg_index(walker, lame)
    route = make_route([(0.0, 0.0), (distance + 100.0, 0.0)])  # far enough not to think of stopping
    smooth = curve == "smooth"
    wishes = np.array([[0.0, 1.0, 1.0, 0.0]])

    def work(first: int, last: int) -> None:
        state = new_state(len(walker.legs))
        traverse(state, rows, first, last, distance, wishes, leg, rig, route, edges, smooth, out)

    share_out(work, len(rows))
    measured = Measured(*out.T)
    for name in ("torque", "legs", "body", "acceleration", "seconds"):
        getattr(measured, name)[:] *= DISTANCE / distance
    return measured
