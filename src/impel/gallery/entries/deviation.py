"""Figures 1 and 2 of paper 004: how a deviation dies away by dynamic constraints, and by sequential goals."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.control.courses import axes_for, paper_ending, solve_shape
from impel.gallery.goals import met, show, verdict_on_goals
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 410
TITLE = "On time, evenly"
TEXT = (
    "Two balls have the same four goals. The one behind goes by dynamic constraints: it rushes to each goal and waits "
    "there for the time to pass. The one in front goes by sequential goals: it is there when it should be, and hardly "
    "changes its speed."
)

NEAR = 0.05  # of a course: who is nearer dwells at the goal
FIRST = 1.0  # s: courses take so long; the first of them begins at rest
DWELLS, PASSES = 0.4, 0.1  # of the time near goals: that is dwelling, this is not
CASES = 3000
WIDEST = math.radians(30)  # between two courses, as the paper assumes

Floats = NDArray[np.float64]


class Near(NamedTuple):
    """What share of the time a ball is near the goal that it heads for, and its largest speed over the mean."""

    share: float
    peak: float


def near(take: Take, name: str) -> Near:
    away, time = take.channels[f"{name}.goals.move.distance"], take.time
    inside = (time > FIRST) & (time < 4.0 - 1e-9)
    course = np.floor(time + 1e-9).astype(int)
    lengths = np.array([away[course == k].max() for k in range(5)])
    speed = take.channels[f"{name}.speed"][inside]
    return Near(float(np.mean(away[inside] < NEAR * lengths[course[inside]])), float(speed.max() / speed.mean()))


def verdict_on_dwelling(rushes: Near, even: Near) -> Verdict:
    return judge(
        "004.1",
        rushes.share > DWELLS and even.share < PASSES,
        f"within {NEAR:.0%} of the goal for {rushes.share:.0%} of the time by dynamic constraints (over {DWELLS:.0%}), "
        f"with a peak of {rushes.peak:.1f} times the mean speed; by sequential goals {even.share:.1%} and "
        f"{even.peak:.2f} times",
    )


class Solutions(NamedTuple):
    """What is found in many cases of eqs. 8 and 9."""

    slopes: float  # the smallest of dγT/db and −dαT/db, over all k
    left: float  # the largest |D(T)|, as a share of the terms that add up to it
    beyond: int  # cases in which k is above the paper's bound ...
    solved: int  # ... that the hyperbolic branch solves


def solutions() -> Solutions:
    b = np.linspace(1e-3, np.pi - 1e-3, 4001)
    alpha, gamma = np.log(np.sin(b) / b), np.log(np.sin(b) / b) - b / np.tan(b)  # k only shifts them
    slopes = min(float(np.diff(gamma).min()), float(-np.diff(alpha).max()))
    random = np.random.default_rng(4)
    left, beyond, solved = 0.0, 0, 0
    for growth, k in zip(random.uniform(-2.5, 2, CASES), np.exp(random.uniform(-2, 2, CASES))):
        y = float(growth - math.log(k) + 1)
        if y < -2:
            continue
        beyond += y < 0
        s = solve_shape(y, 0.0)
        sine, cosine = _waves(s)
        alpha_t = math.log(k * sine)
        rest = abs(cosine + (growth - alpha_t) * sine) / max(1.0, abs(cosine))  # of sums that grow as cosh does
        left = max(left, rest)
        solved += y < 0 and rest < 1e-9
    return Solutions(slopes, left, beyond, solved)


def _waves(s: float) -> tuple[float, float]:
    """sin b / b and cos b, or sinh b / b and cosh b."""
    b = math.sqrt(abs(s))
    if b < 1e-4:
        return 1.0 - s / 6, 1.0 - s / 2
    return (math.sin(b) / b, math.cos(b)) if s > 0 else (math.sinh(b) / b, math.cosh(b))


def verdict_on_solutions(found: Solutions) -> Verdict:
    return judge(
        "004.3",
        found.slopes > 0 and found.left < 1e-9 and found.solved == found.beyond > 0,
        f"γT grows and αT falls with βT everywhere; {CASES} random courses leave |D(T)| ≤ {found.left:.0e} of what "
        f"adds up to it, {found.solved} of {found.beyond} with k beyond the paper's bound",
        correction="a hyperbolic branch goes on where k is too large for the trigonometric one",
    )


def feasible() -> float:
    """The share of random triples of courses, up to 30° apart, for which eqs. 12 to 14 can be met."""
    random, good = np.random.default_rng(5), 0
    for _ in range(CASES):
        ways = [np.array([1.0, 0.0, 0.0])]
        for _ in range(2):
            aside = np.cross(ways[-1], random.normal(size=3))
            angle = random.uniform(0, WIDEST)
            ways.append(math.cos(angle) * ways[-1] + math.sin(angle) * aside / np.linalg.norm(aside))
        means = [tuple((way * random.uniform(0.8, 1.25)).tolist()) for way in ways]
        ending = paper_ending(means[0], 1.0, means[1], 1.0, means[2])
        good += all(np.dot(axis, ending) < np.dot(axis, means[1]) for axis in axes_for(means[1], means[2]))
    return good / CASES


def verdict_on_choice(share: float) -> Verdict:
    return judge(
        "004.4",
        share > 0.95,
        f"eqs. 12 to 14 are met in {share:.1%} of {CASES} random courses up to 30° apart (95 % asked)",
        correction="where they are not, the least eager choice is taken, and a cubic where its sign breaks",
    )


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("deviation"))
    draw(directory / "deviations.png", take)
    pictures = show(take, directory, "deviation", [0.4, 1.0, 1.3, 1.7, 2.3, 3.0], "The same goals, twice.")
    found = met(take, "even")
    return Exhibit(
        pictures=[
            ("deviations.png", "Figures 1 and 2: the distance to the goal, and the speed."),
            *pictures,
        ],
        verdicts=[
            verdict_on_dwelling(near(take, "rushes"), near(take, "even")),
            verdict_on_goals(found, 4, True, "the ball in front"),
            verdict_on_solutions(solutions()),
            verdict_on_choice(feasible()),
        ],
    )


def draw(path: Path, take: Take) -> None:
    with plot(path, columns=2, size=(10, 3.4)) as (left, right):
        for name, ink, label in (("rushes", color(0), "dynamic constraints"), ("even", color(1), "sequential goals")):
            shown = take.time <= 4.0
            left.plot(take.time[shown], take.channels[f"{name}.goals.move.distance"][shown], color=ink)
            right.plot(take.time[shown], take.channels[f"{name}.speed"][shown], color=ink)
            name_line(right, (0.12, 3.75) if name == "rushes" else (1.45, 1.25), label, ink, shift=(0, 0))
        for axes in (left, right):
            for time in range(1, 5):
                axes.axvline(time, color=SOFT, lw=0.6, ls=":")
            axes.set(xlabel="s")
        left.set(title="Distance to the goal, m")
        right.set(title="Speed, m/s")
