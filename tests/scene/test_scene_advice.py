"""What is allowed but probably not meant is said by `warnings`, and nothing else is."""

import math

import pytest
import trimesh

from impel.scene import Scene, problems, warnings
from impel.scene.derived import drive


@pytest.fixture
def scene():
    scene = Scene(seconds=20)
    scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 1])
    return scene


def test_a_plain_scene_gives_no_warnings(scene):
    scene["ball"].move([[0, 0, 1], [2, 0, 1], [4, 1, 2]], base_distance=0.3, speed=2)
    scene["ball"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}])
    scene.body("floor", box=[9, 9, 1], fixed=True)
    scene.body("arm", capsule={"radius": 0.1, "length": 1}, at=[0, 0, 1.5])
    scene.joint("wrist", hinge=["arm", "ball"], at=[0, 0, 1], axis=[0, 1, 0], limits=[-30, 30])
    assert problems(scene) == []
    assert warnings(scene) == []


def test_fields_without_effect_are_named(scene):
    scene.body("floor", box=[9, 9, 1], fixed=True, mass=3, velocity=[1, 0, 0])
    scene.body("train", box=[1, 1, 1], density=2, spin=[1, 0, 0], follows=[{"time": 0}, {"time": 30, "at": [1, 0, 0]}])
    assert warnings(scene) == [
        "bodies.floor.mass: has no effect, for the body is fixed",
        "bodies.floor.velocity: has no effect, for the body is fixed",
        "bodies.train.density: has no effect, for the body is key-framed",
        "bodies.train.spin: has no effect, for the body is key-framed",
        "bodies.train.follows.1.time: 30 is after the end of the take at 20",
    ]


def test_a_start_far_from_the_path_is_noticed(scene):
    scene["ball"].move([[5, 0, 1], [7, 0, 1]], base_distance=0.5, speed=2)
    scene["ball"].turn([{"euler": [0, 0, 170]}, {"euler": [0, 0, 90]}], base_angle=20)
    far, turned = warnings(scene)
    assert far.startswith("actors.ball.move.keys.0: is 5 m from where the body starts, over 3 base distances (0.5 m)")
    assert turned.startswith("actors.ball.turn.keys.0: is 170 ° from where the body starts")


def circle(radius):
    return [
        [radius * math.sin(a), 0, 1 + radius - radius * math.cos(a)] for a in (2 * math.pi * i / 8 for i in range(9))
    ]


@pytest.mark.parametrize(("radius", "skipped"), [(0.1, True), (0.2, True), (0.4, False), (1.0, False)])
def test_loops_within_half_the_base_distance_will_be_skipped(scene, radius, skipped):
    scene["ball"].move([[-2, 0, 1], [-1, 0, 1], *circle(radius), [1, 0, 1], [2, 0, 1]], base_distance=0.5, speed=2)
    scene.bodies["ball"].at = (-2, 0, 1)
    lines = [line for line in warnings(scene) if "so the loop will be skipped" in line]
    assert bool(lines) == skipped
    assert all(line.startswith("actors.ball.move.keys.") for line in lines)


def test_a_path_too_long_for_the_take_is_noticed(scene):
    scene["ball"].move([[0, 0, 1], [50, 0, 1]], base_distance=0.5, speed=2)
    (line,) = warnings(scene)
    assert line == "actors.ball.move.speed: at 2 m/s the 50 m between the keys take longer than the 20 s of the take"
    scene.actors["ball"].move.loop = True
    assert warnings(scene) == []
    scene["ball"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 3600]}], speed=90)
    assert any("at 90 °/s the 3600 ° between the keys" in line for line in warnings(scene))


def test_half_turns_are_ambiguous(scene):
    scene["ball"].turn([{"quaternion": [1, 0, 0, 0]}, {"quaternion": [0, 0, 0, 1]}])
    (line,) = warnings(scene)
    assert line.startswith("actors.ball.turn.keys.1: is half a turn from the key before")


def test_limits_that_leave_out_the_start_are_noticed(scene):
    scene.joint("hinge", hinge=["world", "ball"], at=[0, 0, 1], axis=[0, 1, 0], limits=[10, 30])
    assert warnings(scene) == [
        "joints.hinge.limits: leave out 0, how the bodies are placed, so the hinge starts beyond [10, 30]"
    ]


