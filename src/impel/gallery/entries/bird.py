"""Figure 9 of paper 003: a bird with hinged wings, alone and meeting three kinds of ball."""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.lines import distances
from impel.analysis.plots import SOFT, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene, move_of
from impel.render.outputs import write_png, write_take
from impel.render.sequences import strip
from impel.scene import Scene
from impel.scene.derived import drive
from impel.stage import simulate
from impel.takes import Take

ORDER = 380
TITLE = "The bird and the ball"
TEXT = (
    "Four actuators: the body moves and turns, each wing turns up and down about its hinge. The keys are the same four "
    "times. A light ball is pushed away, a very heavy one is flown round, and one that falls on the bird is a surprise "
    "to both."
)

LABELS = {
    "alone": "alone",
    "light": "a light ball, 20 g",
    "heavy": "a very heavy ball, 2 t",
    "falling": "a falling ball, 400 g",
}
HEAVY, FALLING = 2000.0, 0.4  # kg
MEETING = 1.6  # s: the falling ball is then where the bird is
SLIGHT = 0.3  # of the base distance: "slightly deviated", "not affected"
STILL = 0.05  # m: "remains still"
INTERACTIVE = 10.0  # times real time: enough for a display beside it

Floats = NDArray[np.float64]


def scenes() -> dict[str, Scene]:
    """The same bird four times."""
    found = {name: gallery_scene("bird") for name in LABELS}
    for name in ("alone", "falling"):
        del found[name].bodies["column"]
    del found["alone"].bodies["ball"]
    found["heavy"].bodies["ball"].mass = HEAVY
    ball, gravity = found["falling"].bodies["ball"], found["falling"].world.gravity[2]
    ball.mass, ball.at = FALLING, (-0.1, 0.05, 1.9 - 0.5 * gravity * MEETING**2)
    return found


def play() -> dict[str, Take]:
    return {name: simulate(scene) for name, scene in scenes().items()}


def way(take: Take, name: str) -> Floats:
    return take.position[:, take.index(name)]


def verdict(takes: dict[str, Take]) -> Verdict:
    slight = SLIGHT * drive(move_of(scenes()["alone"], "bird")).base
    alone = way(takes["alone"], "bird")
    off = {name: float(distances(way(take, "bird"), alone).max()) for name, take in takes.items()}
    off["alone"] = float(takes["alone"].channels["bird.move.distance"].max())
    ball = {
        name: float(np.linalg.norm(way(take, "ball") - way(take, "ball")[0], axis=1).max())
        for name, take in takes.items()
        if name in ("light", "heavy")
    }
    fallen = way(takes["falling"], "ball")
    aside = float(np.hypot(*(fallen - fallen[0])[:, :2].T).max())
    return judge(
        "003.11",
        off["alone"] < slight
        and off["light"] < 0.1 * slight
        and ball["light"] > 0.5
        and off["heavy"] > slight
        and ball["heavy"] < STILL
        and off["falling"] > slight
        and aside > 0.5,
        f"alone the bird leaves its path by {100 * off['alone']:.1f} cm at most (under {100 * slight:.0f}, {SLIGHT} of "
        f"the base distance); off its way alone: by {100 * off['light']:.1f} cm past the light ball, which flies "
        f"{ball['light']:.1f} m; {100 * off['heavy']:.0f} cm round the heavy one, which moves "
        f"{100 * ball['heavy']:.1f} cm (under {100 * STILL:.0f}); {100 * off['falling']:.0f} cm under the falling one, "
        f"which is thrown {aside:.1f} m aside",
    )


def pace() -> float:
    """Times faster than real time, in CPU seconds, once compiled; the slowest of the four."""
    rates = []
    for scene in scenes().values():
        begin = time.process_time()
        simulate(scene)
        rates.append(scene.world.seconds / (time.process_time() - begin))
    return min(rates)


def verdict_on_pace(rate: float) -> Verdict:
    return judge(
        "003.17",
        rate > INTERACTIVE,
        f"the slowest of the four flights (six jointed bodies, a ball) runs {rate:.0f} times faster than real time on "
        f"one core ({INTERACTIVE:.0f} asked)",
    )


def make(directory: Path) -> Exhibit:
    takes = play()
    draw(directory / "ways.png", takes)
    strips = {"light": [0.9, 1.5, 1.75], "heavy": [1.55, 2.4, 4.2], "falling": [1.55, 1.75, 2.6]}
    for name, times in strips.items():
        write_png(strip(takes[name], times=times, overlays=["paths", "trails"]), directory / f"{name}.png")
    write_take(takes["heavy"], directory / "heavy.mp4")
    return Exhibit(
        pictures=[
            ("ways.png", "Squares: bird and ball, a tenth of a second apart; lines: the path through the keys."),
            *((f"{name}.png", LABELS[name].capitalize() + ".") for name in strips),
            ("heavy.mp4", "The heavy ball: the bird climbs over it and goes on."),
        ],
        verdicts=[verdict(takes), verdict_on_pace(pace())],
    )


def draw(path: Path, takes: dict[str, Take]) -> None:
    with plot(path, columns=2, rows=2, size=(10, 6), sharex=True, sharey=True) as sides:
        for axes, (name, take) in zip(sides, takes.items(), strict=True):
            asked = take.paths["bird.move"]
            axes.plot(asked[:, 0], asked[:, 2], color=SOFT, lw=0.9)
            for body in ("bird", "ball"):
                if body in take.names:
                    places = way(take, body)[::6]
                    axes.plot(places[:, 0], places[:, 2], "s", color=take.colors[take.index(body)], ms=3)
            axes.set(xlim=(-2.1, 2.1), ylim=(0, 2.7), aspect="equal", title=LABELS[name].capitalize())
