"""Section 4.2 and appendix A of paper 003: steps of random length, and schemes to take them with."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.closed_forms import damped
from impel.analysis.plots import color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import fixed_step, gallery_scene, move_of
from impel.gallery.published import Force, constant, euler, newton, pull, tumble
from impel.motion.orientations import matrix_from_quaternion
from impel.scene.derived import Drive, drive
from impel.stage import Performance
from impel.stage.step import step

ORDER = 350
TITLE = "Steps of any length"
TEXT = (
    "Left: a body on its way to a resting target in steps that vary at random by 90 % (dots), and in even steps "
    "(lines). Right: how wrong positions are, by the length of the step, for the paper's Newton scheme, Euler's, and "
    "impel."
)

VARIATION = 0.9  # of the mean step
SEEDS = range(40)
GRAVITY = 9.81  # m/s²

Floats = NDArray[np.float64]
SCHEMES = {"Euler": euler, "Newton": newton}


def wishes() -> dict[str, Drive]:
    scene = gallery_scene("steps")
    return {name: drive(move_of(scene, name)) for name in scene.actors}


def known(numbers: Drive, time: Floats) -> Floats:
    return damped(numbers.elasticity, math.sqrt(2 * numbers.alpha) / numbers.relaxation, time)


def played(steps: Floats, gravity: float = 0.0, speed: float = 0.0) -> tuple[Floats, dict[str, Floats]]:
    """Times, and each actor's way left, by impel's own step taken in these lengths; free fall if there is gravity."""
    scene = gallery_scene("steps", gravity=(-gravity, 0.0, 0.0))
    if gravity:
        scene.actors.clear()
    performance = Performance(scene)
    now = performance.stage
    now.bodies.velocity[:, 0] = speed
    places, last, time = [now.bodies.position[:, 0].copy()], 0.0, 0.0
    for dt in steps:
        step(now, time, float(dt), float(dt), last, 0, False)
        last, time = float(dt), time + float(dt)
        places.append(now.bodies.position[:, 0].copy())
    left = np.array(places)
    return np.concatenate([[0.0], np.cumsum(steps)]), {
        name: left[:, i] for i, name in enumerate(performance.compiled.bodies)
    }


def by_scheme(scheme: str, force: Force, start: float, speed: float, dt: float, count: int) -> Floats:
    place, velocity, places = np.array([start]), np.array([speed]), [start]
    for _ in range(count):
        place, velocity = SCHEMES[scheme](place, velocity, force, dt)
        places.append(float(place[0]))
    return np.array(places)


def even() -> tuple[float, int]:
    """The mean step and how many there are."""
    scene = gallery_scene("steps")
    return fixed_step(scene), round(scene.world.seconds / fixed_step(scene))


def random_steps(seed: int) -> Floats:
    dt, count = even()
    return dt * np.random.default_rng(seed).uniform(1 - VARIATION, 1 + VARIATION, count)


def randomness() -> Verdict:
    dt, count = even()
    wanted = wishes()

    def errors(steps: Floats) -> dict[str, float]:
        time, left = played(steps)
        return {name: float(np.abs(left[name] - known(wanted[name], time)).max()) for name in wanted}

    regular = errors(np.full(count, dt))
    irregular = [errors(random_steps(seed)) for seed in SEEDS]
    ratios = {name: np.array([each[name] for each in irregular]) / regular[name] for name in wanted}
    worst = max(max(each.values()) for each in irregular)
    told = ", ".join(
        f"{np.median(ratios[name]):.2f} times (worst {ratios[name].max():.2f}) at B = {wanted[name].elasticity:g}"
        for name in wanted
    )
    return judge(
        "003.9",
        all(np.median(each) < 2 for each in ratios.values()) and worst < 0.05,
        f"{len(SEEDS)} runs of random steps: the error is {told} that of even steps (2 allowed in the median), at most "
        f"{100 * worst:.1f} % of the way (5 allowed)",
    )


def errors_by_step(steps: Floats) -> dict[str, dict[str, Floats]]:
    """The largest error in position over 1.2 s of two known motions, by scheme and step."""
    numbers = wishes()["swings"]
    force = pull(numbers, np.zeros(1))
    seconds = 1.2
    found: dict[str, dict[str, list[float]]] = {"thrown": {}, "pulled": {}}
    for dt in steps:
        count = round(seconds / dt)
        time = np.arange(count + 1) * dt
        thrown = 1 + 5 * time - GRAVITY * time**2 / 2
        pulled = known(numbers, time)
        ways = {
            name: (
                by_scheme(name, constant(np.array([-GRAVITY])), 1.0, 5.0, float(dt), count),
                by_scheme(name, force, 1.0, 0.0, float(dt), count),
            )
            for name in SCHEMES
        }
        even_steps = np.full(count, dt)
        ways["impel"] = played(even_steps, GRAVITY, 5.0)[1]["swings"], played(even_steps)[1]["swings"]
        for name, (free, held) in ways.items():
            found["thrown"].setdefault(name, []).append(float(np.abs(free - thrown).max()))
            found["pulled"].setdefault(name, []).append(float(np.abs(held - pulled).max()))
    return {motion: {name: np.array(each) for name, each in by.items()} for motion, by in found.items()}


@dataclass
class Tumbling:
    """What became of a freely tumbling box."""

    swelling: float  # of its volume, by a matrix that is no rotation any more
    lost: float  # of its angular momentum


def tumbling(dt: float, seconds: float) -> tuple[Tumbling, Tumbling]:
    """A box as printed, and by impel."""
    scene = gallery_scene("steps", step=dt, fps=1 / dt, seconds=seconds)
    scene.body("box", box=[0.3, 0.2, 0.1], mass=1, at=[0, 2, 0], spin=[150, 250, 100], collides=False)
    performance = Performance(scene)
    bodies, i = performance.stage.bodies, performance.compiled.bodies.index("box")
    before, inertia = bodies.momentum[i].copy(), bodies.inertia[i].copy()
    matrix, spin = matrix_from_quaternion(bodies.orientation[i]), bodies.spin[i].copy()
    for _ in range(performance.compiled.frames - 1):
        matrix, spin = tumble(matrix, spin, inertia, dt)
        performance.next_frame()

    def lost(momentum: Floats) -> float:
        return float(np.linalg.norm(momentum - before) / np.linalg.norm(before))

    printed = matrix @ np.diag(inertia) @ np.linalg.inv(matrix) @ spin
    true = matrix_from_quaternion(bodies.orientation[i])
    return (
        Tumbling(float(np.linalg.det(matrix)) - 1, lost(printed)),
        Tumbling(float(np.linalg.det(true)) - 1, lost(bodies.momentum[i])),
    )


def scheme_verdict(errors: dict[str, dict[str, Floats]]) -> Verdict:
    thrown, pulled = errors["thrown"], errors["pulled"]
    better = pulled["Euler"] / pulled["Newton"]
    alike = float(np.abs(pulled["impel"] - pulled["Newton"]).max())
    printed, ours = tumbling(0.01, 3.0)
    return judge(
        "003.15",
        float(thrown["Newton"].max()) < 1e-9
        and float(thrown["Euler"].min()) > 1e-3
        and float(better.min()) > 1
        and alike < 1e-9
        and abs(ours.swelling) < 1e-9
        and ours.lost < 1e-9,
        f"thrown: Newton is exact ({thrown['Newton'].max():.0e} m), Euler {100 * thrown['Euler'].min():.1f} to "
        f"{100 * thrown['Euler'].max():.0f} cm off; pulled by an actuator, Euler's error is {better.min():.1f} to "
        f"{better.max():.1f} times Newton's at equal steps (more than 1 asked). With control held over a step impel "
        f"takes the same steps ({alike:.0e} apart). A tumbling box, as printed (eqs. 13 and 14), swells by "
        f"{100 * printed.swelling:.0f} % and changes its angular momentum by {100 * printed.lost:.0f} % in 3 s; "
        f"impel's by {ours.swelling:.0e} and {ours.lost:.0e} (1e-9 allowed)",
        correction="places as printed; orientations by quaternions, and angular momentum instead of spin",
    )


def make(directory: Path) -> Exhibit:
    steps = np.array([0.0025, 0.005, 0.01, 0.02, 0.04])
    errors = errors_by_step(steps)
    draw(directory / "steps.png", steps, errors)
    return Exhibit(
        pictures=[("steps.png", "Random steps, and errors by the length of the step (thrown: dashed; pulled: solid).")],
        verdicts=[randomness(), scheme_verdict(errors)],
    )


def draw(path: Path, steps: Floats, errors: dict[str, dict[str, Floats]]) -> None:
    dt, count = even()
    with plot(path, columns=2, size=(10, 4.2), width_ratios=[1.3, 1]) as (axes, side):
        regular, irregular = played(np.full(count, dt)), played(random_steps(0))
        for i, (name, numbers) in enumerate(wishes().items()):
            axes.plot(regular[0], regular[1][name], color=color(i), lw=1.2)
            axes.plot(irregular[0], irregular[1][name], ".", color=color(i), ms=5)
            at = (0.9, 0.4)[i]
            where = int(np.argmin(np.abs(regular[0] - at)))
            name_line(
                axes, (regular[0][where], regular[1][name][where]), f"B = {numbers.elasticity:g}", color(i),
                shift=((4, -12), (10, 8))[i],
            )  # fmt: skip
        axes.set(xlabel="time (s)", ylabel="way left to the target", xlim=(0, 1.5), ylim=(-0.25, 1.05))
        axes.set_title("Even steps (lines), random steps (dots)")
        inks = {"Euler": color(5), "Newton": color(3), "impel": color(1)}
        for name, ink in inks.items():
            mark = "o" if name == "impel" else "-"
            side.plot(1000 * steps, 100 * errors["pulled"][name], mark, color=ink, ms=5, zorder=3)
            if errors["thrown"][name].max() > 1e-9:
                side.plot(1000 * steps, 100 * errors["thrown"][name], "--", color=ink, lw=1.2)
                middle = (10, 100 * errors["thrown"][name][2])
                name_line(side, middle, f"{name}, thrown", ink, shift=(-8, 9), align="right")
        name_line(
            side,
            (10, 100 * errors["pulled"]["Euler"][2]),
            "Euler, pulled",
            inks["Euler"],
            shift=(-10, 10),
            align="right",
        )
        name_line(
            side, (10, 100 * errors["pulled"]["Newton"][2]), "Newton, and impel (dots)", inks["Newton"], shift=(6, -10)
        )
        side.set(xscale="log", yscale="log", xlabel="step (ms)", ylabel="largest error (cm)")
        side.set_xticks(1000 * steps, [f"{1000 * s:g}" for s in steps])
        side.minorticks_off()
        side.set_title("Errors at equal steps")
