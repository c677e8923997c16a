"""Forces of contact at a given state: against volumes of overlap, Newton's third law, and plain sense."""

import math

import numpy as np
import pytest
import trimesh
from contact_rig import FLOOR, axis_angle, make_world
from hypothesis import example, given, settings
from hypothesis import strategies as st

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.broadphase import LOAD, MET, NORMAL
from impel.physics.coating import LIMIT, Coating
from impel.physics.contact import contact_forces
from impel.physics.verdicts import NOT_A_NUMBER

FOAM = Coating(stiffness=1e5, thickness=10.0, damping=0.5, friction=0.6)
BALL, BOX = {"sphere": 0.1}, {"box": [0.2, 0.3, 0.4]}
CAPSULE, CYLINDER = {"capsule": {"radius": 0.1, "length": 0.3}}, {"cylinder": {"radius": 0.1, "length": 0.3}}
BLOB = {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.1}, {"at": [0.1, 0, 0.1], "radius": 0.08}], "blend": 0.05}}


def pressed(shape, depth, orientation=(1, 0, 0, 0), floor=FLOOR, coating=FOAM):
    """A shape whose lowest point is `depth` below the floor's surface at height 0."""
    at = [0.0, 0.0, lowest(shape, orientation) - depth]
    return make_world(floor, {"shape": shape, "mass": 1.0, "at": at, "orientation": orientation, "coating": coating})


def lowest(shape, orientation):
    kind, value = next(iter(shape.items()))
    down = matrix_from_quaternion(np.asarray(orientation, float))[2]
    if kind == "sphere":
        return value
    if kind == "box":
        return float(np.abs(down) @ value) / 2
    across = value["radius"] * (1.0 if kind == "capsule" else math.hypot(down[0], down[1]))
    return across + abs(down[2]) * value["length"] / 2


def overlap(shape, depth, orientation):
    """Volume and centre of what lies below 0, by summing thin columns exactly in height: slow and plain."""
    r = matrix_from_quaternion(np.asarray(orientation, float))
    height = lowest(shape, orientation) - depth
    kind, value = next(iter(shape.items()))
    n = 700
    reach = 0.35
    axis = ((np.arange(n) + 0.5) / n - 0.5) * 2 * reach
    x, y = np.meshgrid(axis, axis, indexing="ij")
    levels = -(np.arange(24) + 0.5) / 24 * depth
    volume, centre = 0.0, np.zeros(2)
    cell = (2 * reach / n) ** 2 * depth / 24
    for z in levels:
        p = np.stack([x, y, np.full_like(x, z - height)], -1) @ r
        if kind == "box":
            within = (np.abs(p) < np.array(value) / 2).all(-1)
        elif kind == "sphere":
            within = (p * p).sum(-1) < value**2
        else:
            beyond = np.maximum(np.abs(p[..., 2]) - value["length"] / 2, 0.0)
            across = p[..., 0] ** 2 + p[..., 1] ** 2
            if kind == "cylinder":
                within = (across < value["radius"] ** 2) & (beyond == 0)
            else:
                within = across + beyond**2 < value["radius"] ** 2
        volume += within.sum() * cell
        centre += np.array([x[within].sum(), y[within].sum()]) * cell
    return volume, centre / volume


@pytest.mark.parametrize("depth", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("soft_floor", [False, True])
def test_ball_pressed_on_a_plane_feels_combined_stiffness_times_cap_volume(depth, soft_floor):
    floor = {**FLOOR, "coating": Coating(3e5, 10.0)} if soft_floor else FLOOR
    bodies, contacts = pressed(BALL, depth, floor=floor)
    stiffness = 1 / (1 / 1e5 + 1 / 3e5) if soft_floor else 1e5
    cap = math.pi * depth**2 * (0.1 - depth / 3)
    assert bodies.force[1] == pytest.approx([0, 0, stiffness * cap], rel=1e-12)
    assert contacts.place[0, LOAD] == pytest.approx(stiffness * cap, rel=1e-12)
    assert contacts.touching[0] == 1.0
    assert contacts.place[0, :2] == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("other", [0.1, 0.25])
@pytest.mark.parametrize("depth", [0.005, 0.03, 0.06])
def test_two_balls_feel_the_exact_lens(other, depth):
    distance = 0.1 + other - depth
    bodies, _ = make_world(
        {"shape": BALL, "mass": 1.0, "coating": FOAM},
        {"shape": {"sphere": other}, "mass": 1.0, "at": [distance, 0, 0], "coating": FOAM},
    )
    x = np.linspace(-0.1, 0.1, 2_000_001)
    within = np.minimum(0.1**2 - x**2, other**2 - (x - distance) ** 2)
    lens = np.trapezoid(math.pi * np.maximum(within, 0), x)
    assert bodies.force[1] == pytest.approx([0.5e5 * lens, 0, 0], rel=1e-6)


BLOB_BALL = {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.1}]}}