def test_a_twist_that_leaves_out_the_start_and_a_spring_that_never_rests_are_noticed(scene):
    scene.joint("neck", ball=["world", "ball"], at=[0, 0, 2], twist=[10, 30])
    scene.joint("rail", slide=["world", "ball"], axis=[1, 0, 0], limits=[0, 1], spring={"stiffness": 3, "rest": 2})
    assert warnings(scene) == [
        "joints.neck.twist: leave out 0, how the bodies are placed, so the ball starts beyond [10, 30]",
        "joints.rail.spring.rest: 2 is beyond the limits [0, 1], so the spring never comes to rest",
    ]


def test_a_body_held_by_joints_may_be_weaker_than_its_weight(scene):
    scene["ball"].move([[0, 0, 1], [1, 0, 1]], base_distance=0.1, adaptation=0, strength=5)
    assert len(problems(scene)) == 2
    scene.joint("rail", on_segment=["ball", "world"], at=[0, 0, 1], segment=[[0, 0, 1], [1, 0, 1]])
    assert problems(scene) == []
    assert [line.split(": ")[0] for line in warnings(scene)] == [
        "actors.ball.move.base_distance",
        "actors.ball.move.strength",
    ]


def test_without_gravity_any_strength_will_do(scene):
    scene["ball"].move([[0, 0, 1], [1, 0, 1]], base_distance=0.1, adaptation=0, strength=5)
    scene.world.gravity = (0, 0, 0)
    assert problems(scene) == []


def test_a_handshake_of_mutual_keys_is_allowed(scene):
    scene.body("other", sphere=0.2, mass=1)
    scene["ball"].move([[0, 0, 1], {"at": [0, 0, 1], "in": "other"}], base_distance=0.3)
    scene["other"].move([[0, 0, 1], {"at": [0, 0, -1], "in": "ball"}], base_distance=0.3)
    assert problems(scene) == []
    scene.bodies["other"].euler = (90, 0, 0)
    assert "chase each other" in problems(scene)[0]


def test_long_chains_of_appointments_and_frames_are_walked_without_recursion():
    scene = Scene()
    for i in range(3000):
        scene.body(f"b{i}", sphere=0.1, mass=1)
        keys = [[0, 0, 0], {"at": [0, 0, 0], "in": f"b{i + 1}"} if i < 2999 else [1, 0, 0]]
        scene[f"b{i}"].move(keys, base_distance=0.3)
        after = [f"a{i + 1}"] if i < 2999 else []
        scene.appointment(f"a{i}", cues=[f"b{i}.move.0", f"b{max(i - 1, 0)}.move.1"], after=after)
    assert problems(scene) == [
        "appointments.a0.cues.1: 'b0.move.1' and 'b0.move.0' are on the same path and cannot happen together"
    ]
    scene.appointments["a0"].cues = ["b0.move.0", "b5.move.1"]
    scene.appointments["a2999"].after = ["a0"]
    (line,) = problems(scene)
    assert line.startswith("appointments.a0.after: goes round in a circle: a0 -> a1 -> a2 -> a3 -> a4 -> ... -> a0")


def test_a_plate_too_thin_to_stand_on_is_pointed_out() -> None:
    scene = Scene()
    scene.body("rug", box=[1, 1, 0.004], fixed=True)
    scene.body("slab", box=[1, 1, 0.02], fixed=True)
    scene.body("picture", box=[1, 1, 0.004], fixed=True, collides=False)
    (line,) = warnings(scene)
    assert line.startswith("bodies.rug.shape: is 4 mm thin")


