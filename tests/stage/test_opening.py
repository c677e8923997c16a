"""What will not be where it was put is told before the take begins, by check and by simulate alike."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel import Scene, simulate
from impel.geometry.overlap import overlap_by
from impel.motion.orientations import matrix_from_quaternion
from impel.stage import Performance
from impel.stage.opening import _may_overlap, opening_doubts, strengths


def rope(length: float) -> Scene:
    scene = Scene(seconds=0.1)
    scene.body("load", sphere=0.2, mass=1, at=[0, 0, 1])
    scene.joint("rope", in_sphere=["load", "world"], at=[0, 0, 1], center=[0, 0, 3], radius=length)
    return scene


def test_a_body_that_its_joint_moves_before_the_start_is_told() -> None:
    expected = ["bodies.load: is moved by 0.5 m before the start, to where joints.rope can hold it"]
    assert opening_doubts(rope(1.5)) == expected
    assert opening_doubts(rope(1.999)) == []  # by less than can be seen
    assert opening_doubts(rope(2.0)) == []
    with pytest.warns(UserWarning, match="is moved by") as told:
        take = simulate(rope(1.5))
    assert [str(warning.message) for warning in told] == [f"scene: {line}" for line in expected]
    assert told[0].filename == __file__  # the user's own line, not one of impel's
    assert take.position[0, 0, 2] == pytest.approx(1.5)


def test_bodies_that_are_written_to_be_brought_together_are_no_surprise() -> None:
    scene = Scene(seconds=0.1)
    scene.body("a", sphere=0.2, mass=1)
    scene.body("b", sphere=0.2, mass=1, at=[3, 0, 0])
    scene.joint("magnet", ball=["a", "b"], at=[0.5, 0, 0], at_b=[2.5, 0, 0])
    assert opening_doubts(scene) == []
    assert Performance(scene).stage.bodies.position[0, 0] == pytest.approx(1)


def test_a_hinge_that_starts_beyond_its_limits_turns_its_body() -> None:
    scene = Scene(seconds=0.1)
    scene.body("door", box=[0.9, 0.05, 1.9], mass=15)
    scene.joint("pin", hinge=["world", "door"], at=[0, 0, 0], axis=[0, 0, 1], limits=[30, 90])
    (line,) = opening_doubts(scene)
    assert line == "bodies.door: is turned by 30° before the start, to where joints.pin can hold it"


def test_overlaps_are_told_alike_by_both() -> None:
    scene = Scene(seconds=0.1)
    scene.body("ground", plane={}, fixed=True)
    scene.body("sunk", box=[1, 1, 1], mass=1, at=[0, 0, 0.3])
    scene.body("lying", box=[1, 1, 1], mass=1, at=[3, 0, 0.5])
    scene.body("near", box=[1, 1, 1], mass=1, at=[3, 1.2, 0.7], euler=[45, 0, 0])
    expected = ["bodies.sunk: overlaps ground at the start, and the two are pushed apart"]
    assert opening_doubts(scene) == expected == Performance(scene).doubts


def test_overlaps_are_seen_however_two_cross() -> None:
    """Sticks that cross between their sampled points, and boxes exactly in each other, barely press at the start."""
    scene = Scene(seconds=0.1, gravity=[0, 0, 0])
    scene.body("stick", box=[2, 0.04, 0.04], mass=1)
    scene.body("other", box=[0.04, 2, 0.04], mass=1, at=[0.11, 0, 0])
    scene.body("one", box=[0.2, 0.2, 0.2], mass=1, at=[5, 0, 0])
    scene.body("same", box=[0.2, 0.2, 0.2], mass=1, at=[5, 0, 0])
    scene.body("beside", box=[0.2, 0.2, 0.2], mass=1, at=[5.2, 0, 0])
    lines = Performance(scene).doubts
    assert len(lines) == 2
    for line, names in zip(lines, (("stick", "other"), ("one", "same"))):
        assert all(name in line for name in names)
        assert line.endswith("at the start, and the two are pushed apart")
    assert opening_doubts(scene) == lines


@settings(max_examples=100)
@given(
    st.lists(st.tuples(*[st.floats(-0.4, 0.4)] * 3), min_size=2, max_size=2),
    st.lists(st.tuples(*[st.floats(-180, 180)] * 3), min_size=2, max_size=2),
    st.sampled_from([{"box": [0.5, 0.3, 0.2]}, {"capsule": {"radius": 0.1, "length": 0.6}}]),
)
def test_boxes_and_capsules_overlap_as_a_plain_search_finds(places: list, turns: list, shape: dict) -> None:
    """Points all through the one body, looked up in the other: slow, plain, and a lower bound of the depth."""
    scene = Scene(gravity=[0, 0, 0])
    for name, at, turn in zip("ab", places, turns):
        scene.body(name, **shape, mass=1, at=at, euler=turn)
    stage = Performance(scene).stage
    contacts, bodies = stage.contacts, stage.bodies
    assert contacts is not None
    grid = np.stack(np.meshgrid(*[np.linspace(-0.4, 0.4, 33)] * 3), -1).reshape(-1, 3)
    world = grid @ matrix_from_quaternion(bodies.orientation[0]).T + bodies.position[0]
    there = (world - bodies.position[1]) @ matrix_from_quaternion(bodies.orientation[1])
    deepest = -np.maximum(distances(shape, grid), distances(shape, there)).min()

    def overlap(depth: float) -> bool:
        (xa, xb), (qa, qb) = bodies.position, bodies.orientation
        reach = contacts.extent[0, 0]
        return bool(overlap_by(contacts.shapes, 0, tuple(xa), tuple(qa), 1, tuple(xb), tuple(qb), reach, depth))

    if deepest > 0.001:
        assert overlap(deepest - 0.001)
    assert not overlap(max(deepest, 0.0) + 0.8 / 32)


def distances(shape: dict, points: np.ndarray) -> np.ndarray:
    if "box" in shape:
        beyond = abs(points) - np.array(shape["box"]) / 2
        return np.where(
            (beyond > 0).any(-1), np.linalg.norm(np.maximum(beyond, 0), axis=-1), beyond.max(-1, initial=-np.inf)
        )
    rod = shape["capsule"]
    along = np.clip(points[:, 2], -rod["length"] / 2, rod["length"] / 2)
    return np.linalg.norm(points - np.outer(along, [0, 0, 1]), axis=-1) - rod["radius"]


coordinate = st.floats(-1, 1)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(coordinate, coordinate, coordinate, st.floats(-180, 180)), min_size=2, max_size=4),
    st.sampled_from([{"sphere": 0.3}, {"box": [0.5, 0.3, 0.2]}, {"capsule": {"radius": 0.1, "length": 0.6}}]),
)
def test_what_overlaps_is_never_missed_by_the_quick_look(places: list[tuple[float, ...]], shape: dict) -> None:
    scene = Scene()
    scene.body("slope", plane={}, fixed=True, euler=[20, 0, 0], at=[0, 0, -1])
    for i, (x, y, z, turn) in enumerate(places):
        scene.body(f"body {i}", **shape, mass=1, at=[x, y, z], euler=[turn, turn / 2, 0])
    if Performance(scene).doubts:
        assert _may_overlap(scene)


def test_a_quick_look_is_enough_for_what_stands_apart_or_just_touches() -> None:
    scene = Scene()
    scene.body("ground", plane={}, fixed=True)
    for i in range(20):
        scene.body(f"box {i}", box=[0.1, 0.1, 0.1], mass=1, at=[0, 0, 0.05 + 0.1 * i])
    scene.body("upper", capsule={"radius": 0.1, "length": 1}, at=[1, 0, 1.1])
    scene.body("lower", capsule={"radius": 0.1, "length": 1}, at=[1, 0, 2.1])
    scene.joint("elbow", ball=["upper", "lower"], at=[1, 0, 1.6])
    assert not _may_overlap(scene)
    scene.bodies["box 7"].at = (0, 0, 0.74)
    assert _may_overlap(scene)


def test_nothing_is_warned_of_a_scene_that_is_fine() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        take = simulate(rope(2.5))
    assert np.all(np.isfinite(take.position))


def test_an_automatic_strength_knows_what_will_be_taken_and_where() -> None:
    """A load that is welded to the tip later, with what hangs on that: three times what holds it there, and more."""

    def auto(**when: float) -> float:
        scene = Scene(seconds=5)
        arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.9}, mass=1, at=[0.5, 0, 1], euler=[0, 90, 0])
        scene.body("load", box=[0.2, 0.2, 0.2], mass=5, at=[1.1, 0, 1])
        scene.body("tail", box=[0.2, 0.2, 0.2], mass=15, at=[1.4, 0, 1])
        scene.joint("pin", hinge=["world", arm], at=[0, 0, 1], axis=[0, 1, 0])
        scene.joint("string", ball=["load", "tail"], at=[1.25, 0, 1])
        scene.joint("grip", weld=[arm, "load"], at=[1, 0, 1], **when)
        arm.turn([{"euler": [0, 90, 0]}, {"euler": [0, 50, 0]}])
        (line,) = strengths(scene)
        return float(line.split("auto comes to ")[1].split(" ")[0])

    assert 3 * 20 * 9.81 < auto(**{"from": 1}) < auto()
