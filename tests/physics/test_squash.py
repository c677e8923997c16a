"""Soft bodies that are pressed: skins lie on the surface where both press alike, stay whole, and keep their volume."""

import itertools
import math

import numpy as np
import pytest
from squash_rig import UPRIGHT, Pressed, brought_together, facing

from impel.geometry.kinds import INNER
from impel.geometry.remeshing import edges_of
from impel.geometry.skins import make_skin
from impel.physics.covers import soft_surfaces
from odd_shapes import written

SOFT, FIRM = 1e5, 2e5  # N/m³
TURNED = (0.8, 0.3, -0.4, 0.35)
ASLANT = (0.3, 0.2, 1.0)
FLOOR = ({"plane": {}}, math.inf, (0, 0, 0), UPRIGHT)
SHAPES = {
    "sphere": {"sphere": 0.15},
    "capsule": {"capsule": {"radius": 0.1, "length": 0.25}},
    "cylinder": {"cylinder": {"radius": 0.12, "length": 0.25}},
    "box": {"box": [0.2, 0.25, 0.3]},
    "blob": {
        "blob": {"points": [{"at": [0, 0, 0], "radius": 0.13}, {"at": [0.15, 0, 0.05], "radius": 0.1}], "blend": 0.1}
    },
}
DEPTHS = (0.05, 0.2, 0.4, 0.6)
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("meshes")


def check(world, bodies):
    """All that is promised of two surfaces that touch."""
    off = 0.0
    for a in bodies:
        skin = world.squash(a)
        if skin is None:  # pressed in too little to be seen
            continue
        assert skin.mismatch() <= 1e-9
        assert skin.most_beyond() <= 1e-9 * skin.size
        assert skin.flips() == 0
        assert abs(skin.volume() - 1) <= 3e-3
        off += skin.off_surface() / skin.size
    assert off <= 1e-3  # neither of two leaves the shared surface: so they leave each other by no more


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_two_shapes_share_one_surface(first, second):
    number = PAIRS.index((first, second))
    for depth in (DEPTHS[number % 4], DEPTHS[(number + 2) % 4]):
        check(brought_together(SHAPES[first], SOFT, SHAPES[second], FIRM, depth, TURNED, ASLANT), (0, 1))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", ["cylinder", "box", "capsule"])
def test_equal_bodies_that_are_flush_all_round_share_one_surface(name, depth):
    for stiffness in (FIRM, SOFT):
        check(brought_together(SHAPES[name], SOFT, SHAPES[name], stiffness, depth), (0, 1))


@pytest.mark.parametrize("name", ["cylinder", "box"])
def test_what_is_flush_with_something_rigid_lies_on_its_face(name):
    for depth in (0.05, 0.4):
        check(brought_together(SHAPES[name], SOFT, SHAPES[name], math.inf, depth), (0,))


def test_what_is_nearly_flush_leaves_no_fold_beside_it():
    """Of the upper side of a box that is a hair wider than the firmer one on it, nothing is left higher than the
    lower side of that."""
    wide = {"box": [0.20002, 0.25002, 0.3]}
    skin = brought_together(wide, SOFT, SHAPES["box"], FIRM, 0.2).squash(0)
    assert skin.flips() == 0
    assert skin.there[:, 2].max() <= 0.15 - 0.02 / 2


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_lies_flat_on_a_floor(name):
    for depth in (0.1, 0.5):
        low = 1.0 - depth
        height = {"sphere": 0.15, "capsule": 0.1, "cylinder": 0.12, "box": 0.1, "blob": 0.13}[name]
        turned = {"sphere": UPRIGHT, "blob": UPRIGHT}.get(name, (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0))
        check(Pressed((SHAPES[name], SOFT, (0, 0, low * height), turned), FLOOR), (0,))


@pytest.mark.parametrize("kind", ["mesh", "convex", "compound"])
@pytest.mark.parametrize("second", ["sphere", "box", "torus"])
def test_meshes_share_surfaces_too(folder, kind, second):
    shapes = SHAPES | {
        "torus": {"mesh": {"file": written(folder, "torus"), "scale": 2.0}},
        "mesh": {"mesh": {"file": written(folder, "gear"), "scale": 2.0}},
        "convex": {"convex": {"file": written(folder, "gear"), "scale": 2.0}},
        "compound": {"compound": [{"box": [0.2, 0.2, 0.2]}, {"sphere": 0.13, "at": [0, 0, 0.12]}]},
    }
    check(brought_together(shapes[second], SOFT, shapes[kind], FIRM, 0.3, TURNED, ASLANT), (0, 1))


