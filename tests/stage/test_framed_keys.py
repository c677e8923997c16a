"""Keys in the frames of bodies: they move along, are pinned when passed, and lead as fast as they are carried."""

from typing import Any

import numpy as np
import pytest
from rewinding import differences

from impel import Problem, Scene, play
from impel.motion.orientations import matrix_from_quaternion
from impel.stage import simulate
from impel.takes import Take


def wagon_scene(keys: list[Any], seconds: float, start: tuple[float, float, float] = (0, 0, 1), **fields: Any) -> Scene:
    """A ball, and a wagon that goes by at 1 m/s."""
    scene = Scene(seconds=seconds)
    way = [{"time": 0, "at": [0, 2, 0.3]}, {"time": seconds, "at": [seconds, 2, 0.3]}]
    scene.body("wagon", box=[0.6, 0.4, 0.1], follows=way, linear=True)
    scene.body("ball", sphere=0.1, mass=1, at=start).move(keys, **fields)
    return scene


def from_wagon(take: Take) -> np.ndarray:
    return take.position[:, take.index("ball")] - take.position[:, take.index("wagon")]


RIDE = [[0, 0, 1], {"at": [0, 0, 0.4], "in": "wagon", "time": 2, "hold": 1.5}, {"at": [6, 0, 1], "time": 5.5}]


def test_body_rides_along_with_a_wagon_and_leaves_it_gently() -> None:
    take = simulate(wagon_scene(RIDE, 6, base_distance=0.16))
    away = np.linalg.norm(from_wagon(take) - [0, 0, 0.4], axis=1)
    assert away[120:211].max() < 1e-3
    ball = take.position[:, take.index("ball")]
    assert ball[330] == pytest.approx([6, 0, 1], abs=1e-3)
    leaving = np.diff(ball[205:240], n=2, axis=0) * 3600
    assert np.linalg.norm(leaving, axis=1).max() < 5


def test_last_key_goes_on_with_its_body_and_others_stay_where_they_were_passed() -> None:
    passed = {"at": [0, 0, 0.4], "in": "wagon", "time": 1, "pin": True}
    keys = [[0, 1, 1], passed, {"at": [0, 0, 1.4], "in": "wagon", "time": 2}]
    take = simulate(wagon_scene(keys, 4, (0, 1, 1), base_distance=0.2))
    assert from_wagon(take)[150:] == pytest.approx(np.tile([0, 0, 1.4], (91, 1)), abs=1e-3)
    path = take.paths["ball.move"][-1]
    assert np.linalg.norm(path - [1, 2, 0.7], axis=1).min() < 1e-2  # where the wagon was at one second


@pytest.mark.parametrize("timed", [True, False])
def test_keys_that_follow_each_other_in_a_body_ride_on_it(timed: bool) -> None:
    places = {0: [0, -1, 0.4], 1: [0, 0, 0.4], 3: [0, 0, 1.4], 4: [0, 0, 0.9]}
    keys: list[dict[str, Any]] = [{"at": at, "in": "wagon"} for at in places.values()] + [{"at": [6, 0, 1]}]
    for key, time in zip(keys, [*places, 5.5] if timed else []):
        key["time"] = time
    take = simulate(wagon_scene(keys, 7, (0, 1, 0.7), speed=1.0))
    reached = [e["time"] for e in take.events if e["kind"] == "key reached" and e["details"]["key"] in (1, 2)]
    on_it = (take.time >= reached[0]) & (take.time <= reached[1])
    assert np.abs(from_wagon(take)[on_it, 0]).max() < 2e-3  # pinned, the way leads half a metre aside
    assert take.position[-1, take.index("ball")] == pytest.approx([6, 0, 1], abs=1e-2)


@pytest.mark.parametrize("fields", [{"time": 1}, {}])
def test_pin_keeps_the_last_key_where_it_was_passed(fields: dict[str, Any]) -> None:
    keys = [[0, 1, 1], {"at": [0, 0, 0.4], "in": "wagon", "pin": True, **fields}]
    take = simulate(wagon_scene(keys, 3, (0, 1, 1), base_distance=0.2, speed=2))
    x, y, z = take.position[-1, take.index("ball")]
    assert (y, z) == pytest.approx((2, 0.7), abs=1e-3)
    assert x < 1.1  # the wagon is at 3 m by then
    assert "time" not in fields or x == pytest.approx(1, abs=0.01)


def test_key_without_times_is_not_lagged_behind() -> None:
    take = simulate(wagon_scene([{"at": [0, 0, 0.5], "in": "wagon"}], 3, (0, 2, 0.8)))
    assert np.linalg.norm(from_wagon(take)[120:] - [0, 0, 0.5], axis=1).max() < 1e-3


def swinging_arm(seconds: float = 2.5, **fields: Any) -> Scene:
    scene, names = Scene(seconds=seconds), ["upper", "middle", "lower"]
    for k, name in enumerate(names):
        body = scene.body(
            name,
            capsule={"radius": 0.05, "length": 0.4},
            mass=1 - 0.2 * k,
            at=[0.4 * k + 0.2, 0, 1.5],
            euler=[0, 90, 0],
        )
        scene.joint(f"j{k}", hinge=[names[k - 1] if k else "world", body], at=[0.4 * k, 0, 1.5], axis=[0, 1, 0])
        if k:
            body.turn([{"euler": [0, 0, 0], "in": names[k - 1]}], **fields)
    swing = [{"euler": [0, 130 - 80 * (i % 2), 0], "time": 0.25 + 0.5 * i} for i in range(5)]
    scene["upper"].turn([{"euler": [0, 90, 0]}, *swing])
    return scene


