"""Limbs that goals lead: they come to rest, are not whipped, and bend again where they were pushed through."""

import math
from typing import Any

import numpy as np
import pytest

from impel import Scene, Take, simulate
from impel.motion.orientations import matrix_from_quaternion
from impel.stage.compile import compile_scene
from impel.stage.limbs import RELAXED

LAST = [0.3, -0.5, 1.3]


def arm(*pushes: dict[str, Any], seconds: float = 5, **goals: Any) -> Scene:
    """An arm of two links on the ground's side of its shoulder, whose tip is to be in two places."""
    keys = [{"at": [0.6, 0.45, 0.98], "time": 1.0, "hold": True, "until": 1.5}, {"at": LAST, "time": 2.5, "hold": True}]
    document = {
        "world": {"seconds": seconds},
        "bodies": {
            "ground": {"shape": {"plane": {}}, "fixed": True},
            "upper": {"shape": {"capsule": {"radius": 0.06, "length": 0.5}}, "mass": 3, "at": [0, 0, 0.95]},
            "fore": {
                "shape": {"capsule": {"radius": 0.05, "length": 0.5}},
                "mass": 2,
                "at": [0.25, 0, 1.2],
                "euler": [0, 90, 0],
            },
        },
        "joints": {
            "shoulder": {"ball": ["world", "upper"], "at": [0, 0, 0.7]},
            "elbow": {"hinge": ["upper", "fore"], "at": [0, 0, 1.2], "axis": [0, 1, 0], "limits": [-100, 80]},
        },
        "actors": {"fore": {"goals": {"point": [0, 0, 0.3], "keys": keys, **goals}}},
        "pushes": [{"body": "fore", **push} for push in pushes],
    }
    return Scene.model_validate(document)


def along_fore(take: Take, length: float) -> Any:
    """Where a point on the axis of the lower link is in each frame, and how fast it is."""
    i = take.index("fore")
    x = take.position[:, i] + matrix_from_quaternion(take.orientation[:, i]) @ np.array([0, 0, length])
    return x, np.linalg.norm(np.gradient(x, take.time, axis=0), axis=1)


def test_an_elbow_that_goals_leave_free_hangs_still() -> None:
    take = simulate(arm(seconds=4.5))
    tip, _ = along_fore(take, 0.3)
    _, elbow = along_fore(take, -0.25)
    assert elbow[-20:].max() < 0.01  # m/s; it went round at 4 m/s for ever
    assert [event["kind"] for event in take.events if event["subject"] == "fore.goals"].count("goal met") == 2
    np.testing.assert_allclose(tip[take.time >= 2.5], np.tile(LAST, ((take.time >= 2.5).sum(), 1)), atol=1e-4)


def test_what_a_held_tip_leaves_free_dies_away_as_told() -> None:
    # Shoulder, hand and the line between them lie on the x axis, about which all turns; nothing else moves it.
    spin, side = 3.0, 0.4
    corner = np.array([side, 0, side])
    bodies = {}
    for name, start, end in (("upper", [0, 0, 0], corner), ("fore", corner, [2 * side, 0, 0])):
        middle, way = (np.array(start) + end) / 2, np.array(end) - start
        bodies[name] = {
            "shape": {"capsule": {"radius": 0.04, "length": side}},
            "mass": 2,
            "at": middle.tolist(),
            "euler": [0, math.degrees(math.atan2(way[0], way[2])), 0],
            "velocity": np.cross([spin, 0, 0], middle).tolist(),
            "spin": [math.degrees(spin), 0, 0],
        }
    tip = [0, 0, side * math.sqrt(2) / 2]
    hand = [{"at": [2 * side, 0, 0], "time": 0.05, "hold": True}]
    document = {
        "world": {"seconds": 0.5, "gravity": [0, 0, 0]},
        "bodies": bodies,
        "joints": {
            "shoulder": {"ball": ["world", "upper"], "at": [0, 0, 0]},
            "elbow": {"hinge": ["upper", "fore"], "at": corner.tolist(), "axis": [0, 1, 0]},
        },
        "actors": {"fore": {"goals": {"point": tip, "keys": hand}}},
    }
    take = simulate(Scene.model_validate(document))
    x, _ = along_fore(take, -tip[2])
    angle = np.unwrap(np.arctan2(-x[:, 1], x[:, 2]))
    np.testing.assert_allclose(angle, spin * RELAXED * -np.expm1(-take.time / RELAXED), rtol=0.01, atol=1e-6)


