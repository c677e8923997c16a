"""Soft surfaces in a file: what moved is written as the change from the frames before, in whole grains, which zip well.

Surfaces of a simulation lie on a grid far finer than they are exact (`grain_of` in geometry/skins.py), so that nothing
is lost. Instead of index, shift and normal of a body NAME, K rows of them (see soft.py), a file then holds NAME.packed,
a zlib stream in bytes of

    float64            the grain, m
    K x uint32         how much higher a vertex is than the one before it in its frame
    K x 3 x uint32     by how many grains it is elsewhere than if it had gone on from the two frames before; if it had
                       not moved in one of them, than in the last; if not in that, than at rest
    K x 3 x uint16     the same of its normal, in 1/512

All are little-endian, all lowest bytes first, then all next ones, and so on; an odd number 2n - 1 stands for -n, and an
even one 2n for n. Surfaces on no grid are written as they are.
"""

import zlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.skins import NORMAL_GRAIN
from impel.takes.soft import KINDS, MOVED, REST
from impel.takes.unpacking import MOST_INFLATED

Arrays = dict[str, NDArray[Any]]
Integers = NDArray[np.int64]
PACKED = "packed"
ROW = 22  # bytes
MOST, FINEST = 2**28, 2.0**-60  # grains that a vertex may have moved; m


def packed(soft: Arrays) -> Arrays:
    """`Take.soft` as a file holds it."""
    arrays = dict(soft)
    left = MOST_INFLATED // ROW
    for name in [label.removesuffix(".first") for label in soft if label.endswith(".first")]:
        parts = {part: soft.get(f"{name}.{part}", np.zeros(0)) for part in (*MOVED, REST[0])}
        stream = _stream(parts) if len(parts["index"]) <= left else None
        if stream is not None:
            left -= len(parts["index"])
            for part in MOVED[1:]:
                del arrays[f"{name}.{part}"]
            arrays[f"{name}.{PACKED}"] = np.frombuffer(stream, np.uint8)
    return arrays


def unpacked(arrays: Arrays) -> Arrays:
    """The other way round; what is damaged raises ValueError."""
    soft = dict(arrays)
    left = MOST_INFLATED // ROW
    for name in [label.removesuffix(f".{PACKED}") for label in arrays if label.endswith(f".{PACKED}")]:
        stream = soft.pop(f"{name}.{PACKED}")
        first, vertices = (soft.get(f"{name}.{part}", np.zeros(0)) for part in ("first", REST[0]))
        if not _are_ends(first) or first[-1] > left:
            raise ValueError(f"soft/{name}.first: expected up to {left} rows, no number less than the one before")
        rows = int(first[-1])
        left -= rows
        wrong = ValueError(f"soft/{name}.{PACKED}: expected the zlib stream of {rows} rows")
        if stream.dtype != np.uint8 or stream.ndim != 1:
            raise wrong
        unzip = zlib.decompressobj()
        try:
            data = unzip.decompress(stream.tobytes(), 8 + ROW * rows + 1)
        except zlib.error:
            raise wrong from None
        if len(data) != 8 + ROW * rows or not unzip.eof or unzip.unused_data:
            raise wrong
        grain = float(np.frombuffer(data, "<f8", 1)[0])
        gap = _joined(data, 8, rows, 4)
        steps, turns = (_joined(data, 8 + start * rows, 3 * rows, size) for start, size in ((4, 4), (16, 2)))
        frames, index = _frames(first), np.zeros(rows, np.int64)
        for own in frames:
            index[own] = np.cumsum(gap[own])
        if np.any((index < 0) | (index >= len(vertices))):
            raise ValueError(f"soft/{name}.{PACKED}: expected numbers of vertices, less than {len(vertices)}")
        shift = grain * _gone(steps.reshape(-1, 3), index, frames, len(vertices), back=True)
        normal = NORMAL_GRAIN * _gone(turns.reshape(-1, 3), index, frames, len(vertices), back=True)
        for part, values in zip(MOVED[1:], (index, shift.clip(-1e30, 1e30), normal.clip(-4.0, 4.0))):
            soft[f"{name}.{part}"] = values.astype(KINDS[part][0])
    return soft


