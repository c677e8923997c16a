"""Soft surfaces as other programs know them: a few shapes of each mesh, and how much of each it wears at every frame.

A take tells where every vertex is at every frame. Frames between two others, at rest and in slow presses, need no shape
of their own. Of what is left all frames have much in common, as when a ball bounces, or swells wherever it is touched:
that is mixed of a few singular shapes, and each frame has a shape of its own for the few vertices that these leave too
far away. A ball that spins shows another side at each moment, and there every frame is a shape.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.takes.soft import moved_at, rest_of
from impel.takes.take import Floats, Take

Singles = NDArray[np.float32]

WITHIN = 1e-3  # m: so near are the vertices to those of the take ...
WITHIN_SIZE = 0.0025  # ... or this much of the body's longest side, whichever is less
BETWEEN, LIKE = 0.35, 0.2  # of that may be lost between frames that are kept, and by taking like ones for one, ...
TRIMMED = 0.4  # ... and this by leaving out what hardly moves; the rest is rounding
TURNED = 0.04  # a change of a unit normal that is not seen
WORTH = 0.75  # of the room of one shape a frame: what is mixed must take no more, for each frame wears many shapes
SIMPLER = 1.5  # x the room is well spent if then no frame needs a shape of its own
ROUNDING = 1e-6  # of a weight
VERTEX, NUMBER, WEIGHT = 24, 4, 4  # bytes of a vertex of a shape (how it moves and turns), its number, a weight ...
SHAPE = 800  # ... and what a file says of each shape


class Morphs(NamedTuple):
    """A surface at frame f is its rest, and the sum of weights[f] times these."""

    names: list[str]  # (K,)
    shifts: Singles  # (K, V, 3) m, in the body's frame
    turns: Singles  # (K, V, 3) changes of normals
    weights: Floats  # (F, K) from 0 to 1: some programs clamp them


def tolerance(vertices: Floats) -> float:
    """How far from the take's own a vertex may be, in metres."""
    return min(WITHIN, WITHIN_SIZE * float(np.ptp(vertices, axis=0).max()))


def morphs_of(take: Take, name: str) -> Morphs:
    """The shapes of a soft body, as few as its file needs to be small."""
    rest, normals, _ = rest_of(take, name)
    within, frames = tolerance(rest), len(take.time)
    keys, lost = _key_frames(take, name, BETWEEN * within)
    mixed = _between(keys, frames)
    shaped = np.diff(take.soft[f"{name}.first"])[keys] > 0
    keys, mixed = keys[shaped], mixed[:, shaped]
    keys, mixed, unlike = _unlike(take, name, keys, mixed, LIKE * within)
    shifts, turns = np.zeros((2, len(keys), len(rest), 3), np.float32)
    for k, frame in enumerate(keys):
        index, there, facing = moved_at(take, name, int(frame))
        shifts[k, index], turns[k, index] = there - rest[index], facing - normals[index]
    trimmed = _trimmed(shifts, turns, TRIMMED * within)
    most = int(WORTH * _room(*trimmed, frames))
    few = _shared(shifts, turns, mixed, TRIMMED * within, within - lost - unlike, most)
    if few is not None:
        return few
    shown = _shows(*trimmed)
    names = [f"frame {frame}" for frame in keys[shown]]  # of others nothing is left: they look as at rest
    return Morphs(names, trimmed[0][shown], trimmed[1][shown], mixed[:, shown])


def moved_by(shifts: Singles, turns: Singles) -> list[NDArray[np.int64]]:
    """The vertices that a shape moves and those that it turns, or those that it does either to if naming these takes
    less room; nothing if telling of all does."""
    moved, turned = _any(shifts), _any(turns)
    either = moved | turned
    apart, together = _bytes_apart(moved, turned), _bytes_together(either)
    if VERTEX * len(shifts) <= min(apart, together):
        return []
    if apart < together and moved.any() and turned.any():
        return [np.flatnonzero(moved), np.flatnonzero(turned)]
    return [np.flatnonzero(either)]