def test_an_arm_that_was_pushed_through_its_elbow_is_there_on_time() -> None:
    take = simulate(arm({"from": 1.8, "until": 2.0, "force": [0, 150, 0]}, seconds=3.5))
    tip, speed = along_fore(take, 0.3)
    met = [event["details"]["goal"] for event in take.events if event["kind"] == "goal met"]
    assert met == [0, 1]
    assert tip[:, 2].min() > 0.5  # it fell to the ground
    assert speed[take.time > 2.03].max() < 6.5  # 37 m/s before; 1.5 m in 0.5 s takes 4.5
    assert speed[take.time > 3.2].max() < 1e-3


def test_a_weak_arm_comes_back_as_fast_as_it_can_and_no_faster() -> None:
    take = simulate(arm({"from": 1.8, "until": 2.0, "force": [0, 150, 0]}, seconds=3.6, strength=120))
    tip, speed = along_fore(take, 0.3)
    off = np.linalg.norm(tip - LAST, axis=1)
    assert off[np.searchsorted(take.time, 2.5)] > 0.3
    assert off[take.time > 3.5].max() < 2e-3  # after 2 s before
    assert speed[take.time > 2.6].max() < 2.0


@pytest.mark.parametrize("force", [[53, -125, 63], [-130, 60, 40]])
def test_an_arm_that_is_late_is_not_whipped(force: list[float]) -> None:
    take = simulate(arm({"from": 2.2, "until": 2.4, "force": force}, seconds=4))
    tip, speed = along_fore(take, 0.3)
    _, elbow = along_fore(take, -0.25)
    after = take.time > 2.43
    assert max(speed[after].max(), elbow[after].max()) < 8.0
    assert np.linalg.norm(tip[-1] - LAST) < 2e-3


def test_only_what_lies_between_a_goal_and_what_holds_it_is_a_limb() -> None:
    scene = arm()
    scene.body("lamp", sphere=0.05, mass=0.2, at=[0.55, 0, 0.9])
    scene.joint("cord", ball=["fore", "lamp"], at=[0.55, 0, 1.2])
    stage, compiled = compile_scene(scene)
    assert stage.handles is not None
    limbs = {(compiled.bodies[i], compiled.bodies[j]) for i, j in stage.handles.limbs}
    assert limbs == {("upper", "world"), ("fore", "world")}


def test_a_bird_with_goals_is_not_held_by_its_wings() -> None:
    scene = Scene(seconds=1)
    scene.body("bird", sphere=0.1, mass=1, at=[0, 0, 1]).goals([{"at": [1, 0, 1], "time": 1}])
    scene.body("wing", box=[0.1, 0.3, 0.02], mass=0.1, at=[0, 0.25, 1])
    scene.joint("root", hinge=["bird", "wing"], at=[0, 0.1, 1], axis=[1, 0, 0])
    scene["wing"].turn([{"euler": [30, 0, 0], "in": "bird"}, {"euler": [-30, 0, 0], "in": "bird"}], loop=True)
    stage, _ = compile_scene(scene)
    assert stage.handles is not None
    assert len(stage.handles.limbs) == 0


def test_a_body_between_two_goals_is_held_once() -> None:
    scene = arm()
    scene["upper"].goals([{"euler": [0, 20, 0], "time": 1}])
    scene.joint("shelf", ball=["world", "fore"], at=[0.55, 0, 1.2], until=1.0)
    stage, compiled = compile_scene(scene)
    assert stage.handles is not None
    assert [compiled.bodies[i] for i in stage.handles.limbs[:, 0]] == ["upper", "fore"]
