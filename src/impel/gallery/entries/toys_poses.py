"""Figures 1 to 3 of paper 002: a pose graph, and how a joint follows it, held and linear."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import INK, SOFT, color, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_toy
from impel.toys.figure import Figure, Interpolation, load_figure
from impel.toys.measures import compare_interpolations, tracking
from impel.toys.mechanism import mechanism_of, minus
from impel.toys.synthesis import find_poses, objective_for
from impel.toys.toy import Toy, run_toy, toy_of
from impel.toys.trials import link_frames, start_state, turned

ORDER = 210
TITLE = "A clockwork of four poses"
TEXT = (
    "A pose graph says which shape a toy should have and for how long, round and round; springs at the joints pull it "
    "there, and the ground does the rest. The wished angle may jump from pose to pose or move evenly. Searches find "
    "useful gaits either way (here four for each kind and figure), but held poses pull harder and do about twice the "
    "work, and since a search asks for distance it makes use of that: linear ones come less far."
)

FIGURES = ("luxo", "bounder")
KINDS: tuple[Interpolation, Interpolation] = ("hold", "linear")
JOINT = "elbow"
USEFUL = 1.2  # m in four seconds: five lengths of the figure
EQUAL = 1.2  # between the medians of two kinds that are called equally capable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Energy:
    """Held over linear for the same random pose graphs of a figure, and what searches for either find."""

    figure: str
    work: Floats  # ratio for every pose graph that stays up both ways
    distances: dict[Interpolation, Floats]  # m in four seconds for every seed, worst of three starts


def energy(name: str, *, seeds: int = 4, graphs: int = 300) -> Energy:
    figure = load_figure(name)
    low, high = np.radians(np.array(figure.ranges())).T
    poses = np.random.default_rng(0).uniform(low, high, (graphs, figure.cycle.poses, len(low)))
    both = compare_interpolations([toy_of(figure, pose, figure.cycle.time) for pose in poses], figure)
    stood = ~both["hold"].fallen & ~both["linear"].fallen
    work = both["hold"].work[stood].sum(1) / both["linear"].work[stood].sum(1)
    found = {}
    for kind in KINDS:
        objective = objective_for(figure, interpolation=kind)
        found[kind] = np.array([find_poses(objective, seed=seed).verified for seed in range(seeds)])
    return Energy(name, work, found)


def verdicts(found: list[Energy]) -> list[Verdict]:
    ways = {each.figure: {kind: float(np.median(each.distances[kind])) for kind in KINDS} for each in found}
    useful = all(each.distances[kind].min() > USEFUL for each in found for kind in KINDS)
    close = all(1 / EQUAL < way["linear"] / way["hold"] < EQUAL for way in ways.values())
    told = ", ".join(f"{name} {way['hold']:.2f} m held and {way['linear']:.2f} m linear" for name, way in ways.items())
    ratios = ", ".join(
        f"{each.figure} {np.median(each.work):.2f} times ({len(each.work)} random pose graphs that stay up, more work "
        f"in {(each.work > 1).mean():.0%})"
        for each in found
    )
    searches = len(found[0].distances["hold"])
    return [
        judge(
            "002.1",
            useful and close,
            f"equally capable: medians of {searches} searches, {told} in 4 s (equal means within {EQUAL - 1:.0%}, and "
            f"each search over {USEFUL} m)",
        ),
        judge(
            "002.1",
            all(np.median(each.work) > 1.25 for each in found),
            f"more energetic: work of held against linear poses {ratios}; 1.25 asked",
        ),
    ]


def make(directory: Path) -> Exhibit:
    toy, figure = gallery_toy("luxo-hop")
    draw_graph(directory / "graph.png", toy, figure)
    draw_tracking(directory / "tracking.png", toy, figure)
    return Exhibit(
        pictures=[
            (
                "graph.png",
                "Figure 1: the pose graph of a hop. It wishes for shapes; physics decides where they go.",
            ),
            ("tracking.png", "Figures 2 and 3: wished and actual angle of the elbow, and its torque."),
        ],
        verdicts=verdicts([energy(name) for name in FIGURES]),
    )


def links_of(figure: Figure, pose: dict[str, float]) -> list[tuple[Floats, float, str]]:
    """The ends (2, 2) of every link of a figure in a pose, with the link's thickness and colour."""
    mechanism = mechanism_of(figure)
    state = start_state(figure.model_copy(update={"start": pose}))
    frames = link_frames(mechanism, state[None])[0]
    places = [joint.at for joint in figure.joints.values()]
    drawn = []
    for i, name in enumerate(mechanism.links):
        link = figure.links[name]
        reference = mechanism.origin if i == 0 else places[mechanism.joint[i]]
        angle = state[2 + i : 3 + i]
        ends = [frames[i] + turned(minus(end, reference), angle)[0] for end in (link.start, link.end)]
        drawn.append((np.array(ends), link.thickness, link.color))
    return drawn


