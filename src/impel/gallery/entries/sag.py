"""Figure 4 of paper 003: gravity pulls a body below its path until it learns to carry its weight."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import change_move, fixed_step, gallery_scene, move_of
from impel.gallery.published import chase
from impel.motion.paths import sample_path
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.scene.actors import ELASTICITY
from impel.scene.derived import drive, sag
from impel.stage import Performance, simulate
from impel.stage.record import Recorder
from impel.takes import Take

ORDER = 320
TITLE = "Sag: a body learns its weight"
TEXT = (
    "Two balls follow the same level line. The red one knows nothing of gravity and stays below it; the blue one "
    "notices what pulls at it, and carries it within a second. (In impel actors know their own weight from the start; "
    "here it was taken from them, as in the paper.) Below: what the base distance promises, and what becomes of the "
    "promise when the target is looked for by binary search."
)

PER_SEGMENT = 200  # points at which a path is looked at

Floats = NDArray[np.float64]


def variant(elasticity: float | None = None, *, weightless: bool = False) -> Scene:
    scene = gallery_scene("sag", **({"gravity": (0.0, 0.0, 0.0)} if weightless else {}))
    if elasticity is not None:
        for name in scene.actors:
            change_move(scene, name, elasticity=elasticity)
    return scene


def below(scene: Scene, take: Take, name: str) -> Floats:
    """How far a body is below its line, in metres."""
    return move_of(scene, name).keys[0].at[2] - take.position[:, take.index(name), 2]


def learning(scene: Scene) -> Take:
    """Play a scene as in the paper: its actors do not even know their own weight at the start."""
    performance = Performance(scene)
    actuators: Any = performance.stage.actuators
    actuators.knows[:] = 0
    recorder = Recorder(performance)
    recorder.write_frame()
    for _ in range(performance.compiled.frames - 1):
        performance.next_frame()
        recorder.write_frame()
    return recorder.take()


@dataclass
class Chase:
    """A body and its target, step by step, and the path they are on."""

    path: Floats  # (P, 3) points
    position: Floats  # (S, 3) of the body
    target: Floats  # (S,) how far along the path the target was, in points
    base: float

    def places(self) -> Floats:
        """Where the target was, (S, 3)."""
        points = np.arange(len(self.path))
        return np.stack([np.interp(self.target, points, self.path[:, k]) for k in range(3)], axis=1)

    def ahead(self) -> Floats:
        """How far the target was from the body, in base distances."""
        return np.linalg.norm(self.places() - self.position, axis=1) / self.base

    def farthest_passed(self) -> float:
        """How far from the body the path was where the target passed over it, at most, in base distances."""
        farthest = 0.0
        for place, before, now in zip(self.position[1:], self.target[:-1], self.target[1:], strict=True):
            passed = self.path[int(np.ceil(before)) : int(np.floor(now)) + 1]
            if len(passed):
                farthest = max(farthest, float(np.linalg.norm(passed - place, axis=1).max()) / self.base)
        return farthest


def watched(scene: Scene) -> Chase:
    """Play a scene of one actor, looking at every step."""
    performance = Performance(scene)
    positions, targets = [performance.stage.bodies.position[0].copy()], []

    def look(_: Any) -> None:
        actuators: Any = performance.stage.actuators
        positions.append(performance.stage.bodies.position[0].copy())
        targets.append(float(actuators.segment[0] + actuators.u[0]) * PER_SEGMENT)

    for _ in range(performance.compiled.frames - 1):
        performance.next_frame(look, every_step=True)
    # A target is looked for at the begin of a step, and seen after it.
    actuators: Any = performance.stage.actuators
    path = sample_path(actuators.paths, 0, PER_SEGMENT)[0]
    return Chase(path, np.array(positions[1:-1]), np.array(targets[1:]), float(actuators.base[0]))


def as_published(scene: Scene) -> Chase:
    """The same body by the paper's own search and scheme."""
    actuators: Any = Performance(scene).stage.actuators
    path = sample_path(actuators.paths, 0, PER_SEGMENT)[0]
    numbers = drive(move_of(scene, "runner"))
    position, target = chase(path, numbers, fixed_step(scene), scene.world.seconds)
    return Chase(path, position, target, numbers.base)


def promise(ours: Chase, published: Chase) -> Verdict:
    passed = ours.farthest_passed()
    back = float(np.diff(ours.target).min())
    running = ours.target < len(ours.path) - 1
    ahead = ours.ahead()[running]
    return judge(
        "003.1",
        passed <= 1 + 1e-6
        and back >= 0
        and ahead.min() > 0.999
        and ahead.max() < 1.1
        and ours.target[-1] == len(ours.path) - 1,
        f"on a hairpin narrower than the base distance d: no passed point was farther than {passed:.4f} d (1 allowed), "
        f"the target never went back, and was {ahead.min():.4f} to {ahead.max():.3f} d ahead (0.999 to 1.1 allowed: it "
        f"waits while the body swings away from it); by binary search points up to {published.farthest_passed():.1f} d "
        "away are passed",
        correction="the target goes to the true first crossing; the paper's binary search finds any crossing",
    )


def steady(take: Take) -> tuple[float, float, float]:
    """Speed of the body and of its target in the last second, in m/s, and how much the former varies."""
    second = take.time >= take.time[-1] - 1
    speed = take.channels["learns.speed"][second]
    target = take.tracks["learns.move.target"][second]
    return float(speed.mean()), float(np.linalg.norm(target[-1] - target[0])), float(np.ptp(speed))


