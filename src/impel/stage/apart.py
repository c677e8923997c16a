"""A check after every frame, whatever held the joints: is one of them apart?"""

from typing import Any

import numpy as np

from impel.physics.gaps import APART
from impel.physics.joints import JOINT, Joints
from impel.stage.compile import Compiled
from impel.stage.state import Stage


class Watch:
    """Writes the events "joint apart": one for each time that a joint is apart, from its first frame to its last."""

    def __init__(self) -> None:
        self.open: dict[
            int, int
        ] = {}  # joints that were apart in the last frame: where their events are among the told

    def look(self, compiled: Compiled, stage: Stage, time: float, told: list[dict[str, Any]]) -> None:
        """Tell of what begins with the frame at this time; what goes on is told anew."""
        joints = stage.joints
        still: dict[int, int] = {}
        if joints is None:
            return
        for j in np.flatnonzero(~(joints.apart <= APART).all(axis=1)).tolist():
            k = int(np.flatnonzero(joints.each["index"] == j)[0])
            island = int(np.searchsorted(joints.island[:, JOINT], k, side="right")) - 1
            gap, angle = float(joints.apart[j, 0] * joints.size[island]), float(np.degrees(joints.apart[j, 1]))
            if j in self.open:
                event = told[self.open[j]]
            else:
                because = _because(compiled, stage, island)
                details = {"gap": 0.0, "angle": 0.0, "worst": 0.0, "seconds": 0.0, "because": because}
                event = {"time": time, "kind": "joint apart", "subject": compiled.joints[j], "details": details}
                told.append(event)
            details = event["details"] | {"seconds": time - event["time"]}
            worst = float(joints.apart[j].max())
            if worst > details["worst"]:
                details |= {"gap": gap, "angle": angle, "worst": worst}
            still[j] = self.open.get(j, len(told) - 1)
            told[still[j]] = event | {"details": details}  # another event: the old one may be in a take or a snapshot
        self.open = still


def _because(compiled: Compiled, stage: Stage, island: int) -> str:
    """Why the joints of an island do not hold, as far as it can be seen."""
    joints, bodies = stage.joints, stage.bodies
    assert joints is not None
    if stage.printed is not None or stage.displaced is not None:
        return "world.joints: rattle would hold it"
    each = joints.each[joints.island[island, JOINT] : joints.island[island + 1, JOINT]]
    told = set() if stage.followers is None else set(stage.followers.body.tolist())
    pulled = sorted({compiled.bodies[i] for joint in each for i in (joint["a"], joint["b"]) if int(i) in told})
    if pulled:
        return f"{' and '.join(pulled)}, which moves as told, may have gone where the joints cannot follow"
    met = sorted(compiled.joints[joint["index"]] for joint in each if _is_at_limit(joints, joint))
    if len(met) > 1:
        names = " and ".join(f"joints.{name}" for name in met)
        return f"{names} are at their limits, which may contradict each other; wider ones may help"
    spread = bodies.mass[[i for i in {*each["a"], *each["b"]} if bodies.inverse_mass[i] > 0.0]]
    if spread.max() > 1e4 * spread.min():
        return "masses are too unequal; heavier small bodies may help"
    return "no forces hold it here, as where a loop folds flat; joints that leave each other more room may help"


def _is_at_limit(joints: Joints, joint: Any) -> bool:
    slots = [joint["index"], joint["second"]][: joint["limits"]]
    return any(joints.active[slots] != 0.0)
