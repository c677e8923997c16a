"""Takes as `.glb` (binary glTF 2.0): one node per body, moved by translation and rotation keys, soft ones by morphs.

glTF is y-up; a single root node turns the whole take, so that the numbers below it are the take's own. Its extras
(custom properties in Blender) hold what glTF has no place for: frame rate, the animator's keys, events and camera.
"""

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, writing
from impel.geometry.meshes import MARK, Mesh, colors_of, marks_of, mesh_of
from impel.motion.orientations import multiply_quaternions, quaternion_from_matrix
from impel.takes.cameras import FOV, cuts_of, standpoints
from impel.takes.glb_buffer import INDICES, VERTICES, Buffer
from impel.takes.lines import ROPE, WIRE, is_taut, rope_lines, tube
from impel.takes.morphs import Morphs, morphs_of
from impel.takes.soft import rest_of, soft_bodies
from impel.takes.take import Floats, Take, linear_color, opacity, owner_of

WHITE = "#ffffff"  # of what is painted vertex by vertex
Z_UP_TO_Y_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # a quarter turn back about x, as (x, y, z, w)
ROUGHNESS = 0.6
NEAREST = 0.01  # of the distance to what it looks at: nearer things a camera does not see
LINE = 0.004  # of the longest rope's or wire's reach: their radius
ROPE_PIECES = 12  # of a rope that hangs

Motion = tuple[int, str, Floats]  # node, what of it moves, values at every frame


def write_glb(take: Take, path: str | Path) -> None:
    """Write a take with its meshes, colours and keys (one per frame, linear between them)."""
    position, orientation = np.asarray(take.position), _continuous(np.asarray(take.orientation))
    for i, name in enumerate(take.names):
        if not (np.isfinite(position[:, i]).all() and np.isfinite(orientation[:, i]).all()):
            raise Problem(f"{path}: {name}: its motion is not finite, so it cannot be written")
    buffer = Buffer()
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "impel"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "impel", "rotation": Z_UP_TO_Y_UP, "extras": _extras(take)}],
    }
    lost = [name for name, ends in take.ropes.items() if not np.isfinite(ends).all()]
    if lost:
        raise Problem(f"{path}: {lost[0]}: its motion is not finite, so it cannot be written")
    meshes, materials, mesh_of_body, morphs = _meshes(take, buffer)
    for i, name in enumerate(take.names):
        w, x, y, z = orientation[0, i].astype(np.float32).tolist()
        translation = position[0, i].astype(np.float32).tolist()
        node = {"name": name, "mesh": mesh_of_body[i], "translation": translation, "rotation": [x, y, z, w]}
        if i in morphs:
            node["weights"] = morphs[i].weights[0].astype(np.float32).tolist()
        document["nodes"].append(node)
    if take.names:
        document["nodes"][0]["children"] = list(range(1, len(take.names) + 1))
        document |= {"meshes": meshes, "materials": materials}
    motions: list[Motion] = []
    for i in range(len(take.names)):
        motions += [
            (i + 1, "translation", position[:, i]),
            (i + 1, "rotation", np.roll(orientation[:, i], -1, axis=-1)),
        ]
    motions += [(i + 1, "weights", morphs[i].weights) for i in morphs]
    motions += _lines(take, document, buffer)
    motions += _cameras(take, document)
    animation = _animation(take, motions, buffer, path)
    if animation:
        document["animations"] = [animation]
    if buffer.data:
        document |= {"accessors": buffer.accessors, "bufferViews": buffer.views}
        document["buffers"] = [{"byteLength": len(buffer.data)}]
    with writing(path) as temporary:
        temporary.write_bytes(_container(document, bytes(buffer.data)))


def _continuous(orientation: Floats) -> Floats:
    """The same rotations with signs chosen so that neighbours are close: linear keys then take the short way."""
    with np.errstate(invalid="ignore"):
        unit = orientation / np.linalg.norm(orientation, axis=-1, keepdims=True)
        flips = np.where(np.sum(unit[1:] * unit[:-1], axis=-1) < 0, -1.0, 1.0)
    unit[1:] *= np.cumprod(flips, axis=0)[..., None]
    return unit


