"""Soft bodies on thin ones: no part of a skin comes out on the far side, however thin the neighbour is."""

import math

import numpy as np
import pytest
import trimesh
from squash_rig import UPRIGHT, Pressed

SOFT, FIRM = 3e4, 3e5  # N/m³
RIM = 0.2  # m
LYING = (1.0, 1.0, 0.0, 0.0)
BODIES = {  # shape, half its height, orientation
    "sphere": ({"sphere": 0.15}, 0.15, UPRIGHT),
    "capsule": ({"capsule": {"radius": 0.1, "length": 0.25}}, 0.1, LYING),
    "blob": (
        {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.13}, {"at": [0.1, 0, 0], "radius": 0.13}], "blend": 0.1}},
        0.13,
        UPRIGHT,
    ),
}


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    """Of a thickness, as a mesh."""
    folder = tmp_path_factory.mktemp("plates")

    def written(thickness):
        path = folder / f"{thickness}.stl"
        trimesh.creation.box(extents=[0.8, 0.8, thickness]).export(path)
        return {"mesh": {"file": str(path)}}

    return written


@pytest.fixture(scope="module")
def cup(tmp_path_factory):
    """With a round wall of a thickness, RIM wide inside, as a mesh."""
    folder = tmp_path_factory.mktemp("cups")

    def written(thickness, base=0.03):
        path, wide, floor = folder / f"{thickness} {base}.stl", RIM + thickness, base - 0.25
        profile = [(0, -0.25), (wide, -0.25), (wide, 0.2), (RIM, 0.2), (RIM, floor), (0, floor)]
        trimesh.creation.revolve(profile, sections=96).export(path)
        return {"mesh": {"file": str(path)}}

    return written


def lying(body, shelf, thickness, deep, stiffness=math.inf):
    """A body above a shelf whose upper side is at 0, so much of its half height deep in it."""
    shape, half, turned = BODIES[body]
    return Pressed(
        (shape, SOFT, (0, 0, (1 - deep) * half), turned), (shelf, stiffness, (0, 0, -thickness / 2), UPRIGHT)
    )


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("deep", [0.2, 0.5])
@pytest.mark.parametrize("thickness", [0.02, 0.004])
def test_nothing_hangs_below_a_shelf(body, deep, thickness):
    skin = lying(body, {"box": [0.8, 0.8, thickness]}, thickness, deep).squash(0)
    assert skin.there[:, 2].min() > -1e-9
    assert skin.flips() == 0
    assert skin.volume() == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize("thickness", [0.02, 0.004])
def test_nothing_hangs_below_a_mesh(plate, thickness):
    skin = lying("sphere", plate(thickness), thickness, 0.5).squash(0)
    assert skin.there[:, 2].min() > -2e-4  # the mesh's own field is nearer to it than that
    assert skin.flips() == 0
    assert skin.volume() == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize("aside", [0.0, 0.007])
@pytest.mark.parametrize(("thickness", "deep"), [(0.012, 0.5), (0.012, 1.1), (0.016, 1.1), (0.016, 2.0), (0.03, 1.1)])
def test_a_ball_stays_within_a_cup_whose_wall_is_thinner_than_it_is_wide(cup, thickness, deep, aside):
    """It is wider than the cup all round, by so many thicknesses of the wall; what is nearest to its core is in no
    direction, or on one side."""
    radius = RIM + deep * thickness
    ball, wall = ({"sphere": radius}, SOFT, (aside, 0, 0.02), UPRIGHT), (cup(thickness), math.inf, (0, 0, 0), UPRIGHT)
    skin = Pressed(ball, wall).squash(0)
    assert np.hypot(skin.there[:, 0], skin.there[:, 1]).max() < RIM + 5e-4  # the mesh's own field is nearer than that
    assert skin.there[:, 2].min() > -0.2205
    assert skin.mismatch() <= 1e-9
    assert skin.flips() == 0


