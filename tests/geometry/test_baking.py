"""Meshes as shapes, against closed forms: fields, mass, what is mended and what is refused."""

import numpy as np
import pytest
import trimesh
from manifold3d import CrossSection, Manifold
from scipy.spatial import KDTree

from impel.files import Problem
from impel.geometry import baking
from impel.geometry.baking import bake
from impel.geometry.fields import field
from impel.geometry.grids import beyond_grid
from impel.geometry.kinds import solid
from impel.geometry.scatter import MOST_POINTS, scatter
from impel.geometry.shapes import make_shapes
from impel.kernel import kernel
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import get3


@kernel
def look(shapes, points, value, gradient):
    for i in range(len(points)):
        phi, g = field(shapes, 0, get3(points, i))
        value[i] = phi
        gradient[i, 0], gradient[i, 1], gradient[i, 2] = g


@kernel
def look_beyond(shapes, points, value):
    for i in range(len(points)):
        value[i] = beyond_grid(shapes.grid, shapes.place, 0, get3(points, i))[0]


def washer(hole=0.03):
    return trimesh.creation.annulus(hole, 0.1, 0.04)


def as_shape(mesh, folder, name="thing.obj", **options):
    mesh.export(folder / name)
    return {"mesh": {"file": str(folder / name), **options}}


def near_the_surface(shape, mesh, size, closed_form):
    """Errors of distance (of the size) and direction (degrees), rms, within 0.5 % of the size from the surface."""
    points, faces = trimesh.sample.sample_surface(mesh, 3000, seed=1)
    off = np.random.default_rng(0).uniform(-0.005, 0.005, (len(points), 1)) * size
    baked = bake(shape)
    points = (points + off * mesh.face_normals[faces] - baked.centre) @ matrix_from_quaternion(baked.axes)
    value, gradient = np.zeros(len(points)), np.zeros((len(points), 3))
    look(make_shapes([shape]), np.ascontiguousarray(points), value, gradient)
    expected, out = closed_form(points)
    cosine = (gradient * out).sum(1) / np.linalg.norm(gradient, axis=1)
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return np.sqrt(np.mean((value - expected) ** 2)) / size, np.sqrt(np.mean(angle**2))


def ball(p):
    r = np.linalg.norm(p, axis=1, keepdims=True)
    return r[:, 0] - 0.1, p / r


def rod(p):
    v = p - np.clip(p[:, 2:], -0.1, 0.1) * [0, 0, 1]
    r = np.linalg.norm(v, axis=1, keepdims=True)
    return r[:, 0] - 0.05, v / r


def brick(p):
    q = np.abs(p) - [0.1, 0.08, 0.06]
    out = np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(1), 0)
    return out, np.ones_like(p)


def test_fields_of_meshes_are_those_of_the_forms_they_show(tmp_path):
    mesh = trimesh.creation.icosphere(6, 0.1)
    rms, angle = near_the_surface(as_shape(mesh, tmp_path, "ball.stl"), mesh, 0.2, ball)
    assert rms < 5e-5
    assert angle < 0.1
    mesh = trimesh.creation.capsule(0.2, 0.05, count=[128, 128])
    rms, angle = near_the_surface(as_shape(mesh, tmp_path, "rod.ply"), mesh, 0.3, rod)
    assert rms < 1e-4
    assert angle < 0.3
    mesh = trimesh.creation.box([0.2, 0.16, 0.12])
    rms, _ = near_the_surface(as_shape(mesh, tmp_path, "brick.obj"), mesh, 0.2, brick)
    assert rms < 6e-4  # all of it at the edges


def test_fields_of_meshes_are_those_of_their_triangles(tmp_path):
    """A ball of 20 000 facets is off by 9e-5 of its size itself; its field is nearer to the facets than that."""
    mesh = trimesh.creation.icosphere(subdivisions=5, radius=0.1)
    near = KDTree(mesh.triangles_center)

    def facets(points):
        around = near.query(points, 24)[1]
        corners = mesh.triangles[around].reshape(-1, 3, 3)
        foot = trimesh.triangles.closest_point(corners, np.repeat(points, 24, axis=0)).reshape(-1, 24, 3)
        away = np.linalg.norm(foot - points[:, None], axis=-1).min(axis=1)
        inside = np.linalg.norm(points, axis=1) < np.linalg.norm(foot[:, 0], axis=1)
        return np.where(inside, -away, away), points / np.linalg.norm(points, axis=1, keepdims=True)

    assert near_the_surface(as_shape(mesh, tmp_path), mesh, 0.2, facets)[0] <= 5e-5