def _meshes(take: Take, buffer: Buffer) -> tuple[list[Any], list[Any], list[int], dict[int, Morphs]]:
    """Equal shapes share their vertices, equal shapes of equal colour their mesh; soft bodies have their own, with
    morphs by the number of the body."""
    geometry: dict[str, tuple[int, int, list[tuple[int, bool]]]] = {}
    paints: dict[str, int] = {}
    meshes: dict[tuple[str, str], int] = {}
    materials: dict[tuple[str, bool], int] = {}
    mesh_entries, material_entries, mesh_of_body = [], [], []
    soft, morphs = soft_bodies(take), {}
    for i, (name, shape, color) in enumerate(zip(take.names, take.shapes, take.colors)):
        key = f"soft {name}" if name in soft else json.dumps(shape, sort_keys=True)
        if key not in geometry:
            mesh = rest_of(take, name) if name in soft else mesh_of(shape, surfaces=take.surfaces)
            geometry[key] = _geometry(mesh, marks_of(shape, mesh), buffer)
            painted = take.soft.get(f"{name}.colors") if name in soft else colors_of(shape, take.surfaces)
            if painted is not None:
                paints[key] = buffer.add(painted.astype(np.float32), target=VERTICES)
        wanted = color
        if (key, wanted) not in meshes:
            positions, normals, parts = geometry[key]
            attributes = {"POSITION": positions, "NORMAL": normals}
            if key in paints:
                attributes["COLOR_0"] = paints[key]
                color = WHITE
            primitives = []
            for indices, marked in parts:
                if (color, marked) not in materials:
                    materials[color, marked] = len(materials)
                    material_entries.append(_material(color, MARK if marked else 1.0))
                primitives.append(
                    {
                        "attributes": attributes,
                        "indices": indices,
                        "material": materials[color, marked],
                    }
                )
            entry: dict[str, Any] = {"name": name if name in soft else next(iter(shape)), "primitives": primitives}
            shapes = morphs_of(take, name) if name in soft and take.soft[f"{name}.first"][-1] > 0 else None
            if shapes is not None and shapes.names:
                morphs[i] = shapes
                targets = [buffer.add_morph(*pair) for pair in zip(morphs[i].shifts, morphs[i].turns)]
                entry |= {"primitives": [one | {"targets": targets} for one in primitives]}
                entry["extras"] = {"targetNames": morphs[i].names}  # which Blender and three.js read
            meshes[key, wanted] = len(meshes)
            mesh_entries.append(entry)
        mesh_of_body.append(meshes[key, wanted])
    return mesh_entries, material_entries, mesh_of_body, morphs


def _geometry(mesh: Mesh, marks: NDArray[np.bool_], buffer: Buffer) -> tuple[int, int, list[tuple[int, bool]]]:
    vertices, normals, triangles = mesh
    positions = buffer.add(vertices.astype(np.float32), target=VERTICES, bounds=True)
    directions = buffer.add(normals.astype(np.float32), target=VERTICES)
    parts = []
    for marked in (False, True):
        chosen = triangles[marks == marked]
        if len(chosen):
            parts.append((buffer.add(chosen.ravel().astype(np.uint32), target=INDICES), marked))
    return positions, directions, parts


def _material(color: str, lightness: float) -> dict[str, Any]:
    factor = [round(c, 6) for c in (linear_color(color) * lightness).tolist()]
    alpha = round(opacity(color), 6)
    metal = {"baseColorFactor": [*factor, alpha], "metallicFactor": 0.0, "roughnessFactor": ROUGHNESS}
    material = {"name": color if lightness == 1 else f"{color} marks", "pbrMetallicRoughness": metal}
    return material | ({"alphaMode": "BLEND"} if alpha < 1 else {})


def _lines(take: Take, document: dict[str, Any], buffer: Buffer) -> list[Motion]:
    """Add wires to the nodes of their bodies, and ropes as straight pieces that are turned and stretched."""
    nodes, motions = document["nodes"], []
    ropes = {
        name: rope_lines(take, name, slice(None), 1 if is_taut(take, name) else ROPE_PIECES) for name in take.ropes
    }
    reaches = [np.ptp(line.reshape(-1, 3), axis=0) for line in (*take.wires.values(), *ropes.values())]
    radius = LINE * max((float(np.linalg.norm(reach)) for reach in reaches), default=0.0)

    def add_mesh(name: str, mesh: Mesh, color: str) -> int:
        positions, normals, [(indices, _)] = _geometry(mesh, np.zeros(len(mesh[2]), bool), buffer)
        document.setdefault("materials", []).append(_material(color, 1.0) | {"name": name})
        attributes = {"POSITION": positions, "NORMAL": normals}
        primitive = {"attributes": attributes, "indices": indices, "material": len(document["materials"]) - 1}
        document.setdefault("meshes", []).append({"name": name, "primitives": [primitive]})
        return len(document["meshes"]) - 1

    def add_node(parent: int, node: dict[str, Any]) -> int:
        nodes.append(node)
        nodes[parent].setdefault("children", []).append(len(nodes) - 1)
        return len(nodes) - 1

    for name, line in take.wires.items():
        owner = owner_of(take, name)
        mesh = add_mesh("wire", tube(line, radius), WIRE)
        add_node(0 if owner is None else owner + 1, {"name": name, "mesh": mesh})
    if ropes:
        mesh = add_mesh("rope", tube(np.array([[0.0, 0, 0], [0, 0, 1]]), radius), ROPE)
    for name, lines in ropes.items():
        steps = np.diff(lines, axis=1)
        rotations = np.roll(_pointing(steps), -1, axis=-1)
        scales = np.ones_like(steps)
        scales[..., 2] = np.linalg.norm(steps, axis=-1)
        for k in range(steps.shape[1]):
            poses = {"translation": lines[:, k], "rotation": rotations[:, k], "scale": scales[:, k]}
            first = {path: values[0].astype(np.float32).tolist() for path, values in poses.items()}
            node = add_node(0, {"name": name if steps.shape[1] == 1 else f"{name} {k + 1}", "mesh": mesh} | first)
            motions += [(node, path, values) for path, values in poses.items()]
    return motions


