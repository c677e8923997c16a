"""What the script makes and lets go: joints, and bodies that come to touch others."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats2, Integers, struct
from impel.physics.joints import Joints
from impel.scene.scene import Scene
from impel.scene.spans import Span, When

FROM, FROM_KEPT, UNTIL, UNTIL_KEPT = range(4)  # columns of a span: a time in s, or an appointment; -1 for none


@struct
class Script:
    """J joints and B bodies that the script changes."""

    joint: Integers  # (J,) in the order of `joints.each`
    holds: Floats2  # (J, 4) FROM ...: how long it holds
    body: Integers  # (B,)
    touches: Floats2  # (B, 4) FROM ...: how long it touches others


class Spans(NamedTuple):
    """What has a time of its own, by its place in the stage's arrays."""

    joints: dict[int, Span]
    bodies: dict[int, Span]


def spans_of(scene: Scene) -> Spans:
    """Joints as they are written, and bodies."""
    joints = {j: Span.of(joint.from_, joint.until) for j, joint in enumerate(scene.joints.values())}
    bodies = {i: body.collides for i, body in enumerate(scene.bodies.values()) if isinstance(body.collides, Span)}
    return Spans({j: span for j, span in joints.items() if span is not None}, bodies)


def make_script(scene: Scene, joints: Joints | None) -> Script | None:
    spans = spans_of(scene)
    if not spans.joints and not spans.bodies:
        return None
    place = {} if joints is None else {int(j): k for k, j in enumerate(joints.each["index"])}
    names = list(scene.appointments)
    return Script(
        joint=np.array([place[j] for j in spans.joints], np.int64),
        holds=_rows(spans.joints.values(), names),
        body=np.array(list(spans.bodies), np.int64),
        touches=_rows(spans.bodies.values(), names),
    )


def _rows(spans: Iterable[Span], names: Sequence[str]) -> NDArray[np.float64]:
    def moment(when: When | None, never: float) -> tuple[float, float]:
        if isinstance(when, str):
            return math.inf, float(names.index(when))
        return never if when is None else when, -1.0

    rows = [(*moment(span.from_, 0.0), *moment(span.until, math.inf)) for span in spans]
    return np.array(rows, float).reshape(-1, 4)
