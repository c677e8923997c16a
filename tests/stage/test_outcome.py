"""A take tells who did not come to its last key, since when and why; and says nothing of those who did."""

from itertools import pairwise

import numpy as np
import pytest

from impel import Scene, load_take, simulate, write_take


def door(keys: list[list[float]], **fields: object) -> Scene:
    """A door on a hinge that opens from -10 to 60 degrees."""
    scene = Scene(seconds=4)
    leaf = scene.body("door", box=[0.9, 0.05, 1.9], mass=15, at=[0.5, 0, 1])
    scene.joint("hinge", hinge=["world", leaf], at=[0.05, 0, 1], axis=[0, 0, 1], limits=[-10, 60])
    leaf.turn([{"euler": key} for key in keys], **{"speed": 60, **fields})
    return scene


def test_who_came_to_its_last_key_is_not_mentioned() -> None:
    take = simulate(door([[0, 0, 0], [0, 0, 50]]))
    assert take.remarks() == []
    progress = take.channels["door.turn.progress"]  # degrees
    assert progress[0] == pytest.approx(0, abs=1e-6)
    assert progress[-1] == pytest.approx(50, abs=0.2)


def test_a_limit_in_the_way_is_named_with_the_time_it_was_met(tmp_path) -> None:
    take = simulate(door([[0, 0, 0], [0, 0, 30], [0, 0, 120]]))
    (limit,) = (event for event in take.events if event["kind"] == "joint limit")
    (held,) = (event for event in take.events if event["kind"] == "held up")
    assert held["time"] == pytest.approx(limit["time"], abs=0.3)
    assert take.remarks() == [
        f"door.turn: came as far as key 1 of 2, held up since {held['time']:.1f} s: joints.hinge is at its limit"
    ]
    write_take(take, tmp_path / "take.npz")
    assert load_take(tmp_path / "take.npz").remarks() == take.remarks()


def test_a_hinge_that_turns_about_another_axis_is_named() -> None:
    (line,) = simulate(door([[0, 0, 0], [0, 90, 0]])).remarks()
    assert line == "door.turn: came as far as key 0 of 1, held up from the start: joints.hinge turns about another axis"


def test_too_few_seconds_are_told_from_being_held_up_and_those_it_asks_for_suffice() -> None:
    scene = door([[0, 0, 0], [0, 0, 30], [0, 0, 55]], speed=12)
    (event,) = (event for event in simulate(scene).events if event["kind"] == "out of time")
    assert event["details"]["reached"] == 2
    (line,) = simulate(scene).remarks()
    assert line.startswith("door.turn: came as far as key 1 of 2 and is still on its way when the 4 s are over")
    scene.world.seconds = 4 + 1.5 * event["details"]["needs"] + 0.5
    assert simulate(scene).remarks() == []


def test_a_loop_that_goes_round_no_more_is_told_and_one_that_does_is_not() -> None:
    assert simulate(door([[0, 0, 0], [0, 0, 40]], loop=True)).remarks() == []
    (line,) = simulate(door([[0, 0, 0], [0, 0, 100]], loop=True)).remarks()
    assert line.startswith("door.turn: went round 0 times, held up since")


@pytest.mark.parametrize("strength", [20, 400])
def test_strength_that_is_used_up_is_told_from_a_pull_that_is_too_weak(strength: float) -> None:
    """A ball that wants through a wall; at twice its base distance's pull it no longer lacks strength. But none would
    do."""
    scene = Scene(seconds=4, gravity=[0, 0, 0])
    scene.body("wall", box=[0.2, 1, 1], mass=1, at=[1, 0, 0])
    scene.joint("nail", weld=["wall", "world"])
    ball = scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 0])
    ball.move([[0, 0, 0], [2, 0, 0]], speed=2, base_distance=0.05, strength=strength)
    (line,) = simulate(scene).remarks()
    assert line.startswith("ball.move: came as far as key 0 of 1, held up since 0.")
    if strength == 20:
        assert "it presses against wall, held by joints.nail, with all its strength of 20 N; more would" in line
    else:
        assert line.endswith("it touches wall; a smaller base_distance or more speed makes it push harder")


def test_progress_is_the_way_along_the_path_in_metres() -> None:
    angles = np.linspace(0, np.pi, 9)
    half_circle = [[float(np.sin(a)), 0, float(1 - np.cos(a))] for a in angles]
    scene = Scene(seconds=4, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.1, mass=1).move(half_circle, speed=1.5, base_distance=0.1, elasticity=1.0)
    progress = simulate(scene).channels["ball.move.progress"]
    assert progress[0] == 0
    assert progress[-1] == pytest.approx(np.pi, rel=2e-3)
    assert np.all(np.diff(progress) > -1e-3)