@pytest.mark.parametrize("kind", ["move", "turn"])
def test_a_relaxation_that_speed_makes_void_is_noticed(scene, kind):
    keys = {"move": [[0, 0, 1], [2, 0, 1]], "turn": [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}]}[kind]
    getattr(scene["ball"], kind)(keys, speed=1, relaxation=0.2)
    base = {"move": "base_distance", "turn": "base_angle"}[kind]
    assert [line for line in warnings(scene) if "relaxation" in line] == [
        f"actors.ball.{kind}.relaxation: has no effect, for speed is given; a smaller {base} is what makes it snappier"
    ]
    wish = getattr(scene.actors["ball"], kind)
    numbers = drive(wish)
    usual = drive(wish.model_copy(update={"relaxation": 0.05}))
    assert numbers.alpha / numbers.relaxation**2 == pytest.approx(usual.alpha / usual.relaxation**2)
    assert numbers.beta / numbers.relaxation == pytest.approx(usual.beta / usual.relaxation)
    assert numbers.longest_step == pytest.approx(usual.longest_step)
    getattr(scene["ball"], kind)(keys, alpha=0.1, relaxation=0.2)
    assert not any("relaxation" in line for line in warnings(scene))


def test_goals_and_appointments_that_wait_in_vain_are_named(scene):
    scene["ball"].goals(
        [
            {"at": [1, 0, 1], "time": 0.5, "hold": True, "until": "late"},
            {"at": [1, 0, 2], "time": 1, "hold": True, "until": "never"},
            {"at": [1, 0, 3], "time": 4},
        ]
    )
    scene.body("other", sphere=0.2, mass=1, at=[0, 3, 1])
    scene["other"].move([[0, 3, 1], {"at": [1, 3, 1], "time": 2}])
    scene.appointment("late", cues=["other.move.1"])
    scene.appointment("first", cues=["ball.goals.2"])
    scene.appointment("never", cues=["other.move.1"], after=["first"])
    scene.appointment("apart", cues=["ball.goals.0", "ball2.goals.0"])
    scene.body("ball2", sphere=0.2, mass=1, at=[0, 6, 1])
    scene["ball2"].goals([{"at": [1, 6, 1], "time": 1.5}])
    assert problems(scene) == []
    assert warnings(scene) == [
        "appointments.apart.cues: ball.goals.0 (0.5 s) and ball2.goals.0 (1.5 s) are goals, which wait for nobody, so "
        "they do not happen together",
        "actors.ball.goals.0.until: late is kept at 2 s at the earliest, after 1 s, when goal 1 is due, which is "
        "missed so",
        "actors.ball.goals.1.until: never waits for ball.goals.2, and that is never tried while goal 1 is held",
    ]


@pytest.mark.parametrize(
    ("goals", "line"),
    [
        ([{"at": [1, 0, 1], "time": 1e-9}], "0.time: only 1e-09 s is left for this goal; give it 0.001 s or more"),
        (
            [{"at": [0, 0, 1]}, {"at": [0, 0, 2], "time": 1}],
            "0.time: is missing, and no time is left for this goal; give it a time",
        ),
    ],
)
def test_goals_without_time_for_them_are_refused(scene, goals, line):
    scene["ball"].goals(goals)
    (found,) = problems(scene)
    assert found.endswith(line)


def test_cues_of_goals_are_listed_with_the_times_that_were_shared_out(scene):
    from impel.stage.cueing import cues

    scene["ball"].goals([{"at": [1, 0, 1]}, {"at": [4, 0, 1], "time": 2}])
    assert list(cues(scene)) == ["actors.ball.goals: cues ball.goals.0 (0.5 s), ball.goals.1 (2 s)"]


def test_keys_after_the_end_of_the_take_are_told_in_one_line(scene):
    scene["ball"].move([[0, 0, 1], *({"at": [k, 0, 1], "time": 10 * k} for k in range(1, 6))])
    (line,) = warnings(scene)
    assert line == "actors.ball.move.keys.3.time: 30 is after the end of the take at 20, with 2 more keys"


def test_times_that_nothing_could_keep_are_told_in_one_line(scene):
    scene["ball"].move([[0, 0, 1], *({"at": [50 * (k == 2), 0, 1 + k], "time": 0.1 * k} for k in range(1, 6))])
    (line,) = warnings(scene)
    assert line.startswith("actors.ball.move.keys.2.time: asks for 500 m/s on the way there, which is over 100")
    assert "(2 keys are so)" in line


def test_a_strength_over_time_may_be_no_share(scene):
    scene["ball"].move([[0, 0, 1], [2, 0, 1]], strength=[[0, "auto"], [1, "0 %"]])
    assert scene.actors["ball"].move.strength == [(0.0, "auto"), (1.0, 0.0)]


