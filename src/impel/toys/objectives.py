"""What makes a motion good: named terms that combine, and the robust evaluation that every search uses.

    {"lasting": 1.0, "effort": -0.05}                  far and upright, without straining
    {"speed": 1.0, "periodicity": 0.5, steady: 2.0}    `steady` is the animator's own function of the results

Every candidate runs from several start heights, one of them at a quarter of the step, and counts as its worst run: a
single start selects lucky chaos, a single step whatever that step gives away.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.toys.figure import SHORTEST, Figure, Interpolation
from impel.toys.periods import cycle_states, repeat_errors, scales_of
from impel.toys.toy import Sensor, sensor_codes
from impel.toys.trials import SEARCH_STEP, Results, run_trials, start_state, together

Floats = NDArray[np.float64]
OwnTerm = Callable[[Results], Floats]  # the animator's: results of T runs to (T,)

# m above the ground. A touch and a real drop tell robust motions from lucky ones: 30 of 32 Luxo winners keep 80 % of
# their distance at a quarter of the step, against 13 of 16 with 0, 0.01 and 0.02 (measured).
START_HEIGHTS = (0.0, 0.005, 0.05)
FINE = 1  # which of several starts runs at a quarter of the step
LEAST_CYCLES = 4  # what periodicity needs to compare two cycles with those two before
NO_SENSOR = 0.5  # of the range from which a search draws how a pose ends; the rest is shared by all sensors
BEST_REPEAT = 1e-3  # of a component's scale: a cycle that repeats this well is periodic, better is no better


def distance(results: Results) -> Floats:
    """How far it comes, in metres."""
    return results.distance


def lasting(results: Results) -> Floats:
    """How far it comes, in metres, times the square of the share of the time asked for that it stayed up.

    What falls comes no farther, so a long way before a fall is worth less than half of it upright.
    """
    return np.minimum(results.distance, results.distance * upright(results) ** 2)


def speed(results: Results) -> Floats:
    """Distance over the time it stayed up, in m/s."""
    return results.distance / np.maximum(results.time, 1e-9)


def effort(results: Results) -> Floats:
    """∫torque² over all joints, in N²m²s. Give it a negative weight."""
    return results.effort.sum(1)


def work(results: Results) -> Floats:
    """∫|torque · speed| over all joints, in J. Give it a negative weight."""
    return results.work.sum(1)


def height(results: Results) -> Floats:
    """Mean height of the root, in metres."""
    return results.mean_height


def upright(results: Results) -> Floats:
    """Share of the time asked for that it stayed up, 0 to 1."""
    return np.minimum(results.time / results.seconds, 1.0)


def periodicity(results: Results) -> Floats:
    """How well the last cycles repeat those one or two cycles before: 0 not at all, 1 to within 0.001."""
    raise AssertionError("evaluated by Objective, which knows the figure")


TERMS: dict[str, OwnTerm] = {
    f.__name__: f for f in (lasting, distance, speed, effort, work, height, upright, periodicity)
}
DEFAULT_TERMS: Mapping[str | OwnTerm, float] = {"lasting": 1.0}


@dataclass(frozen=True)
class Objective:
    """Values candidates of one figure: weighted terms, worst of several starts.

    A candidate is all poses in radians, one after the other; then the time of every arc, if these vary, too; then a
    number from 0 to 1 for what may end every arc early, if that varies.
    """

    figure: Figure
    terms: Mapping[str | OwnTerm, float] = field(default_factory=lambda: dict(DEFAULT_TERMS))
    poses: int = 4
    times: float | tuple[float, ...] = 0.14
    interpolation: Interpolation = "hold"
    vary_times: tuple[float, float] | None = None  # s, the range of every arc; None keeps `times`
    sensors: tuple[Sensor | None, ...] | None = None
    vary_sensors: bool = False  # finds what may end every arc early; `sensors` is then only where a search begins
    seconds: float = 4.0
    step: float = SEARCH_STEP
    heights: tuple[float, ...] = START_HEIGHTS
    threads: int | None = None

    def __post_init__(self) -> None:
        if not self.figure.active:
            raise Problem(f"{self.figure.figure}: joints: none is active, so there is nothing to search for")
        if not self.terms:
            raise Problem("objective: needs at least one term")
        for name in self.terms:
            if isinstance(name, str) and name not in TERMS:
                raise Problem(f"objective: {name}: no such term; there are {', '.join(TERMS)}")
        if np.shape(self.times) not in ((), (self.poses,)):
            raise Problem(f"objective: times: needs one for each of the {self.poses} poses, got {np.size(self.times)}")
        if not np.min(self.times) >= SHORTEST:
            raise Problem(f"objective: times: must be at least {SHORTEST:g} s, got {np.min(self.times):g}")
        if self.sensors is not None and len(self.sensors) != self.poses:
            raise Problem(f"objective: sensors: needs one (or None) for each of the {self.poses} poses")
        if self.vary_times is not None and not SHORTEST <= self.vary_times[0] < self.vary_times[1] < np.inf:
            low, high = self.vary_times
            raise Problem(f"objective: times: must vary from at least {SHORTEST:g} s upwards, got {low:g} to {high:g}")
        if "periodicity" in self.terms:
            self._check_cycles()

    def _check_cycles(self) -> None:
        if self.sensors is not None or self.vary_sensors:
            raise Problem("objective: periodicity is for timed pose graphs; with sensors no cycle has a fixed length")
        longest = self.poses * self.vary_times[1] if self.vary_times else self._cycle
        if int(self.seconds / longest + 1e-9) < LEAST_CYCLES:
            needed = f"periodicity needs at least {LEAST_CYCLES} cycles"
            raise Problem(f"objective: {needed}, and one takes {longest:g} s; run for longer")

    @property
    def _cycle(self) -> float:
        return float(np.broadcast_to(self.times, (self.poses,)).sum())

    def bounds(self) -> tuple[Floats, Floats]:
        """What every parameter may be: angles in radians, then times in seconds and sensors if they vary."""
        low, high = (np.tile(ends, self.poses) for ends in np.radians(np.array(self.figure.ranges(), float)).T)
        for least, most in filter(None, (self.vary_times, (0.0, 1.0) if self.vary_sensors else None)):
            low, high = np.append(low, [least] * self.poses), np.append(high, [most] * self.poses)
        return low, high

    def shaped(self, candidates: Floats) -> Floats:
        """The poses of candidates, (n, poses, active joints)."""
        angles = self.poses * len(self.figure.active)
        return np.asarray(candidates, float)[:, :angles].reshape(len(candidates), self.poses, -1)

    def arcs(self, candidates: Floats) -> Floats:
        """The times of candidates, (n, poses)."""
        if self.vary_times is None:
            return np.broadcast_to(np.asarray(self.times, float), (len(candidates), self.poses))
        angles = self.poses * len(self.figure.active)
        return np.asarray(candidates, float)[:, angles : angles + self.poses]

    def sensed(self, candidate: Floats) -> tuple[Sensor | None, ...] | None:
        """What may end every arc of a candidate early."""
        if not self.vary_sensors:
            return self.sensors
        every = _every_sensor(self.figure)
        drawn = (candidate[-self.poses :] - NO_SENSOR) / (1.0 - NO_SENSOR)
        return tuple(None if d < 0 else every[min(int(d * len(every)), len(every) - 1)] for d in drawn)

    def codes(self, candidates: Floats) -> NDArray[np.int64] | None:
        """The same for many, as the simulator wants it, (n, poses)."""
        if self.sensors is None and not self.vary_sensors:
            return None
        none = (None,) * self.poses
        return np.stack([sensor_codes(self.sensed(one) or none, self.figure) for one in candidates])

    def candidate(self, angles: Floats) -> Floats:
        """A candidate from poses (poses, active joints), with the objective's own times and sensors."""
        parts = [np.ravel(angles)]
        if self.vary_times is not None:
            parts.append(np.broadcast_to(np.asarray(self.times, float), (self.poses,)))
        if self.vary_sensors:
            every = _every_sensor(self.figure)
            places = [
                -0.5 if sensor is None else every.index(sensor) + 0.5 for sensor in self.sensors or [None] * self.poses
            ]
            parts.append(NO_SENSOR + (1.0 - NO_SENSOR) * np.array(places) / len(every))
        return np.concatenate(parts)

    def run(self, candidates: Floats, *, step: float | None = None, seconds: float | None = None) -> Results:
        """Every candidate from every start height: candidate 0 from all heights, then candidate 1, ...

        With a step given all runs have that; without, the start `FINE` of several has a quarter of the search's.
        """
        every = np.arange(len(self.heights))
        if step is not None or len(every) == 1:
            return self._runs(candidates, every, step or self.step, seconds or self.seconds)
        fine = every == FINE
        groups = [(every[~fine], self.step), (every[fine], self.step / 4)]
        parts = [self._runs(candidates, starts, each, seconds or self.seconds) for starts, each in groups]
        places = np.concatenate(
            [(len(every) * np.arange(len(candidates))[:, None] + starts).ravel() for starts, _ in groups]
        )
        return together(parts, places)

    def _runs(self, candidates: Floats, starts: NDArray[np.int64], step: float, seconds: float) -> Results:
        states = np.stack([start_state(self.figure, clearance=self.heights[i]) for i in starts])
        codes = self.codes(candidates)
        return run_trials(
            self.figure,
            np.repeat(self.shaped(candidates), len(starts), axis=0),
            np.repeat(self.arcs(candidates), len(starts), axis=0),
            seconds=seconds,
            step=step,
            interpolation=self.interpolation,
            sensors=None if codes is None else np.repeat(codes, len(starts), axis=0),
            starts=np.tile(states, (len(candidates), 1)),
            samples=self._cycles(seconds) + 1 if "periodicity" in self.terms else 0,
            threads=self.threads,
        )

    def _cycles(self, seconds: float) -> int:
        """At most."""
        shortest = self.poses * self.vary_times[0] if self.vary_times else self._cycle
        return int(seconds / shortest + 1e-9)

    def values(self, results: Results) -> Floats:
        """One value per run, (T,)."""
        total = np.zeros(len(results.final))
        with np.errstate(all="ignore"):  # exploded runs hold infinities
            for term, weight in self.terms.items():
                if term == "periodicity":
                    part = self._periodicity(results)
                else:
                    part = TERMS[term](results) if isinstance(term, str) else np.asarray(term(results), float)
                total += weight * part
        # What exploded or has no value is worth nothing, whatever the terms say.
        return np.where(np.isfinite(results.final[:, 0]) & np.isfinite(total), total, -np.inf)

    def _periodicity(self, results: Results) -> Floats:
        states = cycle_states(self.figure, results.samples, results.rows)
        error = np.full(len(states), np.nan)
        counts = np.where(results.fallen, 0, (~np.isnan(states[:, :, 0])).sum(axis=1))
        for count in np.unique(counts[counts > LEAST_CYCLES]):  # times that vary give different numbers of cycles
            chosen, last = counts == count, max(2, count // 3)
            known = states[chosen, :count]
            error[chosen] = repeat_errors(known, scales_of(self.figure), longest=2, last=last).min(axis=1)
        worth = np.clip(np.log10(1.0 / np.maximum(error, BEST_REPEAT)) / np.log10(1.0 / BEST_REPEAT), 0.0, 1.0)
        return np.where(np.isnan(error), 0.0, worth)

    def __call__(self, candidates: Floats) -> Floats:
        """The robust value of every candidate, (n,)."""
        return self.robust(self.run(candidates))

    def robust(self, results: Results) -> Floats:
        return self.values(results).reshape(-1, len(self.heights)).min(axis=1)

    def verified(self, candidates: Floats) -> Floats:
        """The robust value with all starts at a quarter of the step: luck does not survive it."""
        return self.robust(self.run(candidates, step=self.step / 4))


def _every_sensor(figure: Figure) -> list[Sensor]:
    """What a pose may wait for: any contact point that touches, or that leaves the ground."""
    return [
        sensor
        for name in figure.contacts
        for sensor in (Sensor(touches=name, leaves=None), Sensor(touches=None, leaves=name))
    ]
