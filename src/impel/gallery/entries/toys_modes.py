"""Section 3 of paper 002: what chance alone finds, and what becomes of the one you like."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.strides import write_strides
from impel.render.outputs import write_take
from impel.toys.figure import load_figure
from impel.toys.objectives import Objective
from impel.toys.performance import take_of
from impel.toys.synthesis import DIFFERENT, FoundPoses, describe, objective_for, palette, refine, run_sampled
from impel.toys.verify import LASTS

ORDER = 220
TITLE = "Many ways to get along, all found by chance"
TEXT = (
    "Draw pose graphs at random, keep those that come forward and stay up, and choose from what is left: hops, "
    "shuffles and bounds that nobody designed. Two gaits count as different if a viewer would tell them apart by "
    "rhythm, pace, height, bounce, lean, or by which points carry the weight. The one you like is then refined."
)

SHOWN = 4


@dataclass(frozen=True)
class Found:
    """A palette, and how it fares for twenty seconds from three starts at a quarter of the search's step."""

    objective: Objective
    gaits: list[FoundPoses]
    apart: float  # the least distance between two descriptions
    fell: int
    slowest: float  # m/s


def look(name: str, *, budget: int = 3000) -> Found:
    objective = objective_for(load_figure(name))
    gaits = palette(objective, seed=0, budget=budget, size=6)
    chosen = np.stack([gait.candidate for gait in gaits])
    runs = objective.run(chosen, step=objective.step / 4, seconds=LASTS)
    looks = describe(objective, run_sampled(objective, chosen, seconds=LASTS, samples=2000, stride=10))
    apart = np.linalg.norm(looks[:, None] - looks[None], axis=-1)[np.triu_indices(len(gaits), 1)]
    slowest = float(runs.distance.min()) / LASTS
    return Found(objective, gaits, float(apart.min(initial=np.inf)), int(runs.fallen.sum()), slowest)


def verdict(found: list[Found]) -> Verdict:
    told = "; ".join(
        f"{each.objective.figure.figure}: {len(each.gaits)} modes among {len(each.gaits[0].outcome.values)} random "
        f"pose graphs, {each.apart:.2f} apart (at least {DIFFERENT}), {each.fell} falls in 20 s from three "
        f"starts, the slowest {each.slowest:.2f} m/s"
        for each in found
    )
    several = all(len(each.gaits) >= 3 and each.apart >= DIFFERENT and each.fell == 0 for each in found)
    return judge("002.2", several, f"{told} (three modes asked)")


def make(directory: Path) -> Exhibit:
    found = [look("luxo"), look("bounder")]
    pictures = []
    for each in found:
        figure, objective = each.objective.figure, each.objective
        takes = [take_of(gait.toy(objective), figure, seconds=5.0) for gait in each.gaits[:SHOWN]]
        name = figure.figure
        cycle = 2 * figure.cycle.poses * figure.cycle.time
        write_strides(directory / f"{name}.png", takes, begin=3.0, seconds=cycle)
        speeds = ", ".join(f"{gait.verified / objective.seconds:.2f}" for gait in each.gaits[:SHOWN])
        pictures.append((f"{name}.png", f"{name}: one gait a row, two cycles each; {speeds} m/s, top to bottom."))
    lamp = found[0].objective
    better = refine(lamp, found[0].gaits[0].candidate)
    write_take(take_of(better.toy(lamp), lamp.figure, seconds=5.0), directory / "luxo.mp4")
    caption = f"The lamp's first gait after 500 trials of refinement: {better.verified:.2f} m in 4 s instead of "
    pictures.append(("luxo.mp4", f"{caption}{found[0].gaits[0].verified:.2f}."))
    return Exhibit(pictures=pictures, verdicts=[verdict(found)])
