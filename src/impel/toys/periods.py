"""Does a motion repeat? Period classification and bifurcation diagrams.

A pose graph drives its figure with a fixed period, but the motion may repeat only every second, third, ... cycle,
or never (002, section 5). States are compared where every cycle starts, without x, which grows, and with the height
counted from the ground, which may rise.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.files import Problem
from impel.toys.figure import SHORTEST, Figure
from impel.toys.mechanism import GRAVITY, Rows
from impel.toys.toy import Toy
from impel.toys.trials import VERIFY_STEP, Results, gains_of, heights_above, run_trials, start_state

Floats = NDArray[np.float64]

TOLERANCE = 5e-3  # of each component's scale; measured to separate period 2 from period 4 and both from chaos
EXACT = 1e-5  # the same for what has settled for good
LONGEST = 16  # longer periods are called chaos
FALLEN = -1
CHAOS = 0


def scales_of(figure: Figure) -> Floats:
    """What counts as large for every component but x: the figure's own length, and the speeds gravity gives it."""
    ends = np.array([point for link in figure.links.values() for point in (link.start, link.end)])
    length = float(np.linalg.norm(np.ptp(ends, axis=0)))
    turns = len(figure.links)
    speed = np.sqrt(GRAVITY * length)
    return np.array([length, *[1.0] * turns, speed, speed, *[speed / length] * turns])


def cycle_states(figure: Figure, samples: Floats, rows: Rows) -> Floats:
    """The components that should repeat: (..., S, saved) to (..., S, 2·size - 1)."""
    states = samples[..., rows.position.start + 1 : rows.velocity.stop].copy()
    x = samples[..., rows.position.start]
    with np.errstate(invalid="ignore"):  # nothing is known after a fall
        states[..., 0] = heights_above(figure, x, states[..., 0])
    return states


def repeat_errors(states: Floats, scales: Floats, *, longest: int, last: int) -> Floats:
    """How far the last cycles are from those p cycles before, p = 1..longest, in scales; (..., longest)."""
    scaled = states / scales
    errors = []
    for p in range(1, longest + 1):
        change = np.abs(scaled[..., p:, :] - scaled[..., :-p, :])[..., -last:, :]
        errors.append(change.max(axis=(-2, -1)))
    return np.stack(errors, axis=-1)


