"""What other programs read from our .glb: the Khronos validator's verdict, and the motion itself."""

import json
import os
import struct
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from parade import parade

from impel.files import Problem
from impel.motion.orientations import matrix_from_quaternion
from impel.takes import Take, write_glb
from impel.takes.cameras import standpoints

ROOT = Path(__file__).parents[2]
VALIDATOR = Path(os.environ.get("IMPEL_GLTF_VALIDATOR") or ROOT / ".cache" / "gltf-validator")


def validate(path):
    """The Khronos validator is a must: without it the test fails (`make test` installs it)."""
    script = Path(__file__).with_name("validate_glb.cjs")
    run = subprocess.run(["node", script, VALIDATOR, path], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, f"the glTF validator did not run; is it installed in {VALIDATOR}?\n{run.stderr}"
    return json.loads(run.stdout)


def read_glb(path):
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    document = json.loads(data[20 : 20 + size])
    return document, data[20 + size + 8 :]


def accessor(document, binary, index):
    entry = document["accessors"][index]
    view = document["bufferViews"][entry["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
    kind = {5126: np.float32, 5125: np.uint32}[entry["componentType"]]
    flat = np.frombuffer(binary, kind, entry["count"] * width, view["byteOffset"])
    return flat.reshape(-1, width) if width > 1 else flat


def motion_of(document, binary):
    """Every body's position and rotation matrix at every key, in glTF's y-up world, as a viewer computes them."""
    root, *nodes = document["nodes"]
    frames = len(accessor(document, binary, document["animations"][0]["samplers"][0]["input"]))
    translation = np.array([[node["translation"]] * frames for node in nodes])
    rotation = np.array([[node["rotation"]] * frames for node in nodes])
    for channel in document["animations"][0]["channels"]:
        sampler = document["animations"][0]["samplers"][channel["sampler"]]
        into = translation if channel["target"]["path"] == "translation" else rotation
        into[channel["target"]["node"] - 1] = accessor(document, binary, sampler["output"])
    turn = matrix_from_quaternion(np.roll(root["rotation"], 1))
    position = np.einsum("ij,bfj->fbi", turn, translation)
    orientation = np.einsum("ij,bfjk->fbik", turn, matrix_from_quaternion(np.roll(rotation, 1, axis=-1)))
    return position, orientation


def still(frames=1, **changes):
    fields = {
        "time": np.arange(frames) / 24,
        "names": ["ball"],
        "position": np.zeros((frames, 1, 3)),
        "orientation": np.tile([1.0, 0, 0, 0], (frames, 1, 1)),
        "shapes": [{"sphere": 0.5}],
        "colors": ["#ff0000"],
    }
    return Take(**(fields | changes))


@pytest.mark.parametrize(
    "take",
    [
        parade(),
        still(),
        still(5),
        still(colors=["#ff000080"]),
        Take(np.zeros(1), [], np.zeros((1, 0, 3)), np.zeros((1, 0, 4)), [], []),
    ],
    ids=["all shapes moving", "one frame", "nothing moves", "glass", "nothing at all"],
)
def test_khronos_validator_finds_no_errors_and_no_warnings(take, tmp_path):
    write_glb(take, tmp_path / "take.glb")
    report = validate(tmp_path / "take.glb")
    assert report["issues"]["numErrors"] == 0
    assert report["issues"]["numWarnings"] == 0


def test_a_painted_mesh_keeps_its_colors(tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    surfaces = {
        "tent.vertices": corners,
        "tent.normals": np.array([[0, 0, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float),
        "tent.triangles": np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], float),
        "tent.colors": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5]]),
    }
    take = still(shapes=[{"mesh": {"surface": "tent", "painted": True}}], surfaces=surfaces)
    write_glb(take, tmp_path / "take.glb")
    assert validate(tmp_path / "take.glb")["issues"]["numErrors"] == 0
    document, binary = read_glb(tmp_path / "take.glb")
    attributes = document["meshes"][0]["primitives"][0]["attributes"]
    assert accessor(document, binary, attributes["POSITION"]) == pytest.approx(corners)
    assert accessor(document, binary, attributes["COLOR_0"]) == pytest.approx(surfaces["tent.colors"])


def test_validator_is_able_to_complain(tmp_path):
    write_glb(parade(4, 3), tmp_path / "take.glb")
    broken = bytearray((tmp_path / "take.glb").read_bytes())
    broken[broken.index(b'"LINEAR"') + 1] = ord("X")  # a warning
    broken[-4:] = b"\xff\xff\xff\x7f"  # the last quaternion is not a number: an error
    (tmp_path / "broken.glb").write_bytes(broken)
    issues = validate(tmp_path / "broken.glb")["issues"]
    assert issues["numErrors"] > 0
    assert issues["numWarnings"] > 0


def test_transforms_round_trip(tmp_path):
    take = parade()
    write_glb(take, tmp_path / "take.glb")
    position, orientation = motion_of(*read_glb(tmp_path / "take.glb"))
    # y up, z towards the viewer: (x, y, z) becomes (x, z, -y).
    expected = np.stack([take.position[..., 0], take.position[..., 2], -take.position[..., 1]], axis=-1)
    matrices = matrix_from_quaternion(take.orientation)
    expected_axes = np.stack([matrices[..., 0, :], matrices[..., 2, :], -matrices[..., 1, :]], axis=-2)
    assert np.abs(position - expected).max() < 1e-5
    assert np.abs(orientation - expected_axes).max() < 1e-5


def test_keys_stand_at_frame_over_fps_and_neighbouring_rotations_are_close(tmp_path):
    take = parade(frames=50, fps=24)
    write_glb(take, tmp_path / "take.glb")
    document, binary = read_glb(tmp_path / "take.glb")
    for sampler in document["animations"][0]["samplers"]:
        assert sampler["interpolation"] == "LINEAR"
        assert np.array_equal(accessor(document, binary, sampler["input"]), (np.arange(50) / 24).astype(np.float32))
        keys = accessor(document, binary, sampler["output"])
        if keys.shape[1] == 4:
            assert np.sum(keys[1:] * keys[:-1], axis=1).min() > 0


def test_still_bodies_get_no_channels_and_equal_shapes_share_their_vertices(tmp_path):
    take = parade()
    write_glb(take, tmp_path / "take.glb")
    document, _ = read_glb(tmp_path / "take.glb")
    animated = {channel["target"]["node"] for channel in document["animations"][0]["channels"]}
    assert animated == set(range(3, 31))
    vertices = {p["attributes"]["POSITION"] for mesh in document["meshes"] for p in mesh["primitives"]}
    assert len(vertices) == 6
    assert len({node["mesh"] for node in document["nodes"][1:]}) == len(document["meshes"])


def test_glass_is_blended(tmp_path):
    for color, alpha in (("#ff000080", 128 / 255), ("#ff0000", 1.0), ("#ff0000ff", 1.0)):
        write_glb(still(colors=[color]), tmp_path / "take.glb")
        for material in read_glb(tmp_path / "take.glb")[0]["materials"]:
            assert material["pbrMetallicRoughness"]["baseColorFactor"][3] == pytest.approx(alpha, abs=1e-6)
            assert material.get("alphaMode") == ("BLEND" if alpha < 1 else None)


def test_a_take_that_blew_up_is_refused_in_one_line_and_nothing_is_written(tmp_path):
    take = parade(5, 4)
    take.position[2, 3, 0] = np.nan
    with pytest.raises(Problem) as problem:
        write_glb(take, tmp_path / "take.glb")
    assert len(problem.value.lines) == 1
    assert "body 1" in problem.value.lines[0]
    assert list(tmp_path.iterdir()) == []


def test_same_take_gives_same_bytes_fast(tmp_path):
    take = parade(50, 600)
    write_glb(take, tmp_path / "a.glb")
    start = time.process_time()
    write_glb(take, tmp_path / "b.glb")
    assert time.process_time() - start < 0.4  # 0.04 s on an idle machine
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_what_gltf_has_no_place_for_is_in_the_extras_of_the_root(tmp_path):
    take = parade(4, 49, fps=24)
    take.keys = {"body 0.move": [[0.0, 0.0, 1.0], {"at": [1.0, 0.0, 1.0], "in": "pedestal"}]}
    take.events[0]["details"]["distance"] = float("nan")
    take.camera = {"from": [3, -4, 2], "to": [0, 0, 0.5], "fov": 35}
    write_glb(take, tmp_path / "take.glb")
    document, _ = read_glb(tmp_path / "take.glb")
    extras = document["nodes"][0]["extras"]
    assert extras["fps"] == 24
    assert (extras["keys"], extras["camera"]) == (take.keys, take.camera)
    event = {"time": 0.5, "kind": "key reached", "subject": "body 0", "details": {"key": 1, "distance": None}}
    assert extras["events"] == [event]
    issues = validate(tmp_path / "take.glb")["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0)


@pytest.mark.parametrize("eye", [[3, -4, 2], [0, 0, 5], [1, 2, -3]])
def test_the_camera_stands_where_the_take_says_and_looks_there(eye, tmp_path):
    write_glb(still(camera={"from": eye, "to": [0, 0, 0.5], "fov": 35}), tmp_path / "take.glb")
    document, _ = read_glb(tmp_path / "take.glb")
    (lens,) = document["cameras"]
    assert lens["perspective"]["yfov"] == pytest.approx(np.radians(35))
    (node,) = [node for node in document["nodes"] if "camera" in node]
    turn = matrix_from_quaternion(np.roll(node["rotation"], 1))
    there = np.array([0, 0, 0.5]) - eye
    assert node["translation"] == eye
    np.testing.assert_allclose(-turn[:, 2], there / np.linalg.norm(there), atol=1e-12)
    assert turn[2, 0] == pytest.approx(0)  # not tilted
    assert turn[2, 1] >= -1e-12  # not upside down


def test_cameras_that_follow_move_and_cuts_are_told(tmp_path):
    take = parade(6, 61)
    take.cameras = [{"time": 0, "from": [3, -4, 2], "to": [0, 0, 0.5]}, {"time": 0.5, "follow": "body 0", "fov": 30}]
    take.cameras.append({"time": 1.5})  # frames the action: that is nobody's to place
    write_glb(take, tmp_path / "take.glb")
    document, binary = read_glb(tmp_path / "take.glb")
    assert document["nodes"][0]["extras"]["cameras"] == take.cameras
    nodes = [i for i, node in enumerate(document["nodes"]) if "camera" in node]
    assert [document["nodes"][i]["name"] for i in nodes] == ["camera 1", "camera 2"]
    yfovs = [lens["perspective"]["yfov"] for lens in document["cameras"]]
    assert yfovs == pytest.approx(np.radians([40, 30]))
    (animation,) = document["animations"]
    moved = {channel["target"]["node"]: channel["sampler"] for channel in animation["channels"]}
    assert nodes[0] not in moved
    eye, _ = standpoints(take, take.cameras[1])
    keys = accessor(document, binary, animation["samplers"][moved[nodes[1]]]["output"])
    np.testing.assert_allclose(keys, eye, atol=1e-5)
    issues = validate(tmp_path / "take.glb")["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0)


def test_frames_at_uneven_times_keep_them(tmp_path):
    take = parade(4, 3)
    take.time = np.array([1.0, 1.1, 2.0])
    write_glb(take, tmp_path / "take.glb")
    document, binary = read_glb(tmp_path / "take.glb")
    clock = accessor(document, binary, document["animations"][0]["samplers"][0]["input"])
    np.testing.assert_allclose(clock, [0.0, 0.1, 1.0], atol=1e-7)
