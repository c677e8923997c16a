"""The binary part of a `.glb`, and the accessors that say what lies where in it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.takes.morphs import moved_by

FLOAT, UNSIGNED_INT = 5126, 5125  # component types
VERTICES, INDICES = 34962, 34963  # what a view of the buffer is bound to
WIDTHS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


class Buffer:
    """Arrays of float32 and uint32, so that each begins at a multiple of four bytes."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: NDArray[Any], *, target: int | None = None, bounds: bool = False) -> int:
        """Append an array and return its accessor."""
        width = array.shape[1] if array.ndim == 2 else 1
        accessor = {
            "bufferView": self._view(array, target),
            "componentType": FLOAT if array.dtype == np.float32 else UNSIGNED_INT,
            "count": len(array),
            "type": WIDTHS[width],
        }
        if bounds:
            table = array.reshape(len(array), width)
            accessor |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        return self._accessor(accessor)

    def add_morph(self, shifts: NDArray[np.float32], turns: NDArray[np.float32]) -> dict[str, int]:
        """Append a shape of a mesh, as attributes: of all vertices, or of those that move or turn, if that is
        shorter."""
        told = moved_by(shifts, turns)
        if not told:
            places = self.add(shifts, target=VERTICES, bounds=True)
            return {"POSITION": places, "NORMAL": self.add(turns, target=VERTICES)}
        views = [self._view(index.astype(np.uint32)) for index in told]
        attributes = {}
        for name, values, index, view in zip(("POSITION", "NORMAL"), (shifts, turns), 2 * told, 2 * views):
            indices = {"bufferView": view, "componentType": UNSIGNED_INT}
            some = {"count": len(index), "indices": indices, "values": {"bufferView": self._view(values[index])}}
            accessor = {"componentType": FLOAT, "count": len(values), "type": "VEC3", "sparse": some}
            if name == "POSITION":  # most vertices stay where they are, so the bounds hold 0
                accessor |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
            attributes[name] = self._accessor(accessor)
        return attributes

    def _view(self, array: NDArray[Any], target: int | None = None) -> int:
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.data += array.tobytes()
        return len(self.views) - 1

    def _accessor(self, accessor: dict[str, Any]) -> int:
        self.accessors.append(accessor)
        return len(self.accessors) - 1