def draw_graph(path: Path, toy: Toy, figure: Figure) -> None:
    corners = [(0.0, 0.47), (0.62, 0.47), (0.62, 0.0), (0.0, 0.0)]  # m, clockwise
    with plot(path, size=(7, 5)) as axes:
        for k, (pose, corner) in enumerate(zip(toy.poses, corners, strict=True)):
            for ends, thickness, ink in links_of(figure, pose):
                at = ends + corner
                axes.plot(at[:, 0], at[:, 1], color=ink, lw=1050 * thickness, solid_capstyle="round")
            wished = ", ".join(f"{name} {angle:.0f}°" for name, angle in pose.items())
            axes.text(corner[0], corner[1] - 0.055, f"{k + 1}: {wished}", ha="center", color=SOFT)
        arrows = [((0.17, 0.52), (0.43, 0.52)), ((0.62, 0.39), (0.62, 0.28)), ((0.43, 0.05), (0.17, 0.05)),
                  ((0.0, 0.28), (0.0, 0.39))]  # fmt: skip
        for (begin, end), seconds in zip(arrows, toy.times, strict=True):
            axes.annotate("", end, begin, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.2})
            middle = (np.array(begin) + end) / 2
            aside = (0.0, 0.018) if begin[1] == end[1] else (0.02, -0.005)
            axes.text(*(middle + aside), f"{seconds:g} s", ha="center" if begin[1] == end[1] else "left")
        axes.set_aspect("equal")
        axes.set(xlim=(-0.22, 0.84), ylim=(-0.08, 0.62))
        axes.axis("off")


def draw_tracking(path: Path, toy: Toy, figure: Figure) -> None:
    cycle = sum(toy.times)
    with plot(path, columns=2, rows=2, size=(10, 5), sharex=True, sharey="row") as sides:
        for column, kind in enumerate(KINDS):
            result = run_toy(toy.model_copy(update={"interpolation": kind}), figure, seconds=6 * cycle)
            time, wished, actual, torque = tracking(figure, result, JOINT)
            shown = time >= 3 * cycle
            angles, torques = sides[column], sides[2 + column]
            angles.plot(time[shown] - 3 * cycle, wished[shown], color=SOFT, lw=1.1, label="wished")
            angles.plot(time[shown] - 3 * cycle, actual[shown], color=color(1), label="actual")
            torques.plot(time[shown] - 3 * cycle, torque[shown], color=color(0), lw=1.4)
            angles.set_title(f"{kind}: came {result.distance[0]:.2f} m in {6 * cycle:.2f} s")
            torques.set_xlabel("time (s)")
        sides[0].legend(loc="upper right", ncols=2)
        sides[0].set_ylabel("angle of the elbow (°)")
        sides[0].set_ylim(-165, 75)
        sides[2].set_ylabel("its torque (N·m)")
