"""Coatings whose stiffness varies with the depth: pressures, what two make together, and the forces that come of it."""

import math

import numpy as np
import pytest
from contact_rig import FLOOR, make_world, run_adaptive
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from impel.physics.coating import LIMIT, Coating, table_of
from impel.physics.pressures import COLUMNS, ROWS, join, make_table, pressure, slope

RISING = ((0.0, 2e4), (0.01, 1e5), (0.03, 2e6))
SOFTENING = ((0.0, 1e6), (0.02, 5e4))
SHAPES = {
    "ball": {"sphere": 0.1},
    "box": {"box": [0.2, 0.2, 0.2]},
    "capsule": {"capsule": {"radius": 0.1, "length": 0.3}},
    "cylinder": {"cylinder": {"radius": 0.1, "length": 0.3}},
    "blob": {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.1}]}},
}
LYING = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)


def stiffness_at(points, depth):
    return np.interp(depth, *zip(*points))


@st.composite
def curves(draw):
    steps = draw(st.lists(st.floats(1e-3, 0.02), min_size=1, max_size=8))
    depths = np.cumsum(steps) - (steps[0] if draw(st.booleans()) else 0.0)
    return [(float(depth), 10.0 ** draw(st.floats(4, 6.5))) for depth in depths]


def coated(points):
    return Coating(points[0][1], 10.0, damping=0.0, friction=0.0, rolling=0.0, curve=tuple(points))


def force_on(shape, depth, coating, floor=FLOOR, orientation=LYING):
    lowest = 0.1
    body = {"shape": shape, "mass": 1.0, "at": [0, 0, lowest - depth], "orientation": orientation, "coating": coating}
    bodies, contacts = make_world(floor, body)
    return bodies.force[1, 2], contacts


@settings(max_examples=60, deadline=None)
@given(curves(), st.floats(1e-5, 0.2))
def test_pressure_is_stiffness_summed_over_the_depth(points, depth):
    table = make_table(points, 12)
    kinks = [at for at, _ in points if at < depth]
    expected, _ = quad(lambda z: stiffness_at(points, z), 0.0, depth, points=kinks or None, limit=200)
    assert pressure(table, depth) == pytest.approx(expected, rel=1e-9)
    assert slope(table, depth) == pytest.approx(stiffness_at(points, depth), rel=1e-9)
    assert pressure(table, -depth) == 0.0


@settings(max_examples=60, deadline=None)
@given(curves(), curves(), st.floats(1e-4, 0.1))
def test_two_coatings_share_the_depth_so_that_both_press_alike(one, other, depth):
    a, b, both = make_table(one), make_table(other), np.zeros((ROWS, COLUMNS))
    join(a, b, both)
    share = brentq(lambda x: pressure(a, x) - pressure(b, depth - x), 0.0, depth, xtol=1e-15)
    assert pressure(both, depth) == pytest.approx(pressure(a, share), rel=0.03)
    depths = np.linspace(0, 0.2, 400)
    assert np.all(np.diff([pressure(both, d) for d in depths]) > 0)


def test_a_coating_on_what_is_rigid_or_on_its_like_is_as_it_is():
    a, rigid, both = make_table(RISING), make_table(((0.0, math.inf),)), np.zeros((ROWS, COLUMNS))
    for depth in (1e-3, 0.012, 0.05):
        join(a, rigid, both)
        assert pressure(both, depth) == pytest.approx(pressure(a, depth), rel=1e-12)
        join(a, a, both)
        assert pressure(both, 2 * depth) == pytest.approx(pressure(a, depth), rel=1e-12)


def test_the_default_grows_firmer_in_its_table_too():
    own = Coating(1e6, 0.1, firm=2e-3)
    for x in (0.5, 1.0, 2.0, 5.0):
        assert pressure(table_of(own), x * 2e-3) == pytest.approx(1e6 * x * 2e-3 * (1 + x**4), rel=0.15)


