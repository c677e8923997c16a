"""Soft surfaces in .glb files, as a viewer of our own and the Khronos validator read them."""

import numpy as np
import pytest
from pressed import CASES, MESH, RADIUS, ball_take, bounce, flattened
from test_glb import validate
from viewer import Viewer

from impel.gallery.loading import gallery_scene
from impel.motion.orientations import matrix_from_quaternion
from impel.stage import simulate
from impel.takes import write_glb
from impel.takes.morphs import morphs_of, tolerance
from impel.takes.soft import pack, soft_bodies, surface_at


def simulated(take, name):
    """(F, V, 3) the vertices and normals of a soft body in the world, as the take has them."""
    frames = [surface_at(take, name, frame)[:2] for frame in range(len(take.time))]
    turn = matrix_from_quaternion(take.orientation[:, take.index(name)])
    vertices, normals = (np.einsum("fij,fvj->fvi", turn, np.stack(each)) for each in zip(*frames))
    return vertices + take.position[:, take.index(name), None], normals


def clean(path):
    """Whether the Khronos validator has nothing to say at all."""
    issues = validate(path)["issues"]
    return [issues[f"num{kind}"] for kind in ("Errors", "Warnings", "Infos", "Hints")] == [0, 0, 0, 0]


def angles(one, other):
    """Degrees between unit vectors."""
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(one - other, axis=-1) / 2, 0, 1)))


@pytest.mark.parametrize("case", CASES)
def test_a_viewer_sees_every_vertex_where_the_take_has_it(case, tmp_path):
    take = CASES[case]()
    write_glb(take, tmp_path / "take.glb")
    vertices, normals = Viewer(tmp_path / "take.glb").surface("ball", len(take.time))
    there, facing = simulated(take, "ball")
    assert np.linalg.norm(vertices - there, axis=-1).max() < 1e-3
    assert np.abs(there - simulated(ball_take(-np.ones(len(take.time)), 0.3), "ball")[0]).max() > 0.01  # it is pressed
    off = angles(normals, facing)
    assert np.sqrt(np.mean(off**2)) < 1.0
    assert np.percentile(off, 99) < 5.0
    assert clean(tmp_path / "take.glb")


@pytest.mark.parametrize("scene", ["soft-balls", "collisions"])
def test_simulated_bodies_are_seen_as_they_were_simulated(scene, tmp_path):
    take = simulate(gallery_scene(scene))
    write_glb(take, tmp_path / "take.glb")
    viewer = Viewer(tmp_path / "take.glb")
    assert len(soft_bodies(take)) > 1
    for name in soft_bodies(take):
        vertices, _ = viewer.surface(name, len(take.time))
        off = np.linalg.norm(vertices - simulated(take, name)[0], axis=-1)
        assert off.max() < tolerance(take.soft[f"{name}.vertices"])
    assert clean(tmp_path / "take.glb")


def test_shapes_are_as_few_as_the_motion_allows():
    few = {case: len(morphs_of(CASES[case](), "ball").names) for case in CASES}
    assert few["bounces"] < 33 / 2  # singular shapes: every touch goes through the same ones
    assert few["bounces and spins"] == 33  # one a frame of touch: each shows another side
    assert few["comes to rest"] <= 10  # of 240 frames, nearly all alike
    assert few["lies there"] == few["is touched once"] == few["one frame"] == 1


def test_small_bodies_are_told_finer():
    assert tolerance(MESH[0]) == pytest.approx(1e-3)
    assert tolerance(0.1 * MESH[0]) == pytest.approx(1e-4)
    assert tolerance(10 * MESH[0]) == pytest.approx(1e-3)


def test_what_hardly_moves_is_left_out(tmp_path):
    """Of a long body that is touched at one end the other is not told of."""
    take = bounce()
    index = np.flatnonzero(MESH[0][:, 2] < -0.8 * RADIUS)
    shift = np.tile([0.0, 0, 0.01], (len(index), 1))
    turned = [(index, shift * (frame % 7), MESH[1][index]) for frame in range(len(take.time))]
    take.soft = pack("ball", MESH, turned)
    write_glb(take, tmp_path / "take.glb")
    viewer = Viewer(tmp_path / "take.glb")
    (mesh,) = viewer.document["meshes"]
    accessors = [viewer.document["accessors"][target["POSITION"]] for target in mesh["primitives"][0]["targets"]]
    assert all(accessor["sparse"]["count"] == len(index) for accessor in accessors)
    assert len(mesh["extras"]["targetNames"]) == len(accessors)
    np.testing.assert_allclose(viewer.surface("ball", len(take.time))[0], simulated(take, "ball")[0], atol=1e-3)
    assert clean(tmp_path / "take.glb")


def test_what_all_frames_have_in_common_is_told_once(tmp_path):
    """A ball swells by ever other shares, and is dented at another place in each frame."""
    take = bounce()
    rng = np.random.default_rng(1)
    everywhere = np.arange(len(MESH[0]))
    moved = []
    for _ in take.time:
        shift = rng.uniform(0.02, 0.06) * MESH[0]
        dented = np.linalg.norm(MESH[0] - RADIUS * MESH[1][rng.integers(len(MESH[1]))], axis=1) < 0.3 * RADIUS
        shift[dented] *= 0.5
        moved.append((everywhere, shift, MESH[1]))
    take.soft = pack("ball", MESH, moved)
    write_glb(take, tmp_path / "take.glb")
    assert (tmp_path / "take.glb").stat().st_size < len(take.time) * 24 * len(MESH[0]) / 4
    seen = Viewer(tmp_path / "take.glb").surface("ball", len(take.time))[0]
    assert np.linalg.norm(seen - simulated(take, "ball")[0], axis=-1).max() < tolerance(MESH[0])
    assert clean(tmp_path / "take.glb")


def test_a_frame_that_is_hardly_touched_has_no_shape_of_its_own(tmp_path):
    """An empty shape is no valid one."""
    take = bounce(spin=0.2)
    depths = RADIUS - take.position[:, 0, 2]
    touched = np.zeros(1, int), np.full((1, 3), 1e-5), MESH[1][:1]
    turns = matrix_from_quaternion(take.orientation[:, 0])
    moved = [flattened(depth, turn) if depth > 0 else touched for depth, turn in zip(depths, turns)]
    take.soft = pack("ball", MESH, moved)
    write_glb(take, tmp_path / "take.glb")
    assert np.any(morphs_of(take, "ball").shifts, axis=(1, 2)).all()
    assert clean(tmp_path / "take.glb")
    take.soft = pack("ball", MESH, [touched] * len(moved))
    write_glb(take, tmp_path / "take.glb")
    assert clean(tmp_path / "take.glb")


def test_a_soft_surface_that_never_moves_is_a_plain_mesh(tmp_path):
    take = ball_take(np.full(3, -0.1), 0.3)
    write_glb(take, tmp_path / "take.glb")
    (mesh,) = Viewer(tmp_path / "take.glb").document["meshes"]
    assert "targets" not in mesh["primitives"][0]
    assert clean(tmp_path / "take.glb")


def test_the_file_is_smaller_than_one_shape_a_frame(tmp_path):
    take = bounce()
    write_glb(take, tmp_path / "take.glb")
    pressed = int(np.sum(np.diff(take.soft["ball.first"]) > 0))
    assert (tmp_path / "take.glb").stat().st_size < pressed * 24 * len(MESH[0]) / 2