def _stream(parts: Arrays) -> bytes | None:
    """What moved of a body as bytes; None if it is on no grid, or nothing that a take may hold."""
    first, index, shift, normal = (parts[part] for part in MOVED)
    rows, vertices = len(index), parts[REST[0]]
    kinds = all(parts[part].dtype == KINDS[part][0] for part in MOVED)
    shapes = index.ndim == 1 and shift.shape == normal.shape == (rows, 3) and vertices.ndim == 2
    if not kinds or not shapes or not _are_ends(first) or first[-1] != rows or np.any(index >= len(vertices)):
        return None
    grain = _grain(shift)
    steps, turns = _whole(shift, grain, MOST), _whole(normal, NORMAL_GRAIN, 2**12)
    if steps is None or turns is None:
        return None
    frames = _frames(first)
    starts = [own.start for own in frames]
    gap: Integers = np.diff(index.astype(np.int64), prepend=0).astype(np.int64)
    gap[starts] = index[starts]
    data = np.array(grain, "<f8").tobytes() + _parted(gap, 4)
    for values, size in ((steps, 4), (turns, 2)):
        data += _parted(_gone(values, index, frames, len(vertices), back=False).ravel(), size)
    return zlib.compress(data)


def _are_ends(first: NDArray[Any]) -> bool:
    """Whether these are rows at which frames begin and end."""
    fits = first.dtype == KINDS["first"][0] and first.ndim == 1 and len(first) > 0
    return fits and first[0] == 0 and not np.any(np.diff(first) < 0)


def _frames(first: NDArray[Any]) -> list[slice]:
    """The rows of each frame that has any."""
    return [slice(a, b) for a, b in pairwise(first.tolist()) if b > a]


def _parted(values: Integers, size: int) -> bytes:
    """Numbers as so many bytes each, all lowest ones first: the others are nearly all 0."""
    unsigned = np.where(values < 0, -2 * values - 1, 2 * values).astype(f"<u{size}")
    return np.ascontiguousarray(unsigned.view(np.uint8).reshape(-1, size).T).tobytes()


def _joined(data: bytes, start: int, count: int, size: int) -> Integers:
    planes = np.frombuffer(data, np.uint8, size * count, start).reshape(size, count)
    unsigned = np.ascontiguousarray(planes.T).view(f"<u{size}").ravel().astype(np.int64)
    return np.where(unsigned % 2 == 1, -(unsigned // 2) - 1, unsigned // 2)


def _grain(shift: NDArray[Any]) -> float:
    """The largest power of two that all numbers are whole multiples of; 0 if there is none."""
    moved = shift[shift != 0.0]
    if not np.all(np.isfinite(moved)):
        return 0.0
    fraction, exponent = np.frexp(moved)
    digits = np.abs(np.ldexp(fraction, 24)).astype(np.int64)  # all that a float32 has
    lowest = np.log2(digits & -digits) + exponent - 24
    return float(2.0 ** lowest.min(initial=0.0))


def _whole(values: NDArray[Any], grain: float, most: int) -> Integers | None:
    """As so many grains; None if they are not whole, or too many."""
    if grain < FINEST:
        return None
    grains = values.astype(np.float64) / grain
    if not np.all(np.abs(grains) <= most) or np.any(grains != np.round(grains)):
        return None
    return grains.astype(np.int64)


def _gone(values: Integers, index: NDArray[Any], frames: list[slice], count: int, *, back: bool) -> Integers:
    """How rows differ from what was to be expected, or with `back` what they are."""
    gone = np.empty_like(values)
    whole = gone if back else values
    last, before = np.zeros((2, count, 3), np.int64)
    moved_last, moved_before = np.zeros((2, count, 1), bool)
    for rows in frames:
        own = index[rows]
        going = moved_last[own] & moved_before[own]
        expected = last[own] + np.where(going, last[own] - before[own], 0)
        gone[rows] = values[rows] + (expected if back else -expected)
        last, before, moved_last, moved_before = before, last, moved_before, moved_last
        last[:], moved_last[:] = 0, False
        last[own], moved_last[own] = whole[rows], True
    return gone