@pytest.fixture(scope="module")
def mesh_ball(tmp_path_factory):
    path = tmp_path_factory.mktemp("ball") / "ball.obj"
    trimesh.creation.icosphere(subdivisions=5, radius=0.1).export(path)
    return {"mesh": {"file": str(path)}}


@pytest.mark.parametrize("depth", [0.005, 0.03])
@pytest.mark.parametrize("pair", ["ball blob", "ball mesh", "blob blob", "blob mesh", "mesh mesh"])
def test_balls_of_any_kind_feel_the_lens_however_they_are_turned(pair, depth, mesh_ball):
    shapes = [{"ball": BALL, "blob": BLOB_BALL, "mesh": mesh_ball}[name] for name in pair.split()]
    random = np.random.default_rng(0)
    lens = 2 * math.pi * (depth / 2) ** 2 * (0.1 - depth / 6)
    felt = []
    for _ in range(12):
        turned = random.normal(size=(2, 4))
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        bodies, _ = make_world(
            {"shape": shapes[0], "mass": 1.0, "at": [0, 0, 0.2 - depth], "orientation": turned[0], "coating": FOAM},
            {"shape": shapes[1], "mass": 1.0, "orientation": turned[1], "coating": FOAM},
        )
        felt.append(bodies.force[0] / (0.5e5 * lens))
    assert np.mean(felt, axis=0) == pytest.approx([0, 0, 1], abs=0.03)
    assert np.std(felt, axis=0).max() <= 0.04


@pytest.mark.parametrize("depth", [0.01, 0.02])
@pytest.mark.parametrize("degrees", [0, 45, 90])
def test_bars_that_cross_feel_their_overlap(degrees, depth):
    """Of long cylinders, by slices: where both are at a height, each is a strip."""
    turn = math.radians(degrees) / 2
    lying = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
    across = (math.sqrt(0.5) * math.cos(turn), -math.sqrt(0.5) * math.sin(turn), math.sqrt(0.5) * math.cos(turn))
    bar = {"capsule": {"radius": 0.1, "length": 0.6}}
    bodies, _ = make_world(
        {"shape": bar, "mass": 1.0, "at": [0, 0, 0.2 - depth], "orientation": lying, "coating": FOAM},
        {"shape": bar, "mass": 1.0, "coating": FOAM, "orientation": (*across, math.sqrt(0.5) * math.sin(turn))},
    )
    z = np.linspace(0.1 - depth, 0.1, 20_001)
    below, above = np.sqrt(0.1**2 - z**2), np.sqrt(np.maximum(0.1**2 - (0.2 - depth - z) ** 2, 0))
    if degrees == 0:
        area = 2 * np.minimum(below, above) * 0.6 + math.pi * np.minimum(below, above) ** 2
    else:
        area = 4 * below * above / math.sin(math.radians(degrees))
    assert bodies.force[0, 2] == pytest.approx(0.5e5 * np.trapezoid(area, z), rel=0.03)


@pytest.mark.parametrize("shape", [CAPSULE, CYLINDER], ids=["capsule", "cylinder"])
@pytest.mark.parametrize("degrees", [0, 3, 20, 45, 70, 87, 90])
@pytest.mark.parametrize("depth", [0.01, 0.04])
def test_bars_on_a_plane_feel_their_overlap_at_every_tilt(shape, degrees, depth):
    orientation = axis_angle([1.0, 0.3, 0.0], degrees)
    bodies, contacts = pressed(shape, depth, orientation)
    volume, centre = overlap(shape, depth, orientation)
    # The flat end of a cylinder is a disc of 37 points: near its rim they stand for more than is inside.
    steep = shape is CYLINDER and 0 < degrees < 90
    assert bodies.force[1, 2] == pytest.approx(1e5 * volume, rel=(0.8 if depth < 0.02 else 0.25) if steep else 0.07)
    assert contacts.place[0, :2] == pytest.approx(centre, abs=0.012)


