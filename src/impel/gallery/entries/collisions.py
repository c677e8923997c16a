"""Section 4.2 of paper 003: three bodies told to go through an obstacle, differing in mass and stiffness."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.analysis.plots import INK, SOFT, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.gallery.soft_surfaces import close_up, dents
from impel.render.outputs import write_png
from impel.render.sequences import strip
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 365
TITLE = "Three ways round an obstacle"
TEXT = (
    "The animator asks for a straight line through a bar that cannot be moved. What comes of it is a matter of the "
    "body: one bounces over the bar, three times the mass with the same muscles bounces farther, a soft one slides "
    "round."
)

LABELS = {"first": "1: stiff, 1 kg", "heavy": "2: stiff, 3 kg", "soft": "3: soft, 1 kg"}
FARTHER = 1.5  # times as far off its path: "more violently"
DEFORMED = 0.03  # m, a fifth of its radius


class Passage(NamedTuple):
    """How a body got past the bar."""

    bounces: int  # how often it left the bar
    touching: float  # share of the time between the first and the last touch
    off: float  # m, farthest above its path


def passage(take: Take, name: str) -> Passage:
    times: dict[str, list[float]] = {"contact begins": [], "contact ends": []}
    for event in take.events:
        if event["kind"] in times and name in (event["subject"], event["details"]["with"]):
            times[event["kind"]].append(event["time"])
    begins, ends = times["contact begins"], times["contact ends"]
    touching = float(np.sum(ends) - np.sum(begins)) / (ends[-1] - begins[0])
    height = take.position[:, take.index(name), 2]
    return Passage(len(ends), touching, float(height.max() - height[0]))


def verdict(take: Take) -> Verdict:
    first, heavy, soft = (passage(take, name) for name in LABELS)
    dent = float(dents(take, "soft").max())
    arrived = [float(take.position[-1, take.index(name), 0]) > 2.4 for name in LABELS]
    return judge(
        "003.10",
        all(arrived)
        and first.bounces > 1
        and heavy.bounces > 1
        and heavy.off - soft.off > FARTHER * (first.off - soft.off)
        and soft.bounces == 1
        and dent > DEFORMED,
        f"the first leaves the bar {first.bounces} times and rises {1000 * first.off:.0f} mm; with three times the "
        f"mass {heavy.bounces} times and {1000 * heavy.off:.0f} mm, touching it for {heavy.touching:.0%} of its "
        f"passage (the first {first.touching:.0%}); the soft one, 500 times less stiff, touches it once, for "
        f"{soft.touching:.0%} of it, deformed by up to {1000 * dent:.0f} mm ({1000 * DEFORMED:.0f} asked), and rises "
        f"{1000 * soft.off:.0f} mm (asked: the heavy one's height "
        f"above the soft one's way at least {FARTHER} times the first's); all reach the other side",
    )


def make(directory: Path) -> Exhibit:
    scene = gallery_scene("collisions")
    take = simulate(scene)
    draw(directory / "ways.png", scene, take)
    write_png(strip(take, times=[0, 0.55, 0.75, 0.95, 1.25, 2], overlays=["paths", "trails"]), directory / "strip.png")
    near = [(time, "soft", (0.35, 2.6, 0.5)) for time in (0.5, 0.58, 0.7, 0.9)]
    write_png(
        strip(close_up(take, near), times=[time for time, *_ in near], columns=4, size=(320, 280)),
        directory / "close.png",
    )
    return Exhibit(
        pictures=[
            ("ways.png", "The ways of the three centres, dots a thirtieth of a second apart; the bar's section."),
            ("strip.png", "No gravity, as in the paper's examples in the plane."),
            ("close.png", "The soft one deforms and slides round."),
        ],
        verdicts=[verdict(take)],
    )


def draw(path: Path, scene: Scene, take: Take) -> None:
    from matplotlib.patches import Circle

    bar = scene.bodies["bar"]
    assert bar.shape.cylinder is not None
    with plot(path, size=(9, 3.6)) as axes:
        axes.add_patch(Circle((bar.at[0], bar.at[2]), bar.shape.cylinder.radius, color=bar.color, lw=0))
        axes.plot([0, 2.5], [1, 1], color=SOFT, lw=0.8)
        for rank, (name, label) in enumerate(LABELS.items()):
            i = take.index(name)
            way = take.position[:, i]
            axes.plot(way[:, 0], way[:, 2], color=take.colors[i], lw=1.4)
            axes.plot(way[::4, 0], way[::4, 2], ".", color=take.colors[i], ms=4)
            name_line(axes, (0.02, 1.36 - 0.09 * rank), label, take.colors[i], shift=(0, 0))
        name_line(axes, (2.5, 1), "as asked", INK, shift=(0, 9), align="right")
        axes.set(aspect="equal", ylim=(0.6, 1.45), xlabel="x, m", ylabel="z, m")
