"""A performance can be rewound, branched and recorded at any time, and nothing shows of it."""

import copy

import numpy as np
import pytest
from rewinding import differences, hundred_balls, state, walkers
from test_performance import busy_scene, same

from impel import Scene, play, simulate
from impel.stage import Performance, Show
from impel.stage.record import Recorder
from impel.takes import Take


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


def test_what_an_actor_stands_with_is_told_by_its_own_contacts_alone() -> None:
    """Others come and go meanwhile, and the places of pairs in the list change."""
    scene = Scene(seconds=1.5)
    scene.body("ground", plane={}, fixed=True)
    for n in range(12):
        place = [0.5 + 0.25 * n, 0.2 * (n % 3 - 1), 0.1 + 0.1 * (n % 4)]
        scene.body(f"ball {n}", sphere=0.1, mass=0.3, at=place, velocity=[-3, 0, 0])
    crate = scene.body("crate", box=[0.3, 0.3, 0.3], mass=2, at=[0, 0, 0.15])
    crate.move([[0, 0, 0.15], [1, 0, 0.15]], speed=0.5)
    assert differences(scene, 12) == []


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


def on_a_wagon(seconds: float = 1.0) -> Scene:
    """One who steps onto a moving wagon, and meets another there."""
    scene = Scene(seconds=seconds)
    wagon = [{"time": 0, "at": [0, 0, 0.15]}, {"time": 1, "at": [1, 1, 0.5]}]
    scene.body("wagon", box=[1, 1, 0.3], follows=wagon)
    rider = scene.body("rider", sphere=0.15, mass=1, at=[-1, -1, 0.8])
    rider.move([[-1, -1, 0.8], {"at": [-0.5, 0, 0.8], "in": "wagon"}], speed=1)
    scene.body("other", sphere=0.15, mass=1, at=[-1, 3, 0.8]).move([[-1, 3, 0.8], [0, 3, 0.8]], speed=1)
    scene.appointment("meet", cues=["rider.move.1", "other.move.1"])
    return scene


def test_keys_in_the_frame_of_a_body_are_where_they_were_in_a_restored_moment() -> None:
    """Appointments look at paths: these must not be what they were when they were looked at last."""
    show = play(on_a_wagon())
    begin, first = show.snapshot(), last(show)
    show.restore(begin)
    again = last(show)
    assert np.array_equal(first.position, again.position)
    assert np.array_equal(first.paths["rider.move"], again.paths["rider.move"])
    assert first.channels.keys() == again.channels.keys()
    assert all(np.array_equal(first.channels[name], again.channels[name]) for name in first.channels)


@pytest.mark.parametrize(
    "keys",
    [
        [[-1, -1, 0.8], {"at": [-0.5, 0, 0.8], "in": "wagon"}, {"at": [0.4, 0, 0.8], "in": "wagon"}],
        [[-1, -1, 0.8], [0, 0, 1]],
    ],
)
def test_paths_that_move_are_recorded_on_after_other_keys_and_a_restore(keys: list[object]) -> None:
    show = play(on_a_wagon())
    for _ in range(20):
        show.next_frame()
    show.change("actors.rider.move.keys", keys)
    show.next_frame()
    moment, branch = show.snapshot(), show.branch()
    first = last(show)
    show.restore(moment)
    for other in (last(show), last(branch)):
        assert np.array_equal(first.position, other.position)
        assert np.array_equal(first.paths["rider.move"], other.paths["rider.move"])


def test_goals_in_the_frame_of_a_body_are_where_they_were_in_a_restored_moment() -> None:
    scene = Scene(seconds=2)
    wagon = [{"time": 0, "at": [0, 0, 0.15]}, {"time": 2, "at": [2, 0, 0.15]}]
    scene.body("wagon", box=[1, 1, 0.3], follows=wagon)
    ball = scene.body("ball", sphere=0.15, mass=1, at=[-1, 0, 1])
    ball.goals([{"at": [0, 0, 0.6], "time": 0.8, "in": "wagon"}, {"at": [0, 0.2, 0.6], "time": 1.6, "in": "wagon"}])
    show = play(scene)
    for _ in range(70):
        show.next_frame()
    moment, first = show.snapshot(), last(show)
    show.restore(moment)
    assert np.array_equal(first.paths["ball.goals.move"], last(show).paths["ball.goals.move"])


def last(show: Show) -> Take:
    """The take, when it has been played to its end."""
    for _ in show:
        pass
    return show.take()
