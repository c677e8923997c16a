"""Meshes from files, as closed surfaces: read, welded, mended where that is sure, or refused in a line of reasons."""

import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, open_file

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

ENDINGS = (".obj", ".stl", ".ply", ".glb")
MOST_BYTES = 200_000_000
MOST_TRIANGLES = 500_000
WELD = 1e-6  # of the size: vertices nearer than this are one
SMALL_HOLE = 0.1  # of the size, across: what is filled without asking
NAMELESS = re.compile(r"geometry(_\d+)?'*")  # how trimesh calls what has no name in its file
FLAT = 1e-6  # of the cube of the size: what has less volume is no solid


class Surface(NamedTuple):
    """Triangles, counter-clockwise from outside."""

    vertices: Floats  # (V, 3)
    triangles: Indices  # (T, 3)
    colors: Floats | None = None  # (V, 3) red, green and blue as light, 0 to 1


def read_bytes(path: str | Path) -> bytes:
    """The content of a mesh file."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise Problem(f"{path}: is not a mesh: its name must end in one of {', '.join(ENDINGS)}")
    with open_file(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Problem(f"{path}: is larger than {MOST_BYTES // 1_000_000} MB; simplify the mesh")
    return data


def read_mesh(path: str | Path, data: bytes, part: str | None = None) -> Surface:
    """The triangles of a file, or of one of its parts, welded; not yet closed."""
    meshes = _parts(path, data, part)
    if part is not None:
        if part not in meshes:
            names = sorted(name for name in meshes if not NAMELESS.fullmatch(name))
            others = (
                f"its parts are {', '.join(names[:10])}" if names else "it holds no parts with names: leave part out"
            )
            raise Problem(f"{path}: has no part {part!r}; {others}")
        meshes = {part: meshes[part]}
    count = sum(len(mesh.triangles) for mesh in meshes.values())
    if count == 0:
        raise Problem(f"{path}: holds no triangles")
    if count > MOST_TRIANGLES:
        raise Problem(
            f"{path}: has {count} triangles, more than {MOST_TRIANGLES}; simplify it, in Blender with Decimate"
        )
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes.values())])
    vertices = np.concatenate([mesh.vertices for mesh in meshes.values()])
    triangles = np.concatenate([mesh.triangles + start for mesh, start in zip(meshes.values(), starts)])
    if not np.abs(vertices).max() <= 1e9:
        raise Problem(f"{path}: has vertices that are no finite places")
    colors = None
    if any(mesh.colors is not None for mesh in meshes.values()):
        grey = [np.full_like(mesh.vertices, 0.5) if mesh.colors is None else mesh.colors for mesh in meshes.values()]
        colors = np.concatenate(grey)
    return welded(Surface(vertices, triangles, colors))


def _parts(path: str | Path, data: bytes, part: str | None) -> dict[str, Surface]:
    import trimesh

    kind = Path(path).suffix.lower()[1:]
    options: dict[str, Any] = {"split_objects": True} if kind == "obj" and part is not None else {}
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False, **options)
        found: dict[str, Surface] = {}
        for node in scene.graph.nodes_geometry:
            turn, name = scene.graph[node]
            mesh = scene.geometry[name]
            if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
                continue
            if not np.isfinite(mesh.vertices).all():
                raise Problem(f"{path}: has vertices that are no finite places")
            vertices = np.asarray(mesh.vertices, float) @ turn[:3, :3].T + turn[:3, 3]
            faces = np.asarray(mesh.faces, np.int64)
            if np.linalg.det(turn[:3, :3]) < 0:
                faces = faces[:, ::-1]
            if kind == "glb":  # y is up in these
                vertices = vertices[:, [0, 2, 1]] * (1.0, -1.0, 1.0)
            label = str(mesh.metadata.get("name") or name) if kind == "obj" else str(node)
            while label in found:
                label += "'"
            found[label] = Surface(vertices, faces, _colors(mesh))
    except Problem:
        raise
    except Exception:  # a reader meets anything in a file that is not what it says
        raise Problem(f"{path}: cannot be read as .{kind}: it is damaged, or not what its name says") from None
    return found


def _colors(mesh: Any) -> Floats | None:
    """(V, 3) a mesh's own colours at its vertices, where it has any."""
    visual = mesh.visual
    if not getattr(visual, "defined", False):
        return None
    try:
        if visual.kind == "texture":
            visual = visual.to_color()
        encoded = np.asarray(visual.vertex_colors, float)[:, :3] / 255
    except Exception:  # a texture that is not there
        return None
    if len(encoded) != len(mesh.vertices):
        return None
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def welded(surface: Surface) -> Surface:
    """Vertices at the same place become one; triangles without area go."""
    vertices, triangles, colors = surface
    size = float(np.ptp(vertices, axis=0).max())
    if size == 0.0:
        return Surface(vertices[:0], triangles[:0])
    _, first, number = np.unique(
        np.round((vertices - vertices.min(0)) / (WELD * size)).astype(np.int64), axis=0, return_index=True,
        return_inverse=True,
    )  # fmt: skip
    triangles = number.ravel()[triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    return Surface(vertices[first], triangles, None if colors is None else colors[first])


def closed(surface: Surface, source: str) -> Any:
    """The solid that a surface encloses, as manifold3d knows it; raises `Problem` where it encloses none."""
    import manifold3d

    vertices, triangles, _ = surface
    if len(triangles) == 0:
        raise Problem(f"{source}: encloses no volume: all of its vertices are in one place")
    size = float(np.ptp(vertices, axis=0).max())
    triangles = _wound(triangles)
    triangles = _filled(vertices, triangles, size, source)
    vertices, triangles = _separated(vertices, triangles)
    solid = manifold3d.Manifold(manifold3d.Mesh64(vert_properties=vertices, tri_verts=triangles.astype(np.uint64)))
    if solid.status() != manifold3d.Error.NoError:
        raise Problem(f"{source}: is not the surface of a solid: edges at which more than two faces meet")
    if solid.volume() < 0:
        triangles = triangles[:, ::-1]
        mesh = manifold3d.Mesh64(vert_properties=vertices, tri_verts=triangles.astype(np.uint64))
        solid = manifold3d.Manifold(mesh)
    shells = solid.decompose()
    if len(shells) > 1 and all(shell.volume() > 0 for shell in shells):  # overlapping pieces become one
        solid = manifold3d.Manifold.batch_boolean(shells, manifold3d.OpType.Add)
    if not solid.volume() > FLAT * size**3:
        raise Problem(f"{source}: encloses no volume; a shape must be solid, so give flat things a thickness")
    return solid


def surface_of(solid: Any) -> Surface:
    """The triangles of a manifold3d solid."""
    mesh = solid.to_mesh64()
    return Surface(np.array(mesh.vert_properties[:, :3], float), np.array(mesh.tri_verts, np.int64))


def _edges(triangles: Indices) -> Indices:
    """(3T, 2) directed edges, triangle by triangle."""
    return np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)