def _pointing(directions: Floats) -> Floats:
    """Quaternions (F, K, 4) that turn z into each direction, the shortest way from those of the frame before."""
    along = np.tile([0.0, 0.0, 1.0], (directions.shape[1], 1))
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (directions.shape[1], 1))
    rotations = np.empty((*directions.shape[:2], 4))
    for frame, direction in enumerate(directions):
        size = np.linalg.norm(direction, axis=-1, keepdims=True)
        there = np.where(size > 0, direction / np.where(size > 0, size, 1.0), along)
        half = along + there
        # Turned round: about any axis across.
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=-1)])
        half = np.where(np.linalg.norm(half, axis=-1, keepdims=True) < 1e-6, across, half)
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        shift = np.concatenate([np.sum(along * half, axis=-1, keepdims=True), np.cross(along, half)], axis=-1)
        turned = multiply_quaternions(shift, turned)
        turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
        rotations[frame], along = turned, there
    return rotations


def _extras(take: Take) -> dict[str, Any]:
    extras = {"version": take.version, "fps": round(take.fps, 9), "keys": take.keys, "events": take.events}
    cameras = ({"camera": take.camera} if take.camera is not None else {}) | (
        {"cameras": take.cameras} if take.cameras else {}
    )
    return _finite(extras | cameras)


def _finite(value: Any) -> Any:
    """Plain data as JSON can hold it, which knows no numbers that are none."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cameras(take: Take, document: dict[str, Any]) -> list[Motion]:
    """Add the cameras, each as a node, that of one that follows moved; glTF knows no cuts, the extras tell of them."""
    cameras = [camera for _, camera in cuts_of(take) if camera is not None]
    motions: list[Motion] = []
    for k, camera in enumerate(cameras):
        eye, to = standpoints(take, camera)
        nodes, name = document["nodes"], "camera" if len(cameras) == 1 else f"camera {k + 1}"
        nodes[0].setdefault("children", []).append(len(nodes))
        motions.append((len(nodes), "translation", eye))
        nodes.append({"name": name, "camera": k, "translation": eye[0].tolist(), "rotation": _looking(to[0] - eye[0])})
        distance = float(np.linalg.norm(to[0] - eye[0])) or 1.0
        lens = {"yfov": math.radians(float(camera.get("fov", FOV))), "znear": NEAREST * distance}
        document.setdefault("cameras", []).append({"type": "perspective", "perspective": lens})
    return motions


def _looking(forward: Floats) -> list[float]:
    """How a node must be turned to look that way: glTF's cameras look along their -z, with y up."""
    back = -forward if np.any(forward != 0) else np.array([0.0, -1.0, 0.0])
    right = np.cross([0.0, 0.0, 1.0], back)
    if np.linalg.norm(right) < 1e-9 * np.linalg.norm(back):  # straight down or up: keep x to the right
        right = np.array([1.0, 0.0, 0.0])
    back, right = back / np.linalg.norm(back), right / np.linalg.norm(right)
    w, x, y, z = quaternion_from_matrix(np.stack([right, np.cross(back, right), back], axis=-1)).tolist()
    return [x, y, z, w]


def _clock(take: Take, path: str | Path) -> NDArray[np.float32]:
    """When the frames are, from 0 on; at a steady rate exactly, for whoever counts frames."""
    steady = np.arange(len(take.time)) / take.fps
    even = np.allclose(take.time - take.time[0], steady, rtol=0, atol=1e-6)
    times: NDArray[np.float32] = (steady if even else take.time - take.time[0]).astype(np.float32)
    if np.any(np.diff(times) <= 0):
        raise Problem(f"{path}: its frames are too close to each other to be told apart in this format")
    return times


def _animation(take: Take, motions: list[Motion], buffer: Buffer, path: str | Path) -> dict[str, Any] | None:
    """Keys for what moves; whatever stays where its node stands needs none."""
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    for node, moved, values in motions:
        keys = np.ascontiguousarray(values, np.float32)
        if np.all(keys == keys[0]):
            continue
        if not samplers:
            clock = buffer.add(_clock(take, path), bounds=True)
        output = buffer.add(keys.ravel() if moved == "weights" else keys)
        samplers.append({"input": clock, "output": output, "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": moved}})
    return {"name": "take", "samplers": samplers, "channels": channels} if samplers else None


def _container(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
    if binary:
        chunks.append((b"BIN\0", binary))  # already a multiple of four bytes
    body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
