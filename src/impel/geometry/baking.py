"""What a mesh is baked into, once for each content: mass, distance grid, points that press, and a light mesh to draw.

Meshes from files, hulls of them and compounds of any shapes all end up here. What was baked is kept in the user's cache
under a hash of all that it was made from.
"""

import hashlib
import io
import json
import math
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.geometry.meshfiles import Surface, closed, read_bytes, read_mesh, surface_of, welded
from impel.geometry.scatter import counted, facing_of, scatter, sharp_edges, smooth_vertices
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler, quaternion_from_matrix

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_DRAWN = 12_000  # triangles
FLAT, FLAT_SHARE = 3e-5, 0.003  # m, or of the way to its middle: by how much its coating yields under its own weight
THIN, THINNEST = 0.1, 0.01  # of the surface may be thinner than what counts as its thickness; as its thinnest part
MOST_VALUES = 2_400_000  # of a grid, whose cells are to be half as long as half the thickness ...
MOST_FOR_THINNEST = 1_000_000  # ... and as that of thin parts: more take seconds


class Baked(NamedTuple):
    """A solid of any form; places are in the frame of its centre of mass and principal axes, but for what is drawn."""

    key: str
    volume: float
    centre: Floats  # (3,) of mass, in the frame it was written in
    axes: Floats  # (4,) principal axes there
    inertia: Floats  # (3,) for a mass of 1 kg
    low: Floats  # (3,) of the grid
    spacing: float
    grid: NDArray[np.float32]  # (X, Y, Z)
    at: Floats  # (S, 3) points that press ...
    normal: Floats  # (S, 3)
    area: Floats  # (S,)
    edges: Floats  # (E, 7) sharp edges that stick out: from, to, and the area they stand for
    inner: float  # half the thickness of all but its thinnest parts ...
    thinnest: float  # ... and of these
    support: float  # m³: what overlaps with a floor when it lies as deep as its coating should yield
    vertices: Floats  # (V, 3) to draw, in the frame it was written in
    normals: Floats  # (V, 3)
    triangles: NDArray[np.int32]  # (T, 3)
    colors: Floats  # (V, 3), or (0, 3) where it has none of its own


def bake(shape: dict[str, Any]) -> Baked:
    """Of a shape as written: {"mesh": {"file": ..}}, {"convex": ..} or {"compound": {"parts": [..]}}."""
    (kind, value), *_ = shape.items()
    if isinstance(value, list):
        value = {"parts": value}
    made = {name: given for name, given in value.items() if name not in ("center", "inertia")}
    baked = _baked(kind, json.dumps(made, sort_keys=True), "inertia" in value, _stamps(value))
    if "inertia" in value:
        baked = baked._replace(inertia=np.array(value["inertia"], float))
    if "center" in value:
        shift = (baked.centre - value["center"]) @ matrix_from_quaternion(baked.axes)
        baked = baked._replace(
            centre=np.array(value["center"], float),
            low=baked.low + shift,
            at=baked.at + shift,
            edges=baked.edges + np.array([*shift, *shift, 0.0]),
        )
    return baked


def _stamps(value: Any) -> tuple[Any, ...]:
    """What tells that none of the files behind a shape has changed since."""
    if isinstance(value, list):
        value = {"parts": value}
    if "parts" in value:
        return tuple(_stamps(part[k]) for part in value["parts"] for k in ("mesh", "convex", "compound") if k in part)
    try:
        status = os.stat(value["file"])
    except (OSError, ValueError):
        return (None,)
    return status.st_mtime_ns, status.st_size


@lru_cache(64)
def _baked(kind: str, text: str, upright: bool, stamps: Any) -> Baked:
    from impel.kernel import shelf

    value = json.loads(text)
    key, solid = _compound(value) if kind == "compound" else _file(value, kind == "convex")
    key = hashlib.sha256(f"{_recipe()} {key} {upright}".encode()).hexdigest()[:24]
    kept = shelf.read(f"mesh-{key}.npz")
    if kept is not None:
        with np.load(io.BytesIO(kept), allow_pickle=False) as arrays:
            return Baked(key, *(_from_array(arrays[name]) for name in Baked._fields[1:]))
    whole = solid()  # or a line that says why it is none
    _announce()
    made = _bake(key, *whole, upright)
    data = io.BytesIO()
    np.savez(data, **made._asdict())
    shelf.write(f"mesh-{key}.npz", data.getvalue())
    return made


