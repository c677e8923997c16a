"""Figure 9 of paper 000: a quick arm waits for a slow one; and what becomes of the paper's rule for waiting."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.analysis.plots import SOFT, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.gallery.meetings import Met, hold_meeting, ideal_duration, percentile, random_meeting, spread
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 40
TITLE = "Two arms of different strength climb together"
TEXT = (
    "The light arm would be twice as fast, but it must meet the heavy one at two keys on the way. It slows down, and "
    "goes "
    "on at its own speed afterwards. The paper makes arms slower by weakening them, in every step a little more: that "
    "stops everybody for good as soon as one is held up. impel lets the clocks of their targets go slower instead, and "
    "leaves their muscles alone."
)

MEETINGS = 12  # random ones
ALPHA, BASE, RELAXATION = 0.1, 0.3, 0.05


class Climb(NamedTuple):
    """Speeds of the quick hand over its own, which is that of its path."""

    waiting: float  # mean until the second key
    after: float  # the largest afterwards
    peak: float  # the largest of all


def climb(take: Take) -> Climb:
    scene = gallery_scene("climb")
    move = scene.actors["quick"].move
    assert move is not None
    assert move.speed is not None
    kept = next(e["time"] for e in take.events if e["kind"] == "appointment kept" and e["subject"] == "high")
    speed = take.channels["quick.speed"] / move.speed
    return Climb(
        float(speed[(take.time > 0.3) & (take.time < kept)].mean()),
        float(speed[take.time > kept].max()),
        float(speed.max()),
    )


def regains(told: Climb) -> Verdict:
    return judge(
        "000.6",
        told.waiting < 0.7 and 0.9 < told.after < 1.1,
        f"the quick hand goes at {told.waiting:.2f} of its speed while it waits (below 0.7 asked), and at up to "
        f"{told.after:.2f} of it afterwards (0.9 to 1.1)",
    )


def ball(alpha: float, **push: object) -> Take:
    scene = Scene(seconds=4, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move(
        [[0, 0, 1], [20, 0, 1]],
        alpha=alpha,
        base_distance=BASE,
        relaxation=RELAXATION,
        adaptation=0,
        strength="unlimited",
    )
    if push:
        scene.push("ball", **push)
    return simulate(scene)


def speed_of(take: Take) -> float:
    return float(take.channels["ball.speed"][90:110].mean())


def average_speed(take: Take) -> Verdict:
    printed, right = ALPHA * BASE / RELAXATION, BASE * math.sqrt(ALPHA / 2) / (math.sqrt(0.5) * RELAXATION)
    found = speed_of(take)
    return judge(
        "000.4",
        abs(found / printed - 1) < 0.05,
        f"{found:.3f} m/s, and not α·d/Δt = {printed:.3f} m/s (5 % allowed); d·√(α/2)/(B·Δt) is {right:.3f} m/s",
    )


def precision(whole: Take, quarter: Take, pushed: Take, pushed_quarter: Take) -> Verdict:
    """A quarter of the α at the same α/β²: half as fast, and four times as far off under the same push."""
    aside = [float(np.abs(take.position[:, 0, 1]).max()) for take in (pushed, pushed_quarter)]
    ratio, slower = aside[1] / aside[0], speed_of(quarter) / speed_of(whole)
    return judge(
        "000.7",
        ratio < 1.2,
        f"with a quarter of α, at constant α/β², a lasting push moves it {ratio:.1f} times as far off its way (1.2 "
        "allowed), "
        f"{100 * aside[1]:.0f} cm instead of {100 * aside[0]:.0f}; and it is {slower:.2f} times as fast, not a quarter",
    )


def together(ours: list[Met], theirs: list[Met], ideals: list[float]) -> Verdict:
    """On the same random meetings, in each of which one is held up."""
    finished = sum(math.isfinite(met.duration) for met in theirs)
    apart = percentile([spread(met.targets) for met in ours], 95)
    longer = float(np.median([met.duration / ideal for met, ideal in zip(ours, ideals)]))
    return judge(
        "000.5",
        finished == len(theirs) and percentile([spread(met.targets) for met in theirs], 95) < 0.05,
        f"regulating α as printed, {finished} of {len(theirs)} random meetings in which one is held up come to an end "
        f"within three times what the slowest takes; by clocks all do, targets within {1000 * apart:.0f} ms of each "
        f"other for 95 %, in {longer:.3f} of the shortest time possible",
    )


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("climb"))
    meetings = [random_meeting(seed, timed=False) for seed in range(MEETINGS)]
    ours = [hold_meeting(meeting, "clocks") for meeting in meetings]
    theirs = [hold_meeting(meeting, "paper") for meeting in meetings]
    ideals = [ideal_duration(meeting, met) for meeting, met in zip(meetings, ours)]
    push = {"from_": 0.5, "force": [0, 5, 0]}
    write_take(take, directory / "strip.png", overlays=["paths", "targets"])
    write_take(take, directory / "film.mp4", overlays=["paths", "targets"])
    draw(directory / "speeds.png", take)
    return Exhibit(
        pictures=[
            ("strip.png", "The quick, light arm and the slow, heavy one pass their first two keys together."),
            ("film.mp4", "The same."),
            ("speeds.png", "The speeds of both hands; where they meet, and how fast each would go by itself."),
        ],
        verdicts=[
            average_speed(ball(ALPHA)),
            together(ours, theirs, ideals),
            regains(climb(take)),
            precision(ball(ALPHA), ball(ALPHA / 4), ball(ALPHA, **push), ball(ALPHA / 4, **push)),
        ],
    )


def draw(path: Path, take: Take) -> None:
    scene = gallery_scene("climb")
    with plot(path, size=(9, 3.2)) as axes:
        for name in ("quick", "slow"):
            ink, move = take.colors[take.index(f"{name}_upper")], scene.actors[name].move
            assert move is not None
            axes.plot(take.time, take.channels[f"{name}.speed"], color=ink, lw=1.6)
            axes.axhline(move.speed or 0.0, color=ink, lw=0.8, ls=(0, (4, 4)))
            name_line(axes, (take.time[-1], move.speed or 0.0), f"{name} by itself", ink, shift=(0, 7), align="right")
        for event in take.events:
            if event["kind"] == "appointment kept":
                axes.axvline(event["time"], color=SOFT, lw=1)
                name_line(axes, (event["time"], 0.68), event["subject"].replace("_", " "), SOFT)
        axes.set(xlabel="time (s)", ylabel="speed of the hand (m/s)", ylim=(0, 0.72), xlim=(0, take.time[-1]))