def test_mass_is_that_of_the_closed_forms(tmp_path):
    shape = as_shape(trimesh.creation.icosphere(5, 0.1), tmp_path)
    assert solid(shape).inertia == pytest.approx([0.004] * 3, rel=1e-3)
    turned = trimesh.creation.box([0.3, 0.2, 0.1]).apply_transform(trimesh.transformations.euler_matrix(0.3, 0.5, 0.7))
    whole = solid(as_shape(turned.apply_translation([1, 2, 3]), tmp_path, "turned.obj"))
    assert whole.volume == pytest.approx(0.006)
    assert whole.offset == pytest.approx([1, 2, 3], abs=1e-7)
    assert sorted(whole.inertia) == pytest.approx([0.05 / 12, 0.10 / 12, 0.13 / 12], rel=1e-5)


def test_glb_is_y_up_and_stands_upright_here(tmp_path):
    tall = trimesh.creation.box([0.1, 0.4, 0.2])
    mesh = bake(as_shape(tall, tmp_path, "tall.glb"))
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.1, 0.2, 0.4])


def test_a_part_and_a_scale_of_a_file(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box([1, 1, 1]), node_name="Lid", geom_name="Lid")
    scene.add_geometry(trimesh.creation.icosphere(3, 0.5), node_name="Ball", geom_name="Ball")
    scene.export(tmp_path / "two.glb")
    shape = {"mesh": {"file": str(tmp_path / "two.glb"), "part": "Lid", "scale": 0.1}}
    assert solid(shape).volume == pytest.approx(1e-3)
    with pytest.raises(Problem, match="has no part 'Cup'; its parts are Ball, Lid"):
        solid({"mesh": {"file": str(tmp_path / "two.glb"), "part": "Cup"}})


def test_distances_beyond_the_grid_of_a_thin_plate(tmp_path):
    """A mirror at the border made them wrong by a tenth of a cell, 0.22 mm."""
    plate = make_shapes([as_shape(trimesh.creation.box([1, 0.6, 0.004]), tmp_path)])
    height = np.array([0.006, 0.01, 0.02, 0.05, 0.2])
    value = np.empty(len(height))
    look_beyond(plate, np.stack([0 * height, 0 * height, height], axis=1), value)
    assert value == pytest.approx(height - 0.002, abs=1e-5)


@pytest.mark.parametrize("name", ["box.stl", "box.ply", "box.obj", "box.glb"])
def test_a_part_of_a_file_whose_parts_have_no_names(tmp_path, name):
    shape = as_shape(trimesh.creation.box([1, 1, 1]), tmp_path, name, part="Cup")
    with pytest.raises(Problem, match="has no part 'Cup'; it holds no parts with names: leave part out"):
        solid(shape)


def test_it_is_baked_once_for_each_content(tmp_path, monkeypatch):
    shape = as_shape(washer(), tmp_path)
    first = bake(shape)
    baking._baked.cache_clear()
    monkeypatch.setattr(baking, "_bake", None)  # only what is kept is left
    again = bake(shape)
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    monkeypatch.undo()
    as_shape(washer(0.05), tmp_path)
    assert bake(shape).volume != pytest.approx(first.volume, rel=1e-3)


def test_small_faults_are_mended(tmp_path):
    whole = trimesh.creation.icosphere(3, 0.1)
    volume = whole.volume
    pricked = whole.copy()
    pricked.update_faces(np.arange(len(whole.faces)) % 400 != 7)
    inside_out = whole.copy()
    inside_out.invert()
    faces = whole.faces.copy()
    faces[::3] = faces[::3, ::-1]
    muddled = trimesh.Trimesh(whole.vertices, faces, process=False)
    for k, mesh in enumerate((pricked, inside_out, muddled)):
        assert solid(as_shape(mesh, tmp_path, f"{k}.obj")).volume == pytest.approx(volume, rel=2e-3)
    two = trimesh.util.concatenate([whole, whole.copy().apply_translation([0.1, 0, 0])])
    lens = 5 / 12 * np.pi * 0.1**3  # of two balls as far apart as their radius
    assert solid(as_shape(two, tmp_path, "two.obj")).volume == pytest.approx(2 * volume - lens, rel=5e-3)


