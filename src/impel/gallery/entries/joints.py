"""Section 3.1 of paper 003: joints held by displacements, as printed and put right, and by impel's own method."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.files import Problem
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.bodies import drift
from impel.physics.displacement import tunings
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.scene.values import WORLD
from impel.stage import Performance, simulate
from impel.takes import Take

ORDER = 360
TITLE = "Joints: displacements, and what holds instead"
TEXT = (
    "The paper moves all bodies freely, then closes the gaps of the joints by small displacements, again and again. As "
    "printed they open faster than they close. With one impulse a joint they do close, over tens of rounds. impel "
    "solves "
    "for all joints of a structure at once (RATTLE), which costs less and keeps the energy."
)

STRUCTURES = {"chain": "joints-chain", "loop": "joints-loop"}
METHODS = {"paper": "as printed", "displacement": "corrected", "rattle": "RATTLE"}
FEW = 10  # rounds that may pass as “a few”
CLOSED = 0.01  # of the first gap: what counts as converged
INTO = 0.4  # s: when the structure is well under way
LONG = 0.01  # s: the step that opens the gaps

Floats = NDArray[np.float64]


def rounds(structure: str, *, printed: bool) -> Floats:
    """The largest gap, in metres, before each round of displacements, after a free step in the middle of the motion."""
    performance = Performance(gallery_scene(STRUCTURES[structure]))
    while performance.time < INTO:
        performance.next_frame()
    bodies, joints = performance.stage.bodies, performance.stage.joints
    assert joints is not None
    drift(bodies, LONG)
    return tunings(bodies, joints, printed=printed)


def needed(gaps: Floats) -> float:
    """How many rounds it takes to close the gaps; infinite if they never do."""
    closed = np.flatnonzero(gaps <= CLOSED * gaps[0])
    return float(closed[0]) if len(closed) else np.inf


@dataclass
class Run:
    """How a structure fared with one way of holding joints."""

    take: Take | None  # None if it broke down
    drift: float  # of the energy, as a share of weight times size
    gap: float  # the largest in any joint, in metres


def fared(structure: str, method: str) -> Run:
    scene = gallery_scene(STRUCTURES[structure], joints=method)
    try:
        take = simulate(scene)
    except Problem:
        return Run(None, np.inf, np.inf)
    energy = take.channels["energy"]
    weight = 9.81 * sum(body.mass or 0.0 for body in scene.bodies.values())
    size = float(np.ptp(take.position[0].reshape(-1, 3), axis=0).max())
    return Run(take, float(np.abs(energy - energy[0]).max()) / (weight * size), widest_gap(scene, take))


def widest_gap(scene: Scene, take: Take) -> float:
    widest = 0.0
    for joint in scene.joints.values():
        ends = [_carried(take, name, np.array(joint.at)) for name in joint.bodies]
        widest = max(widest, float(np.linalg.norm(ends[0] - ends[1], axis=1).max()))
    return widest


def _carried(take: Take, name: str, at: Floats) -> Floats:
    """Where a point goes (F, 3) that is at `at` first and stays fixed to a body."""
    if name == WORLD:
        return np.broadcast_to(at, (len(take.time), 3))
    i = take.index(name)
    axes = matrix_from_quaternion(take.orientation[:, i])
    return take.position[:, i] + axes @ (axes[0].T @ (at - take.position[0, i]))


def compared() -> tuple[dict[tuple[str, bool], Floats], dict[tuple[str, str], Run]]:
    closing = {(name, printed): rounds(name, printed=printed) for name in STRUCTURES for printed in (True, False)}
    runs = {(name, method): fared(name, method) for name in STRUCTURES for method in METHODS}
    return closing, runs


def verdict(closing: dict[tuple[str, bool], Floats], runs: dict[tuple[str, str], Run]) -> Verdict:
    told = []
    for name in STRUCTURES:
        printed, corrected = closing[name, True], closing[name, False]
        counted = needed(corrected)
        told.append(
            f"{name}: as printed the gap grows {printed.max() / printed[0]:.0f} times within {len(printed)} rounds; "
            "corrected, "
            + (f"{counted:.0f} rounds" if np.isfinite(counted) else f"over {len(corrected)} rounds")
            + f" bring it to {100 * CLOSED:g} %"
        )
        told += [f"in a second {METHODS[method]} {_fate(runs[name, method])}" for method in METHODS]
    return judge(
        "003.14",
        all(needed(closing[name, False]) <= FEW for name in STRUCTURES),
        "; ".join(told) + f" (a few: up to {FEW} rounds)",
        correction="rotation and translation by one impulse a joint",
    )


def _fate(run: Run) -> str:
    if run.take is None or not run.gap < 0.05 or not run.drift < 1:
        return "breaks down"
    return f"keeps the energy within {100 * run.drift:.2g} % and gaps below {1000 * run.gap:.0e} mm"


def make(directory: Path) -> Exhibit:
    closing, runs = compared()
    draw(directory / "rounds.png", closing)
    for name in STRUCTURES:
        take = runs[name, "rattle"].take
        assert take is not None
        write_take(take, directory / f"{name}.png", overlays=["trails"], size=(400, 300))
    return Exhibit(
        pictures=[
            ("rounds.png", "The largest gap in any joint after each round of displacements."),
            ("chain.png", "The chain, held by RATTLE."),
            ("loop.png", "The closed loop, held by RATTLE."),
        ],
        verdicts=[verdict(closing, runs)],
    )


def draw(path: Path, closing: dict[tuple[str, bool], Floats]) -> None:
    titles = {"chain": "A chain of nine links", "loop": "A closed loop of four"}
    with plot(path, columns=2, size=(10, 3.6), sharey=True) as sides:
        for axes, name in zip(sides, STRUCTURES, strict=True):
            for printed, ink, text in ((True, color(5), "as printed"), (False, color(3), "corrected")):
                gaps = 1000 * closing[name, printed]
                axes.plot(np.arange(len(gaps)), gaps, color=ink, marker="." if printed else "", ms=5)
                at = len(gaps) - 1 if printed else min(30, len(gaps) - 1)
                name_line(axes, (at, gaps[at]), text, ink, shift=(8, 0) if printed else (6, 8))
            axes.axhline(1000 * CLOSED * closing[name, False][0], color=SOFT, lw=1, ls=(0, (4, 4)))
            axes.set(yscale="log", xlabel="round")
            axes.set_title(titles[name])
        sides[0].set(ylabel="largest gap (mm)")