@pytest.mark.parametrize(("shape", "deep"), [("sphere", 0.6), ("box", 0.4)])
def test_what_is_stuck_in_the_hole_of_a_ring_lies_against_it_all_round(folder, shape, deep):
    ring = {"mesh": {"file": written(folder, "torus"), "scale": 2.0}}
    check(brought_together(SHAPES[shape], SOFT, ring, FIRM, deep), (0, 1))


def test_an_ear_that_is_pressed_in_as_a_whole_does_not_come_out_elsewhere(folder):
    """No vertex goes much farther than the bodies overlap: ways that lead through the whole body end nowhere."""
    torus, animal = ({"mesh": {"file": written(folder, name), "scale": 2.0}} for name in ("torus", "animal"))
    world = brought_together(torus, SOFT, animal, FIRM, 0.45, (0.5, 0.5, 0.1, -0.7), (1.0, 0.3, 0.1))
    skin = world.squash(1)
    deep = -world.distance(0, skin.rest)[0].min()
    assert np.linalg.norm(skin.there - skin.rest, axis=1).max() < 2 * deep


@pytest.mark.parametrize(("kind", "way"), [("box", ASLANT), ("cylinder", (0, 0, 1))])
def test_what_goes_through_an_edge_or_a_wall_is_followed_behind_its_middle(folder, kind, way):
    """Where the shared surface lies behind the middle of a limb, skins go on to it instead of staying."""
    name = {"box": "animal", "cylinder": "cup"}[kind]
    limb = {"mesh": {"file": written(folder, name), "scale": 2.0}}
    turn = TURNED if kind == "box" else UPRIGHT
    skin = brought_together(SHAPES[kind], SOFT, limb, FIRM, 0.6, turn, way).squash(0)
    assert skin.mismatch() <= 1e-9
    assert skin.most_beyond() <= 1e-9 * skin.size
    assert skin.flips() == 0


def test_a_rim_faces_as_what_leads_into_the_contact_and_what_leads_out():
    """Where a contact has a steep wall, that does not tell alone which way the rim above it faces."""
    assert brought_together(SHAPES["sphere"], SOFT, SHAPES["cylinder"], FIRM, 0.6).squash(0).flips() == 0


@pytest.mark.parametrize("name", ["cup", "gear", "animal"])
def test_skins_of_meshes_are_even_and_have_no_folds(folder, name):
    shape = {"mesh": {"file": written(folder, name), "scale": 2.0}}
    world = Pressed((shape, SOFT, (0, 0, 0), UPRIGHT))
    skin = make_skin(shape, float(world.touch.extent[0, INNER]))
    assert 800 < len(skin.vertices) < 2000
    across = facing(skin.vertices, skin.triangles)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    _, one, other = edges_of(skin.triangles)
    assert np.einsum("ij,ij->i", across[one], across[other]).min() > -0.5


@pytest.mark.parametrize(("depth", "most"), [(0.05, 3e-3), (0.1, 3e-3), (0.2, 3e-3), (0.3, 3e-3), (0.6, 3e-3)])
def test_a_ball_pressed_on_a_floor_keeps_its_volume(depth, most):
    ball = Pressed(({"sphere": 0.2}, SOFT, (0, 0, 0.2 * (1 - depth)), UPRIGHT), FLOOR).squash(0)
    assert abs(ball.volume() - 1) <= most
    assert ball.there[:, 2].min() >= -1e-12


def test_two_balls_touch_where_springs_in_a_row_would():
    """A ball four times as stiff yields a fifth of the depth, at the middle of the contact."""
    depth = 0.06
    world = Pressed(
        ({"sphere": 0.2}, SOFT, (0, 0, 0), UPRIGHT), ({"sphere": 0.12}, 4 * SOFT, (0, 0, 0.32 - depth), UPRIGHT)
    )
    soft, stiff = world.squash(0), world.squash(1)
    middle = np.argmin(np.linalg.norm(soft.rest[:, :2], axis=1) - soft.rest[:, 2])
    assert soft.there[middle, 2] == pytest.approx(0.2 - 0.8 * depth, abs=1e-9)
    lowest = np.argmin(np.linalg.norm(stiff.rest[:, :2], axis=1) + stiff.rest[:, 2])
    assert stiff.there[lowest, 2] == pytest.approx(0.2 - 0.8 * depth, abs=1e-9)


