"""Figure 5 of paper 003: an arm whose hand goes down a vertical line, with and without the filter of the correction."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import change_move, fixed_step, gallery_scene, move_of
from impel.gallery.published import Guide, constant, newton, pull
from impel.render.outputs import write_take
from impel.scene.derived import drive
from impel.stage import Moment, simulate
from impel.takes import Take

ORDER = 330
TITLE = "The arm: what the filter is for"
TEXT = (
    "Only the hand of a three-link arm is told where to go: down a vertical line. The paper adds the opposite of what "
    "disturbed the hand in the last step, sees the arm tremble, and filters it. Its figure is lost, and so are its "
    "masses and steps. On this arm the unfiltered hand keeps nearer to its line than the filtered one, and wavers "
    "only when a step is as long as a frame of film. What the filter is good for is shown below: without it, a body "
    "would resist a blow at once, and no hit would show."
)

FILTERED, UNFILTERED = 5.0, 1e6  # 1/s: γ; so large that each step's correction is the last step's disturbance
BLOW, PUSH = (1.0, 1.06, 25.0), (3.0, math.inf, 2.5)  # s, s, N: a sudden hit and a lasting force

CONTROLS = {"printed, steps of 1/240 s": 1 / 240, "printed, steps of 1/25 s": 1 / 25, "impel": 0.0}  # s; adaptive

Floats = NDArray[np.float64]


def by_impel(gamma: float) -> Take:
    scene = gallery_scene("arm")
    change_move(scene, "hand", adaptation=gamma)
    return simulate(scene)


def as_published(gamma: float, step: float) -> Take:
    """The same hand guided by the paper's own equations."""
    scene = gallery_scene("arm", step=step, fps=1 / step)
    move, mass = move_of(scene, "hand"), scene.bodies["hand"].mass
    assert mass is not None
    line = np.array(move.keys[0].at), np.array(move.keys[-1].at)
    guide = Guide("hand", mass, drive(move), line, gamma)
    scene.actors.clear()
    return simulate(scene, controller=guide, every="step")


def aside(take: Take) -> Floats:
    """How far the hand is from its vertical line, in metres."""
    hand = take.position[:, take.index("hand"), 0]
    return hand - hand[0]


def swing(take: Take) -> float:
    """The farthest that the hand gets from its line, in metres."""
    return float(np.abs(aside(take)).max())


def filter_effect(takes: dict[tuple[str, float], Take]) -> Verdict:
    swings = {key: swing(take) for key, take in takes.items()}
    told = [
        f"{control}: {1000 * swings[control, UNFILTERED]:.1f} mm aside unfiltered, "
        f"{1000 * swings[control, FILTERED]:.1f} mm filtered"
        for control in CONTROLS
    ]
    return judge(
        "003.7",
        all(swings[control, FILTERED] < 0.5 * swings[control, UNFILTERED] for control in CONTROLS),
        "; ".join(told) + " (half would count as removed)",
    )


def pushed() -> Take:
    scene = gallery_scene("arm-push")

    def push(moment: Moment) -> None:
        forces = [force for begin, end, force in (BLOW, PUSH) if begin <= moment.time < end]
        for name in scene.actors:
            moment.push(name, [sum(forces), 0.0, 0.0])

    return simulate(scene, controller=push, every="step")


def pushed_as_published(gamma: float) -> tuple[Floats, Floats]:
    """Times and places of a body of 1 kg under the same forces, by the paper's equations, which set no limit."""
    scene = gallery_scene("arm-push")
    numbers, dt = drive(move_of(scene, "learns")), fixed_step(scene)
    time = dt * np.arange(round(scene.world.seconds / dt), dtype=np.float64)
    place, velocity, correction, places = np.zeros(1), np.zeros(1), np.zeros(1), []
    for t in time:
        places.append(place[0])
        outside = sum(force for begin, end, force in (BLOW, PUSH) if begin <= t < end)
        total = pull(numbers, np.zeros(1))(place, velocity) + correction + outside
        place, velocity = newton(place, velocity, constant(total), dt)
        share = min(gamma * dt, 1.0)
        correction = -share * outside + (1 - share) * correction  # eq. 7 is exact here
    return time, np.array(places)


