"""Why a frame takes so long, in one line."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from impel.physics.verdicts import REASONS
from impel.takes.remarks import plain

if TYPE_CHECKING:
    from impel.stage.performance import Performance

SLOW = 10.0  # s for a frame, after which people wonder
FEW = 200  # steps a frame: with no more, each of them takes long


def why_slow(performance: "Performance", seconds: float, told: int) -> str:
    """Where the time of the present frame goes; `told` events were there before it."""
    clock, pace, stage = performance.clock, performance.compiled.pace, performance.stage
    tries = int(clock.tries[0])
    done = round(100 * (performance.now - performance.time) / pace.frame_seconds)
    line = f"the frame at {performance.time:.2f} s takes long, {seconds:.0f} s so far for {done} % of it: "
    if tries <= FEW:
        pairs = 0 if stage.contacts is None else int(np.count_nonzero(stage.contacts.touching))
        sizes = {"bodies": len(stage.bodies.mass), "contacts": pairs, "joints": len(performance.compiled.joints)}
        return line + f"steps: {tries}; in each {', '.join(f'{what}: {count}' for what, count in sizes.items())}"
    # Steps stay short for a while after some were taken back: if none was in this frame, earlier ones tell why.
    taken_back = _taken_back(performance.told[told:]) or _taken_back(performance.told)
    if clock.rejected[0]:
        taken_back[REASONS[clock.reason[0]]] += int(clock.rejected[0])
    step = pace.frame_seconds / (pace.steps << int(clock.level[0]))
    line += f"{tries} steps were tried, now of {plain(1e6 * step, 2)} µs"
    if not taken_back:
        return line
    reason, times = taken_back.most_common(1)[0]
    return line + f"; {times} were taken back, {reason}{_where(performance, reason)}"


def _taken_back(events: list[dict[str, Any]]) -> Counter[str]:
    """How many steps were taken back, by the reason."""
    counts: Counter[str] = Counter()
    for event in events:
        if event["kind"] == "step rejected":
            counts[event["details"]["reason"]] += event["details"]["times"]
    return counts


def _where(performance: "Performance", reason: str) -> str:
    """The joint whose bodies were jolted most in the last step, or the body that feels the stiffest contact."""
    now, before = performance.memory.now, performance.memory.before
    if "joints" in reason and now.joints is not None and len(now.joints.each):
        jolt = np.linalg.norm(now.bodies.velocity - before.bodies.velocity, axis=1)
        worst = int(np.argmax(jolt[now.joints.each["a"]] + jolt[now.joints.each["b"]]))
        return f" at joints.{performance.compiled.joints[now.joints.each['index'][worst]]}"
    if "contact" in reason and now.contacts is not None:
        return f" at bodies.{performance.compiled.bodies[int(np.argmax(now.contacts.strain))]}"
    return ""