def test_a_single_key_is_key_0_and_is_reached_once() -> None:
    scene = Scene(seconds=2)
    scene.body("ball", sphere=0.1, mass=1, at=[0.2, 0, 1]).move([[0, 0, 1]], speed=1)
    take = simulate(scene)
    reached = [event["details"]["key"] for event in take.events if event["kind"] == "key reached"]
    assert reached == [0]
    assert take.remarks() == []


def hanging(sag: float) -> Scene:
    """Four bars between two nails that hang through by so many metres, and a ball that falls on them."""
    scene = Scene(seconds=1)
    points = [(0.5 * i, 0.0, 1 - sag * height) for i, height in enumerate((0, 0.75, 1, 0.75, 0))]
    for i, (a, b) in enumerate(pairwise(np.array(points))):
        (x, _, z), length = b - a, np.linalg.norm(b - a)
        tilt = [0, np.degrees(np.arctan2(x, z)), 0]
        scene.body(f"bar {i}", capsule={"radius": 0.04, "length": length}, mass=1, at=(a + b) / 2, euler=tilt)
        scene.joint(f"pin {i}", ball=["world" if i == 0 else f"bar {i - 1}", f"bar {i}"], at=a)
    scene.joint("end", ball=["bar 3", "world"], at=points[-1])
    scene.body("ball", sphere=0.15, mass=5, at=[1, 0, 1.5])
    return scene


def test_joints_that_cannot_hold_are_named_with_a_remedy_that_helps() -> None:
    (line,) = simulate(hanging(0.0)).remarks()
    assert line.startswith("rough for ")
    assert "joints too far off at joints." in line
    assert line.endswith("wider limits or some slack, may help")
    assert simulate(hanging(0.2)).remarks() == []


def test_large_numbers_are_told_without_exponents() -> None:
    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("wall", box=[0.2, 2, 2], mass=1e6, at=[0.5, 0, 0])
    crate = scene.body("crate", box=[0.4, 0.4, 0.4], mass=400, at=[0, 0, 0])
    crate.move([[0, 0, 0], [2, 0, 0]], speed=2, base_distance=0.05, strength=8000)
    snail = scene.body("snail", sphere=0.1, at=[0, 5, 0])
    snail.move([[0, 5, 0], [200, 5, 0]], speed=1, base_distance=0.1)
    lines = simulate(scene).remarks()
    assert any("all its strength of 8000 N is used: strength: 150000 or" in line for line in lines)
    assert any("about 200 s more are needed" in line for line in lines)


def clasped(seconds: float = 4) -> Scene:
    """Two balls on posts that should part when the first is where it cannot get to while they are tied."""
    scene = Scene(seconds=seconds)
    scene.body("ground", plane={}, fixed=True)
    for name, y in (("one", 0.0), ("two", 0.4)):
        ball = scene.body(name, box=[0.3, 0.3, 0.3], mass=2, at=[0, y, 0.15])
        way = 1.5 if name == "one" else 0.0
        ball.move([[0, y, 0.15], {"at": [way, y, 0.15], "time": 1.5}])
    scene.joint("clasp", weld=["two", "world"], until="parted")
    scene.joint("hands", ball=["one", "two"], at=[0, 0.2, 0.15], until="parted")
    scene.appointment("parted", ["one.move.1"])
    return scene


def test_a_joint_that_is_never_let_go_is_named_and_not_the_ground_it_stands_on() -> None:
    lines = simulate(clasped()).remarks()
    (held,) = (line for line in lines if line.startswith("one.move"))
    assert held.endswith("holds it until appointments.parted, which was not kept")
    assert "ground" not in held
    assert (
        "appointments.parted was not kept when the 4 s are over: one.move.1 did not come, so joints.clasp is never let "
        "go and joints.hands is never let go"
    ) in lines


def test_who_waits_for_another_is_told_to_wait_and_is_not_held_up_by_what_it_touches() -> None:
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    scene.body("wall", box=[0.2, 1, 1], at=[1, 0, 0.5], fixed=True)
    for name, y in (("quick", 1.5), ("stuck", 0.0)):
        ball = scene.body(name, sphere=0.2, mass=1, at=[0, y, 0.2])
        ball.move([[0, y, 0.2], {"at": [2, y, 0.2], "time": 1.5}, {"at": [3, y, 0.2], "time": 3}])
    scene.appointment("gate", ["quick.move.1", "stuck.move.1"])
    lines = {line.split(":")[0]: line for line in simulate(scene).remarks()}
    assert lines["quick.move"].endswith("it waits for stuck.move.1, as appointments.gate says")
    assert ": it touches wall; " in lines["stuck.move"]  # it leads into the wall, and along the ground
    assert lines["appointments.gate was not kept when the 5 s are over"].endswith("stuck.move.1 did not come")