CURVE = ((0.0, 1e5), (0.02, 1e6), (0.05, 1e5))
HARDENS = ((0.0, 5e4), (0.03, 5e6))


@pytest.mark.parametrize(("one", "other"), [(CURVE, SOFT), (CURVE, HARDENS), (SOFT, HARDENS)])
def test_with_curves_of_stiffness_pressures_are_equal_at_every_point(one, other):
    """`Pressed.beyond` sums the curves plainly."""
    for shape in ("sphere", "box"):
        check(brought_together(SHAPES["sphere"], one, SHAPES[shape], other, 0.4), (0, 1))


def test_a_ball_between_a_floor_a_wall_and_a_ball_lies_against_all_of_them():
    world = Pressed(
        ({"sphere": 0.2}, SOFT, (0, 0, 0.17), UPRIGHT),
        FLOOR,
        ({"box": [0.2, 1, 1]}, math.inf, (-0.27, 0, 0.5), UPRIGHT),
        ({"sphere": 0.2}, SOFT, (0.35, 0, 0.17), UPRIGHT),
    )
    ball = world.squash(0)
    assert ball.most_beyond() <= 1e-9 * ball.size
    assert ball.mismatch() <= 1e-9
    assert ball.flips() == 0
    assert abs(ball.volume() - 1) <= 3e-3
    for other in (1, 2, 3):
        assert ball.in_contact(other).sum() > 10


@pytest.mark.parametrize(("above", "before"), [(0.166, 0.194), (0.166, 0.17), (0.15, 0.21)])
def test_between_the_dents_of_a_floor_and_a_wall_of_one_body_nothing_crumples(above, before):
    """What comes out beside either comes out on ways of its own; where these meet there is no valley."""
    corner = {"compound": [{"box": [1, 1, 0.05], "at": [0, 0, -0.025]}, {"box": [0.05, 1, 0.5], "at": [0.475, 0, 0.2]}]}
    skin = Pressed(
        ({"sphere": 0.22}, SOFT, (0.45 - before, 0, above), UPRIGHT), (corner, math.inf, (0, 0, 0), UPRIGHT)
    ).squash(0)
    assert skin.flips() == 0
    assert abs(skin.volume() - 1) <= 3e-3
    across = facing(skin.there, skin.triangles)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    middle, free = skin.there[skin.triangles].mean(axis=1), ~skin.in_contact(1)[skin.triangles].any(axis=1)
    _, one, other = edges_of(skin.triangles)
    valley = free[one] & free[other] & (np.einsum("ij,ij->i", across[one], middle[other] - middle[one]) > 0)
    bend = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", across[one], across[other]), -1, 1)))
    assert bend[valley].max() < 35


def test_a_bulge_leaves_the_contact_smoothly():
    """Just outside the rim the surface of a ball on a floor would rise at 37°; with a bulge it hardly rises at all."""
    steepest = {}
    for bulge in (0.0, 0.4):
        ball = Pressed(({"sphere": 0.2}, SOFT, (0, 0, 0.16), UPRIGHT), FLOOR, bulge=bulge).squash(0)
        away = np.linalg.norm(ball.there[:, :2], axis=1)
        rim = away[ball.there[:, 2] < 1e-12].max()
        middle = ball.there[ball.triangles].mean(axis=1)
        near = (np.abs(np.linalg.norm(middle[:, :2], axis=1) - rim) < 0.01) & (middle[:, 2] < 0.05)
        across = facing(ball.there, ball.triangles)[near]
        rise = np.degrees(np.arccos(-across[:, 2] / np.linalg.norm(across, axis=1)))
        steepest[bulge] = np.median(rise[middle[near, 2] > 1e-6])
    assert steepest[0.0] > 25
    assert steepest[0.4] < 0.6 * steepest[0.0]


