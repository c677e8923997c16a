"""A small viewer of .glb files that knows nothing of impel: where every vertex is at every key, and its normal."""

import json
import struct

import numpy as np

COMPONENTS = {5126: np.float32, 5125: np.uint32, 5123: np.uint16}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class Viewer:
    def __init__(self, path):
        data = path.read_bytes()
        assert struct.unpack_from("<4sII", data) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.document = json.loads(data[20 : 20 + size])
        self.binary = data[28 + size :]

    def read(self, index):
        entry = self.document["accessors"][index]
        width, count = WIDTHS[entry["type"]], entry["count"]
        if "bufferView" in entry:
            values = self._view(entry, entry["componentType"], count * width).reshape(count, width)
        else:
            values = np.zeros((count, width), COMPONENTS[entry["componentType"]])
        if "sparse" in entry:
            some = entry["sparse"]
            values = values.copy()
            rows = self._view(some["indices"], some["indices"]["componentType"], some["count"])
            assert np.all(np.diff(rows.astype(int)) > 0)
            values[rows] = self._view(some["values"], entry["componentType"], some["count"] * width).reshape(-1, width)
        return values if width > 1 else values[:, 0]

    def _view(self, place, component, count):
        view = self.document["bufferViews"][place["bufferView"]]
        start = view.get("byteOffset", 0) + place.get("byteOffset", 0)
        assert start % 4 == 0
        assert count * 4 <= view["byteLength"]
        return np.frombuffer(self.binary, COMPONENTS[component], count, start)

    def node(self, name):
        return next(i for i, node in enumerate(self.document["nodes"]) if node["name"] == name)

    def channel(self, node, path):
        """The values of what an animation moves, one row a key, or None."""
        for animation in self.document.get("animations", []):
            for channel in animation["channels"]:
                if channel["target"] == {"node": node, "path": path}:
                    sampler = animation["samplers"][channel["sampler"]]
                    return self.read(sampler["output"]).reshape(len(self.read(sampler["input"])), -1)
        return None

    def surface(self, name, frames):
        """(F, V, 3) vertices and normals of a body in the take's own axes; each frame is a key."""
        index = self.node(name)
        node = self.document["nodes"][index]
        mesh = self.document["meshes"][node["mesh"]]
        first = mesh["primitives"][0]
        assert all(one["attributes"] == first["attributes"] for one in mesh["primitives"])
        assert all(one["targets"] == first["targets"] for one in mesh["primitives"])
        moves = {}
        for path, still in (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1]), ("weights", mesh.get("weights"))):
            values = self.channel(index, path)
            moves[path] = np.tile(node.get(path, still), (frames, 1)) if values is None else values.astype(float)
        assert np.all((moves["weights"] >= 0) & (moves["weights"] <= 1))  # Blender and others clamp them
        surfaces = []
        for attribute in ("POSITION", "NORMAL"):
            rest = self.read(first["attributes"][attribute]).astype(float)
            shapes = np.stack([self.read(target[attribute]) for target in first["targets"]]).astype(float)
            surfaces.append(rest + np.einsum("fk,kvi->fvi", moves["weights"], shapes))
        x, y, z, w = (moves["rotation"] / np.linalg.norm(moves["rotation"], axis=1, keepdims=True)).T
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        vertices, normals = (np.einsum("ijf,fvj->fvi", turn, values) for values in surfaces)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        return vertices + moves["translation"][:, None], normals
