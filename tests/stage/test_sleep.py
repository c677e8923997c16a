"""What lies still sleeps and costs nothing; whatever would move is never frozen, and what is touched wakes."""

import math

import numpy as np
import pytest

from impel import Scene
from impel.stage import Performance


def heap(count: int = 8, **world: object) -> Scene:
    scene = Scene(**{"seconds": 4, **world})
    scene.body("ground", plane={}, fixed=True)
    for i in range(count):
        scene.body(f"box {i}", box=[0.2, 0.2, 0.2], mass=1, at=[0.02 * (i % 2), 0, 0.1 + 0.201 * i])
    return scene


def play(scene: Scene, seconds: float) -> Performance:
    performance = Performance(scene)
    for _ in range(round(seconds * scene.world.fps)):
        performance.next_frame()
    return performance


def asleep(performance: Performance) -> list[str]:
    names, bodies = performance.compiled.bodies, performance.stage.bodies
    return [name for name, sleeps in zip(names, bodies.asleep) if sleeps]


def test_a_stack_falls_asleep_where_it_stands_and_the_frames_pass_by() -> None:
    performance = play(heap(5), 3)
    assert len(asleep(performance)) == 5
    before = performance.stage.bodies.position.copy()
    assert before[5, 2] == pytest.approx(0.9, abs=3e-3)
    performance.next_frame()
    assert (performance.stage.bodies.position == before).all()
    assert performance.clock.tick[0] == 0  # no step was taken


def test_a_sleeping_stack_wakes_when_it_is_hit() -> None:
    """A ball rolls in after 1.6 s and knocks the lowest box away."""
    scene = heap(3)
    roll = {"velocity": [3, 0, 0], "spin": [0, math.degrees(30), 0], "coating": {"rolling": 0}}
    scene.body("ball", sphere=0.1, mass=5, at=[-5, 0, 0.1], **roll)
    performance = play(scene, 1.4)
    assert asleep(performance) == ["box 0", "box 1", "box 2"]
    for _ in range(40):
        performance.next_frame()
    boxes = performance.stage.bodies.position[1:4]
    assert np.linalg.norm(boxes[:, :2], axis=1).max() > 0.15


def test_what_loses_its_support_wakes() -> None:
    scene = Scene(seconds=4)
    scene.body("table", box=[1, 1, 0.1], follows=[{"time": 0}, {"time": 1.5}, {"time": 1.8, "at": [3, 0, 0]}])
    scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.15])
    scene.body("top", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.35])
    performance = play(scene, 1.4)
    assert asleep(performance) == ["box", "top"]
    for _ in range(60):
        performance.next_frame()
    assert performance.stage.bodies.position[1:, 2].max() < -0.5


def test_a_sled_just_above_the_critical_slope_is_not_frozen() -> None:
    """With a thousandth more than friction holds it slides off from rest as Coulomb says; with less it sleeps."""
    for slope, slides in ((0.6 * 1.001, True), (0.6 * 0.98, False)):
        degrees = math.degrees(math.atan(slope))
        up = np.array([math.sin(math.radians(degrees)), 0, math.cos(math.radians(degrees))])
        scene = Scene(seconds=8)
        scene.body("slope", plane={}, fixed=True, euler=[0, degrees, 0])
        scene.body("sled", box=[0.4, 0.4, 0.1], mass=1, at=(0.05 * up).tolist(), euler=[0, degrees, 0])
        performance = play(scene, 3)
        slow = np.linalg.norm(performance.stage.bodies.velocity[1])
        for _ in range(300):
            performance.next_frame()
        assert asleep(performance) == ([] if slides else ["sled"])
        if slides:
            gained = 9.81 * math.cos(math.radians(degrees)) * (slope - 0.6) * 5
            assert np.linalg.norm(performance.stage.bodies.velocity[1]) - slow == pytest.approx(gained, rel=0.05)


def test_pendulums_tops_and_drifting_bodies_never_sleep() -> None:
    scene = Scene(seconds=3)
    scene.body("ground", plane={}, fixed=True)
    scene.body("bob", sphere=0.1, mass=1, at=[0.001, 0, 1])  # a millimetre off, and at its turning point
    scene.joint("pin", ball=["world", "bob"], at=[0, 0, 2])
    ice = {"friction": 0, "rolling": 0}
    scene.body("top", cylinder={"radius": 0.2, "length": 0.05}, mass=1, at=[3, 0, 0.025], spin=[0, 0, 10], coating=ice)
    assert asleep(play(scene, 3)) == []
    space = Scene(seconds=3, gravity=[0, 0, 0])
    space.body("rock", sphere=0.1, mass=1, velocity=[1e-4, 0, 0])
    space.body("other", sphere=0.1, mass=1, at=[1, 0, 0])
    performance = play(space, 3)
    assert performance.stage.bodies.position[0, 0] == pytest.approx(3e-4, rel=1e-9)


def test_a_slow_lift_carries_what_lies_on_it_without_a_jerk() -> None:
    scene = Scene(seconds=6)
    rise = [{"time": 0, "at": [0, 0, 0]}, {"time": 1}, {"time": 6, "at": [0, 0, 0.003]}]  # 0.6 mm/s
    scene.body("lift", box=[1, 1, 0.1], follows=rise, linear=True)
    scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.15])
    performance, heights = Performance(scene), []
    for _ in range(350):
        performance.next_frame()
        heights.append(performance.stage.bodies.position[1, 2] - performance.stage.bodies.position[0, 2])
    assert np.ptp(heights[90:]) < 1e-5


def test_the_same_scene_sleeps_to_the_same_bits() -> None:
    def final() -> bytes:
        bodies = play(heap(6), 2.5).stage.bodies
        assert bodies.asleep.any()
        return bodies.position.tobytes() + bodies.orientation.tobytes() + bodies.felt.tobytes()

    assert final() == final()