def hits_and_loads(take: Take) -> Verdict:
    def most(name: str, begin: float, end: float) -> float:
        chosen = (take.time >= begin) & (take.time <= end)
        return float(np.abs(take.position[chosen, take.index(name), 0]).max())

    blow = {name: most(name, BLOW[0], PUSH[0]) for name in ("never", "learns")}
    back = most("learns", PUSH[0] - 0.5, PUSH[0]) / blow["learns"]
    first, last = most("learns", PUSH[0], PUSH[0] + 1), most("learns", take.time[-1] - 0.5, take.time[-1])
    stays = most("never", take.time[-1] - 0.5, take.time[-1])
    time, place = pushed_as_published(UNFILTERED)
    stiff = float(np.abs(place[time < PUSH[0]]).max())
    return judge(
        "003.16",
        blow["learns"] > 0.5 * blow["never"] and stiff < 0.5 * blow["never"] and back < 0.05 and last < 0.05 * stays,
        f"a blow of {BLOW[2]:g} N for {1000 * (BLOW[1] - BLOW[0]):.0f} ms deflects by {100 * blow['learns']:.1f} cm, "
        f"{100 * blow['learns'] / blow['never']:.0f} % of what it does without correction (50 asked; "
        f"{100 * stiff / blow['never']:.0f} % by the printed equations without the filter), and is forgotten to "
        f"{100 * back:.1f} % (5 allowed); a lasting {PUSH[2]:g} N moves it {100 * first:.1f} cm at first and "
        f"{100 * last:.2f} cm in the end, {100 * last / stays:.1f} % of the {100 * stays:.1f} cm without correction (5 "
        "allowed)",
    )


def moved() -> dict[tuple[str, float], Take]:
    return {
        (control, gamma): as_published(gamma, step) if step else by_impel(gamma)
        for control, step in CONTROLS.items()
        for gamma in (UNFILTERED, FILTERED)
    }


def make(directory: Path) -> Exhibit:
    takes, push = moved(), pushed()
    draw_hands(directory / "hand.png", takes)
    draw_push(directory / "push.png", push)
    overlays = ["paths", "targets", "trails"]
    write_take(takes["impel", FILTERED], directory / "strip.png", overlays=overlays, size=(400, 300))
    return Exhibit(
        pictures=[
            ("strip.png", "The hand goes down its line; the arm's links only hang on."),
            ("hand.png", "The way of the hand, seen from the side, with the correction as it is and filtered."),
            ("push.png", "A blow and a lasting push: with the filter the first shows and the second is learnt."),
        ],
        verdicts=[filter_effect(takes), hits_and_loads(push)],
    )


def draw_hands(path: Path, takes: dict[tuple[str, float], Take]) -> None:
    with plot(path, columns=3, size=(10, 4.2), sharey=True, sharex=True) as sides:
        for axes, control in zip(sides, CONTROLS, strict=True):
            axes.axvline(0, color=SOFT, lw=1, ls=(0, (4, 4)))
            for gamma, text, ink in ((UNFILTERED, "unfiltered", color(5)), (FILTERED, "filtered", color(3))):
                take = takes[control, gamma]
                height = take.position[:, take.index("hand"), 2]
                axes.plot(100 * aside(take), height, color=ink, lw=1.6, label=text)
            axes.set_title(control[0].upper() + control[1:] if control != "impel" else control)
            axes.set(xlabel="aside (cm)")
        sides[0].set(ylabel="height of the hand (m)")
        sides[0].legend(loc="lower left", bbox_to_anchor=(0, 0.06))


def draw_push(path: Path, take: Take) -> None:
    with plot(path, size=(10, 3.0)) as axes:
        lines = [
            (take.colors[take.index(name)], text, take.time, take.position[:, take.index(name), 0])
            for name, text in (("never", "no correction"), ("learns", "filtered: γ = 5"))
        ]
        lines.append((color(5), "unfiltered, as printed", *pushed_as_published(UNFILTERED)))
        for shift, (ink, text, time, x) in zip(((10, 4), (14, -12), (6, 9)), lines, strict=True):
            axes.plot(time, 100 * x, color=ink)
            peak = int(np.argmax(np.where(time < PUSH[0], x, -1)))
            name_line(axes, (time[peak], 100 * x[peak]), text, ink, shift=shift)
        for (begin, end, _), text in ((BLOW, "a blow"), (PUSH, "a push that stays")):
            axes.axvspan(begin, min(end, take.time[-1]), color=SOFT, alpha=0.1, lw=0)
            axes.text(begin, 8.6, f" {text}", color=SOFT, va="top", ha="left" if end > 2 else "right")
        axes.set(xlabel="time (s)", ylabel="aside (cm)", xlim=(0.5, take.time[-1]), ylim=(-2.5, 9))
