"""Figure 7 of paper 000: a ball is kicked off a wagon that rolls by."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.render.outputs import write_take
from impel.stage import simulate
from impel.takes import Take

ORDER = 30
TITLE = "Kicking a ball off a moving wagon"
TEXT = (
    "The boot's keys lie in the frame of the wagon, so it finds the ball wherever that is by then, however fast the "
    "wagon "
    "goes, as long as the leg can follow. A wagon that is too fast is given up: the appointment is missed, and the leg "
    "goes back."
)

FOLLOWED, TOO_FAST = (0.1, 1.2), (2.4, 4.0)  # m/s: speeds of wagons
SEED = 7


class Kick(NamedTuple):
    take: Take
    speed: float  # m/s
    off: bool  # whether the ball has left the wagon
    missed: bool  # whether the appointment was


def kick(speed: float) -> Kick:
    scene = gallery_scene("kick")
    wagon, seconds = scene.bodies["wagon"], 5.0
    assert wagon.follows is not None
    start = wagon.follows[0].at
    assert start is not None
    there = (start[0] + speed * seconds, *start[1:])
    wagon.follows[1] = wagon.follows[1].model_copy(update={"time": seconds, "at": there})
    scene.bodies["ball"].velocity = (speed, 0.0, 0.0)
    take = simulate(scene)
    away = take.position[-1, take.index("ball")] - take.position[-1, take.index("wagon")]
    missed = any(event["kind"] == "appointment missed" for event in take.events)
    return Kick(take, speed, bool(away[2] < 0.2), missed)


def kicks(count: int, speeds: tuple[float, float]) -> list[Kick]:
    return [kick(float(speed)) for speed in np.random.default_rng(SEED).uniform(*speeds, count)]


def verdict(followed: list[Kick], too_fast: list[Kick]) -> Verdict:
    off = sum(each.off and not each.missed for each in followed)
    missed = sum(each.missed for each in too_fast)
    return judge(
        "000.3",
        off == len(followed) and missed == len(too_fast),
        f"the ball leaves {off} of {len(followed)} wagons of {FOLLOWED[0]:g} to {FOLLOWED[1]:g} m/s (all asked); of "
        f"{len(too_fast)} wagons of {TOO_FAST[0]:g} to {TOO_FAST[1]:g} m/s, faster than the boot, {missed} are given "
        "up",
    )


def make(directory: Path) -> Exhibit:
    shown = kick(0.7)
    write_take(shown.take, directory / "strip.png", overlays=["paths", "targets"])
    write_take(shown.take, directory / "film.mp4")
    return Exhibit(
        pictures=[
            ("strip.png", "The path moves with the wagon until its keys are passed."),
            ("film.mp4", "A wagon of 0.7 m/s."),
        ],
        verdicts=[verdict(kicks(20, FOLLOWED), kicks(4, TOO_FAST))],
    )
