"""Figure 2 of paper 003: how the elasticity B decides between creeping, settling and swinging."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.closed_forms import carried_on, damped, overshoot
from impel.analysis.plots import INK, SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import change_move, gallery_scene, move_of
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.scene.derived import Drive, drive
from impel.stage import Performance, simulate
from impel.takes import Take

ORDER = 310
TITLE = "Damping: from dragging to springy"
TEXT = (
    "Four bodies are let go a metre from a target that does not move; only the elasticity B differs. Lines are "
    "simulated, dots are the closed form. Below it: how soon a body stays within a tenth of the way, whatever B it "
    "has."
)

TENTH = 0.1  # of the way: what the paper calls near
CLOSE = 0.005  # of the way: a simulated curve so near its closed form agrees with it
COARSE = 0.04  # s: one frame of a film, as a usual time step

Floats = NDArray[np.float64]


def released() -> tuple[Scene, Take]:
    scene = gallery_scene("damping")
    return scene, simulate(scene)


def rate(numbers: Drive) -> float:
    """How fast an undamped body would swing about its target, in 1/s."""
    return math.sqrt(2 * numbers.alpha) / numbers.relaxation


def way_left(scene: Scene, take: Take, name: str) -> Floats:
    """The distance to the target as a share of that at the start; negative beyond it."""
    height, target = take.position[:, take.index(name), 2], move_of(scene, name).keys[0].at[2]
    return (height - target) / (height[0] - target)


def many(elasticities: Floats) -> tuple[Scene, Take]:
    """Bodies of as many elasticities, in one scene."""
    scene = gallery_scene("damping")
    body, actor = scene.bodies["lively"], scene.actors["lively"]
    scene.bodies.clear()
    scene.actors.clear()
    for i, b in enumerate(elasticities):
        scene.bodies[f"ball {i}"] = body
        scene.actors[f"ball {i}"] = actor
        change_move(scene, f"ball {i}", elasticity=float(b))
    return scene, simulate(scene)


def settled(left: Floats, time: Floats) -> float:
    """When a body comes within a tenth of its way for good."""
    return float(time[np.flatnonzero(np.abs(left) > TENTH)[-1] + 1])


def settling(elasticities: Floats) -> tuple[Floats, Floats]:
    """Settling times in relaxation times, and overshoots, of bodies with these elasticities."""
    scene, take = many(elasticities)
    lefts = [way_left(scene, take, name) for name in scene.actors]
    relaxation = move_of(scene, "ball 0").relaxation
    return (
        np.array([settled(left, take.time) / relaxation for left in lefts]),
        np.array([-left.min() for left in lefts]).clip(0),
    )


def undamped(dt: float, seconds: float) -> tuple[Floats, Floats]:
    """Times and way left without any damping (β = 0), which no scene may ask for: it never ends well."""
    scene = gallery_scene("damping", step=dt, fps=1 / dt, seconds=seconds)
    performance = Performance(scene)
    actuators = performance.stage.actuators
    assert actuators is not None
    actuators.damping[:] = 0.0
    body = performance.compiled.bodies.index("lively")
    heights = []
    for _ in range(performance.compiled.frames):
        heights.append(performance.stage.bodies.position[body, 2])
        performance.next_frame()
    left = np.array(heights) - move_of(scene, "lively").keys[0].at[2]
    return dt * np.arange(len(left), dtype=np.float64), left / left[0]


def growth(time: Floats, left: Floats) -> float:
    """How fast the peaks of a swing grow, in 1/s."""
    peaks = np.flatnonzero((np.abs(left[1:-1]) >= np.abs(left[:-2])) & (np.abs(left[1:-1]) > np.abs(left[2:]))) + 1
    return float(np.polyfit(time[peaks], np.log(np.abs(left[peaks])), 1)[0])


def carried(dt: float) -> tuple[float, float]:
    """With β = 1: how far 1 m/s at the start carries a body in the relaxation time, and its speed then."""
    places, speeds = [], []
    relaxation = move_of(gallery_scene("damping"), "lively").relaxation
    for speed in (0.0, 1.0):
        scene = gallery_scene("damping", step=dt, fps=1 / relaxation, seconds=1.0)
        scene.bodies["lively"] = scene.bodies["lively"].model_copy(update={"velocity": (0.0, 0.0, speed)})
        performance = Performance(scene)
        actuators = performance.stage.actuators
        assert actuators is not None
        actuators.damping[:] = 2 / relaxation
        performance.next_frame()
        body = performance.compiled.bodies.index("lively")
        places.append(performance.stage.bodies.position[body, 2])
        speeds.append(performance.stage.bodies.velocity[body, 2])
    return float(places[1] - places[0]), float(speeds[1] - speeds[0])


def verdicts(scene: Scene, take: Take, elasticities: Floats, times: Floats, beyond: Floats) -> list[Verdict]:
    return [limits_of_beta(), critical(scene, take, elasticities, beyond), good_choice(elasticities, times, beyond)]


def limits_of_beta() -> Verdict:
    numbers = drive(move_of(gallery_scene("damping"), "lively"))
    found = {dt: growth(*undamped(dt, 4.0)) for dt in (COARSE, COARSE / 4, COARSE / 16)}
    expected = {dt: rate(numbers) ** 2 * dt / 4 for dt in found}  # of the Newton scheme, for small steps
    as_expected = max(abs(found[dt] / expected[dt] - 1) for dt in found)
    relaxation = numbers.relaxation
    one_step, back = carried(relaxation)
    small, _ = carried(relaxation / 200)
    known = carried_on(1 / math.sqrt(2 * numbers.alpha), rate(numbers), relaxation)
    grows = ", ".join(f"{found[dt]:.3f}/s at {1000 * dt:g} ms" for dt in found)
    return judge(
        "003.2",
        as_expected < 0.05 and abs(one_step) < 1e-12 and abs(small / known - 1) < 0.02,
        f"β = 0: the swing grows by {grows}: K·dt/4 within {100 * as_expected:.1f} % (5 % allowed), so it lasts for "
        "ever only as steps go to 0, as the paper says; impel holds control over a step as the paper's scheme does, "
        f"and its swing grows with it. β = 1: in one step of Δt a starting speed moves the body {abs(one_step):.0e} of "
        f"v·Δt, but leaves it with {back:+.2f} v; in small steps it carries {small / relaxation:.3f} v·Δt (closed form "
        f"{known / relaxation:.3f})",
        correction="inertia is suppressed only for a step as long as Δt, where the speed flips; in true time β = 1 is "
        f"a damping ratio of {1 / math.sqrt(2 * numbers.alpha):.2f} that forgets a speed within Δt/2. β = 0 is refused",
    )


def critical(scene: Scene, take: Take, elasticities: Floats, beyond: Floats) -> Verdict:
    off = {}
    for name in scene.actors:
        numbers = drive(move_of(scene, name))
        left = way_left(scene, take, name)
        off[numbers.elasticity] = float(np.abs(left - damped(numbers.elasticity, rate(numbers), take.time)).max())
    below, above = beyond[elasticities < 0.95], beyond[elasticities >= 1]
    return judge(
        "003.3",
        max(off.values()) < CLOSE and below.min() > 1e-6 and above.max() < 1e-9,
        "farthest from the closed form: "
        + ", ".join(f"{100 * worst:.2f} % at B = {b:g}" for b, worst in off.items())
        + f" (of the way; {100 * CLOSE:g} % allowed); every B below 0.95 overshoots, none from 1 on",
    )


def good_choice(elasticities: Floats, times: Floats, beyond: Floats) -> Verdict:
    def at(b: float) -> int:
        return int(np.argmin(np.abs(elasticities - b)))

    chosen, plain, best = at(0.7), at(1.0), int(np.argmin(times))
    return judge(
        "003.4",
        abs(beyond[chosen] - overshoot(0.7)) < 0.003
        and beyond[chosen] < TENTH
        and times[chosen] < 0.8 * times[plain]
        and times[chosen] < 1.2 * times[best],
        f"B = 0.7 overshoots {100 * beyond[chosen]:.1f} % (closed form {100 * overshoot(0.7):.1f}, ± 0.3) and stays "
        f"within a tenth after {times[chosen]:.1f} Δt, B = 1 after {times[plain]:.1f} Δt; the fastest, B = "
        f"{elasticities[best]:.2f}, after {times[best]:.1f} Δt (within 20 % of it is called good)",
    )


def make(directory: Path) -> Exhibit:
    scene, take = released()
    elasticities = np.round(np.arange(0.3, 1.5001, 0.025), 3)
    times, beyond = settling(elasticities)
    draw_curves(directory / "curves.png", scene, take)
    draw_settling(directory / "settling.png", elasticities, times)
    write_take(take, directory / "strip.png", overlays=True, size=(400, 300))
    return Exhibit(
        pictures=[
            ("curves.png", "The way left to the target: lines simulated, dots in closed form; undamped it grows."),
            ("settling.png", "When a body stays within a tenth of its way: B = 0.7 is quick, and safe from the cliff."),
            ("strip.png", "From left to right B = 2, 1, 0.7 and 0.3. The dots are the targets."),
        ],
        verdicts=verdicts(scene, take, elasticities, times, beyond),
    )


def draw_curves(path: Path, scene: Scene, take: Take) -> None:
    names = {2.0: (90, (8, 8)), 1.0: (84, (8, 9)), 0.7: (60, (6, -44)), 0.3: (92, (0, -14))}
    with plot(path, columns=2, size=(10, 4.2), width_ratios=[1.7, 1]) as (axes, side):
        for name in scene.actors:
            numbers = drive(move_of(scene, name))
            ink = take.colors[take.index(name)]
            left, known = way_left(scene, take, name), damped(numbers.elasticity, rate(numbers), take.time)
            axes.plot(take.time, left, color=ink)
            axes.plot(take.time[::12], known[::12], ".", color=ink, ms=6)
            i, shift = names[numbers.elasticity]
            name_line(axes, (take.time[i], left[i]), f"B = {numbers.elasticity:g}", ink, shift=shift)
        axes.set(xlim=(0, 2.2), ylim=(-0.5, 1.05), xlabel="time (s)", ylabel="way left to the target")
        axes.set_title("Figure 2: α = 0.1, Δt = 0.1 s")
        for dt, ink in ((COARSE, color(5)), (COARSE / 16, SOFT)):
            time, left = undamped(dt, 4.0)
            side.plot(time, left, color=ink, lw=1.5)
            last = np.flatnonzero(time < 3.0)[np.argmax(left[time < 3.0])]
            shift = (0, 9 if dt == COARSE else -54)
            name_line(side, (time[last], left[last]), f"{1000 * dt:g} ms", ink, shift=shift, align="center")
        side.set(xlabel="time (s)", xlim=(0, 4))
        side.set_title("No damping (β = 0), by time step")


def draw_settling(path: Path, elasticities: Floats, times: Floats) -> None:
    with plot(path, size=(10, 2.8)) as axes:
        axes.plot(elasticities, times, color=color(1))
        for b in (0.7, 1.0):
            i = int(np.argmin(np.abs(elasticities - b)))
            axes.plot(b, times[i], "o", color=INK, ms=5)
            name_line(axes, (b, times[i]), f"B = {b:g}: {times[i]:.1f} Δt", INK, shift=(4, -12))
        axes.set(xlabel="elasticity B", ylabel="time to stay within 10 % (Δt)", ylim=(0, None), xlim=(0.3, 1.5))
