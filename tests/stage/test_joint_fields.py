"""What the fields of joints promise, from the scene to the take."""

import numpy as np
import pytest

from impel import Problem, Scene, simulate
from impel.motion.orientations import matrix_from_quaternion
from impel.scene import parse_scene, problems
from impel.stage.opening import opening_doubts
from impel.takes.lines import rope_lines


def told(take, kind):
    return [event for event in take.events if event["kind"] == kind]


def leaning_head(**fields) -> Scene:
    """A limp head on a neck, a little off its balance."""
    scene = Scene(seconds=2)
    scene.body("chest", box=[0.34, 0.2, 0.36], fixed=True, at=[0, 0, 1.6])
    scene.body("head", sphere=0.12, mass=4, at=[0.03, 0, 1.93])
    scene.joint("neck", ball=["chest", "head"], at=[0, 0, 1.81], **fields)
    return scene


def inside_the_chest(take) -> float:
    """How deep the head gets into the top of the chest, in metres."""
    return float(0.12 - (take.position[:, take.index("head"), 2].min() - 1.78))


def test_neighbours_touch_only_if_they_may() -> None:
    assert inside_the_chest(simulate(leaning_head())) > 0.05
    take = simulate(leaning_head(collides=True))
    assert inside_the_chest(take) < 0.01
    assert told(take, "contact begins")


def test_a_head_leans_as_far_as_its_cone_about_the_line_from_the_joint_to_it() -> None:
    take = simulate(leaning_head(cone=40))
    arm = take.position[:, take.index("head")] - [0, 0, 1.81]
    lean = np.degrees(np.arccos(np.clip(arm @ arm[0] / np.linalg.norm(arm, axis=1) / np.linalg.norm(arm[0]), -1, 1)))
    assert lean.max() == pytest.approx(40, abs=1e-4)
    assert lean[-1] == pytest.approx(40, abs=1e-4)
    (event,) = told(take, "joint limit")
    assert event["subject"] == "neck"
    assert event["details"] == {"side": "upper", "limit": "cone"}


@pytest.mark.parametrize(("spin", "limit"), [(90, 40), (-90, -20)])
def test_twist_is_of_the_second_body_against_the_first_right_handed_about_the_axis(spin: float, limit: float) -> None:
    for pair, sign in ((["world", "rod"], 1), (["rod", "world"], -1)):
        scene = Scene(seconds=2, gravity=[0, 0, 0])
        scene.body("rod", box=[1, 0.1, 0.1], mass=1, spin=[0, 0, sign * spin])
        scene.joint("pin", ball=pair, at=[0, 0, 0], axis=[0, 0, 1], twist=[-20, 40])
        take = simulate(scene)
        along = matrix_from_quaternion(take.orientation[:, 0])[:, :, 0]
        turned = sign * np.degrees(np.arctan2(along[:, 1], along[:, 0]))
        assert turned[np.argmax(np.abs(turned))] == pytest.approx(limit, abs=1e-4)
        assert told(take, "joint limit")[0]["details"] == {"side": "upper" if limit > 0 else "lower", "limit": "twist"}


def test_an_actor_at_its_cone_is_told_so() -> None:
    scene = leaning_head(cone=20)
    scene["head"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 80, 0]}], speed=60)
    (line,) = simulate(scene).remarks()
    assert line.endswith("joints.neck is at its limit")


@pytest.mark.parametrize("end", [0.6, 0.61])  # 0.6 is met just at the end of a step
@pytest.mark.parametrize("pair", [["world", "drawer"], ["drawer", "world"]])
def test_a_drawer_slides_as_far_as_its_limits_and_does_not_turn(pair: list[str], end: float) -> None:
    sign = 1 if pair[0] == "world" else -1  # which of the two is the second
    scene = Scene(seconds=2)
    scene.body("drawer", box=[0.5, 0.4, 0.2], mass=3, at=[0, 0, 1], velocity=[sign * 1.0, 0, 0], spin=[0, 90, 90])
    scene.joint("runner", slide=pair, axis=[1, 0, 0], limits=[-0.1, end])
    take = simulate(scene)
    place = sign * take.position[:, 0, 0]
    assert place.max() == pytest.approx(end, abs=1e-8)
    assert place[-1] == pytest.approx(end, abs=1e-8)
    assert np.abs(take.position[:, 0, 1:] - [0, 1]).max() < 1e-8
    assert np.abs(take.orientation[:, 0, 1:]).max() < 1e-8
    assert told(take, "joint limit")[0]["details"] == {"side": "upper"}


