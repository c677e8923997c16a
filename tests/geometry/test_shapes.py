"""Volumes, inertias and fields of shapes against closed forms, sums over points, and each other."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from impel.files import Problem
from impel.geometry.blobs import blob_mesh
from impel.geometry.fields import field, rounded_field
from impel.geometry.kinds import CORE, INNER, KINDS, RADIUS, SKIN, inner_of, size_of, solid
from impel.geometry.meshes import BEVEL, mesh_of
from impel.geometry.samples import make_samples
from impel.geometry.shapes import make_extents, make_shapes
from impel.motion.orientations import matrix_from_quaternion
from impel.scene import bodies

DUMBBELL = {
    "blob": {
        "points": [{"at": [0.3, 0.1, 0.0], "radius": 0.12}, {"at": [-0.2, 0.2, 0.1], "radius": 0.08}],
        "segments": [{"from": [0.3, 0.1, 0.0], "to": [-0.2, 0.2, 0.1], "radius": 0.05}],
        "blend": 0.04,
    }
}
SHAPES = [
    {"sphere": 0.3},
    {"box": [0.3, 0.5, 0.8]},
    {"capsule": {"radius": 0.2, "length": 0.5}},
    {"cylinder": {"radius": 0.2, "length": 0.5}},
]
EXACT = [*SHAPES, {"plane": {}}]
ALL = make_shapes([*EXACT, DUMBBELL])


def inside(shape, p):
    """Plain membership, written without the fields."""
    kind, value = next(iter(shape.items()))
    if kind == "sphere":
        return (p * p).sum(1) < value**2
    if kind == "box":
        return (np.abs(p) < np.array(value) / 2).all(1)
    across, z = p[:, 0] ** 2 + p[:, 1] ** 2, np.abs(p[:, 2])
    if kind == "cylinder":
        return (across < value["radius"] ** 2) & (z < value["length"] / 2)
    return across + np.maximum(z - value["length"] / 2, 0) ** 2 < value["radius"] ** 2


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: next(iter(s)))
def test_volume_and_inertia_agree_with_a_sum_over_points(shape):
    axis = (np.arange(160) + 0.5) / 160 - 0.5
    p = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    p = p[inside(shape, p)]
    whole = solid(shape)
    assert whole.volume == pytest.approx(len(p) / 160**3, rel=5e-3)
    square = (p * p).mean(0)
    assert whole.inertia == pytest.approx(square.sum() - square, rel=1e-2)
    assert not whole.offset.any()


def test_blobs_of_one_element_are_spheres_and_capsules():
    ball = solid({"blob": {"points": [{"at": [1.0, 2.0, 3.0], "radius": 0.2}], "blend": 0.1}})
    assert ball.volume == pytest.approx(solid({"sphere": 0.2}).volume, rel=2e-3)
    assert ball.inertia == pytest.approx(solid({"sphere": 0.2}).inertia, rel=5e-3)
    assert ball.offset == pytest.approx([1, 2, 3], abs=1e-9)
    bar = solid({"blob": {"segments": [{"from": [0, 0, 1], "to": [0.6, 0, 1], "radius": 0.1}], "blend": 0.0}})
    capsule = solid({"capsule": {"radius": 0.1, "length": 0.6}})
    assert sorted(bar.inertia) == pytest.approx(sorted(capsule.inertia), rel=2e-2)
    assert bar.offset == pytest.approx([0.3, 0, 1], abs=1e-9)


def test_a_blob_is_carried_into_its_principal_axes():
    """The field in the principal frame, at a point carried there, is the field as written."""
    whole = solid(DUMBBELL)
    axes = matrix_from_quaternion(whole.rotation)
    rng = np.random.default_rng(0)
    blob = len(ALL.kind) - 1
    points = rng.uniform(-0.6, 0.6, (400, 3))
    value = np.array([field(ALL, blob, tuple(p))[0] for p in points])
    world = points @ axes.T + whole.offset
    parts = [([0.3, 0.1, 0.0], [0.3, 0.1, 0.0], 0.12), ([-0.2, 0.2, 0.1], [-0.2, 0.2, 0.1], 0.08)]
    parts.append(([0.3, 0.1, 0.0], [-0.2, 0.2, 0.1], 0.05))
    distances = []
    for start, end, radius in parts:
        along = np.subtract(end, start)
        share = np.clip((world - start) @ along / max(along @ along, 1e-30), 0, 1)
        distances.append(np.linalg.norm(world - start - share[:, None] * along, axis=1) - radius)
    smooth = -0.01 * np.log(np.exp(-np.array(distances) / 0.01).sum(0))
    assert value == pytest.approx(smooth, abs=1e-12)
    # In that frame the mass is centred, and its products of inertia vanish.
    dense = rng.uniform(-0.6, 0.6, (60000, 3))
    dense = dense[[field(ALL, blob, tuple(p))[0] < 0 for p in dense]]
    products = dense.T @ dense / len(dense)
    assert np.abs(dense.mean(0)).max() < 0.01
    assert np.abs(products - np.diag(np.diag(products))).max() < 0.05 * np.diag(products).max()
    assert whole.inertia == pytest.approx(np.trace(products) - np.diag(products), rel=0.06)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(EXACT) - 1),
    st.tuples(*[st.floats(-1, 1)] * 3),
    st.tuples(*[st.floats(-1, 1)] * 3),
)
def test_fields_are_exact_distances(s, p, other):
    """A distance is 1-Lipschitz, and going back by it along its gradient ends on the surface."""
    phi, g = field(ALL, s, p)
    assert math.hypot(*g) == pytest.approx(1, abs=1e-12)
    foot = tuple(x - phi * d for x, d in zip(p, g))
    assert field(ALL, s, foot)[0] == pytest.approx(0, abs=1e-12)
    assert abs(field(ALL, s, other)[0] - phi) <= math.dist(p, other) + 1e-12
    if EXACT[s] != {"plane": {}} and abs(phi) > 1e-12:
        assert (phi < 0) == inside(EXACT[s], np.array([p]))[0]


@settings(max_examples=200, deadline=None)
@given(st.tuples(*[st.floats(-0.7, 0.7)] * 3))
def test_a_blobs_gradient_is_the_slope_of_its_field(p):
    blob = len(ALL.kind) - 1
    phi, g = field(ALL, blob, p)
    assume(phi > -0.03)  # on the skeleton itself it has a kink
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        slope = (field(ALL, blob, tuple(p + step))[0] - field(ALL, blob, tuple(p - step))[0]) / 2e-6
        assert g[k] == pytest.approx(slope, abs=1e-4)


def test_a_blobs_mesh_is_closed_and_lies_on_the_blob():
    vertices, normals, triangles = blob_mesh(DUMBBELL["blob"], cells=96)
    whole = solid(DUMBBELL)
    local = (vertices - whole.offset) @ matrix_from_quaternion(whole.rotation)
    values = [field(ALL, len(ALL.kind) - 1, tuple(p))[0] for p in local]
    assert np.abs(values).max() < 1e-6
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    seen = set(map(tuple, edges.tolist()))
    assert len(seen) == len(edges)  # no edge is walked twice in the same direction ...
    assert all((b, a) in seen for a, b in seen)  # ... and each once in both
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    assert (np.cross(a, b) * c).sum() / 6 == pytest.approx(whole.volume, rel=1e-2)
    assert ((np.cross(b - a, c - a) * normals[triangles[:, 0]]).sum(1) > 0).all()


@pytest.mark.parametrize("shape", [*SHAPES, DUMBBELL], ids=lambda s: next(iter(s)))
def test_what_is_drawn_lies_on_the_field(shape):
    """But for edges, which are drawn rounded by a few per cent of the smallest side."""
    whole = solid(shape)
    points = (mesh_of(shape)[0] - whole.offset) @ matrix_from_quaternion(whole.rotation)
    phi = np.array([field(make_shapes([shape]), 0, tuple(p))[0] for p in points])
    assert phi.max() < 1e-6
    assert phi.min() > (-BEVEL * inner_of(shape) if KINDS[next(iter(shape))].edged else -1e-6)


@example({"sphere": 0.3}, (0.0, 0.0, 5e-161))  # whose square has few digits
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SHAPES), st.tuples(*[st.floats(-1, 1)] * 3))
def test_rounded_edges_keep_the_faces_where_they_are(shape, p):
    """The field of a smaller core, less the radius: exact, and nowhere farther from the sharp one than edges lose."""
    edge = 0.02
    kind = KINDS[next(iter(shape))]
    core = (*(s - edge for s in size_of(shape)), edge)
    phi, g = rounded_field(kind.number, core, p)
    assert math.hypot(*g) == pytest.approx(1, abs=1e-12)
    foot = tuple(x - phi * d for x, d in zip(p, g))
    assert rounded_field(kind.number, core, foot)[0] == pytest.approx(0, abs=1e-12)
    sharp = field(ALL, EXACT.index(shape), p)[0]
    if kind.edged:
        assert sharp - 1e-12 <= phi <= sharp + (math.sqrt(3) - 1) * edge


def test_every_shape_of_a_scene_has_a_kind_and_a_depth():
    assert set(bodies.SHAPES) == set(KINDS)
    for shape, row in zip([*EXACT, DUMBBELL], make_extents(ALL)):
        assert bodies.Shape.model_validate(shape).half_size == inner_of(shape) == row[INNER]


def test_extents_hold_the_shapes():
    rng = np.random.default_rng(1)
    extents = make_extents(ALL)
    points = rng.uniform(-0.8, 0.8, (4000, 3))
    for s, row in enumerate(extents):
        if math.isinf(row[RADIUS]):
            continue
        phi = np.array([field(ALL, s, tuple(p))[0] for p in points])
        within = points[phi < 0]
        assert np.linalg.norm(within, axis=1).max() <= row[RADIUS] + 1e-12
        assert (np.abs(within) <= row[CORE:SKIN] + row[SKIN] + 1e-12).all()
        assert phi.min() >= -row[INNER] - 0.02  # blending may deepen a blob a little


def test_what_is_known_of_a_surface_is_not_found_out_again(monkeypatch):
    """Scenes are laid out again and again with the same shapes: 23 ms of the bird, 12 if its skin is known."""
    first = make_samples([DUMBBELL], make_shapes([DUMBBELL]))
    monkeypatch.setattr("impel.geometry.samples.mean_bends", None)
    again = make_samples([{"sphere": 0.1}, DUMBBELL], make_shapes([{"sphere": 0.1}, DUMBBELL]))
    assert np.array_equal(first.bend, again.bend)
    assert np.ptp(first.bend) > 1.0


def test_fixed_points_carry_the_whole_surface_and_are_shared():
    box, other = {"box": [0.2, 0.4, 0.6]}, {"box": [0.2, 0.2, 0.2]}
    shapes = [box, {"sphere": 0.1}, box, other, DUMBBELL]
    samples = make_samples(shapes, make_shapes(shapes))
    assert samples is not None
    assert (samples.clusters[0] == samples.clusters[2]).all()
    assert samples.clusters[1].tolist() == [0, 0]
    first, last = samples.clusters[0]
    rows = slice(samples.range[first, 0], samples.range[last - 1, 1])
    assert samples.area[rows].sum() == pytest.approx(2 * (0.2 * 0.4 + 0.2 * 0.6 + 0.4 * 0.6), rel=1e-12)
    # A closed surface: its areas, as vectors, add up to nothing.
    first, last = samples.clusters[4]
    rows = slice(samples.range[first, 0], samples.range[last - 1, 1])
    flow = (samples.area[rows, None] * samples.normal[rows]).sum(0)
    assert np.abs(flow).max() < 0.01 * samples.area[rows].sum()


def test_an_unknown_shape_is_named_in_plain_words():
    with pytest.raises(Problem, match=r"shape: must be one of sphere, .* got pyramid"):
        make_shapes([{"pyramid": 1.0}])


def test_a_coarse_mesh_has_few_triangles_and_the_exact_box():
    vertices, normals, triangles = mesh_of({"box": [1, 2, 3]}, bevel_steps=1)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    assert len(triangles) == 12
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(6)
    assert np.abs(normals).max(axis=1) == pytest.approx(1), "flat faces"
    for shape in ({"sphere": 1.0}, {"capsule": {"radius": 1, "length": 1}}, {"cylinder": {"radius": 1, "length": 1}}):
        assert len(mesh_of(shape, segments=8, bevel_steps=1)[2]) < len(mesh_of(shape)[2]) / 5