@pytest.mark.parametrize("stiffness", [FIRM, math.inf])
def test_a_ball_in_the_corner_of_a_cup_stays_above_its_base_and_within_its_wall(cup, stiffness):
    """By 28 % of its radius it is too wide for both; the corner is as far from its core as either."""
    thickness, radius = 0.012, 0.1
    floor = thickness - 0.25
    at = (RIM - 0.72 * radius, 0, floor + 0.72 * radius)
    ball, wall = ({"sphere": radius}, SOFT, at, UPRIGHT), (cup(thickness, thickness), stiffness, (0, 0, 0), UPRIGHT)
    skin = Pressed(ball, wall).squash(0)
    assert np.hypot(skin.there[:, 0], skin.there[:, 1]).max() < RIM + thickness / 2
    assert skin.there[:, 2].min() > floor - thickness / 2
    assert skin.mismatch() <= 1e-9
    assert skin.flips() == 0


@pytest.mark.parametrize(("thickness", "deep", "aside", "above"), [(0.036, 0.8, 0.2, 0.0), (0.024, 1.2, 0.2, 0.02)])
def test_a_ball_in_a_soft_cup_stays_within_its_wall(cup, thickness, deep, aside, above):
    """On one side it reaches the middle of the wall, where what is nearest is in no direction, or goes through it."""
    ball = {"sphere": RIM + deep * thickness}, SOFT, (aside * thickness, 0, above), UPRIGHT
    skin = Pressed(ball, (cup(thickness), 20 * SOFT, (0, 0, 0), UPRIGHT)).squash(0)
    assert np.hypot(skin.there[:, 0], skin.there[:, 1])[skin.there[:, 2] < 0.19].max() < RIM + thickness / 4
    assert skin.most_beyond() <= 1e-9 * skin.size
    assert skin.flips() == 0


def test_on_a_thin_shelf_a_ball_looks_as_on_a_floor():
    """Seen from above the floor, there is no difference between a floor and a shelf that is wide enough."""
    thin = lying("sphere", {"box": [0.8, 0.8, 0.004]}, 0.004, 0.4).squash(0)
    thick = lying("sphere", {"plane": {}}, 0.0, 0.4).squash(0)
    assert np.ptp(thin.there, axis=0) == pytest.approx(np.ptp(thick.there, axis=0), abs=1e-3)


def test_a_ball_in_a_vice_stays_between_its_jaws():
    jaw, gap = {"box": [0.05, 0.6, 0.6]}, 0.16
    skin = Pressed(
        ({"sphere": 0.15}, SOFT, (0, 0, 0), UPRIGHT),
        (jaw, math.inf, (-gap / 2 - 0.025, 0, 0), UPRIGHT),
        (jaw, math.inf, (gap / 2 + 0.025, 0, 0), UPRIGHT),
    ).squash(0)
    assert np.abs(skin.there[:, 0]).max() < gap / 2 + 1e-9


def test_a_soft_shelf_and_a_ball_meet_within_the_shelf():
    skin = lying("sphere", {"box": [0.8, 0.8, 0.05]}, 0.05, 0.3, FIRM).squash(0)
    assert skin.there[:, 2].min() > -0.025
    assert skin.most_beyond() < 1e-9 * skin.size


@pytest.mark.parametrize("aside", [0.0, 0.02])
def test_a_ball_on_the_edge_of_a_wall_lies_on_both_sides_of_it(aside):
    """What is beside the wall hangs together with its middle above the edge: nobody pulls that over."""
    wall = {"box": [0.02, 0.6, 0.4]}
    skin = Pressed(({"sphere": 0.15}, SOFT, (aside, 0, 0.09), UPRIGHT), (wall, math.inf, (0, 0, -0.2), UPRIGHT)).squash(
        0
    )
    for side in (-1, 1):
        assert np.any((side * skin.there[:, 0] > 0.01) & (skin.there[:, 2] < -0.03))
    assert skin.most_beyond() < 1e-9 * skin.size