def test_a_slide_on_a_body_moves_on_with_it_and_its_rail_is_seen() -> None:
    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("arm", box=[1, 0.1, 0.1], follows=[{"time": 0}, {"time": 1, "euler": [0, 0, 90]}], collides=False)
    scene.body("bead", box=[0.1, 0.1, 0.1], mass=1, at=[0.2, 0, 0.2])
    scene.joint("rail", slide=["arm", "bead"], at=[0.2, 0, 0], axis=[1, 0, 0], limits=[0, 0.3])
    take = simulate(scene)
    place = take.position[:, take.index("bead")]
    angle = np.arctan2(place[:, 1], place[:, 0])
    assert angle[-1] == pytest.approx(np.pi / 2, abs=1e-6)
    assert np.hypot(*place[-1, :2]) == pytest.approx(0.5, abs=1e-6)  # thrown out to the end
    np.testing.assert_allclose(take.wires["arm.rail"], [[0.2, 0, 0], [0.5, 0, 0]], atol=1e-12)


def test_units_of_springs_are_degrees_and_metres() -> None:
    """Hung on springs, a door turns by its torque over stiffness, and a scale sinks by its weight over stiffness."""
    scene = Scene(seconds=6)
    scene.body("flap", box=[1, 0.1, 0.1], mass=2, at=[0.5, 0, 0])
    scene.joint("hinge", hinge=["world", "flap"], at=[0, 0, 0], axis=[0, 1, 0], spring={"stiffness": 2, "damping": 0.6})
    scene.body("pan", box=[0.3, 0.3, 0.05], mass=2, at=[3, 0, 1])
    spring = {"stiffness": 400, "damping": 40, "rest": 0.02}
    scene.joint("scale", slide=["world", "pan"], axis=[0, 0, 1], spring=spring)
    take = simulate(scene)
    along = matrix_from_quaternion(take.orientation[-1, 0])[:, 0]
    turned = np.degrees(np.arctan2(-along[2], along[0]))
    assert 2 * turned == pytest.approx(2 * 9.81 * 0.5 * along[0], rel=1e-3)
    assert take.position[-1, 1, 2] == pytest.approx(1.02 - 2 * 9.81 / 400, abs=1e-5)


def test_the_energy_of_a_take_counts_springs() -> None:
    scene = Scene(seconds=10)
    scene.body("door", box=[0.8, 0.05, 2], mass=20, at=[0.4, 0, 1], spin=[0, 0, 60])
    scene.joint("hinge", hinge=["world", "door"], at=[0, 0, 1], axis=[0, 0, 1], spring={"stiffness": 0.5})
    energy = simulate(scene).channels["energy"]
    moving = energy[0] - 20 * 9.81
    assert np.ptp(energy) < 1e-3 * moving


def test_friction_of_a_lamp_arm_holds_it_where_it_is_put() -> None:
    scene = Scene(seconds=5)
    scene.body("lower", box=[0.5, 0.03, 0.03], mass=0.5, at=[0.25, 0, 1])
    scene.body("upper", box=[0.5, 0.03, 0.03], mass=0.4, at=[0.75, 0, 1])
    scene.joint("foot", ball=["world", "lower"], at=[0, 0, 1], friction=5)
    scene.joint("elbow", hinge=["lower", "upper"], at=[0.5, 0, 1], axis=[0, 1, 0], friction=2)
    take = simulate(scene)
    assert np.abs(take.position - take.position[0]).max() < 1e-9


def hung(breaks: object, **fields) -> Scene:
    scene = Scene(seconds=1)
    scene.body("ceiling", box=[1, 1, 0.1], fixed=True, at=[0, 0, 2])
    scene.body("lamp", box=[0.2, 0.2, 0.2], mass=2, at=[0, 0, 1.5], **fields)
    scene.joint("cord", ball=["ceiling", "lamp"], at=[0, 0, 1.9], breaks=breaks)
    return scene


def test_a_cord_breaks_by_more_than_it_bears_and_not_by_less() -> None:
    for breaks, holds in ((2 * 9.81 * 1.01, True), (2 * 9.81 * 0.99, False), ({"force": 19}, False)):
        take = simulate(hung(breaks))
        assert (take.position[-1, 1, 2] > 1.49) == holds
        assert len(told(take, "joint broke")) == (not holds)
    (event,) = told(take, "joint broke")
    assert event["subject"] == "cord"
    assert event["details"]["force"] == pytest.approx(19, rel=0.1)
    assert event["time"] < 0.05
    fallen = take.position[0, 1, 2] - take.position[-1, 1, 2]
    assert fallen == pytest.approx(0.5 * 9.81 * (1 - event["time"]) ** 2, rel=0.05)  # free from then on
    assert take.remarks() == []


@pytest.mark.parametrize(("torque", "holds"), [(9.9, True), (9.7, False)])
def test_a_shelf_that_is_glued_on_breaks_off_by_its_torque(torque: float, holds: bool) -> None:
    scene = Scene(seconds=1)
    scene.body("shelf", box=[1, 0.2, 0.05], mass=2, at=[0.5, 0, 1])
    scene.joint("glue", weld=["world", "shelf"], at=[0, 0, 1], breaks={"torque": torque})  # it weighs 9.81 N·m
    take = simulate(scene)
    assert (take.position[-1, 0, 2] > 0.99) == holds
    assert [list(event["details"]) for event in told(take, "joint broke")] == ([] if holds else [["torque"]])