@pytest.mark.parametrize("depth", [0.0005, 0.01, 0.05])
def test_box_lying_flat_feels_its_overlap(depth):
    bodies, contacts = pressed(BOX, depth)
    assert bodies.force[1] == pytest.approx([0, 0, 1e5 * 0.2 * 0.3 * depth], rel=1e-9)
    assert contacts.place[0, :2] == pytest.approx([0, 0], abs=1e-9)
    assert np.abs(bodies.torque[1]).max() < 1e-9


def test_tilted_box_feels_its_overlap_and_is_turned_back():
    orientation = axis_angle([1, 0, 0], 5)
    bodies, contacts = pressed(BOX, 0.03, orientation)
    volume, centre = overlap(BOX, 0.03, orientation)
    assert bodies.force[1, 2] == pytest.approx(1e5 * volume, rel=0.05)
    assert contacts.place[0, :2] == pytest.approx(centre, abs=0.01)
    assert bodies.torque[1, 0] < 0  # against the tilt


def test_a_floor_of_sparse_points_does_not_disturb_what_lies_on_it():
    """A box weighs the same wherever it lies on a floor box, also over one of the floor's own points."""
    floor = {"shape": {"box": [10, 10, 1]}, "at": [0, 0, -0.5]}
    forces = []
    for x in (0.0, 0.1, 0.7, 1.25):
        bodies, _ = make_world(floor, {"shape": BOX, "mass": 1.0, "at": [x, 0, 0.195], "coating": FOAM})
        forces.append(bodies.force[1, 2])
    assert forces == pytest.approx([1e5 * 0.06 * 0.005] * 4, rel=0.05)


def test_a_big_corner_is_felt_by_a_small_face():
    corner = axis_angle(np.cross([1, 1, 1], [0, 0, -1]), math.degrees(math.acos(-1 / math.sqrt(3))))
    bodies, contacts = make_world(
        {"shape": {"box": [0.1, 0.1, 0.1]}, "mass": 1.0, "at": [0, 0, -0.05], "coating": FOAM},
        {
            "shape": {"box": [1, 1, 1]},
            "mass": 1.0,
            "at": [0.003, 0.002, math.sqrt(3) / 2 - 0.004],
            "orientation": corner,
            "coating": FOAM,
        },
    )
    assert contacts.touching[0] == 1.0
    assert bodies.force[1, 2] > 0.01
    assert abs(bodies.force[1, 0]) < 0.2 * bodies.force[1, 2]


def test_a_coating_stiffens_beyond_its_thickness():
    thin = FOAM._replace(thickness=0.005)
    shallow, _ = pressed(BALL, 0.004, coating=thin)
    deep, contacts = pressed(BALL, 0.02, coating=thin)
    soft, _ = pressed(BALL, 0.02, coating=FOAM)
    assert contacts.material[0, LIMIT] == pytest.approx(0.005)
    assert shallow.force[1, 2] == pytest.approx(1e5 * math.pi * 0.004**2 * (0.1 - 0.004 / 3))
    assert deep.force[1, 2] > 5 * soft.force[1, 2]


def test_layers_in_a_row_share_the_depth():
    """A soft layer on a hard one is pressed to its thickness first; the pair stiffens then."""
    _, contacts = pressed(BALL, 0.01, floor={**FLOOR, "coating": Coating(3e5, 0.01)}, coating=Coating(1e5, 0.012))
    assert contacts.material[0, LIMIT] == pytest.approx(min(0.012 * 4 / 3, 0.01 * 4))


@pytest.mark.parametrize("shape", [BALL, BOX, CAPSULE, CYLINDER, BLOB], ids=lambda s: next(iter(s)))
def test_looking_again_changes_nothing(shape):
    """dt = 0 gives the same forces to the bit and leaves friction's memory alone."""
    bodies, contacts = make_world(
        FLOOR, {"shape": shape, "mass": 1.0, "at": [0, 0, 0.07], "velocity": [1, 0, 0], "coating": FOAM}
    )
    force, memory = bodies.force.copy(), contacts.friction.copy()
    assert force[1].any()
    contact_forces(bodies, contacts, 0.0)
    assert (bodies.force == force).all()
    assert (contacts.friction == memory).all()
    contact_forces(bodies, contacts, 1e-3)
    assert contacts.friction[0, :3].any()