@lru_cache(1)
def _announce() -> None:
    """Tell, once, why the first run takes a while."""
    print("impel: preparing meshes, once for each; they are kept for later ...", file=sys.stderr, flush=True)


@lru_cache(1)
def _recipe() -> str:
    """A hash of what bakes: after an edit, or with other versions of the libraries, all is baked anew."""
    from importlib.metadata import version

    here = Path(__file__)
    sources = [here, *(here.with_name(f"{name}.py") for name in ("meshfiles", "grids", "scatter", "meshes", "blobs"))]
    text = b"".join(source.read_bytes() for source in sources)
    return hashlib.sha256(text + "".join(map(version, ("trimesh", "manifold3d", "scipy"))).encode()).hexdigest()


def _from_array(array: Any) -> Any:
    return array if array.ndim else array[()].item()


Maker = Callable[[], tuple[Any, Surface]]


def _file(value: dict[str, Any], hull: bool) -> tuple[str, Maker]:
    """The hash of a file with its options, and how to make a solid of it."""
    data = read_bytes(value["file"])
    scale, part = float(value.get("scale", 1.0)), value.get("part")

    def make() -> tuple[Any, Surface]:
        surface = read_mesh(value["file"], data, part)
        surface = surface._replace(vertices=scale * surface.vertices)
        if hull:
            import manifold3d

            surface = surface_of(manifold3d.Manifold.hull_points(surface.vertices))
        return closed(surface, value["file"]), surface

    return f"{hashlib.sha256(data).hexdigest()} {value['file'][-4:]} {scale!r} {part!r} {hull}", make


def _compound(value: dict[str, Any]) -> tuple[str, Maker]:
    keys = []
    makers = []
    for part in value["parts"]:
        (kind,) = (k for k in part if k not in ("at", "euler"))
        place = part.get("at", (0.0, 0.0, 0.0)), part.get("euler", (0.0, 0.0, 0.0))
        if kind in ("mesh", "convex", "compound"):
            key, make = _compound({"parts": part[kind]}) if kind == "compound" else _file(part[kind], kind == "convex")
        else:
            key, make = json.dumps(part[kind], sort_keys=True), _plain_maker({kind: part[kind]})
        keys.append(f"{kind} {key} {place}")
        makers.append((make, place))

    def make_all() -> tuple[Any, Surface]:
        import manifold3d

        solids = []
        for make, (at, euler) in makers:
            turn = matrix_from_quaternion(quaternion_from_euler(euler))
            solids.append(make()[0].transform(np.column_stack([turn, at])))
        whole = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
        return whole, surface_of(whole)

    return f"[{'; '.join(keys)}]", make_all


def _plain_maker(shape: dict[str, Any]) -> Maker:
    def make() -> tuple[Any, Surface]:
        from impel.geometry.meshes import exact_mesh

        surface = welded(Surface(*exact_mesh(shape)))
        return closed(surface, "its part"), surface

    return make


def _bake(key: str, solid: Any, surface: Surface, upright: bool) -> Baked:
    from impel.geometry.grids import CELLS, make_grid

    whole = surface_of(solid)
    volume, centre, inertia, axes = moments(whole)
    if upright:
        axes = np.eye(3)
    inside = (whole.vertices - centre) @ axes
    size = float(np.ptp(inside, axis=0).max())
    light, at, normal, area, curvature = scatter(solid, size)
    at, normal = (at - centre) @ axes, normal @ axes
    light = light._replace(vertices=(light.vertices - centre) @ axes)
    cells = CELLS
    while True:
        grid = make_grid(inside, whole.triangles, cells)
        thin, thinnest = thicknesses(grid, light)
        finer = max(cells_for(thin, grid, MOST_VALUES), cells_for(thinnest, grid, MOST_FOR_THINNEST))
        if finer <= cells:
            break
        cells = finer
    if thin < 1.01 * grid.spacing:
        raise Problem(
            f"shape: is too thin to collide: much of it is thinner than {2 * grid.spacing:.2g} m, which is 1/"
            f"{size / (2 * grid.spacing):.0f} of its size"
        )
    area = counted(area, curvature, thin)
    vertices, normals, triangles, colors = drawn(solid, surface, size)
    return Baked(
        key,
        volume,
        centre,
        quaternion_from_matrix(axes),
        inertia,
        *grid,
        at,
        normal,
        area,
        sharp_edges(light),
        thin,
        thinnest,
        support_of(at, area, normal, inside, thin),
        vertices,
        normals,
        triangles.astype(np.int32),
        colors,
    )