def _bytes_apart(moved: NDArray[np.bool_], turned: NDArray[np.bool_]) -> Any:
    return (VERTEX // 2 + NUMBER) * (moved.sum(axis=-1) + turned.sum(axis=-1))


def _bytes_together(either: NDArray[np.bool_]) -> Any:
    return (VERTEX + NUMBER) * either.sum(axis=-1)


def _room(shifts: Singles, turns: Singles, frames: int) -> int:
    """How many bytes shapes (K, V, 3) take, with their weights."""
    moved, turned = _any(shifts), _any(turns)
    either = moved | turned
    least = np.minimum(np.minimum(_bytes_apart(moved, turned), _bytes_together(either)), VERTEX * shifts.shape[1])
    return int(least.sum()) + (SHAPE + WEIGHT * frames) * int(either.any(axis=-1).sum())


def _shows(shifts: Singles, turns: Singles) -> NDArray[np.bool_]:
    """(K,) of which shapes anything is left."""
    return np.asarray((_any(shifts) | _any(turns)).any(axis=-1))


def _key_frames(take: Take, name: str, within: float) -> tuple[NDArray[np.int64], float]:
    """Frames between which all others lie on straight ways, and how far from them they are at most."""
    keys, lost, last = [0], 0.0, len(take.time) - 1
    while keys[-1] < last:
        start = keys[-1]
        far, beyond, error = start + 1, last + 1, 0.0
        while far + 1 < beyond:  # ever farther, then by halves between what is near enough and what is not
            trial = min(2 * far - start, last) if beyond > last else (far + beyond) // 2
            off = _off(take, name, start, trial)
            if off <= within:
                far, error = trial, off
            else:
                beyond = trial
        keys.append(far)
        lost = max(lost, error)
    return np.array(keys), lost


def _off(take: Take, name: str, start: int, end: int) -> float:
    """How far vertices are at most from the straight ways between two frames."""
    first = take.soft[f"{name}.first"]
    if first[start] == first[end + 1]:
        return 0.0
    one, other = _shifts(take, name, start), _shifts(take, name, end)
    far = 0.0
    for frame in range(start + 1, end):
        share = np.float32((frame - start) / (end - start))
        far = max(far, _longest(_shifts(take, name, frame) - ((1 - share) * one + share * other)))
    return far


def _shifts(take: Take, name: str, frame: int) -> Singles:
    """(V, 3) of all vertices, also of those that have not moved."""
    first = take.soft[f"{name}.first"]
    rows = slice(int(first[frame]), int(first[frame + 1]))
    shifts = np.zeros((len(take.soft[f"{name}.vertices"]), 3), np.float32)
    shifts[take.soft[f"{name}.index"][rows]] = take.soft[f"{name}.shift"][rows]
    return shifts


def _longest(vectors: NDArray[Any]) -> float:
    return float(np.sqrt(_squares(vectors).max(initial=0.0)))


def _squares(vectors: NDArray[Any]) -> NDArray[Any]:
    """(...) of the lengths of vectors (..., 3)."""
    return np.asarray(np.einsum("...i,...i->...", vectors, vectors))


def _any(vectors: Singles) -> NDArray[np.bool_]:
    """(...) which vectors (..., 3) are not 0; several times faster than numpy's own for such short ones."""
    x, y, z = (vectors[..., k] != 0 for k in range(3))
    return x | y | z


def _between(keys: NDArray[np.int64], frames: int) -> Floats:
    """(F, K) the shares of key frames in every frame."""
    return np.stack([np.interp(np.arange(frames), keys, one) for one in np.eye(len(keys))], axis=-1)


def _unlike(
    take: Take, name: str, keys: NDArray[np.int64], mixed: Floats, within: float
) -> tuple[NDArray[np.int64], Floats, float]:
    """Of key frames in a row that are alike only the first, with the shares of all; and how far others are from it."""
    kept, into, lost = [0], [], 0.0
    for k, frame in enumerate(keys):
        off = _longest(_shifts(take, name, int(frame)) - _shifts(take, name, int(keys[kept[-1]])))
        if off > within:
            kept.append(k)
        else:
            lost = max(lost, off)
        into.append(len(kept) - 1)
    mixed = np.stack([mixed[:, np.array(into) == k].sum(axis=1) for k in range(len(kept))], axis=-1)
    return keys[kept], mixed, lost


def _trimmed(shifts: Singles, turns: Singles, within: float) -> tuple[Singles, Singles]:
    """Without what hardly moves, and what hardly turns."""
    moved, turned = _squares(shifts) >= within**2, _squares(turns) >= TURNED**2
    return shifts * moved[..., None], turns * turned[..., None]


def _shared(shifts: Singles, turns: Singles, mixed: Floats, within: float, slack: float, most: int) -> Morphs | None:
    """The strongest singular shapes of all key frames, and what each of these has of its own beside them: as many as
    take the least room, if that is no more than `most` bytes, or so many that nothing beside them moves by more than
    `slack`, if that takes little more."""
    count = len(shifts)
    tables = shifts.reshape(count, -1), turns.reshape(count, -1)
    shares = np.linalg.eigh(np.asarray(tables[0] @ tables[0].T, np.float64))[1][:, ::-1]

    def left(number: int) -> tuple[Singles, Singles]:
        chosen = shares[:, :number].astype(np.float32)
        moves, faces = ((table - chosen @ (chosen.T @ table)).reshape(shifts.shape) for table in tables)
        return _trimmed(moves, faces, within)

    chosen, number = 0, 1
    each = VERTEX * shifts.shape[1] + WEIGHT * len(mixed) + SHAPE
    while number < count and (number + 1) * each < most:
        room = (number + 1) * each + _room(*left(number), len(mixed))
        if room < most:
            chosen, most = number, room
        number += 1 + number // 3
    if chosen == 0:
        return None
    own = left(chosen)

    def fits(number: int) -> bool:
        chosen = shares[:, :number].astype(np.float32)
        return _longest((tables[0] - chosen @ (chosen.T @ tables[0])).reshape(shifts.shape)) <= slack

    few, enough = 0, min(int(SIMPLER * most) // each - 1, count)
    if enough > 0 and fits(enough):
        while enough - few > 1:
            middle = (few + enough) // 2
            few, enough = (few, middle) if fits(middle) else (middle, enough)
        chosen, own = enough, (np.zeros_like(shifts), np.zeros_like(turns))
    shares = shares[:, :chosen]
    weights = mixed @ shares
    flip = np.where(weights.max(axis=0) < -weights.min(axis=0), -1.0, 1.0)
    shares, weights = shares * flip, weights * flip
    # Weights from 0 to 1: what they would be less, a shape that is always worn takes away.
    high = weights.max(axis=0)
    low = np.where(weights.min(axis=0) < -ROUNDING * high, weights.min(axis=0), 0.0)
    names = [f"shape {k + 1}" for k in range(chosen)]
    weights, recipe = np.maximum((weights - low) / (high - low), 0.0), (shares * (high - low)).T
    if low.any():
        names = ["always", *names]
        weights = np.concatenate([np.ones((len(weights), 1)), weights], axis=1)
        recipe = np.concatenate([[shares @ low], recipe])
    shown = _shows(*own)
    names += [f"own {k + 1}" for k in np.flatnonzero(shown)]
    weights = np.concatenate([weights, mixed[:, shown]], axis=1)

    def mix(parts: Singles, beside: Singles) -> Singles:
        shapes = (recipe @ parts.reshape(count, -1)).reshape(-1, *parts.shape[1:]).astype(np.float32)
        return np.concatenate([shapes, beside[shown]])

    return Morphs(names, mix(shifts, own[0]), mix(turns, own[1]), weights)
