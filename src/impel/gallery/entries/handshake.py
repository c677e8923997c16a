"""Figure 6 of paper 000: two arms shake hands; where they meet is up to their speeds."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from impel.analysis.plots import SOFT, color, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import change_move, gallery_scene, move_of
from impel.render.outputs import write_take
from impel.stage import simulate
from impel.takes import Take

ORDER = 20
TITLE = "Shaking hands, wherever they meet"
TEXT = (
    "The last key of each hand lies in the frame of the other, so nobody says where they meet. The paper holds that "
    "strength and mass decide it. But an arm pulls with as much as its load takes, so both fall out: what counts is "
    "how "
    "fast each goes. Strength would move the place only while it does not suffice, and then the weak arm sinks."
)

SPEEDS = ((0.5, 0.5), (0.5, 0.25), (0.6, 0.4), (0.3, 0.5))  # m/s, left and right
NEAR, SAME = 15.0, 1.0  # mm: from the share of speeds; that strength or mass may move it
LEFT = ("left_upper", "left_fore", "left_hand")


@dataclass(frozen=True)
class Meeting:
    take: Take
    place: float  # m: where the hands touch first, in the middle between them
    expected: float  # m: by the share of the speeds; infinite if they never do


def meet(left: float, right: float, strength: float = 1.0, mass: float = 1.0) -> Meeting:
    """Let them shake hands at these speeds, the left arm with so many times its strength or mass."""
    scene = gallery_scene("handshake")
    change_move(scene, "left_hand", speed=left, strength=f"{100 * strength:g} %")
    change_move(scene, "right_hand", speed=right)
    for name in LEFT:
        scene.bodies[name].mass = mass * (scene.bodies[name].mass or 0.0)
    take = simulate(scene)
    hands = [take.position[:, take.index(f"{side}_hand"), 0] for side in ("left", "right")]
    touch = [
        event["time"]
        for event in take.events
        if event["kind"] == "contact begins"
        and {event["subject"], event["details"]["with"]} == {"left_hand", "right_hand"}
    ]
    between = abs(move_of(scene, "left_hand").keys[1].at[0])
    gap = float(hands[1][0] - hands[0][0]) - between
    place = float(np.interp(touch[0], take.time, (hands[0] + hands[1]) / 2)) if touch else float("inf")
    return Meeting(take, place, gap * (left / (left + right) - 0.5))


def verdict(meetings: list[Meeting], strong: Meeting, heavy: Meeting) -> Verdict:
    """`strong` and `heavy` are the second of the meetings with another strength or mass."""
    off = 1000 * max(abs(m.place - m.expected) for m in meetings)
    by_strength, by_mass = (1000 * abs(m.place - meetings[1].place) for m in (strong, heavy))
    follows = off <= NEAR
    return judge(
        "000.2",
        not follows or max(by_strength, by_mass) > SAME,
        f"hands touch within {off:.1f} mm of where the share of their speeds says ({NEAR:g} asked), between "
        f"{1000 * min(m.place for m in meetings):+.0f} and {1000 * max(m.place for m in meetings):+.0f} mm; twice the "
        f"strength moves the place by {by_strength:.2f} mm, twice the mass by {by_mass:.2f} mm (over {SAME:g} would "
        "count)",
    )


def make(directory: Path) -> Exhibit:
    meetings = [meet(*speeds) for speeds in SPEEDS]
    strong, heavy = meet(*SPEEDS[1], strength=2), meet(*SPEEDS[1], mass=2)
    write_take(meetings[1].take, directory / "strip.png")
    write_take(meetings[1].take, directory / "film.mp4")
    draw(directory / "places.png", meetings, strong, heavy)
    return Exhibit(
        pictures=[
            ("strip.png", "The left arm goes twice as fast, so they meet on the right one's side."),
            ("film.mp4", "The same."),
            ("places.png", "Where hands touch first, against where the share of their speeds says."),
        ],
        verdicts=[verdict(meetings, strong, heavy)],
    )


def draw(path: Path, meetings: list[Meeting], strong: Meeting, heavy: Meeting) -> None:
    with plot(path, size=(5.6, 4.2)) as axes:
        axes.plot([-80, 110], [-80, 110], color=SOFT, lw=1, ls=(0, (4, 4)))
        for m, (left, right) in zip(meetings, SPEEDS):
            axes.plot(1000 * m.expected, 1000 * m.place, "o", color=color(1))
            axes.annotate(f"{left:g} : {right:g} m/s", (1000 * m.expected, 1000 * m.place), xytext=(8, -8),
                          textcoords="offset points", color=color(1), fontsize=9)  # fmt: skip
        for m, text, marker, shift in ((strong, "twice the strength", "s", 16), (heavy, "twice the mass", "D", 28)):
            axes.plot(
                1000 * m.expected, 1000 * m.place, marker, mfc="none", mec=color(0), ms=10 if marker == "s" else 7
            )
            axes.annotate(text, (1000 * m.expected, 1000 * m.place), xytext=(-8, shift - 18), ha="right",
                          textcoords="offset points", color=color(0), fontsize=9)  # fmt: skip
        axes.set(xlabel="by the share of speeds (mm)", ylabel="where they touch (mm)", aspect="equal")