def test_keys_and_goals_out_of_reach_of_a_joint_are_warned_of() -> None:
    scene = Scene(seconds=2)
    scene.body("upper", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.2, 0, 1], euler=[0, 90, 0])
    scene.body("fore", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.6, 0, 1], euler=[0, 90, 0])
    scene.joint("shoulder", ball=["world", "upper"], at=[0, 0, 1])
    scene.joint("elbow", hinge=["upper", "fore"], at=[0.4, 0, 1], axis=[0, 1, 0])
    scene["fore"].move([[0.8, 0, 1], [0.5, 0, 1.4], [0.9, 0, 1.2]], point=[0, 0, 0.2])
    scene["upper"].goals([{"at": [0, 0, 1.2], "time": 1}, {"at": [0, 0, 1.3], "time": 1.5}])
    assert [line for line in warnings(scene) if "out of reach" in line] == [
        "actors.fore.move.keys.2.at: is 0.922 m from joints.shoulder, which lets it get 0.8 m far: out of reach",
        "actors.upper.goals.1.at: is 0.3 m from joints.shoulder, which keeps it 0.2 m from it: out of reach",
    ]
    scene.joints["shoulder"].until = 1.0  # then it may go anywhere
    assert not [line for line in warnings(scene) if "out of reach" in line]


def meeting(timeout: float, **second: object) -> Scene:
    scene = Scene(seconds=9)
    for name, y in (("one", 0), ("two", 2)):
        keys = [[0, y, 1], {"at": [1, y, 1], "time": 2}, {"at": [2, y, 1], "time": 5}]
        scene.body(name, sphere=0.1, mass=1, at=[0, y, 1]).move(keys)
    scene.appointment("first", ["one.move.1", "two.move.1"])
    scene.appointment("second", ["one.move.2", "two.move.2"], timeout=timeout, **second)
    return scene


def test_a_timeout_before_its_cues_are_due_is_warned_of_and_counts_from_when_it_begins() -> None:
    (line,) = warnings(meeting(4))
    assert line.startswith(
        "appointments.second.timeout: 4 s, counted from when it begins at 0 s, are over before one.move"
    )
    assert warnings(meeting(4, after=["first"])) == []  # which is kept at 2 s
    (line,) = warnings(meeting(2.5, after=["first"]))
    assert "counted from when it begins after first at 2 s, are over before" in line


def test_bodies_that_only_hold_each_other_are_warned_of() -> None:
    scene = Scene(seconds=2)
    for name, other, y in (("ball", "box", 0), ("box", "ball", 2)):
        body = scene.body(name, sphere=0.1, mass=1, at=[0, y, 1])
        body.move([[0, y, 1], {"at": [0, y - (2 - y), 0], "in": other, "time": 1}])
    assert problems(scene) == []
    (line,) = warnings(scene)
    assert line.endswith("none of them is held: what pushes one moves all of them for good")
    scene.joint("nail", ball=["world", "box"], at=[0, 2, 1.5])
    assert not [line for line in warnings(scene) if "circle" in line]


def test_a_joint_that_will_hold_its_bodies_far_off_is_warned_of() -> None:
    scene = meeting(9)
    scene.joint("clasp", ball=["one", "two"], at=[3, 0, 1], from_="first")
    (line,) = warnings(scene)
    assert line.startswith("joints.clasp.at: is 3 m from one and 3.61 m from two as they are placed at the start")
    scene.joints["clasp"].at = (0.1, 0.0, 1.0)
    assert warnings(scene) == []


@pytest.mark.parametrize(("scale", "told"), [(1, True), (0.001, False)])
def test_a_mesh_in_millimetres_is_told_from_one_as_large_as_a_house(tmp_path, scale, told):
    trimesh.creation.annulus(30, 80, 40).export(tmp_path / "ring.stl")
    scene = Scene()
    scene.body("ring", mesh={"file": str(tmp_path / "ring.stl"), "scale": scale}, mass=1)
    lines = [line for line in warnings(scene) if "160 m across" in line and "scale: 0.001" in line]
    assert len(lines) == told