def _neighbours(edges: Indices) -> tuple[Indices, Indices, list[Indices]]:
    """Which directed edges lie side by side: pairs, and those of which there are more."""
    key = edges.min(1) * (int(edges.max()) + 1) + edges.max(1)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.diff(starts, append=len(order))
    twice = starts[count == 2]
    return order[twice], order[twice + 1], [order[s : s + n] for s, n in zip(starts, count) if n > 2]


def _wound(triangles: Indices) -> Indices:
    """Triangles turned so that neighbours agree on which side is out, where they did not."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    edges = _edges(triangles)
    one, other, _ = _neighbours(edges)
    against = edges[one, 0] == edges[other, 0]  # neighbours run along their edge in opposite ways if they agree
    if not against.any():
        return triangles
    count = len(triangles)
    a, b = one // 3, other // 3
    graph = coo_array((np.ones(len(a)), (a, b)), (count, count)).tocsr()
    turned = {(u, v) for u, v, odd in zip(a.tolist(), b.tolist(), against.tolist()) if odd}
    flip = np.zeros(count, bool)
    _, label = connected_components(graph, directed=False)
    for first in np.unique(label, return_index=True)[1]:
        walk, came = breadth_first_order(graph, first, directed=False)
        for t in walk[1:].tolist():
            u = int(came[t])
            flip[t] = flip[u] != ((u, t) in turned or (t, u) in turned)
    return np.where(flip[:, None], triangles[:, ::-1], triangles)


def _separated(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices]:
    """Solids that touch in an edge or a vertex get each their own there."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = _edges(triangles)
    one, other, crowds = _neighbours(edges)
    if not crowds:
        return vertices, triangles
    pairs = [(one, other)]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    for crowd in crowds:
        start, end = vertices[edges[crowd].min(1)[0]], vertices[edges[crowd].max(1)[0]]
        along = (end - start) / np.linalg.norm(end - start)
        aside = (a + b + c)[crowd // 3] / 3 - start
        aside = aside - np.outer(aside @ along, along)
        across = np.cross(along, aside[0])
        order = np.argsort(np.arctan2(aside @ across, aside @ aside[0] * np.linalg.norm(along)))
        turned, ahead = crowd[order], edges[crowd[order], 0] == edges[crowd[order]].min(1)
        if ahead.sum() * 2 == len(ahead):  # else they enclose nothing, and manifold3d will say so
            pairs.append((turned[ahead], turned[~ahead]))
    one, other = (np.concatenate([pair[k] for pair in pairs]) for k in range(2))
    count = 3 * len(triangles)
    ahead = 3 * (np.arange(count) // 3) + (np.arange(count) + 1) % 3
    rows, columns = np.concatenate([one, ahead[one]]), np.concatenate([ahead[other], other])
    _, number = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), (count, count)), directed=False)
    places = np.empty((int(number.max()) + 1, 3))
    places[number] = vertices[triangles.ravel()]
    return places, number.reshape(-1, 3)


