"""The one door to the simulator: one trial or a hundred thousand, on all cores."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.cores import available_cores
from impel.files import Problem
from impel.toys.figure import Figure, Interpolation
from impel.toys.mechanism import Mechanism, Rows, ground_at, mechanism_of, rows_of
from impel.toys.simulator import simulator_of

Floats = NDArray[np.float64]

SEARCH_STEP = 1e-3  # s; fast and stable for the built-in figures
VERIFY_STEP = 0.25e-3  # s; what looks good at the search step but not here was luck
SMALLEST_CHUNK = 64  # trials per call: enough to keep eight lanes full


@dataclass(frozen=True)
class Results:
    """What trials came to: one line each, columns as in `rows`."""

    rows: Rows
    final: Floats  # (T, saved) the state at the end, or at the fall
    start: Floats  # (T,) x at the start
    samples: Floats  # (T, S, saved), NaN after a fall
    seconds: Floats  # (T,) how long it was to last
    cycle: Floats  # (T,) seconds for a whole round of poses, unless sensors cut it short

    @property
    def distance(self) -> Floats:
        """How far the root came along x, in metres; what has exploded came nowhere."""
        return np.where(np.isfinite(self.final[:, 0]), self.final[:, 0] - self.start, -np.inf)

    @property
    def fallen(self) -> NDArray[np.bool_]:
        return self.final[:, self.rows.alive] == 0.0

    @property
    def time(self) -> Floats:
        """Seconds lived."""
        return self.final[:, self.rows.time]

    @property
    def work(self) -> Floats:
        """∫|torque · speed| per joint, in J, (T, J)."""
        return self.final[:, self.rows.work]

    @property
    def effort(self) -> Floats:
        """∫torque² per joint, in N²m²s, (T, J)."""
        return self.final[:, self.rows.effort]

    @property
    def mean_height(self) -> Floats:
        return self.final[:, self.rows.height] / np.maximum(self.time, 1e-9)


def run_trials(
    figure: Figure,
    poses: ArrayLike,
    times: ArrayLike,
    *,
    seconds: ArrayLike = 4.0,
    step: float = SEARCH_STEP,
    interpolation: Interpolation = "hold",
    sensors: ArrayLike | None = None,
    starts: ArrayLike | None = None,
    gains: ArrayLike | None = None,
    samples: int = 0,
    stride: int = 0,
    threads: int | None = None,
) -> Results:
    """Run many pose graphs of one figure.

    poses: wished angles of the active joints in radians, (T, P, A). times: seconds on every arc, (P,) or (T, P).
    seconds: how long, one for all or (T,). step: the longest step; every arc is cut into whole steps.
    sensors: (T, P) of 0 (time only), +k (leave when contact k-1 touches) or -k (when it does not).
    starts: (T, 2·size) positions and velocities, or None for the drawn posture on the ground.
    gains: (T, 2J+1) stiffness and damping of every joint and the ground's friction, or None for the figure's.
    samples: how many states to keep, every `stride` steps, or at the start of every cycle if stride is 0.
    """
    rows = rows_of(figure)
    active = [j for j, joint in enumerate(figure.joints.values()) if joint.active]
    wished = np.asarray(poses, float)
    if wished.ndim != 3 or wished.shape[2] != len(active) or wished.shape[1] == 0:
        expected = f"(trials, poses, {len(active)} active joints)"
        raise Problem(f"{figure.figure}: poses: must be {expected}, got {wished.shape}")
    if not 0 < step < 1:
        raise Problem(f"{figure.figure}: step: must be between 0 and 1 s, got {step:g}")
    count, pose_count = wished.shape[:2]
    full = np.zeros((count, pose_count, len(figure.joints)))
    full[:, :, active] = wished
    arcs = _spread(times, (count, pose_count))
    lengths = _spread(seconds, (count,))
    if not (np.all(arcs > 0) and np.all(lengths > 0) and np.all(np.isfinite(arcs)) and np.all(np.isfinite(full))):
        raise Problem(f"{figure.figure}: poses and times must be finite, and times greater than 0")
    begin = _spread(start_state(figure) if starts is None else starts, (count, 2 * rows.position.stop))
    gain = _spread(gains_of(figure) if gains is None else gains, (count, 2 * len(figure.joints) + 1))
    sensor = np.ascontiguousarray(np.broadcast_to(0 if sensors is None else np.asarray(sensors), arcs.shape), np.int64)
    final = np.zeros((count, rows.saved))
    kept = np.full((count, samples, rows.saved), np.nan)
    trials = simulator_of(figure).trials

    def work(part: tuple[int, int]) -> None:
        linear = interpolation == "linear"
        trials(*part, float(step), full, arcs, sensor, linear, lengths, begin, gain, kept, stride, final)

    parts = chunks(count, threads or available_cores())
    if len(parts) == 1:
        work(parts[0])
    elif parts:
        with ThreadPoolExecutor(threads or available_cores()) as pool:
            list(pool.map(work, parts))
    return Results(rows, final, begin[:, 0].copy(), kept, lengths, arcs.sum(axis=1))


def together(parts: Sequence[Results], places: NDArray[np.int64]) -> Results:
    """Results of several calls as one; `places` says where each of their trials goes."""
    order = np.argsort(places)

    def joined(field: str) -> Floats:
        return np.concatenate([getattr(part, field) for part in parts])[order]

    return Results(parts[0].rows, *(joined(name) for name in ("final", "start", "samples", "seconds", "cycle")))


def _spread(values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(values, float), shape))


def chunks(count: int, threads: int) -> list[tuple[int, int]]:
    """Parts of 0..count, small enough to even out between threads and large enough to fill the lanes."""
    size = max(SMALLEST_CHUNK, -(-count // (8 * threads) + 7) // 8 * 8) if threads > 1 else max(count, 1)
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def gains_of(figure: Figure) -> Floats:
    """Stiffness of every joint, damping of every joint, friction of the ground."""
    joints = figure.joints.values()
    return np.array([*(j.stiffness for j in joints), *(j.damping for j in joints), figure.ground.friction])


def start_state(figure: Figure, *, clearance: float = 0.0) -> Floats:
    """At rest in the drawn (or `start`) posture, its lowest contact point `clearance` above the ground."""
    mechanism = mechanism_of(figure)
    state = np.zeros(2 * mechanism.size)
    names = list(figure.joints)
    for i in range(1, len(mechanism.links)):
        turn = figure.start.get(names[mechanism.joint[i]], 0.0)
        state[2 + i] = state[2 + mechanism.parent[i]] + np.radians(turn)
    state[0] = mechanism.origin[0]
    points = contact_points(mechanism, state[None])[0]
    state[1] = clearance - min(z - ground_at(figure, x) for x, z in points)
    return state


def heights_above(figure: Figure, x: Floats, z: Floats) -> Floats:
    """How far points are above the ground under them."""
    ground = figure.ground
    if ground.profile is None:
        return z - x * np.tan(np.radians(ground.slope))
    return z - np.interp(x, *np.array(ground.profile).T)


def link_frames(mechanism: Mechanism, positions: Floats) -> Floats:
    """Where every link's reference point is, (F, links, 2), from states (F, ≥ size)."""
    frames = np.zeros((len(positions), len(mechanism.links), 2))
    frames[:, 0] = positions[:, :2]
    for i in range(1, len(mechanism.links)):
        p = mechanism.parent[i]
        frames[:, i] = frames[:, p] + turned(mechanism.arm[i], positions[:, 2 + p])
    return frames


def contact_points(mechanism: Mechanism, positions: Floats) -> Floats:
    """Where every contact point is, (F, contacts, 2)."""
    frames = link_frames(mechanism, positions)
    return np.stack(
        [
            frames[:, link] + turned(arm, positions[:, 2 + link])
            for link, arm in zip(mechanism.contact_link, mechanism.contact_arm)
        ],
        axis=1,
    )


def turned(vector: Sequence[float], angle: Floats) -> Floats:
    """A drawn vector after turning counter-clockwise in the x-z plane, (F, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]], axis=-1)
