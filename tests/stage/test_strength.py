"""What a strength lets an actor do, what it pushes off, and how far its keys come out."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import Performance, simulate
from impel.stage.opening import strengths
from impel.takes import Take


def lift(load: float, strength: float | str) -> Scene:
    """An arm of 2 kg on a hinge, with a ball welded to its end, turns up by 50°."""
    scene = Scene(seconds=5)
    arm = scene.body("arm", capsule={"radius": 0.05, "length": 0.5}, mass=2, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    ball = scene.body("ball", sphere=0.1, mass=load, at=[0.6, 0, 1.5])
    scene.joint("shoulder", hinge=["world", arm], at=[0, 0, 1.5], axis=[0, 1, 0])
    scene.joint("grip", weld=[arm, ball])
    arm.turn([{"euler": [0, 90, 0]}, {"euler": [0, 40, 0]}], speed=60, strength=strength)
    return scene


def pitch(take: Take) -> float:
    q = take.orientation[-1, take.index("arm")]
    return float(np.degrees(2 * np.arctan2(q[2], q[0])))


def number_in(line: str) -> float:
    found = re.search(r"strength: ([0-9.e+]+)", line)
    assert found
    return float(found.group(1))


def test_auto_carries_what_is_welded_and_a_given_strength_lets_the_load_show() -> None:
    (line,) = strengths(lift(1, "auto"))
    printed = float(line.split("auto comes to ")[1].split()[0])
    assert "to hold still" in line
    assert "to move" in line
    assert pitch(simulate(lift(40, "auto"))) == pytest.approx(40, abs=2)
    sunk = simulate(lift(40, printed))
    assert pitch(sunk) > 40 + 45
    (remark,) = [line for line in sunk.remarks() if line.startswith("arm.turn")]
    assert pitch(simulate(lift(40, number_in(remark)))) == pytest.approx(40, abs=2)


def test_a_share_of_auto_is_that_share() -> None:
    full = Performance(lift(1, "auto")).stage.actuators.strength[0]
    assert Performance(lift(1, "60 %")).stage.actuators.strength[0] == pytest.approx(0.6 * full)


def tray(load: float, strength: float | str) -> Scene:
    """A tray on a rail, held at its height, with a box put on it."""
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    plate = scene.body("tray", box=[0.6, 0.6, 0.1], mass=3, at=[0, 0, 1])
    scene.joint("rail", slide=["world", plate], at=[0, 0, 1], axis=[0, 0, 1], limits=[-0.6, 0.6])
    scene.body("box", box=[0.3, 0.3, 0.3], mass=load, at=[0, 0, 1.2])
    plate.move([[0, 0, 1]], strength=strength)
    return scene


def test_what_is_put_on_an_actor_shows_unless_it_is_unlimited() -> None:
    def height(load: float, strength: float | str) -> tuple[float, Take]:
        take = simulate(tray(load, strength))
        return float(take.position[-1, take.index("tray"), 2]), take

    light = height(1, "auto")[0]
    heavy, take = height(60, "auto")
    assert heavy < light - 0.2
    assert height(60, "unlimited")[0] > light - 0.05
    (remark,) = [line for line in take.remarks() if line.startswith("tray.move")]
    assert "box" in remark
    assert height(60, number_in(remark))[0] > light - 0.05


def push(load: float, strength: float | str) -> Scene:
    """A box that pushes a crate along the ground."""
    scene = Scene(seconds=12)
    scene.body("ground", plane={}, fixed=True)
    pusher = scene.body("pusher", box=[0.3, 0.3, 0.3], mass=5, at=[0, 0, 0.15])
    scene.body("crate", box=[0.4, 0.4, 0.4], mass=load, at=[0.6, 0, 0.2])
    pusher.move([[0, 0, 0.15], [1.5, 0, 0.15]], speed=0.5, strength=strength)
    return scene


@pytest.mark.parametrize(
    ("scene", "load", "weak", "who", "coordinate", "least"),
    [
        (tray, 60, "auto", "tray", 2, 0.95),
        (tray, 10, 70, "tray", 2, 0.95),
        (push, 40, 110, "pusher", 0, 1.2),
    ],
)
def test_the_strength_that_a_remark_names_does_it_and_half_of_it_does_not(
    scene: Callable[[float, float | str], Scene],
    load: float,
    weak: float | str,
    who: str,
    coordinate: int,
    least: float,
) -> None:
    def came(strength: float | str) -> tuple[float, Take]:
        take = simulate(scene(load, strength))
        return float(take.position[-1, take.index(who), coordinate]), take

    short, take = came(weak)
    (line,) = [line for line in take.remarks() if line.startswith(f"{who}.move")]
    assert short < least
    assert came(number_in(line))[0] > least
    assert came(0.5 * number_in(line))[0] < least


def test_half_of_the_strength_that_a_remark_names_does_not_lift_an_arm() -> None:
    (line,) = [line for line in simulate(lift(40, 60)).remarks() if line.startswith("arm.turn")]
    assert pitch(simulate(lift(40, 0.5 * number_in(line)))) > 40 + 20


def momenta(performance: Performance) -> tuple[np.ndarray, np.ndarray]:
    b = performance.stage.bodies
    linear = b.mass[:, None] * b.velocity
    return linear.sum(axis=0), (b.momentum + np.cross(b.position, linear)).sum(axis=0)


def test_what_pushes_off_its_neighbour_changes_no_momentum() -> None:
    scene = Scene(seconds=10, gravity=[0, 0, 0])
    chain = [scene.body(f"link{i}", box=[0.5, 0.1, 0.1], mass=[5, 1, 1, 0.5][i], at=[0.5 * i, 0, 0]) for i in range(4)]
    for i in (1, 2, 3):
        scene.joint(f"joint{i}", ball=[chain[i - 1], chain[i]], at=[0.5 * i - 0.25, 0, 0])
        turns = [{"euler": [0, 0, 0]}, {"euler": [20 * i, 30, 40]}, {"euler": [0, -30 * i, 0]}]
        chain[i].turn(turns, loop=True, speed=60, against=f"link{i - 1}")
    performance = Performance(scene)
    for _ in range(600):
        performance.next_frame()
        linear, angular = momenta(performance)
        assert np.abs(linear).max() < 1e-10
        assert np.abs(angular).max() < 1e-10
    assert performance.stage.actuators.lap.min() >= 1


def test_a_motor_sets_the_angle_between_two_bodies() -> None:
    scene = Scene(seconds=3, gravity=[0, 0, 0])
    base = scene.body("base", box=[0.4, 0.4, 0.4], mass=5)
    arm = scene.body("arm", capsule={"radius": 0.05, "length": 1}, mass=5, at=[0, 0, 0.75])
    scene.joint("shoulder", hinge=[base, arm], at=[0, 0, 0.2], axis=[0, 1, 0])
    arm.turn([{"euler": [0, 0, 0]}, {"euler": [0, 90, 0]}], speed=90, against="base")
    take = simulate(scene)
    angle = [2 * np.degrees(np.arctan2(q[2], q[0])) for q in take.orientation[-1]]
    assert angle[1] - angle[0] == pytest.approx(90, abs=0.1)
    assert angle[0] < -20


def test_extremes_come_out_by_default_at_the_speed_asked_for() -> None:
    scene = Scene(seconds=4)
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.4}, mass=1, at=[0, 0, 1.2], euler=[0, -25, 0])
    scene.joint("elbow", hinge=["world", arm], at=[0, 0, 1], axis=[0, 1, 0])
    arm.turn([{"euler": [0, -25, 0]}, {"euler": [0, 25, 0]}], loop=True, speed=120)
    ball = scene.body("ball", sphere=0.1, mass=1, at=[1, 0, 1])
    ball.move([[1, 0, 1], [1, 0, 1.5], [1, 0, 1], [1, 0, 1.5], [1, 0, 1]], speed=1)
    take = simulate(scene)
    q = take.orientation[60:, take.index("arm")]
    angle = 2 * np.degrees(np.arctan2(q[:, 2], q[:, 0]))
    assert angle.max() > 22.5
    assert angle.min() < -22.5
    assert np.median(np.abs(np.gradient(angle, 1 / 60))) == pytest.approx(120, rel=0.1)
    assert take.position[:, take.index("ball"), 2].max() > 1.45
    told = [e["details"] for e in take.events if e["kind"] == "key reached" and e["subject"] == "ball.move"]
    assert [event["key"] for event in told] == [1, 2, 3, 4]
    assert all(event["distance"] < 0.05 for event in told)


def test_a_point_of_a_body_goes_through_the_keys_and_the_body_swings_from_it() -> None:
    scene = Scene(seconds=6)
    rod = scene.body("rod", capsule={"radius": 0.03, "length": 0.6}, mass=1, at=[0, 0, 1])
    rod.move([[0, 0, 1.3], [1, 0, 1.3]], speed=1, point=[0, 0, 0.3])
    take = simulate(scene)
    q, x = take.orientation[:, 0], take.position[:, 0]
    up = np.stack([2 * (q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2]), 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)], axis=1)
    tip = x[:, [0, 2]] + 0.3 * up
    assert np.abs(tip[-1] - [1, 1.3]).max() < 0.01
    assert np.abs(tip[:, 1] - 1.3).max() < 0.02
    assert np.abs(up[:, 0]).max() > 0.05  # it swung


def test_a_lopsided_body_goes_through_its_keys_with_its_origin() -> None:
    scene = Scene(seconds=4)
    shape = {"points": [{"at": [0, 0, 0], "radius": 0.2}, {"at": [0.8, 0, 0], "radius": 0.05}], "blend": 0.1}
    blob = scene.body("blob", blob=shape, mass=1, at=[0, 0, 1])
    blob.move([[0, 0, 1], [1, 0, 1]], speed=1)
    take = simulate(scene)
    assert np.abs(take.position[-1, 0] - [1, 0, 1]).max() < 0.01
    assert np.abs(take.position[:, 0, 1:] - [0, 1]).max() < 0.01


def arm_with_tray(load: float, strength: float | str) -> Scene:
    """Two links and a tray that is held level, with a box put on it."""
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    bar = {"radius": 0.05, "length": 0.5}
    scene.body("upper", capsule=bar, mass=2, at=[0, 0, 1.25])
    scene.body("lower", capsule=bar, mass=2, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    tray = scene.body("tray", box=[0.5, 0.5, 0.04], mass=1, at=[0.6, 0, 1.6])
    for name, pair, at in (
        ("shoulder", ["world", "upper"], [0, 0, 1.0]),
        ("elbow", ["upper", "lower"], [0, 0, 1.5]),
        ("wrist", ["lower", "tray"], [0.5, 0, 1.5]),
    ):
        scene.joint(name, hinge=pair, at=at, axis=[0, 1, 0])
    scene.body("box", box=[0.3, 0.3, 0.3], mass=load, at=[0.6, 0, 1.77])
    tray.move([[0.6, 0, 1.6]], strength=strength)
    tray.turn([{"euler": [0, 0, 0]}], strength="unlimited")
    return scene


def test_what_is_put_on_the_tray_of_an_arm_shows_and_the_strength_of_the_remark_carries_it() -> None:
    def height(load: float, strength: float | str) -> tuple[float, Take]:
        take = simulate(arm_with_tray(load, strength))
        return float(take.position[:, take.index("tray"), 2].min()), take  # what is too heavy may slide off in the end

    light, _ = height(1, "auto")
    heavy, take = height(60, "auto")
    assert light - heavy > 0.2
    (remark,) = [line for line in take.remarks() if line.startswith("tray.move")]
    enough = float(remark.split("strength: ")[1].split()[0])
    assert height(60, enough)[0] == pytest.approx(light, abs=0.05)
    assert height(60, "unlimited")[0] == pytest.approx(light, abs=0.05)


def test_what_hangs_on_a_rope_counts_in_what_holds_still() -> None:
    scene = Scene(seconds=1)
    jib = scene.body("jib", box=[2, 0.12, 0.12], mass=15, at=[0.9, 0, 2])
    scene.joint("luff", hinge=["world", jib], at=[0, 0, 2], axis=[0, 1, 0])
    load = scene.body("load", sphere=0.2, mass=30, at=[1.8, 0, 1.2])
    scene.joint("rope", in_sphere=[load, jib], at=[1.8, 0, 1.2], center=[1.8, 0, 2], radius=0.8)
    jib.turn([{"euler": [0, 0, 0]}])
    weight = Performance(scene).stage.actuators.weight[0]
    assert weight == pytest.approx(9.81 * (15 * 0.9 + 30 * 1.8))


def test_a_light_link_that_swings_a_heavy_bar_by_parallel_links_has_the_strength_for_that() -> None:
    """At the start it holds nothing: what it takes to move tells of the bar."""
    scene = Scene(seconds=2)
    for name, x in (("one", -0.5), ("other", 0.5), ("driven", 0.0)):
        scene.body(name, box=[0.05, 0.05, 1], mass=2, at=[x, 0, 1])
        scene.joint(f"{name} top", hinge=["world", name], at=[x, 0, 1.5], axis=[0, 1, 0])
    scene.body("bar", box=[1.2, 0.05, 0.05], mass=200, at=[0, 0, 0.5])
    for name, x in (("one", -0.5), ("other", 0.5), ("driven", 0.0)):
        scene.joint(f"{name} end", hinge=[name, "bar"], at=[x, 0, 0.5], axis=[0, 1, 0])
    scene["driven"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 40, 0], "time": 1.5}])
    take = simulate(scene)
    q = take.orientation[-1, take.index("driven")]
    assert np.degrees(2 * np.arctan2(q[2], q[0])) == pytest.approx(40, abs=1)
    assert take.remarks() == []


def waiter(load: float, strengths: dict[str, float]) -> Scene:
    """A light arm whose tray a box lies on from the start."""
    scene = Scene(seconds=2)
    scene.body("upper", capsule={"radius": 0.04, "length": 0.5}, mass=2, at=[0.25, 0, 1.1], euler=[0, 90, 0])
    scene.body("fore", capsule={"radius": 0.035, "length": 0.4}, mass=1.2, at=[0.7, 0, 1.1], euler=[0, 90, 0])
    scene.body("tray", box=[0.4, 0.4, 0.03], mass=0.6, at=[1.1, 0, 1.1])
    scene.body("box", box=[0.15, 0.15, 0.15], mass=load, at=[1.1, 0, 1.191])
    for name, pair, x in (("shoulder", ["world", "upper"], 0), ("elbow", ["upper", "fore"], 0.5)):
        scene.joint(name, hinge=pair, at=[x, 0, 1.1], axis=[0, 1, 0])
    scene.joint("wrist", hinge=["fore", "tray"], at=[0.9, 0, 1.1], axis=[0, 1, 0])
    for name, tilt in (("upper", 90), ("fore", 90), ("tray", 0)):
        scene[name].turn([{"euler": [0, tilt, 0]}], strength=strengths.get(f"{name}.turn", "auto"))
    return scene


@pytest.mark.parametrize("load", [5, 15, 40])
def test_a_load_that_slides_off_at_once_is_told_with_the_strengths_that_carry_it(load: float) -> None:
    def lowest(strengths: dict[str, float]) -> tuple[float, Take]:
        take = simulate(waiter(load, strengths))
        return float(take.position[:, take.index("box"), 2].min()), take

    low, take = lowest({})
    assert low < 0.9
    remark = take.remarks()[0]
    assert "(it carries box)" in remark
    named = {remark.split(":")[0]: number_in(remark)}
    named |= {who: float(number) for number, who in re.findall(r"([0-9.]+) for ([a-z.]+)", remark)}
    low, take = lowest(named)
    assert low > 1.15
    assert take.remarks() == []