def bends(take: Take) -> list[float]:
    """The largest angle, in degrees, between each link and the one before it."""
    q = take.orientation
    angles = np.degrees(2 * np.arctan2(q[:, :, 2], q[:, :, 0]))
    return [float(np.abs(angles[:, k] - angles[:, k - 1]).max()) for k in (1, 2)]


def test_links_with_keys_in_their_neighbours_go_along_with_a_swinging_arm() -> None:
    assert max(bends(simulate(swinging_arm()))) < 0.3


def test_torque_from_nowhere_carries_them_along_as_well() -> None:
    assert max(bends(simulate(swinging_arm(against="world", strength="unlimited")))) < 0.5


def test_what_trails_is_left_behind() -> None:
    assert min(bends(simulate(swinging_arm(trail=0.5)))) > 3


def handshake(left: float = 1.0, right: float = 1.0) -> Take:
    """Two balls whose last keys are in each other."""
    scene = Scene(seconds=4)
    for name, other, x, speed in (("left", "right", -0.5, left), ("right", "left", 0.5, right)):
        ball = scene.body(name, sphere=0.05, mass=1, at=[x, 0, 1], collides=False)
        ball.move([[x, 0, 1], {"at": [0, 0, 0], "in": other}], base_distance=0.2, speed=speed)
    return simulate(scene)


@pytest.mark.parametrize(("left", "right"), [(1.0, 1.0), (1.0, 0.5)])
def test_two_meet_where_the_share_of_their_speeds_says(left: float, right: float) -> None:
    take = handshake(left, right)
    assert np.ptp(take.position[-1], axis=0).max() < 2e-3
    assert take.position[-1, 0, 0] == pytest.approx(-0.5 + left / (left + right), abs=0.06)
    assert take.position[-1, 0] == pytest.approx(take.position[-60, 0], abs=1e-3)  # and do not drift


def test_key_inside_a_free_body_does_not_drive_it_ever_faster() -> None:
    scene = Scene(seconds=10, gravity=[0, 0, 0])
    scene.body("free", sphere=0.2, mass=1, at=[0.5, 0, 1])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    ball.move([[0, 0, 1], {"at": [-0.25, 0, 0], "in": "free"}], base_distance=0.1, speed=0.5)
    take = simulate(scene)
    assert take.channels["free.speed"].max() < 2  # 17 m/s after 5 s and rising, if it were led while it touches


def test_key_can_be_in_a_part_of_a_walker_and_an_unknown_part_is_told() -> None:
    scene = Scene(seconds=1)
    scene.walker("spider", path=[[0, 0, 0], [3, 0, 0]])
    ball = scene.body("ball", sphere=0.05, mass=0.1, at=[0, 0, 1], collides=False)
    ball.move([{"at": [0, 0, 0.5], "in": "spider.body"}])
    take = simulate(scene)
    assert take.position[-1, 0, 0] == pytest.approx(take.position[-1, take.index("spider.body"), 0], abs=0.05)
    scene["ball"].move([{"at": [0, 0, 0.5], "in": "spider.bodi"}])
    with pytest.raises(Problem, match=r"keys\.0\.in: .*spider\.body"):
        simulate(scene)


def test_framed_keys_are_part_of_a_snapshot() -> None:
    keys = [[0, 1, 1], {"at": [0, 0, 0.4], "in": "wagon", "time": 0.5, "hold": 0.3}, {"at": [1, 1, 1], "time": 1.4}]
    assert differences(wagon_scene(keys, 1.5, (0, 1, 1), base_distance=0.3), 6) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keys.1.at", [0.2, 0, 0.4]),
        ("keys", [[0, 1, 1], {"at": [0, 0, 0.6], "in": "wagon"}, {"at": [0, 0, 0.4], "in": "wagon", "time": 2}]),
        ("keys", [[0, 1, 1], [1, 1, 1]]),
        ("speed", 2),
    ],
)
def test_framed_keys_can_be_changed_while_it_plays(field: str, value: Any) -> None:
    keys = [[0, 1, 1], {"at": [0, 0, 0.4], "in": "wagon", "time": 0.5}, {"at": [0, 0, 0.6], "in": "wagon", "time": 1.4}]
    show = play(wagon_scene(keys, 2.5, (0, 1, 1), base_distance=0.3))
    for frame in show:
        if frame.number == 45:
            show.change(f"actors.ball.move.{field}", value)
    take = show.take()
    assert (simulate(show.to_scene()).position == take.position).all()
    assert take.channels["ball.speed"].max() < 5  # it is not thrown


def test_a_key_in_a_body_that_joints_hold_and_actors_turn_is_followed() -> None:
    scene = Scene(seconds=2, gravity=[0, 0, 0])
    for k, name in enumerate(("upper", "lower")):
        body = scene.body(name, box=[0.4, 0.1, 0.1], mass=1, at=[0.4 * k + 0.2, 0, 1])
        scene.joint(f"j{k}", hinge=["upper" if k else "world", body], at=[0.4 * k, 0, 1], axis=[0, 0, 1])
        body.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90 - 20 * k], "time": 1}, {"euler": [0, 0, 0], "time": 2}])
    scene.body("fly", sphere=0.02, mass=0.05, at=[0.9, 0, 1]).move([{"at": [0.3, 0, 0], "in": "lower"}])
    take = simulate(scene)
    arm, fly = (list(take.names).index(name) for name in ("lower", "fly"))
    tips = take.position[:, arm] + 0.3 * np.array([matrix_from_quaternion(q)[:, 0] for q in take.orientation[:, arm]])
    assert np.linalg.norm(take.position[:, fly] - tips, axis=1).max() < 0.005