def _filled(vertices: Floats, triangles: Indices, size: float, source: str) -> Indices:
    """Triangles with small holes filled; larger ones are named."""
    loops = _holes(triangles)
    if not loops:
        return triangles
    wide = [float(np.ptp(vertices[loop], axis=0).max()) for loop in loops]
    if max(wide) > SMALL_HOLE * size or any(len(set(loop)) != len(loop) for loop in loops):
        worst = int(np.argmax(wide))
        middle = ", ".join(f"{v:.3g}" for v in vertices[loops[worst]].mean(0))
        what = "a hole" if len(loops) == 1 else f"{len(loops)} holes, the largest"
        raise Problem(
            f"{source}: is not closed: it has {what} of {wide[worst]:.3g} across at [{middle}] ({len(loops[worst])} "
            "edges); close it, in Blender with Fill Holes, or give it a thickness with Solidify"
        )
    fans = [np.array([[loop[0], loop[k + 1], loop[k]] for k in range(1, len(loop) - 1)], np.int64) for loop in loops]
    return np.concatenate([triangles, *fans])


def _holes(triangles: Indices) -> list[list[int]]:
    """The edges that have a triangle on one side only, as loops of vertices, along the triangles' own way."""
    edges = _edges(triangles)
    base = int(triangles.max()) + 1
    _, number, count = np.unique(edges.min(1) * base + edges.max(1), return_inverse=True, return_counts=True)
    after: dict[int, list[int]] = {}
    for a, b in edges[count[number.ravel()] == 1].tolist():
        after.setdefault(a, []).append(b)
    loops = []
    while after:
        start, ends = next(iter(after.items()))
        loop, at = [start], ends.pop()
        if not ends:
            del after[start]
        while at != start and at in after:
            loop.append(at)
            following = after[at].pop()
            if not after[at]:
                del after[at]
            at = following
        loops.append(loop)
    return loops