def moments(surface: Surface) -> tuple[float, Floats, Floats, Floats]:
    """Volume, centre of mass, principal moments for 1 kg, and principal axes (columns), exact for the polyhedron."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    six = np.einsum("ij,ij->i", a, np.cross(b, c))  # of the tetrahedra to the origin: six times their volume
    volume = float(six.sum()) / 6
    total = a + b + c
    centre = (six[:, None] * total).sum(0) / (24 * volume)
    second = sum(np.einsum("i,ij,ik->jk", six, v, v) for v in (total, a, b, c)) / (120 * volume)
    second = second - np.outer(centre, centre)
    tensor = np.trace(second) * np.eye(3) - second
    inertia, axes = np.linalg.eigh(tensor)
    apart = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if apart < 1e-4 * inertia.max():  # as good as upright: no axis is better than its own
        return volume, centre, np.diag(tensor).copy(), np.eye(3)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return volume, centre, inertia, axes


def thicknesses(grid: Any, surface: Surface) -> tuple[float, float]:
    """Half the thickness of all but thin parts of a surface, and of all but its very thinnest."""
    from impel.geometry.grids import half_thickness, place_row

    facing, double = facing_of(surface)
    out = np.zeros(len(facing))
    longest = float(sum(grid.values.shape)) * grid.spacing
    values, place = np.ascontiguousarray(grid.values).ravel(), np.array([place_row(grid, 0)])
    middle = surface.vertices[surface.triangles].mean(1)
    half_thickness(values, place, middle, facing, 0.5 * grid.spacing, longest, out)
    order = np.argsort(out)
    share = np.cumsum(double[order]) / double.sum()
    thin, thinnest = (out[order][min(int(np.searchsorted(share, part)), len(out) - 1)] for part in (THIN, THINNEST))
    return float(thin), float(thinnest)


def cells_for(thin: float, grid: Any, most: int) -> int:
    """How many cells along the longest side half a thickness asks for, as far as there are no more values."""
    from impel.geometry.grids import BORDER

    count = np.array(grid.values.shape) - 2 * BORDER - 1
    cells = wanted = round(float(count.max()))
    if thin < 2 * grid.spacing:
        wanted = max(math.ceil(2.2 * cells * grid.spacing / thin), cells + 16)
    while wanted > cells and np.prod(wanted / cells * count + 2 * BORDER + 1) > most:
        wanted -= 1
    return wanted


def support_of(at: Floats, area: Floats, normal: Floats, vertices: Floats, inner: float) -> float:
    """The volume that is below the floor when the body lies as low as it can, and has yielded as it should: a flat face
    by FLAT, what is round by six times that, what lies on a line by something between.
    """
    from scipy.spatial import ConvexHull

    hull = ConvexHull(vertices)
    faces, number = np.unique(np.round(hull.equations, 4) + 0.0, axis=0, return_inverse=True)
    look = 0.01 * float(np.ptp(vertices, axis=0).max())
    for k in np.argsort(-faces[:, 3]):
        corners = vertices[np.unique(hull.simplices[number.ravel() == k])]
        out = faces[k, :3] / np.linalg.norm(faces[k, :3])
        top = float((vertices @ out).max())
        wide = np.linalg.norm(corners - corners.mean(0), axis=1).max()
        if np.linalg.norm(top * out - corners.mean(0)) < wide + look:  # else it would tip over
            break
    height = top - at @ out
    share = area * np.maximum(normal @ out, 0.0)
    once, twice = (float((share * np.maximum(d - height, 0.0)).sum()) for d in (look, 2 * look))
    if not once > 0.0:
        return float(area.sum()) / 6 * FLAT
    power = min(max(np.log2(twice / once), 1.0), 2.0)
    return once * (min(FLAT, FLAT_SHARE * inner) * 6 ** (power - 1) / look) ** power


def drawn(solid: Any, surface: Surface, size: float) -> tuple[Floats, Floats, Indices, Floats]:
    """A light mesh with normals, and the colours that the surface had nearest to each vertex."""
    light, bulge = solid, 2e-5 * size
    while light.num_tri() > MOST_DRAWN:
        light, bulge = solid.simplify(bulge), 1.6 * bulge
    mesh = surface_of(light)
    number, _, normals = smooth_vertices(mesh)
    at = np.empty((len(normals), 3))
    at[number.ravel()] = mesh.vertices[mesh.triangles.ravel()]
    if surface.colors is None:
        return at, normals, number, np.zeros((0, 3))
    from scipy.spatial import KDTree

    return at, normals, number, surface.colors[KDTree(surface.vertices).query(at)[1]]