@pytest.mark.parametrize("strength", ["unlimited", "auto", 3])
def test_what_is_out_of_reach_is_told_before_any_strength(strength: object) -> None:
    scene = Scene(seconds=2)
    scene.body("ground", plane={}, fixed=True)
    scene.body("pendulum", sphere=0.1, mass=2, at=[0, 3, 1])
    scene.joint("rope", ball=["world", "pendulum"], at=[0, 3, 2])
    scene.body("mole", sphere=0.2, mass=1, at=[0, -3, 0.2])
    scene["pendulum"].goals([{"at": [2, 3, 1], "time": 1}], strength=strength)
    scene["mole"].goals([{"at": [1, -3, -0.5], "time": 1}], strength=strength)
    pendulum, mole = simulate(scene).remarks()
    assert pendulum.endswith("leads to 2.24 m from joints.rope, which keeps it 1 m from it: out of reach")
    assert mole.endswith("it lies in ground")


def test_strength_is_only_recommended_where_more_of_it_helps() -> None:
    def told(strength: object) -> str:
        scene = Scene(seconds=1.2)
        ball = scene.body("ball", sphere=0.2, mass=10, at=[0, 0, 2])
        ball.goals([{"at": [0, 0, 30], "time": 1}], strength=strength)
        remarks = simulate(scene).remarks()
        return remarks[0] if remarks else ""

    assert told("auto") == told("unlimited") == ""
    weak = told(60)  # N, of a weight of 98: no time is enough
    assert "more time" not in weak
    needs = float(weak.split("strength: ")[1].split()[0])
    assert told(needs) == ""
    assert told(150).endswith(', "unlimited", or more time would do')


def test_who_ends_a_hair_from_its_last_key_has_come_there() -> None:
    scene = Scene(seconds=2, gravity=[0, 0, 0])
    keys = [[0, 0, 1], {"at": [0.05, 0, 1], "time": 1.5}]
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move(keys, adaptation=0, base_distance=0.02)
    scene.push("ball", force=[0, 0.4, 0])
    take = simulate(scene)
    assert 3e-3 < np.linalg.norm(take.position[-1, 0] - [0.05, 0, 1]) < 0.01
    assert take.remarks() == []


def test_what_was_pressed_through_the_ground_is_told() -> None:
    scene = Scene(seconds=0.2)
    scene.body("ground", plane={}, fixed=True)
    scene.body("box", box=[0.1, 0.1, 0.1], mass=1, at=[0, 0, -0.5])
    with pytest.warns(UserWarning, match="overlaps ground at the start"):
        (line,) = simulate(scene).remarks()
    assert line.startswith("box: ends inside ground, its middle 0.")


@pytest.mark.parametrize("strength", ["auto", 77])
def test_who_presses_something_against_a_wall_is_told_so_and_no_strength_is_named(strength: object) -> None:
    scene = Scene(seconds=2.5)
    scene.body("wall", box=[0.2, 2, 2], fixed=True, at=[1.0, 0, 1])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=3, at=[0.75, 0, 0.8])
    hand = scene.body("hand", box=[0.06, 0.2, 0.2], mass=1, at=[0.57, 0, 0.8])
    hand.move([[0.57, 0, 0.8], {"at": [0.65, 0, 0.8], "time": 0.2, "hold": 5}, [0.2, 0, 0.8]], strength=strength)
    hand.turn([{"euler": [0, 0, 0]}])
    (line,) = simulate(scene).remarks()
    assert "would do" not in line
    assert "it presses crate against wall" in line
    assert ("with all its strength" in line) == (strength == "auto")


def test_what_was_pressed_in_vain_for_a_while_is_told() -> None:
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    crate = scene.body("crate", box=[0.3, 0.3, 0.3], mass=3, at=[0.75, 0, 0.15])
    scene.joint("nail", weld=["world", crate], until=2)
    hand = scene.body("hand", box=[0.06, 0.2, 0.2], mass=1, at=[0.4, 0, 0.15])
    hand.move([[0.4, 0, 0.15], {"at": [1.0, 0, 0.15], "time": 1}])
    hand.turn([{"euler": [0, 0, 0]}])
    (line,) = simulate(scene).remarks()
    assert line.startswith("hand.move: pressed crate in vain with all its strength of ")
