"""Structures that something touches are asked how they answer, but not in every step (stage/answers.py)."""

import numpy as np
import pytest

from impel import Scene
from impel.stage import Performance


def held_box(turns: float = 0.0) -> Scene:
    """A box that is to stay where it stands, or to turn so far."""
    scene = Scene(seconds=2)
    scene.body("ground", plane={}, fixed=True)
    box = scene.body("box", box=[0.4, 0.3, 0.2], mass=2, at=[0, 0, 0.1])
    box.move([[0, 0, 0.1]])
    if turns:
        box.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, turns]}], speed=240)
    return scene


def asked_at(performance: Performance) -> float:
    assert performance.stage.handles is not None
    return float(performance.stage.handles.asked_at[0])


def test_what_stands_is_asked_once_a_frame_and_stays_as_if_asked_in_every_step() -> None:
    kept, anew = Performance(held_box()), Performance(held_box())
    for _ in range(60):
        kept.next_frame()
        anew.next_frame(every_step=True)
    assert asked_at(kept) == pytest.approx(kept.time - kept.compiled.pace.frame_seconds)
    assert asked_at(anew) > asked_at(kept)
    np.testing.assert_allclose(kept.stage.bodies.position, anew.stage.bodies.position, atol=1e-9)


def test_what_turns_is_asked_more_often() -> None:
    turned = Performance(held_box(150))
    for _ in range(24):
        turned.next_frame()
    assert np.linalg.norm(turned.stage.bodies.spin[1]) > 3
    assert asked_at(turned) > turned.time - 0.75 * turned.compiled.pace.frame_seconds