places = st.tuples(*[st.floats(-0.12, 0.12)] * 3)
turns = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1)
speeds = st.tuples(*[st.floats(-3, 3)] * 3)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([BALL, BOX, CAPSULE, CYLINDER, BLOB]),
    st.sampled_from([BALL, BOX, CAPSULE, CYLINDER, BLOB]),
    places,
    turns,
    turns,
    speeds,
    speeds,
)
def test_forces_are_equal_and_opposite(a, b, at, turn_a, turn_b, velocity, spin):
    """Force and torque about a common point vanish in sum, for every pair of shapes, damping and friction included."""

    def unit(q):
        return np.array(q) / np.linalg.norm(q)

    bodies, contacts = make_world(
        {"shape": a, "mass": 1.0, "orientation": unit(turn_a), "spin": spin, "coating": FOAM},
        {"shape": b, "mass": 2.0, "at": at, "orientation": unit(turn_b), "velocity": velocity, "coating": FOAM},
    )
    assert_balance(bodies, contacts)


def assert_balance(bodies, contacts):
    """Forces are finite, and they and their torques about a common point vanish in sum."""
    for dt in (0.0, 1e-3, 1e-3):
        contact_forces(bodies, contacts, dt)
        size = np.abs(bodies.force).max() + np.abs(bodies.torque).max() + 1e-300
        assert np.isfinite(size)
        assert np.abs(bodies.force.sum(0)).max() <= 1e-13 * size
        about_origin = bodies.torque + np.cross(bodies.position, bodies.force)
        assert np.abs(about_origin.sum(0)).max() <= 1e-13 * size


# Axes, and what rounding makes of them: along each other, across, and anyhow.
SQUARE = [(1, 0, 0, 0), (0, 1, 0, 0), (1, 0, 1, 0), (1, 0, -1, 0), (1, 1, 0, 0), (1, 1, 1, 1)]
NEXT_TO_NOTHING = [0.0, 1e-300, 1e-17, 1e-15, 1e-12, 1e-9, -1e-9, -1e-12, -1e-15]


@settings(max_examples=400, deadline=None)
@example(("capsule", 0.08, 1), ("capsule", 0.07, -1), (1, 0, 0, 0), (1, 0, 1, 0), (-1e-12, 0.0, 0.0), (0, 0, 0))
@given(
    *[st.tuples(st.sampled_from(["sphere", "capsule", "cylinder"]), st.floats(0.01, 0.2), st.sampled_from([-1, 0, 1]))]
    * 2,
    *[st.sampled_from(SQUARE) | turns] * 2,
    st.tuples(*[st.sampled_from(NEXT_TO_NOTHING)] * 3),
    st.just((0, 0, 0)) | speeds,
)
def test_bodies_whose_axes_share_a_point_are_pushed_with_finite_forces(a, b, turn_a, turn_b, off, spin):
    """As two limbs that are hinged at the ends of their axes: all ways out are equally long, or nearly."""
    items = []
    for (kind, radius, end), turn, place, mass in ((a, turn_a, (0, 0, 0), 1.0), (b, turn_b, off, 2.0)):
        turn = np.array(turn) / np.linalg.norm(turn)
        shape = {kind: radius if kind == "sphere" else {"radius": radius, "length": 0.4}}
        at = np.array(place) - (kind != "sphere") * end * 0.2 * matrix_from_quaternion(turn)[:, 2]
        items.append({"shape": shape, "mass": mass, "at": at, "orientation": turn, "coating": FOAM})
    bodies, contacts = make_world(items[0] | {"spin": spin}, items[1])
    assert contacts.touching[0] == 1.0 or "cylinder" in (a[0], b[0])  # whose flat ends may just meet
    assert_balance(bodies, contacts)


def test_bad_numbers_are_reported():
    bodies, contacts = pressed(BALL, 0.01)
    bodies.position[1, 2] = math.nan
    assert contact_forces(bodies, contacts, 1e-3) == NOT_A_NUMBER


def test_what_parts_faster_than_it_is_pressed_has_not_met():
    """Damping leaves no force, and so no direction, in which others could push or grip it."""
    for speed, met in ((-1.0, 1.0), (1e3, 0.0)):
        ball = {"shape": BALL, "mass": 1.0, "at": [0, 0, 0.0999], "velocity": [0, 0, speed], "coating": FOAM}
        _, contacts = make_world(FLOOR, ball)
        assert contacts.touching[0] == 1.0
        assert contacts.place[0, MET] == met
        assert np.linalg.norm(contacts.place[0, NORMAL : NORMAL + 3]) == pytest.approx(met)
