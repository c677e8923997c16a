"""The numbers behind the defaults: the paper's parameters, coatings and key-framed motion."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impel.scene import Scene, parse_scene
from impel.scene.derived import base_of, drive, sag, settled, weight
from impel.scene.following import followed
from impel.scene.ways import angle_between

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def move(**fields):
    scene = Scene()
    scene.body("ball", sphere=0.2, mass=1).move(SQUARE, **fields)
    return scene.actors["ball"].move


def turn(*degrees, **fields):
    scene = Scene()
    scene.body("ball", sphere=0.2).turn([{"euler": [0, 0, d]} for d in degrees], **fields)
    return scene.actors["ball"].turn


@given(
    speed=st.floats(0.01, 100),
    base=st.floats(0.01, 10),
    elasticity=st.floats(0.1, 3),
    relaxation=st.floats(0.01, 1),
)
def test_speed_is_reached_by_choosing_alpha(speed, base, elasticity, relaxation):
    numbers = drive(move(speed=speed, base_distance=base, elasticity=elasticity, relaxation=relaxation))
    assert numbers.alpha == pytest.approx(2 * (speed * elasticity * relaxation / base) ** 2)
    assert numbers.speed == pytest.approx(speed)
    assert numbers.speed == pytest.approx(base * math.sqrt(numbers.alpha / 2) / (elasticity * relaxation))
    assert drive(move(alpha=numbers.alpha, base_distance=base, elasticity=elasticity, relaxation=relaxation)) == numbers


def test_the_damping_ratio_is_the_elasticity():
    numbers = drive(move(elasticity=0.7, alpha=0.2))
    stiffness, damping = 2 * numbers.alpha / numbers.relaxation**2, 2 * numbers.beta / numbers.relaxation
    assert damping / (2 * math.sqrt(stiffness)) == pytest.approx(0.7)


def test_a_step_beyond_the_longest_makes_the_scheme_diverge():
    """The Newton scheme of 003's appendix on one axis, just below and just above the bound."""
    numbers = drive(move(alpha=0.5, elasticity=0.6))
    k, c = 2 * numbers.alpha / numbers.relaxation**2, 2 * numbers.beta / numbers.relaxation
    for share, grows in ((0.95, False), (1.05, True)):
        dt = share * numbers.longest_step
        x, v = 1.0, 0.0
        for _ in range(2000):
            a = -k * x - c * v
            x, v = x + v * dt + a * dt * dt / 2, v + a * dt
        assert (abs(x) > 1) == grows


def test_turns_are_in_radians_and_strength_is_a_number():
    numbers = drive(turn(0, 90, base_angle=20, speed=90, strength=3))
    assert numbers.base == pytest.approx(math.radians(20))
    assert numbers.speed == pytest.approx(math.radians(90))
    assert numbers.strength == 3
    assert drive(move()).strength is None
    assert drive(move(strength="unlimited")).strength == math.inf


def test_the_base_is_a_quarter_of_the_way_between_keys_and_less_where_the_path_turns():
    straight = Scene()
    straight.body("ball", sphere=0.2).move([[0, 0, 0], [1, 0, 0], [2, 0, 0]])
    assert base_of(straight.actors["ball"].move) == pytest.approx(0.25)
    assert base_of(move()) == pytest.approx(0.05 + 0.2 * 0.5**1.5)  # right angles, half way to straight back
    assert base_of(turn(0, 90, 180)) == pytest.approx(math.radians(90 / 4))
    assert base_of(turn(0, 90, 0)) == pytest.approx(math.radians(90 / 20))
    assert base_of(turn(0, 90, 100)) == pytest.approx(math.radians(10 / 4))  # the shorter way of two counts
    assert base_of(turn(30, 30)) == pytest.approx(math.radians(10))
    scene = Scene()
    scene.body("hand", sphere=1)
    scene.body("ball", sphere=1).move([[0, 0, 0], {"at": [0, 0, 1], "in": "hand"}])
    assert base_of(scene.actors["ball"].move) is None
    scene["ball"].move([{"at": [0, 0, 0], "in": "hand"}, {"at": [0, 0, 1], "in": "hand"}])
    assert base_of(scene.actors["ball"].move) == pytest.approx(0.25)


@pytest.mark.parametrize("degrees", [0, 1e-6, 10, 90, 179.9, 180])
def test_angles_are_exact_and_know_no_double_cover(degrees):
    half = math.radians(degrees) / 2
    q = (math.cos(half), 0, math.sin(half), 0)
    for sign in (1, -1):
        turned = angle_between((1, 0, 0, 0), tuple(sign * x for x in q))
        assert turned == pytest.approx(math.radians(degrees), abs=1e-15)


def test_sag_and_weight():
    scene = Scene(gravity=[0, 3, -4])
    for name, fields, mass in (
        ("given", {"sphere": 1, "mass": 7}, 7),
        ("ball", {"sphere": 0.5}, 1000 * math.pi / 6),
        ("box", {"box": [1, 2, 3], "density": 2}, 12),
        ("rod", {"cylinder": {"radius": 0.5, "length": 4}, "density": 1}, math.pi),
        ("pill", {"capsule": {"radius": 0.5, "length": 4}, "density": 1}, math.pi * 7 / 6),
    ):
        scene.body(name, **fields)
        assert weight(scene.bodies[name], scene.world) == pytest.approx(5 * mass)
    assert sag(drive(move(alpha=0.2, relaxation=0.1)), scene.world) == pytest.approx(5 * 0.01 / 0.4)


def test_what_a_follow_key_leaves_out_stays_as_it_was():
    keys = [{"time": 1}, {"time": 2, "at": [1, 0, 0]}, {"time": 3, "euler": [0, 0, 90]}, {"time": 4, "at": [2, 0, 0]}]
    scene = parse_scene({"bodies": {"a": {"shape": {"sphere": 1}, "at": [0, 0, 5], "follows": keys}}})
    motion = followed(scene.bodies["a"])
    assert motion.times == [1, 2, 3, 4]
    assert motion.positions == [(0, 0, 5), (1, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert motion.orientations[:2] == [(1, 0, 0, 0)] * 2
    assert motion.orientations[2] == motion.orientations[3] == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))


def test_the_base_angle_of_whole_turns_is_the_eighth_of_one():
    assert base_of(turn(0, 360)) == base_of(turn(0, 180)) == base_of(turn(0, -720)) == pytest.approx(math.pi / 4)
    assert base_of(turn(0, 120, 240, loop=True)) == pytest.approx(math.pi / 6)


def test_base_distance_from_the_world_to_a_body_is_that_of_where_it_is_at_the_start():
    def base(keys):
        scene = Scene()
        scene.body("cart", box=[1, 1, 1], fixed=True, at=[2, 0, 0], euler=[0, 0, 90])
        scene.body("ball", sphere=0.1, at=[0, 0, 1]).move(keys)
        return drive(settled(scene.actors["ball"].move, scene.bodies)).base

    assert base([[0, 0, 1], {"at": [0, 0, 1], "in": "cart"}]) == pytest.approx(base([[0, 0, 1], [2, 0, 1]]))
    assert base([[0, 0, 1], {"at": [1, 0, 1], "in": "cart"}]) == pytest.approx(base([[0, 0, 1], [2, 1, 1]]))
