"""A performance can be rewound, branched and recorded at any time, and nothing shows of it."""

import copy

import numpy as np
import pytest
from rewinding import differences, hundred_balls, state, walkers
from test_performance import busy_scene, same

from impel import Scene, simulate
from impel.stage import Performance
from impel.stage.record import Recorder


@pytest.mark.filterwarnings("ignore:.*overlaps")
@pytest.mark.parametrize("scene", [busy_scene(), hundred_balls(0.6), walkers(0.5)], ids=["busy", "balls", "walkers"])
def test_what_follows_a_restored_moment_is_the_same(scene: Scene) -> None:
    assert differences(scene, 6) == []


def breaking_scene() -> Scene:
    """A rope of two links, of which one breaks and then falls on the other."""
    scene = Scene(seconds=1.5)
    scene.body("ground", plane={}, fixed=True)
    scene.body("upper", capsule={"radius": 0.05, "length": 0.3}, mass=1, at=[0.2, 0, 1.2], euler=[0, 90, 0])
    scene.body("lower", capsule={"radius": 0.05, "length": 0.3}, mass=5, at=[0.55, 0, 1.2], euler=[0, 90, 0])
    scene.joint("hook", ball=["world", "upper"], at=[0, 0, 1.2])
    scene.joint("link", ball=["upper", "lower"], at=[0.38, 0, 1.2], breaks={"force": 90})
    return scene


def test_a_joint_that_broke_is_whole_again_in_a_restored_moment() -> None:
    scene = breaking_scene()
    assert any(event["kind"] == "joint broke" for event in simulate(scene).events)
    assert differences(scene, 6) == []


def test_a_branch_leaves_its_origin_alone() -> None:
    performance = Performance(busy_scene())
    for _ in range(10):
        performance.next_frame()
    before = state(performance)
    for other in (performance.branch(), copy.deepcopy(performance), copy.copy(performance)):
        for _ in range(10):
            other.next_frame()
        assert other.frame == 20
        assert state(other) != before
    assert state(performance) == before


def test_a_take_can_be_had_at_any_time_again_and_again() -> None:
    """Also of bodies whose origin is not their centre, which a take used to move once more each time."""
    scene = busy_scene()
    parts = [{"at": [0, 0, 0], "radius": 0.1}, {"at": [0.2, 0, 0], "radius": 0.05}]
    scene.body("egg", blob={"points": parts}, mass=1, at=[3, 3, 1], spin=[50, 80, 20])
    whole = simulate(scene)
    performance = Performance(scene)
    recorder = Recorder(performance)
    recorder.write_frame()
    for frame in range(1, len(whole.time)):
        performance.next_frame()
        recorder.write_frame()
        if frame % 20 == 0:
            early = recorder.take()
            assert early.time.tobytes() == whole.time[: frame + 1].tobytes()
            np.testing.assert_array_equal(early.position, whole.position[: frame + 1])
            told = [event for event in early.events if event["kind"] not in ("held up", "out of time", "overloaded")]
            assert all(event in whole.events for event in told)
    assert same(recorder.take(), whole)
    assert same(recorder.take(), whole)
    position = recorder.take().position
    position[:] = 0.0  # a take is nobody else's
    assert same(recorder.take(), whole)


def test_frames_that_are_played_again_are_recorded_anew() -> None:
    performance = Performance(busy_scene())
    recorder = Recorder(performance)
    recorder.write_frame()
    for frame in range(1, 61):
        performance.next_frame()
        recorder.write_frame()
        if frame == 20:
            snapshot = performance.snapshot()
    take = recorder.take()
    performance.restore(snapshot)
    assert len(recorder.take().time) == 21
    while performance.frame < 60:
        performance.next_frame()
        recorder.write_frame()
    assert same(recorder.take(), take)
