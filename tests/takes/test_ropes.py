"""Ropes hang in their true length, tubes are closed, and both are in the files that other programs read."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parade import parade
from test_glb import accessor, read_glb, validate

from impel.files import Problem
from impel.motion.orientations import matrix_from_quaternion
from impel.takes import Take, load_npz, save_npz, write_glb
from impel.takes.lines import hanging, is_taut, rope_lines, tube

COORDINATE = st.floats(-5, 5)
POINT = st.tuples(COORDINATE, COORDINATE, COORDINATE)


@settings(max_examples=100, deadline=None)
@given(a=POINT, b=POINT, slack=st.floats(0.01, 5))
def test_a_slack_rope_has_its_length_and_never_rises_above_the_straight_line(a, b, slack):
    ends = np.array([[a, b]])
    [line] = hanging(ends, np.array([slack]), 200)
    length = np.linalg.norm(np.diff(line, axis=0), axis=-1).sum()
    wanted = np.linalg.norm(ends[0, 1] - ends[0, 0]) + slack
    assert length == pytest.approx(wanted, rel=1.1e-3)  # less is taken for taut
    assert np.allclose(line[[0, -1]], ends[0])
    straight = np.linspace(*ends[0], 201)
    assert np.allclose(line[:, :2], straight[:, :2])
    assert np.all(line[:, 2] <= straight[:, 2] + 1e-9)


def test_a_taut_rope_is_straight():
    ends = np.array([[[0, 0, 1], [1.0, 2, 3]], [[0, 0, 0], [0, 0, 0]]])
    lines = hanging(ends, np.array([1e-4, 0.0]), 8)
    assert np.allclose(lines[0], np.linspace(*ends[0], 9))
    assert np.allclose(lines[1], 0)


def test_a_rope_hangs_like_a_catenary():
    """Half as long again as its span: the sag differs from that of a chain by 2 %."""
    span, length = 2.0, 3.0
    [line] = hanging(np.array([[[0.0, 0, 0], [span, 0, 0]]]), np.array([length - span]))
    a = 1.0
    for _ in range(100):  # 2 a sinh(span / 2a) = length
        a *= (2 * a * np.sinh(span / 2 / a) / length) ** 0.5
    assert -line[:, 2].min() == pytest.approx(a * np.cosh(span / 2 / a) - a, rel=0.03)


@pytest.mark.parametrize(
    "line",
    [
        np.array([[0.0, 0, 0], [1, 0, 0]]),
        np.array([[0.0, 0, 0], [0, 0, -1], [0, 0, -2], [0, 0, -1.5]]),  # folded
        np.stack([np.cos(np.arange(40) / 5), np.sin(np.arange(40) / 5), np.arange(40) / 9], axis=-1),
        np.array([[np.cos(a), 0, np.sin(a)] for a in 2 * np.pi * (np.arange(25) % 24) / 24]),  # a ring
        np.array([[0.0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0]]),
    ],
    ids=["straight", "folded", "helix", "ring", "points repeat"],
)
def test_a_tube_is_closed_and_round(line):
    vertices, normals, triangles = tube(line, 0.05)
    edges = [tuple(t[[i, (i + 1) % 3]]) for t in triangles for i in range(3)]
    assert len(set(edges)) == len(edges)
    ring = np.array_equal(line[0], line[-1])
    if not ring:
        assert {(b, a) for a, b in edges} == set(edges)
    assert np.allclose(np.linalg.norm(normals, axis=-1), 1)
    assert np.allclose(vertices, np.repeat(line, 8, axis=0) + 0.05 * normals)


def test_a_straight_tube_has_its_volume():
    vertices, _, triangles = tube(np.linspace([0, 0, 0], [1, 2, 2], 7), 0.1, sides=64)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(3 * np.pi * 0.1**2, rel=0.01)  # and faces outwards


def tied(frames=31):
    """A load on a slack rope under a moving trolley, which runs on the rail of a tilted beam; a bead on a ring."""
    time = np.arange(frames) / 30
    trolley = np.stack([np.sin(2 * time), 0 * time, 3 + 0 * time], axis=-1)
    load = trolley + np.stack([0.8 + 0.1 * np.cos(3 * time), 0 * time, -0.6 + 0.2 * np.sin(5 * time)], axis=-1)
    ends = np.stack([load, trolley], axis=1)
    beam = np.tile([0.0, 0, 3], (frames, 1))
    ring = np.array([[np.cos(a), 0, 1 + np.sin(a)] for a in 2 * np.pi * (np.arange(25) % 24) / 24])
    return Take(
        time=time,
        names=["beam", "trolley", "load"],
        position=np.stack([beam, trolley, load], axis=1),
        orientation=np.tile([1.0, 0, 0, 0], (frames, 3, 1)),
        shapes=[{"box": [3, 0.1, 0.1]}, {"sphere": 0.1}, {"sphere": 0.2}],
        colors=["#888888"] * 3,
        channels={"rope.slack": 1.5 - np.linalg.norm(load - trolley, axis=-1)},
        wires={"beam.rail": np.array([[-1.5, 0, 0.2], [1.5, 0, 0.2]]), "world.ring": ring},
        ropes={"rope": ends, "cord": ends + np.array([0, 0, 0.1])},
    )


def test_a_slack_leash_lies_on_the_ground():
    take = tied()
    take.position[:, :, 2] -= 2.2
    take.ropes["rope"][..., 2] -= 2.2
    free = rope_lines(take, "rope", slice(None))
    assert free[..., 2].min() < -0.1
    take.shapes[0] = {"plane": {}}
    take.position[:, 0] = 0
    lines = rope_lines(take, "rope", slice(None))
    assert lines[..., 2].min() == 0
    assert np.array_equal(lines[..., 2], np.maximum(free[..., 2], 0))
    take.ropes["rope"][..., 2] -= 5  # an end below the ground: the rope goes there
    assert np.array_equal(rope_lines(take, "rope", [0])[:, [0, -1]], take.ropes["rope"][:1])


def test_ropes_and_wires_are_kept_and_old_takes_have_none(tmp_path):
    take = tied()
    save_npz(take, tmp_path / "take.npz")
    again = load_npz(tmp_path / "take.npz")
    for field in ("wires", "ropes"):
        kept, back = getattr(take, field), getattr(again, field)
        assert list(kept) == list(back)
        assert all(np.array_equal(kept[name], back[name]) for name in kept)
    with np.load(tmp_path / "take.npz") as archive:
        assert archive["wire/beam.rail"].shape == (2, 3)
        assert archive["rope/rope"].shape == (31, 2, 3)
        old = {name: archive[name] for name in archive.files if name.split("/")[0] not in ("wire", "rope")}
    np.savez(tmp_path / "old.npz", **old)
    assert load_npz(tmp_path / "old.npz").ropes == {}


@pytest.mark.parametrize(
    "broken",
    [
        {"wires": {"nobody.rail": np.zeros((2, 3))}},
        {"wires": {"beam.rail": np.zeros((1, 3))}},
        {"wires": {"beam.rail": np.zeros((4, 2))}},
        {"ropes": {"rope": np.zeros((31, 3))}},
        {"ropes": {"rope": np.zeros((30, 2, 3))}},
    ],
)
def test_foreign_ropes_and_wires_are_named(broken, tmp_path):
    take = tied()
    for field, value in broken.items():
        setattr(take, field, value)
    save_npz(take, tmp_path / "take.npz")
    with pytest.raises(Problem, match=r"wire/(nobody|beam)\.rail|rope/rope"):
        load_npz(tmp_path / "take.npz")


def test_a_glb_shows_ropes_between_their_ends_and_wires_on_their_bodies(tmp_path):
    take = tied()
    assert is_taut(take, "cord")
    assert not is_taut(take, "rope")
    write_glb(take, tmp_path / "take.glb")
    issues = validate(tmp_path / "take.glb")["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0)
    document, binary = read_glb(tmp_path / "take.glb")
    nodes = {node["name"]: (i, node) for i, node in enumerate(document["nodes"])}
    assert nodes["beam"][1]["children"] == [nodes["beam.rail"][0]]
    assert nodes["world.ring"][0] in document["nodes"][0]["children"]
    [rail] = document["meshes"][nodes["beam.rail"][1]["mesh"]]["primitives"]
    points = accessor(document, binary, rail["attributes"]["POSITION"])
    assert np.abs(points[:, 0]).max() == pytest.approx(1.5)
    assert np.allclose(points[:, 1:].mean(axis=0), [0, 0.2], atol=1e-6)

    def far_and_near(name):
        """Both ends of a stretched piece, as a viewer computes them."""
        index, node = nodes[name]
        poses = {path: np.tile(node[path], (31, 1)) for path in ("translation", "rotation", "scale")}
        for channel in document["animations"][0]["channels"]:
            if channel["target"]["node"] == index:
                sampler = document["animations"][0]["samplers"][channel["sampler"]]
                poses[channel["target"]["path"]] = accessor(document, binary, sampler["output"])
        axis = matrix_from_quaternion(np.roll(poses["rotation"], 1, axis=-1))[..., 2]
        return poses["translation"], poses["translation"] + axis * poses["scale"][:, 2:]

    start, stop = far_and_near("cord")
    assert np.allclose(np.stack([start, stop], axis=1), take.ropes["cord"], atol=1e-5)
    pieces = [far_and_near(f"rope {k + 1}") for k in range(12)]
    assert np.allclose(pieces[0][0], take.ropes["rope"][:, 0], atol=1e-5)
    assert np.allclose(pieces[-1][1], take.ropes["rope"][:, 1], atol=1e-5)
    assert all(np.allclose(a[1], b[0], atol=1e-5) for a, b in pairwise(pieces))
    length = sum(np.linalg.norm(b - a, axis=-1) for a, b in pieces)
    assert np.allclose(length, 1.5, rtol=2e-3)


def test_a_rope_that_is_lost_is_refused_by_name(tmp_path):
    take = tied()
    take.ropes["cord"][3] = np.nan
    with pytest.raises(Problem, match="cord"):
        write_glb(take, tmp_path / "take.glb")


def test_takes_without_ropes_are_written_as_before(tmp_path):
    write_glb(parade(4, 3), tmp_path / "take.glb")
    document, _ = read_glb(tmp_path / "take.glb")
    assert len(document["nodes"]) == 5