def test_a_bulge_is_as_large_as_its_share():
    """What comes out beside the contact grows with the share; the volume stays."""
    heights = []
    for bulge in (0.0, 0.2, 0.4):
        ball = Pressed(({"sphere": 0.2}, SOFT, (0, 0, 0.16), UPRIGHT), FLOOR, bulge=bulge).squash(0)
        flat = ball.there[:, 2] < 1e-12
        heights.append(np.linalg.norm(ball.there[flat, :2], axis=1).max())  # how wide it lies
        assert abs(ball.volume() - 1) <= 3e-3
    assert heights[0] <= heights[1] <= heights[2]
    assert heights[2] > heights[0]


def test_normals_are_those_of_the_surface():
    world = Pressed(({"sphere": 0.2}, SOFT, (0, 0, 0.15), UPRIGHT), FLOOR)
    ball = world.squash(0)
    np.testing.assert_allclose(np.linalg.norm(ball.normals, axis=1), 1.0, atol=1e-12)
    flat = ball.there[ball.vertex, 2] < 1e-12
    np.testing.assert_allclose(ball.normals[flat], np.tile([0, 0, -1], (flat.sum(), 1)), atol=1e-9)
    across = facing(ball.there, ball.triangles)
    mean = np.zeros_like(ball.normals)
    for k in range(3):
        np.add.at(mean, ball.corners[:, k], across)
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    inner = ~flat & (ball.there[ball.vertex, 2] > 0.02)
    assert np.degrees(np.arccos(np.clip(np.sum(mean * ball.normals, axis=1)[inner], -1, 1))).max() < 6


def test_what_is_hardly_pressed_in_looks_as_ever():
    meets = [(0, 1, np.ones((2, 2), bool))]
    for height, seen in ((0.21, False), (0.2 - 1e-5, False), (0.2 - 2e-3, True)):
        world = Pressed(({"sphere": 0.2}, SOFT, (0, 0, height), UPRIGHT), FLOOR)
        surfaces = soft_surfaces(world.touch, 0, {"sphere": 0.2}, np.zeros(3), np.array(UPRIGHT), meets)
        assert (surfaces is not None) == seen


def test_bodies_that_are_one_inside_the_other_stay_finite():
    for shape in ("sphere", "box", "blob"):
        world = Pressed((SHAPES["box"], SOFT, (0, 0, 0), UPRIGHT), (SHAPES[shape], SOFT, (0.001, 0, 0), TURNED))
        for a in (0, 1):
            skin = world.squash(a)
            assert skin is None or np.abs(skin.there).max() < 3 * skin.size
            assert skin is None or np.isfinite(skin.normals).all()


def test_a_ball_that_sinks_slowly_does_not_pop():
    """From one depth to the next no vertex jumps."""
    before, steps = None, np.linspace(0.1, 0.2, 7)
    for depth in steps:
        ball = Pressed(({"sphere": 0.2}, SOFT, (0, 0, 0.2 * (1 - depth)), UPRIGHT), FLOOR).squash(0)
        middle = ball.there[:, 2].max(), np.linalg.norm(ball.there[:, :2], axis=1).max()
        if before is not None:
            assert np.abs(np.subtract(middle, before)).max() < 3 * 0.2 * (steps[1] - steps[0])
        before = middle


def test_foam_begins_to_go_down_where_a_crate_stands_in_it():
    """Not at the next vertex outside: else its rim would be a saw."""
    foam, turn = {"box": [1.2, 1.2, 0.4]}, np.radians(25)
    crate = {"box": [0.4, 0.4, 0.4]}, math.inf, (0.03, 0.02, 0.15), (math.cos(turn / 2), 0, 0, math.sin(turn / 2))
    skin = Pressed((foam, SOFT, (0, 0, -0.2), UPRIGHT), crate).squash(0)
    assert skin.flips() == 0
    weights = np.random.default_rng(0).dirichlet([1, 1, 1], 20)
    points = np.einsum("sk,tkd->tsd", weights, skin.there[skin.triangles]).reshape(-1, 3)
    beside = (points[:, :2] - [0.03, 0.02]) @ np.array(
        [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    )
    far, near = np.sort(np.abs(beside), axis=1).T[::-1]
    outside = (far > 0.203) & (far < 0.3) & (near < 0.18) & (points[:, 2] > -0.06)
    assert np.mean(points[outside, 2] < -0.005) < 0.005