def constant_speed() -> Verdict:
    told, right, printed = [], [], []
    for elasticity in (None, ELASTICITY):
        scene = variant(elasticity, weightless=True)
        numbers = drive(move_of(scene, "learns"))
        body, target, spread = steady(simulate(scene))
        right.append(max(abs(body / numbers.speed - 1), abs(target / numbers.speed - 1), spread / body))
        printed.append(body / (numbers.alpha * numbers.base / numbers.relaxation))
        told.append(f"{body:.4f} m/s (target {target:.4f}) at B = {numbers.elasticity:.3g}")
    return judge(
        "003.5",
        max(right) < 1e-3,
        f"{' and '.join(told)}: d·√(α/2)/(B·Δt) within {100 * max(right):.2g} % (0.1 % allowed), constant for the last "
        f"second. That is {' and '.join(f'{p:.2f}' for p in printed)} times the α·d/Δt that “a portion α of the way in "
        "Δt” suggests",
    )


def sagging() -> Verdict:
    told, good = [], True
    for elasticity in (None, ELASTICITY):
        scene = variant(elasticity)
        take = learning(scene)
        numbers = drive(move_of(scene, "sags"))
        depth = sag(numbers, scene.world)
        off = abs(below(scene, take, "sags")[-1] / depth - 1)
        left = np.abs(below(scene, take, "learns")) / depth
        one, three = float(left[take.time >= 1].max()), float(left[take.time >= 3].max())
        known = float(np.abs(below(scene, simulate(scene), "learns")).max()) / depth
        good &= off < 0.01 and one < 0.1 and three < 0.01 and known < 0.01
        told.append(
            f"B = {numbers.elasticity:.3g}: sag {100 * below(scene, take, 'sags')[-1]:.2f} cm, gΔt²/(2α) within "
            f"{100 * off:.2g} % (1 allowed); corrected {100 * one:.1f} % of it after 1 s (10), {100 * three:.2f} % "
            f"after 3 s (1); {100 * known:.1g} % at any time when it knows its weight from the start, as impel's "
            "actors do (1)"
        )
    return judge("003.6", good, "; ".join(told))


def verdicts(ours: Chase, published: Chase) -> list[Verdict]:
    return [promise(ours, published), constant_speed(), sagging()]


def make(directory: Path) -> Exhibit:
    scene = variant()
    take = learning(scene)
    hairpin = gallery_scene("sag-hairpin")
    ours, published = watched(hairpin), as_published(hairpin)
    draw_sag(directory / "sag.png", scene, take, simulate(scene))
    draw_promise(directory / "promise.png", ours, published)
    write_take(take, directory / "strip.png", overlays=True)
    return Exhibit(
        pictures=[
            ("sag.png", "Height over the way, as in figure 4, and what is left of the sag over time."),
            ("strip.png", "Red sags, blue has learnt its weight. The dots are the targets they follow."),
            ("promise.png", "The same wish by the true first crossing, and by binary search, which skips the hairpin."),
        ],
        verdicts=verdicts(ours, published),
    )


def draw_sag(path: Path, scene: Scene, take: Take, knowing: Take) -> None:
    with plot(path, columns=2, size=(10, 3.4), width_ratios=[1.5, 1]) as (axes, side):
        depth = sag(drive(move_of(scene, "sags")), scene.world)
        lines = [
            (knowing, "learns", color(3), "knows its weight from the start"),
            (take, "learns", take.colors[take.index("learns")], "learns it"),
            (take, "sags", take.colors[take.index("sags")], "uncorrected"),
        ]
        for (shown, name, ink, text), at in zip(lines, (170, 26, 150), strict=True):
            x, low = shown.position[:, shown.index(name), 0], below(scene, shown, name)
            axes.plot(x, -100 * low, color=ink)
            shift = (10, -6) if at == 26 else (0, 10)
            name_line(axes, (x[at], -100 * low[at]), text, ink, shift=shift, align="left" if at == 26 else "center")
            side.plot(shown.time, 100 * low / depth, color=ink)
        axes.axhline(-100 * depth, color=SOFT, lw=1, ls=(0, (4, 4)))
        name_line(axes, (-2.3, -100 * depth), "gΔt²/(2α)", SOFT, shift=(0, -9))
        axes.set(xlabel="way (m)", ylabel="height over the path (cm)", ylim=(-100 * depth - 4, 4))
        axes.set_title("Figure 4: α = 0.1, β = 0.6")
        side.set(xlabel="time (s)", ylabel="sag, in % of gΔt²/(2α)", xlim=(0, 4), ylim=(-5, 110))
        side.set_title("After a second a tenth is left")


def draw_promise(path: Path, ours: Chase, published: Chase) -> None:
    with plot(path, columns=2, size=(10, 2.7), sharey=True) as sides:
        named = ((ours, "First crossing"), (published, "Binary search, as printed"))
        for axes, (chase_, text), ink in zip(sides, named, (color(3), color(5)), strict=True):
            axes.plot(chase_.path[:, 0], chase_.path[:, 2], color=SOFT, lw=1, ls=(0, (4, 4)))
            axes.plot(chase_.position[:, 0], chase_.position[:, 2], color=ink)
            spots = slice(None, None, 40)
            places = chase_.places()
            for body, target in zip(chase_.position[spots], places[spots], strict=True):
                axes.plot([body[0], target[0]], [body[2], target[2]], color=ink, lw=0.7, alpha=0.45)
            axes.plot(places[spots, 0], places[spots, 2], ".", color=ink, ms=4)
            axes.set_title(f"{text}: passed points up to {chase_.farthest_passed():.2f} d away")
            axes.set_aspect("equal")
            axes.set(xlabel="x (m)")
        sides[0].set(ylabel="z (m)")