@pytest.mark.parametrize("step", [1 / 240, 1 / 1000, 1 / 5000])
def test_a_blow_breaks_a_rope_whatever_the_step(step: float) -> None:
    """A load of 1 kg falls into its rope at 3 m/s, over 0.01 s a force of 300 N; long steps feel a fifth less of it."""
    for breaks, holds in ((230, False), (310, True)):
        scene = Scene(seconds=0.6, step=step)
        scene.body("load", sphere=0.1, mass=1, at=[0, 0, 2])
        scene.joint("rope", in_sphere=["load", "world"], at=[0, 0, 2], radius=0.46, breaks=breaks)
        take = simulate(scene)
        assert (take.position[-1, 0, 2] > 1.5) == holds
        lowest = rope_lines(take, "rope", slice(None))[-1, :, 2].min()
        assert lowest == pytest.approx(
            2 - (0.46 if holds else 0.23), abs=0.02
        )  # broken, it hangs folded from the world


def test_bodies_hit_each_other_once_their_joint_is_broken() -> None:
    scene = Scene(seconds=1.5)
    scene.body("post", box=[0.2, 0.2, 1], fixed=True, at=[0, 0, 0.5])
    scene.body("plate", box=[0.6, 0.6, 0.05], mass=2, at=[0.3, 0, 1.5])
    scene.joint("strut", weld=["post", "plate"], at=[0, 0, 1.2], breaks=10)
    take = simulate(scene)
    broke, touched = told(take, "joint broke")[0], told(take, "contact begins")[0]
    assert touched["time"] > broke["time"]
    assert {touched["subject"], touched["details"]["with"]} == {"post", "plate"}
    scene = Scene(seconds=1.5)
    scene.body("post", box=[0.2, 0.2, 1], fixed=True, at=[0, 0, 0.5])
    scene.body("plate", box=[0.6, 0.6, 0.05], mass=2, at=[0.3, 0, 1.5])
    scene.joint("strut", weld=["post", "plate"], at=[0, 0, 1.2], breaks=10)
    scene.joint("leash", in_sphere=["plate", "post"], at=[0, 0, 1.5], radius=5)  # which still ties them
    assert not told(simulate(scene), "contact begins")


def test_breaks_is_refused_where_the_load_of_a_joint_is_not_determined() -> None:
    def gate(kind: str) -> Scene:
        scene = Scene(seconds=1)
        scene.body("gate", box=[1, 0.05, 1], mass=10, at=[0.5, 0, 1])
        scene.joint("low", hinge=["world", "gate"], at=[0, 0, 0.6], axis=[0, 0, 1], breaks=500)
        fields = {"axis": [0, 0, 1]} if kind == "hinge" else {}
        scene.joint("high", **{kind: ["world", "gate"]}, at=[0, 0, 1.4], **fields)
        return scene

    with pytest.raises(Problem, match=r"joints.low.breaks: what it bears is not determined"):
        simulate(gate("hinge"))
    with pytest.raises(Problem, match=r"joints.low.breaks"):
        opening_doubts(gate("hinge"))
    scene = gate("hinge")
    del scene.joints["high"]
    simulate(scene)


def test_the_same_scene_breaks_at_the_same_bit() -> None:
    one, other = (simulate(hung(15, velocity=[1, 0.5, 0], spin=[50, 0, 20])) for _ in range(2))
    assert one.events == other.events
    assert np.array_equal(one.position, other.position)


def test_a_written_joint_reads_the_same() -> None:
    scene = leaning_head(cone=40, twist=[-30, 30], friction=0.2, breaks=400, collides=True)
    scene.body("cart", box=[1, 1, 1], at=[5, 0, 1])
    breaks = {"force": 5, "torque": 6}
    scene.joint("rail", slide=["world", "cart"], axis=[1, 0, 0], spring={"stiffness": 3, "rest": 0.1}, breaks=breaks)
    document = scene.to_document()
    assert document["joints"]["neck"]["breaks"] == 400
    assert document["joints"]["rail"]["breaks"] == breaks
    assert parse_scene(document) == scene
    assert problems(scene) == []


@pytest.mark.parametrize("shape", [{"box": [0.5, 0.5, 0.5]}, {"cylinder": {"radius": 0.25, "length": 0.5}}])
def test_a_point_that_goes_round_the_edges_of_a_surface_keeps_its_speed(shape):
    scene = Scene(seconds=2, gravity=[0, 0, 0])
    bead = scene.body("bead", sphere=0.02, mass=1, at=[0, 0, 0.25], velocity=[2, 0.7, 0])
    scene.joint("skin", on_surface=[bead, "world"], at=[0, 0, 0.25], surface={"shape": shape, "at": [0, 0, 0]})
    speed = simulate(scene).channels["bead.speed"]
    np.testing.assert_allclose(speed, np.hypot(2, 0.7), rtol=0.005)
