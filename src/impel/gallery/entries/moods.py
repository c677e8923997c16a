"""Section 6 of paper 001: evolved genes combined in real time. A walk from tired to brisk and back."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gaits.energy import DISTANCE
from impel.gaits.gait import PACE
from impel.gaits.mood import Moods, load_moods
from impel.gaits.walk import Walk, walk
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.render.outputs import write_take
from impel.stage import simulate
from impel.takes import Take

ORDER = 150
TITLE = "From tired to brisk and back, while walking"
TEXT = (
    "Between gaits that were evolved for a ladder of energies the genes are blended: a slider from exhausted (0) to "
    "exuberant (100), which may be moved while the creature walks. It walks through a scene like any key-framed body, "
    "and whatever lies in its way is kicked."
)

SLIDES = 1e-9  # m a tick that a planted foot may move
JOLT = 0.2  # m/s by which the body's velocity may change in a tick of 1/240 s
NAMED = 0.05  # of the energy that a position of the slider names
EVERY = 5.0  # positions of the slider between two walks, most of them between evolved gaits
LONG = 24.0  # m that they go

Floats = NDArray[np.float64]


class Walked(NamedTuple):
    moods: Moods
    walk: Walk
    cpu: float  # s it took


def walked() -> Walked:
    """The walker of the scene, at every tick."""
    scene = gallery_scene("moods")
    walker = scene.walkers["spider"]
    moods = load_moods(walker.walker)

    def go() -> Walk:
        path = [point[:2] for point in walker.path]
        return walk(moods, path=path, seconds=scene.world.seconds, **walker.wishes())

    go()  # compiled
    began = time.process_time()
    result = go()
    return Walked(moods, result, time.process_time() - began)


def slider(moods: Moods) -> tuple[Floats, Floats, Floats]:
    """Some positions of the slider, the energies that they name, and what walks there spend, step by step, for 4 m."""
    positions = np.arange(0.0, 101.0, EVERY)
    spent = []
    for mood in positions:
        done = walk(moods, mood=float(mood), path=[(0.0, 0.0), (LONG, 0.0)])
        pace = float(done.genes[-1, PACE])
        steps = int((0.85 * LONG - 0.25 * LONG) / pace)  # whole ones, between start and stop
        first, last = np.searchsorted(done.along, [0.25 * LONG, 0.25 * LONG + steps * pace])
        spent.append(float((done.energy[last] - done.energy[first]).sum()) * DISTANCE / (steps * pace))
    return positions, moods.named_energy(positions), np.array(spent)


def planted_move(walk: Walk) -> float:
    """How far a planted foot moves in a tick, at most, in metres."""
    stands = ~walk.lifted[1:] & ~walk.lifted[:-1]
    return float(np.abs(np.diff(walk.foot, axis=0))[stands].max())


def verdict(done: Walked) -> Verdict:
    positions, named, cost = slider(done.moods)
    off = float(np.abs(cost / named - 1).max())
    slides = planted_move(done.walk)
    pace = float(done.walk.time[-1]) / max(done.cpu, 1e-9)
    return judge(
        "001.7",
        bool(np.all(np.diff(cost) > 0))
        and off < NAMED
        and slides <= SLIDES
        and done.walk.jump <= JOLT
        and done.walk.stretch < 0
        and pace > 1,
        f"at {len(positions)} positions of the slider walks spend {cost[0]:.0f} to {cost[-1]:.0f} for 4 m, step by "
        f"step and without a step back, within {100 * off:.2f} % of the energy that the position names (5 allowed); "
        f"from tired to brisk and back planted feet move "
        f"{slides:.1g} m a tick (1e-9), the body's velocity changes by {done.walk.jump:.2f} m/s a tick at most (0.2), "
        f"and the walk is found {_round(pace)} times faster than it takes",
    )


def _round(value: float) -> str:
    return f"{float(f'{value:.1g}'):.0f}"


def make(directory: Path) -> Exhibit:
    done = walked()
    take = simulate(gallery_scene("moods"))
    write_take(take, directory / "strip.png")
    write_take(take, directory / "walk.mp4", size=(768, 432))
    draw(directory / "moods.png", done)
    return Exhibit(
        pictures=[
            ("strip.png", f"{len(footfalls(take))} footfalls; kicked on the way: {', '.join(kicked(take))}."),
            ("walk.mp4", "From exhausted to exuberant and back."),
            ("moods.png", "The slider, and what the walk makes of it: the body rises, feet fly, and all calms down."),
        ],
        verdicts=[verdict(done)],
    )


def footfalls(take: Take) -> list[float]:
    return [event["time"] for event in take.events if event["kind"] == "footfall"]


def kicked(take: Take) -> list[str]:
    """What the walker touched, in order."""
    touching = [(e["subject"], e["details"]["with"]) for e in take.events if e["kind"] == "contact begins"]
    pairs = [pair for pair in touching if any(name.startswith("spider.") for name in pair)]
    return list(dict.fromkeys(name for pair in pairs for name in pair if not name.startswith("spider.")))


def draw(path: Path, done: Walked) -> None:
    positions, named, cost = slider(done.moods)
    walk, asked = done.walk, np.array(gallery_scene("moods").walkers["spider"].mood)
    with plot(path, columns=2, size=(10, 3.4), width_ratios=[1, 2]) as (axes, side):
        axes.plot(positions, named, color=SOFT, lw=4, alpha=0.35)
        axes.plot(positions, cost, color=color(1))
        axes.set(xlabel="mood", ylabel="energy for 4 m", ylim=(0, None), xlim=(0, 100))
        axes.set_title("Named (broad) and spent")
        side.fill_between(asked[:, 0], asked[:, 1] / 100, color=color(2), alpha=0.25, lw=0)
        side.plot(walk.time, walk.body[:, 2], color=color(0))
        side.plot(walk.time, walk.foot[:, 0, 2], color=color(1), lw=1.2)
        name_line(side, (0.2, 1.25), "body", color(0))
        name_line(side, (0.2, 0.35), "front left foot", color(1))
        name_line(side, (12.95, 0.12), "mood", color(2), shift=(4, 0))
        side.set(xlabel="time (s)", ylabel="height (m)", xlim=(0, walk.time[-1]), ylim=(0, None))
