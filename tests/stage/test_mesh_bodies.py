"""Bodies of any form: they fall, lie, pile up and hold each other like all others."""

import numpy as np
import pytest
import trimesh

from impel import Problem, Scene, simulate
from impel.scene.reading import load_scene
from impel.stage.compile import compile_scene
from odd_shapes import places, speed, written

pytestmark = pytest.mark.filterwarnings("error::UserWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("meshes")


def on_the_ground(seconds=5.0, slope=0.0):
    scene = Scene(seconds=seconds)
    scene.body("ground", plane={}, fixed=True, euler=[0, slope, 0])
    return scene


@pytest.mark.parametrize("name", ["box", "gear", "cup", "torus", "animal"])
def test_what_is_dropped_comes_to_rest_on_the_ground(name, folder):
    scene = on_the_ground()
    scene.body("thing", mesh=written(folder, name), mass=1, at=[0, 0, 0.35], euler=[25, 15, 0])
    take = simulate(scene)
    assert places(take, scene, "thing", -1)[:, 2].min() == pytest.approx(0, abs=5e-4)
    assert speed(take, scene, "thing") < 1e-4


@pytest.mark.parametrize("name", ["box", "gear"])
def test_it_stays_on_a_slope(name, folder):
    scene = on_the_ground(3, slope=10)
    scene.body("thing", mesh=written(folder, name), mass=1, at=[0, 0, 0.13], euler=[0, 10, 0])
    assert speed(simulate(scene), scene, "thing") < 1e-4


def test_five_gears_stand_on_each_other(folder):
    scene = on_the_ground()
    for k in range(5):
        scene.body(f"gear{k}", mesh=written(folder, "gear"), mass=1, at=[0, 0, 0.02 + 0.042 * k])
    take = simulate(scene)
    heights = take.position[-1, 1:, 2]
    assert np.diff(heights, prepend=-0.02) == pytest.approx([0.04] * 5, abs=5e-4)
    assert max(speed(take, scene, f"gear{k}") for k in range(5)) < 1e-4


def test_balls_lie_still_in_a_cup(folder):
    scene = on_the_ground()
    scene.body("cup", mesh=written(folder, "cup"), mass=0.5)
    spots = np.random.default_rng(2).uniform(-0.03, 0.03, (6, 2))
    for k, (x, y) in enumerate(spots):
        scene.body(f"ball{k}", sphere=0.03, mass=0.1, at=[x, y, 0.12 + 0.07 * k])
    take = simulate(scene)
    at = take.position[-1, 2:] - take.position[-1, 1]
    assert np.all(np.hypot(at[:, 0], at[:, 1]) < 0.07)
    assert np.all((at[:, 2] > 0.04) & (at[:, 2] < 0.2))
    way = np.linalg.norm(take.position[-1] - take.position[-31], axis=1)
    assert way.max() / 0.5 < 1e-4


def test_a_ball_that_hits_a_flat_face_is_not_thrown_aside(folder):
    """A face of 0.2 m has few points; one that is beside the place must not push with all its area (1.1 m/s)."""
    for x, y in ((0.0, 0.0), (0.013, 0.021)):
        scene = Scene(seconds=0.2)
        scene.body("block", mesh=written(folder, "box"), fixed=True)
        scene.body("ball", sphere=0.03, mass=1, at=[x, y, 0.135], velocity=[0, 0, -5])
        take = simulate(scene)
        assert take.position[-1, 1, 2] > 0.13
        assert take.position[-1, 1, :2] == pytest.approx([x, y], abs=1e-4)


EAR = {"box": [0.1, 0.1, 0.004], "at": [0.14, 0, 0]}


@pytest.mark.parametrize(
    "shape",
    [{"sphere": 0.03}, {"box": [0.06, 0.06, 0.06]}, {"compound": [{"box": [0.06, 0.06, 0.06]}]}],
    ids=["ball", "box", "mesh"],
)
def test_soft_things_do_not_fall_through_thin_parts(shape):
    """A block with an ear of 4 mm, a few hundredths of its surface: points stay before its middle, and balls, which
    know from which side they came, go in by a quarter of their radius."""
    scene = Scene(seconds=0.6)
    scene.body("thing", compound=[{"box": [0.2, 0.2, 0.2]}, EAR], fixed=True)
    soft = {"stiffness": 2e6}
    scene.body("soft", **shape, mass=5, at=[0.14, 0, 0.034], velocity=[0, 0, -3], coating=soft)
    sunk = 0.032 - simulate(scene).position[:, 1, 2]
    assert sunk.max() < (0.0085 if "sphere" in shape else 0.001)
    assert sunk[-1] > 0.0


THIN = [1, 0.6, 0.004]  # as thin as a mesh may be


@pytest.mark.parametrize("tilt", [0, 35])
def test_a_ball_bounces_off_a_thin_wall_as_off_a_box(folder, tilt):
    """Beyond the middle of a wall its field leads out on the other side: there a ball came to stay, at 5 to 60 m/s."""
    plate = folder / "plate.stl"
    trimesh.creation.box(THIN).export(plate)
    takes = []
    for shape in ({"mesh": str(plate)}, {"box": THIN}):
        scene = Scene(seconds=0.15, gravity=[0, 0, 0])
        for k, fast in enumerate((5, 8, 12, 20, 30, 45, 60)):
            scene.body(f"wall{k}", **shape, fixed=True, at=[0, k, 0], euler=[0, tilt, 0])
            scene.body(f"ball{k}", sphere=0.05, mass=0.5, at=[0, k, 0.1], velocity=[0, 0, -fast])
        take = simulate(scene)
        takes.append((take.position[-1] - take.position[-4])[1::2] * 20)
    off_mesh, off_box = takes
    up = np.array([np.sin(np.radians(tilt)), 0, np.cos(np.radians(tilt))])
    assert (off_mesh @ up).min() > 1
    assert off_mesh == pytest.approx(off_box, abs=0.3)


def test_a_ball_lies_still_on_a_thin_plate_as_on_a_box(folder):
    plate = folder / "plate.stl"
    trimesh.creation.box(THIN).export(plate)
    scene = Scene(seconds=3)
    for k, mass in enumerate((0.05, 0.5, 5)):
        for x, shape in ((0, {"mesh": str(plate)}), (2, {"box": THIN})):
            scene.body(f"plate{x}{k}", **shape, fixed=True, at=[x, k, 0.5])
            scene.body(f"ball{x}{k}", sphere=0.05, mass=mass, at=[x + 0.1, k, 0.56])
    take = simulate(scene)
    height = take.position[-1, 1::2, 2] - 0.552
    assert height[0::2] == pytest.approx(height[1::2], abs=2e-5)
    assert height.min() > -6e-4
    assert np.abs(take.position[-1] - take.position[-31]).max() / 0.5 < 1e-4


def test_edges_that_cross_do_not_sink_into_each_other(folder):
    scene = on_the_ground(1.5)
    scene.body("below", mesh=written(folder, "box"), fixed=True, at=[0, 0, 0.3], euler=[45, 0, 0])
    scene.body("above", mesh=written(folder, "box"), mass=1, at=[0.013, 0.017, 0.6], euler=[0, 45, 0])
    scene.joint("rail", slide=["world", "above"], axis=[0, 0, 1])
    take = simulate(scene)
    apart = take.position[-1, take.index("above"), 2] - 0.3
    assert apart == pytest.approx(2 * 0.1 * np.sqrt(2), abs=1.5e-3)  # where the edges just touch


TILTS = [[50, 80, 20], [90, 290, 244], [303, 280, 142], [342, 112, 152]]


@pytest.mark.parametrize("name", ["gear", "box"])
@pytest.mark.parametrize("tilt", TILTS, ids=str)
def test_undamped_bounces_keep_their_energy(name, tilt, folder):
    bare = {"damping": 0, "friction": 0, "rolling": 0}
    scene = Scene(seconds=1.5, fps=240)
    scene.body("ground", plane={}, fixed=True, coating=bare)
    scene.body("thing", mesh=written(folder, name), mass=1, at=[0, 0, 0.45], euler=tilt, coating=bare)
    take = simulate(scene)
    energy = take.channels["energy"]
    ends = [event["time"] for event in take.events if event["kind"] == "contact ends"]
    after = [energy[round((time + 0.03) * 240)] for time in ends if time < 1.4]
    steps = np.diff([energy[10], *after]) / energy[10]
    assert len(after) >= 2
    assert steps.min() > -0.03
    assert steps.max() < 0.005


def test_meshes_that_overlap_at_the_start_are_pushed_apart_gently(folder):
    scene = Scene(seconds=2, gravity=[0, 0, 0])
    scene.body("one", mesh=written(folder, "box"), mass=1)
    scene.body("other", mesh=written(folder, "box"), mass=1, at=[0.19, 0.01, 0.02], euler=[0, 0, 5])
    with pytest.warns(UserWarning, match="overlaps"):
        take = simulate(scene)
    fastest = np.linalg.norm(np.diff(take.position, axis=0), axis=-1).max() * 60
    assert 0.001 < fastest < 1.0
    assert np.linalg.norm(take.position[-1, 0] - take.position[-1, 1]) > 0.2


def test_what_is_stuck_through_a_wall_is_refused(folder):
    scene = on_the_ground(1)
    scene.body("cup", mesh=written(folder, "cup"), mass=1)
    scene.body("ring", mesh=written(folder, "torus"), mass=1, at=[0.1, 0, 0.1])
    with pytest.raises(Problem, match=r"bodies.cup: ring is stuck .* deep in its mesh at the start"):
        simulate(scene)


def test_a_tumbler_gets_up(folder):
    scene = on_the_ground(6)
    scene.body(
        "tumbler", sphere=0.1, mass=1, at=[0, 0, 0.1], euler=[0, 70, 0], center=[0, 0, -0.06], coating={"rolling": 0.1}
    )
    take = simulate(scene)
    up = 1 - 2 * (take.orientation[:, 1, 1] ** 2 + take.orientation[:, 1, 2] ** 2)
    assert up[0] < 0.5
    assert up[-1] > 0.97


def test_a_given_inertia_is_that_of_the_body(folder):
    scene = Scene(seconds=1)
    scene.body("mesh", mesh=written(folder, "gear"), mass=2, inertia=[0.02, 0.03, 0.04])
    scene.body("ball", sphere=0.1, mass=2, inertia=[0.02, 0.03, 0.04], at=[1, 0, 0])
    bodies = compile_scene(scene)[0].bodies
    assert bodies.inverse_inertia == pytest.approx(np.array([[50, 100 / 3, 25]] * 2))
    assert bodies.orientation[0] == pytest.approx([1, 0, 0, 0])


def test_a_mesh_is_an_actor_jointed_and_led_along_its_keys(folder):
    scene = Scene(seconds=3)
    scene.body("arm", mesh=written(folder, "animal"), mass=1, at=[0, 0, 1])
    scene.body("load", mesh=written(folder, "gear"), mass=0.3, at=[0, 0, 0.8])
    scene.joint("rope", ball=["arm", "load"], at=[0, 0, 0.85])
    scene["arm"].move([[0, 0, 1], [0.5, 0, 1.2]])
    take = simulate(scene)
    assert take.position[-1, 0] == pytest.approx([0.5, 0, 1.2], abs=0.02)


def test_files_are_found_beside_the_scene(folder, tmp_path):
    written(tmp_path, "box")
    path = tmp_path / "scene.yaml"
    path.write_text(
        "impel: 1\nbodies:\n  b: {shape: {mesh: box.obj}}\n  c: {shape: {compound: [{mesh: box.obj}, {sphere: 0.2}]}}\n"
    )
    scene = load_scene(path)
    assert scene.bodies["b"].shape.mesh.file == str(tmp_path / "box.obj")
    scene.save(tmp_path / "again.yaml")
    assert load_scene(tmp_path / "again.yaml") == scene
    path.write_text("impel: 1\nbodies:\n  b: {shape: {mesh: none.obj}}\n")
    with pytest.raises(Problem, match=r"scene.yaml: bodies.b.shape.mesh: .*none.obj: cannot be read"):
        load_scene(path)


def test_files_are_found_beside_a_scene_that_has_another_fault(folder, tmp_path):
    written(tmp_path, "box")
    path = tmp_path / "scene.yaml"
    path.write_text("impel: 1\nbodies:\n  b: {shape: {mesh: box.obj}, mass: -1}\n")
    with pytest.raises(Problem) as fault:
        load_scene(path)
    assert list(fault.value.lines) == [f"{path}: bodies.b.mass: must be greater than 0, got -1"]
    path.write_text("impel: 1\nbodies:\n  b: {shape: {mesh: none.obj}, mass: -1}\n")
    with pytest.raises(Problem) as fault:
        load_scene(path)
    assert [line.split(": ")[1] for line in fault.value.lines] == ["bodies.b.mass", "bodies.b.shape.mesh"]


def test_a_take_keeps_its_meshes_with_their_colors(folder, tmp_path):
    from impel.geometry.meshes import colors_of, mesh_of
    from impel.takes import load_npz, save_npz

    ball = trimesh.creation.icosphere(3, 0.1)
    top = ball.vertices[:, 2] > 0
    ball.visual.vertex_colors = np.where(top[:, None], [255, 0, 0, 255], [0, 0, 255, 255]).astype(np.uint8)
    ball.export(tmp_path / "painted.ply")
    scene = Scene(seconds=0.1)
    scene.body("painted", mesh=str(tmp_path / "painted.ply"))
    scene.body("plain", mesh=str(tmp_path / "painted.ply"), at=[1, 0, 0], color="#4f9d69")
    save_npz(simulate(scene), tmp_path / "take.npz")
    (tmp_path / "painted.ply").unlink()
    take = load_npz(tmp_path / "take.npz")
    vertices, _, triangles = mesh_of(take.shapes[0], surfaces=take.surfaces)
    assert len(triangles) == len(ball.faces)
    colors = colors_of(take.shapes[0], take.surfaces)
    assert colors[vertices[:, 2] > 0.01] == pytest.approx(np.array([[1, 0, 0]] * (vertices[:, 2] > 0.01).sum()))
    assert colors_of(take.shapes[1], take.surfaces) is None
