import numpy as np
import pytest

import impel.gaits
from impel.files import Problem
from impel.gaits.ground import Ground, Obstacle, Stairs
from impel.gaits.legs import pose_legs
from impel.gaits.mood import load_moods
from impel.gaits.record import as_take, tracks
from impel.gaits.walk import walk
from impel.gaits.walker import rig_of
from impel.motion.orientations import matrix_from_quaternion
from impel.takes.take import EVENT_KINDS


@pytest.fixture(scope="module")
def walked():
    return walk(load_moods("creature"), mood=[(0, 0), (6, 100)], path=[(0, 0), (4, 0), (6, 3)])


def test_capsules_reach_from_joint_to_joint_and_feet_stand_on_the_ground(walked):
    keys = tracks(walked)
    walker = walked.walker
    lift = np.array([0, 0, walker.sole])
    hip, knee, _ = pose_legs(rig_of(walker), walked.body, walked.heading, walked.tilt, walked.foot)
    axis = matrix_from_quaternion(keys.orientations)[..., 2]
    for i, (name, leg) in enumerate(walker.legs.items()):
        upper, lower, foot = (keys.names.index(f"{name}.{part}") for part in ("upper", "lower", "foot"))
        for place, length, top, bottom in ((upper, leg.upper, hip, knee), (lower, leg.lower, knee, walked.foot)):
            reach = axis[:, place] * length / 2
            np.testing.assert_allclose(keys.positions[:, place] + reach, top[:, i] + lift, atol=1e-9)
            np.testing.assert_allclose(keys.positions[:, place] - reach, bottom[:, i] + lift, atol=1e-9)
        radius = keys.shapes[foot]["sphere"]
        standing = ~walked.lifted[:, i]
        np.testing.assert_allclose(keys.positions[standing, foot, 2], radius, atol=1e-12)
        assert (keys.positions[:, foot, 2] >= radius - 1e-12).all()


def test_key_frames_come_every_tick_and_nothing_flips_between_them(walked):
    keys = tracks(walked)
    np.testing.assert_allclose(np.diff(keys.times), 1 / 240, rtol=1e-9)
    assert keys.positions.shape == (len(keys.times), 13, 3)
    np.testing.assert_allclose(np.linalg.norm(keys.orientations, axis=-1), 1, atol=1e-12)
    turn = 2 * np.linalg.norm(np.diff(keys.orientations, axis=0), axis=-1)  # radians a tick
    assert turn.max() < np.radians(6)


def test_a_walk_is_a_take_with_footfalls_where_feet_land(walked):
    take = as_take(walked, fps=60)
    assert take.fps == pytest.approx(60)
    assert len(take.names) == len(take.shapes) == len(take.colors) == take.position.shape[1]
    assert take.names[:2] == ["body", "front_left.upper"]
    falls = take.events
    assert {event["kind"] for event in falls} == {"footfall"} <= set(EVENT_KINDS)
    assert [event["time"] for event in falls] == sorted(event["time"] for event in falls)
    for leg, name in enumerate(walked.walker.legs):
        mine = [event for event in falls if event["subject"] == name]
        assert len(mine) == (walked.lifted[:-1, leg] & ~walked.lifted[1:, leg]).sum() > 3
        for event in mine:
            tick = round(event["time"] * 240)
            assert not walked.lifted[tick, leg]
            assert walked.lifted[tick - 1, leg]
            np.testing.assert_allclose(event["details"]["at"], walked.foot[tick, leg], atol=1e-6)
    total = sum(take.channels[f"energy.{term}"] for term in ("torque", "legs", "body", "acceleration"))
    np.testing.assert_allclose(take.channels["energy"], total, rtol=1e-12)
    assert np.all(np.diff(take.channels["energy"]) >= 0)


def test_a_walk_is_a_take_at_any_rate(walked):
    ticks, take = as_take(walked, fps=240), as_take(walked, fps=25)
    np.testing.assert_allclose(np.diff(take.time), 1 / 25, rtol=1e-9)
    assert take.events == ticks.events
    both = slice(0, None, 5)  # every fifth of these frames, 0.2 s apart, is a tick
    np.testing.assert_allclose(take.position[both], ticks.position[::48][: len(take.time[both])], atol=1e-9)
    at = [np.interp(take.time, ticks.time, ticks.position[:, 0, k]) for k in range(3)]
    np.testing.assert_allclose(take.position[:, 0].T, at, atol=1e-4)
    with pytest.raises(Problem, match="fps: must be greater than 0"):
        as_take(walked, fps=0)


def test_the_example_of_the_package_runs():
    names: dict = {}
    example = "\n".join(line.removeprefix("    ") for line in impel.gaits.__doc__.split("\n")[1:])
    exec(example, names)  # what the package tells its readers to write
    assert names["take"].names[0] == "body"
    assert names["limp"].gait.lame == "rear_right"


def test_stairs_and_obstacles_stand_in_the_take_where_the_feet_meet_them():
    ground = Ground(
        stairs=(Stairs(start=3, rise=0.2, tread=0.6, steps=2),),
        obstacles=(Obstacle(start=6, length=0.2, height=0.3),),
    )
    walked = walk(load_moods("creature"), path=[(1, 1), (1, 11)], ground=ground)
    take = as_take(walked)
    boxes = [i for i, name in enumerate(take.names) if name.startswith("ground.")]
    tops = [take.position[0, i, 2] + take.shapes[i]["box"][2] / 2 for i in boxes]
    np.testing.assert_allclose(tops, [0.2, 0.4, 0.7, 0.4], atol=1e-12)
    first = boxes[0]
    np.testing.assert_allclose(take.position[0, first], [1, 1 + 3.3, 0.1], atol=1e-9)
    forward = matrix_from_quaternion(take.orientation[0, first])[:, 0]
    np.testing.assert_allclose(forward, [0, 1, 0], atol=1e-9)
    assert take.shapes[take.index("floor")] == {"plane": {}}