def periods_of(
    figure: Figure, samples: Floats, rows: Rows, *, exact: bool = False, longest: int = LONGEST
) -> NDArray[np.int64]:
    """The period of every trial in cycles, from samples at every cycle (T, S, saved); `CHAOS` or `FALLEN`.

    The last three periods must repeat, and never fewer than eight cycles; everything before is the way in.
    exact: what repeats to within `EXACT` has the period of its return map, also where a viewer would see a shorter one.
    """
    states = cycle_states(figure, samples, rows)
    if states.shape[1] < 3 * longest + 8:
        longest = max(1, (states.shape[1] - 8) // 3)
    found = np.full(len(states), CHAOS)
    errors = {
        p: repeat_errors(states, scales_of(figure), longest=p, last=max(8, 2 * p))[..., p - 1]
        for p in range(longest, 0, -1)
    }
    for bound in (TOLERANCE, EXACT) if exact else (TOLERANCE,):
        for p, error in errors.items():
            found[error < bound] = p
    found[np.isnan(states[:, -1, 0])] = FALLEN
    return found


def period_name(period: int) -> str:
    return {CHAOS: "chaos", FALLEN: "fallen"}.get(int(period), f"period {period}")


def period_of_toy(toy: Toy, figure: Figure, *, seconds: float = 30.0, step: float = VERIFY_STEP) -> int:
    """The period of one toy once it has settled, over `seconds`."""
    cycles = max(12, int(seconds / sum(toy.times)))
    result = run_cycles(toy, figure, [toy.times], cycles=cycles, step=step)
    return int(periods_of(figure, result.samples, result.rows, exact=True)[0])


def run_cycles(
    toy: Toy, figure: Figure, times: ArrayLike, *, cycles: int, step: float = VERIFY_STEP,
    poses: Floats | None = None, gains: Floats | None = None, threads: int | None = None,
) -> Results:  # fmt: skip
    """Many variants of a toy, each for a number of cycles, sampled at the start of every cycle (cycles + 1 states)."""
    arcs = np.asarray(times, float)
    wished = np.broadcast_to(toy.angles(figure) if poses is None else poses, (len(arcs), *toy.angles(figure).shape))
    if toy.sensors:
        raise Problem("toy: has sensors, so its cycles have no fixed length; periods are for timed pose graphs")
    return run_trials(
        figure, wished, arcs, seconds=arcs.sum(1) * cycles, step=step, interpolation=toy.interpolation,
        starts=start_state(figure), gains=gains, samples=cycles + 1, threads=threads,
    )  # fmt: skip


@dataclass(frozen=True)
class Bifurcation:
    """How the settled motion depends on one parameter."""

    parameter: str
    values: Floats  # (V,)
    states: Floats  # (V, kept, saved) at the start of the last cycles; NaN after a fall
    periods: NDArray[np.int64]  # (V,)
    rows: Rows

    def windows(self) -> list[tuple[int, float, float]]:
        """Neighbouring values with the same period: (period, from, to), in the order of the values."""
        runs: list[tuple[int, float, float]] = []
        for value, period in zip(self.values, self.periods):
            if runs and runs[-1][0] == period:
                runs[-1] = (int(period), runs[-1][1], float(value))
            else:
                runs.append((int(period), float(value), float(value)))
        return runs


def bifurcate(
    toy: Toy, figure: Figure, parameter: str, values: ArrayLike, *, cycles: int = 260, keep: int = 64,
    step: float = VERIFY_STEP, threads: int | None = None,
) -> Bifurcation:  # fmt: skip
    """Vary one parameter of a toy: times.2, poses.0.elbow (degrees), joints.elbow.stiffness, ground.friction."""
    varied = np.asarray(values, float)
    check_values(toy, figure, parameter, varied)
    times = np.tile(np.asarray(toy.times, float), (len(varied), 1))
    poses = np.tile(toy.angles(figure), (len(varied), 1, 1))
    gains = np.tile(gains_of(figure), (len(varied), 1))
    _setter(toy, figure, parameter)(varied, times, poses, gains)
    result = run_cycles(toy, figure, times, poses=poses, gains=gains, cycles=cycles, step=step, threads=threads)
    kept = result.samples[:, -keep:]
    return Bifurcation(parameter, varied, kept, periods_of(figure, kept, result.rows), result.rows)


def check_values(toy: Toy, figure: Figure, parameter: str, values: Floats) -> None:
    """Refuse a parameter that the toy does not have, and values that it cannot take."""
    _setter(toy, figure, parameter)
    low, high = 0.0, np.inf
    if parameter.startswith("times."):
        low = SHORTEST
    elif parameter.startswith("poses."):
        low, high = figure.joints[parameter.split(".")[2]].range or (-np.inf, np.inf)
    wrong = values[~((values >= low) & (values <= high) & np.isfinite(values))]
    if len(wrong):
        allowed = f"be {low:g} or more" if np.isinf(high) else f"lie within the range {low:g} to {high:g}"
        raise Problem(f"{parameter}: must {allowed}, got {wrong[0]:g}")


def _setter(toy: Toy, figure: Figure, parameter: str) -> Callable[[Floats, Floats, Floats, Floats], None]:
    """Which entries of times, poses or gains a parameter's name stands for."""
    names = list(figure.joints)
    match parameter.split("."):
        case ["times", i] if i.isdigit() and int(i) < len(toy.times):
            return lambda v, times, poses, gains: times.__setitem__((slice(None), int(i)), v)
        case ["poses", i, joint] if i.isdigit() and int(i) < len(toy.poses) and joint in figure.active:
            column = figure.active.index(joint)
            return lambda v, times, poses, gains: poses.__setitem__((slice(None), int(i), column), np.radians(v))
        case ["joints", joint, "stiffness"] if joint in names:
            return lambda v, times, poses, gains: gains.__setitem__((slice(None), names.index(joint)), v)
        case ["joints", joint, "damping"] if joint in names:
            place = len(names) + names.index(joint)
            return lambda v, times, poses, gains: gains.__setitem__((slice(None), place), v)
        case ["ground", "friction"]:
            return lambda v, times, poses, gains: gains.__setitem__((slice(None), -1), v)
    known = [f"times.0 to times.{len(toy.times) - 1}", *(f"poses.0.{name}" for name in figure.active[:1])]
    known += [f"joints.{name}.{gain}" for name in names[:1] for gain in ("stiffness", "damping")]
    raise Problem(f"{parameter}: no such parameter; write {', '.join(known)} or ground.friction")