@pytest.mark.parametrize("name", SHAPES)
def test_a_curve_that_says_the_same_at_all_depths_changes_nothing(name):
    plain = Coating(1e5, 10.0, damping=0.0)
    for depth in (1e-3, 0.01, 0.04):
        expected, _ = force_on(SHAPES[name], depth, plain)
        for curve in (((0.0, 1e5),), ((0.0, 1e5), (0.005, 1e5), (0.02, 1e5))):
            felt, _ = force_on(SHAPES[name], depth, plain._replace(curve=curve))
            assert felt == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("points", [RISING, SOFTENING], ids=["rising", "softening"])
@pytest.mark.parametrize("depth", [0.004, 0.015, 0.04])
def test_round_shapes_feel_their_pressure_summed_over_the_patch(points, depth):
    table, r = make_table(points), 0.1

    def patch(profile, rim, width):
        """Pressure summed over a patch that is so deep at a way x from its middle, and so wide there."""
        kinks = sorted({brentq(lambda x, z=z: profile(x) - z, 0.0, rim) for z, _ in points if 0 < z < depth})
        felt = lambda x: pressure(table, profile(x)) * width(x)  # noqa: E731
        return quad(felt, 0.0, rim, points=kinks or None, limit=200)[0]

    def ring(x):
        return 2 * math.pi * x

    def cap(x):
        return depth - (r - math.sqrt(r * r - x * x))

    rim = math.sqrt(depth * (2 * r - depth))
    felt, _ = force_on(SHAPES["ball"], depth, coated(points))
    assert felt == pytest.approx(patch(cap, rim, ring), rel=1e-6)

    felt, _ = force_on(SHAPES["cylinder"], depth, coated(points))
    assert felt == pytest.approx(patch(cap, rim, lambda x: 0.6), rel=0.02)

    for other in (0.1, 0.25):
        apart = r + other - depth

        def lens(x, other=other, apart=apart):
            return math.sqrt(r * r - x * x) + math.sqrt(other * other - x * x) - apart

        rim = math.sqrt(r * r - ((apart**2 + r * r - other**2) / (2 * apart)) ** 2)
        bodies, _ = make_world(
            {"shape": {"sphere": r}, "mass": 1.0, "at": [0, 0, apart], "coating": coated(points)},
            {"shape": {"sphere": other}},
        )
        assert bodies.force[0, 2] == pytest.approx(patch(lens, rim, ring), rel=0.01)


def test_the_pair_stiffens_when_the_first_is_pressed_to_its_thickness():
    thin = coated(RISING)._replace(thickness=0.012)
    floor = {**FLOOR, "coating": Coating(1e5, 10.0)}
    pressed = pressure(make_table(RISING), 0.012)
    _, contacts = force_on(SHAPES["ball"], 0.01, thin, floor)
    assert contacts.material[0, LIMIT] == pytest.approx(0.012 + pressed / 1e5, rel=1e-9)
    shallow, _ = force_on(SHAPES["ball"], 0.03, coated(RISING))
    deep, _ = force_on(SHAPES["ball"], 0.03, thin)
    assert deep > 2 * shallow


@pytest.mark.parametrize("name", SHAPES)
def test_an_undamped_bounce_on_a_curve_keeps_its_energy(name):
    for height in (0.3, 0.31, 0.33):
        thing = {"shape": SHAPES[name], "mass": 1.0, "at": [0, 0, height], "coating": coated(RISING)}
        bodies, contacts = make_world({**FLOOR, "coating": coated(SOFTENING)}, thing | {"orientation": LYING})
        run_adaptive(bodies, contacts, (0.0, 0.0, -9.81), 0.5)
        assert bodies.position[1, 2] > 0.15  # in the air again
        energy = 9.81 * bodies.position[1, 2] + 0.5 * (bodies.velocity[1] ** 2).sum()
        assert -0.03 < energy / (9.81 * height) - 1 < 0.01