def test_what_is_no_solid_is_refused_in_a_plain_line(tmp_path):
    dome = trimesh.creation.icosphere(3, 0.1)
    dome.update_faces(dome.triangles_center[:, 2] < 0.06)
    sheet = trimesh.creation.box([0.2, 0.2, 1e-9])
    (tmp_path / "words.glb").write_bytes(b"not what it says")
    (tmp_path / "nothing.ply").write_bytes(b"")
    (tmp_path / "thing.fbx").write_bytes(b"")
    (tmp_path / "far.obj").write_text("v 1e400 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    cases = {
        "is not closed: it has a hole of 0.159 across": as_shape(dome, tmp_path, "dome.obj"),
        "encloses no volume": as_shape(sheet, tmp_path, "sheet.obj"),
        "too thin": as_shape(trimesh.creation.box([1, 1, 0.001]), tmp_path, "thin.obj"),
        "cannot be read as .glb": {"mesh": {"file": str(tmp_path / "words.glb")}},
        "cannot be read as .ply": {"mesh": {"file": str(tmp_path / "nothing.ply")}},
        "must end in one of": {"mesh": {"file": str(tmp_path / "thing.fbx")}},
        "no finite places": {"mesh": {"file": str(tmp_path / "far.obj")}},
        "no such file": {"mesh": {"file": str(tmp_path / "none.obj")}},
    }
    for words, shape in cases.items():
        with pytest.raises(Problem, match=words) as caught:
            solid(shape)
        assert len(caught.value.lines) == 1


def test_thin_plates_and_ears_have_grids_that_show_them(tmp_path):
    plate = bake(as_shape(trimesh.creation.box([0.4, 0.4, 0.004]), tmp_path, "plate.obj"))
    assert plate.inner == pytest.approx(0.002, rel=0.3)
    ear = bake({"compound": [{"box": [0.2, 0.2, 0.2]}, {"box": [0.1, 0.04, 0.006], "at": [0.14, 0, 0]}]})
    assert ear.inner > 0.09
    assert ear.thinnest == pytest.approx(0.003, rel=0.3)


def test_too_many_triangles_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("impel.geometry.meshfiles.MOST_TRIANGLES", 1000)
    with pytest.raises(Problem, match="has 1280 triangles, more than 1000; simplify it"):
        solid(as_shape(trimesh.creation.icosphere(3, 0.1), tmp_path))


def test_hulls_and_compounds_weigh_what_they_hold(tmp_path):
    hull = solid({"convex": as_shape(washer(), tmp_path)["mesh"]})
    assert hull.volume == pytest.approx(trimesh.convex.convex_hull(washer()).volume, rel=1e-6)
    dumbbell = [{"sphere": 0.1, "at": [x, 0, 0]} for x in (-0.05, 0.05)] + [
        {"box": [0.02, 0.02, 0.02], "at": [0, 0, 0.3]}
    ]
    lens = 5 / 12 * np.pi * 0.1**3
    balls = 8 / 3 * np.pi * 0.1**3 - lens
    whole = solid({"compound": dumbbell})
    assert whole.volume == pytest.approx(balls + 8e-6, rel=2e-3)
    assert whole.offset == pytest.approx([0, 0, 8e-6 * 0.3 / (balls + 8e-6)], abs=1e-5)


def test_a_compound_may_hold_compounds():
    turned = {"compound": [{"box": [0.1, 0.2, 0.4], "at": [0.3, 0, 0]}], "euler": [0, 90, 0], "at": [0, 0, 0.5]}
    whole = solid({"compound": [turned, {"sphere": 0.1}]})
    flat = solid({"compound": [{"box": [0.4, 0.2, 0.1], "at": [0, 0, 0.2]}, {"sphere": 0.1}]})
    assert whole.offset == pytest.approx(flat.offset, abs=1e-9)
    assert whole.inertia == pytest.approx(flat.inertia, rel=1e-9)


def test_points_weigh_a_flat_face_exactly_and_stand_on_both_sides_of_its_edges(tmp_path):
    mesh = bake(as_shape(trimesh.creation.box([0.2, 0.2, 0.2]), tmp_path))
    up = mesh.normal[:, 2] > 0.99
    assert mesh.area[up].sum() == pytest.approx(0.04, rel=0.15)
    centre = (mesh.area[up, None] * mesh.at[up]).sum(0) / mesh.area[up].sum()
    assert centre == pytest.approx([0, 0, 0.1], abs=2e-3)
    corner = np.linalg.norm(mesh.at - 0.1, axis=1) < 1e-3
    assert corner.sum() == 3
    assert len(mesh.edges) >= 12


def test_what_is_sharp_all_over_keeps_as_many_points_as_it_may():
    """A milled wheel: its points are nowhere far from its surface, and weigh what that weighs."""
    angle, radius = np.linspace(0, 2 * np.pi, 600, endpoint=False), np.where(np.arange(600) % 2, 0.2, 0.193)
    outline = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    wheel = Manifold.extrude(CrossSection([outline]), 0.15)
    light, at, _, area, _ = scatter(wheel, 0.4)
    assert 1000 < len(at) <= MOST_POINTS
    assert area.sum() == pytest.approx(wheel.surface_area(), rel=0.03)
    shown = trimesh.Trimesh(light.vertices, light.triangles, process=False)
    assert KDTree(at).query(shown.sample(5000, seed=0))[0].max() < 0.1, "as on a form that is flat all over"
