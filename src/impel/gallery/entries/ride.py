"""Figure 5 of paper 000: a path whose keys lie on a wagon, each of which is pinned when it is passed."""

from pathlib import Path

import numpy as np

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import change_move, gallery_scene, move_of
from impel.render.outputs import write_take
from impel.stage import simulate
from impel.takes import Take

ORDER = 10
TITLE = "A way that leads over a wagon"
TEXT = (
    "Three of the ball's keys lie in the frame of a wagon that rolls on. They move along with it, and the path with "
    "them, "
    "until the target has passed them: then they stay where they are in the world. Without that, what lies behind the "
    "target would go on pulling it along. The last key must not be pinned, or nobody would ever stay with what moves."
)

SMOOTH = 0.5  # of the jolt without pinning, at most


def ridden(pin: bool | None) -> Take:
    """The ride with every key in the wagon pinned when passed, as it is by default, or with none."""
    scene = gallery_scene("ride")
    keys = [key if key.in_ is None else key.model_copy(update={"pin": pin}) for key in move_of(scene, "ball").keys]
    change_move(scene, "ball", keys=keys)
    return simulate(scene)


def jolt(take: Take) -> float:
    """The largest change of the target's velocity from frame to frame after it has left the wagon, m/s²."""
    target, leaves = take.tracks["ball.move.target"], passed(take, 3)
    late = np.diff(target, n=2, axis=0)[take.time[1:-1] > leaves]
    return float(np.linalg.norm(late, axis=1).max() * take.fps**2)


def passed(take: Take, key: int) -> float:
    return next(e["time"] for e in take.events if e["kind"] == "key passed" and e["details"]["key"] == key)


def detour(take: Take) -> float:
    """How far the target strays from the straight way between where it left the wagon and its next key, in metres."""
    target = take.tracks["ball.move.target"][(take.time > passed(take, 3)) & (take.time < passed(take, 4))]
    way = target[-1] - target[0]
    return float(np.linalg.norm(np.cross(target - target[0], way / np.linalg.norm(way)), axis=1).max())


def verdict(pinned: Take, loose: Take) -> Verdict:
    return judge(
        "000.1",
        jolt(pinned) < SMOOTH * jolt(loose) or detour(pinned) < SMOOTH * detour(loose),
        f"after it has left the wagon, the target's way bends off by {100 * detour(pinned):.0f} cm with keys pinned "
        "when "
        f"passed, by {100 * detour(loose):.0f} cm without (half of that allowed); its velocity changes by at most "
        f"{jolt(pinned):.1f} m/s² against {jolt(loose):.1f} m/s²",
        correction="the last key is not pinned, and a key with a time is left with the velocity that it had",
    )


def make(directory: Path) -> Exhibit:
    pinned, loose = ridden(None), ridden(False)
    write_take(pinned, directory / "strip.png", overlays=["paths", "targets"])
    write_take(pinned, directory / "film.mp4", overlays=["paths", "targets"])
    draw(directory / "ways.png", pinned, loose)
    return Exhibit(
        pictures=[
            ("strip.png", "The path moves with the wagon ahead of the target, and stays where it was behind it."),
            ("film.mp4", "The same, with the target that runs ahead."),
            ("ways.png", "The target's way from above, with passed keys pinned and without."),
        ],
        verdicts=[verdict(pinned, loose)],
    )


def draw(path: Path, pinned: Take, loose: Take) -> None:
    with plot(path, size=(9, 3.4)) as axes:
        wagon = pinned.position[:, pinned.index("wagon")]
        axes.plot(wagon[:, 0], wagon[:, 1], color=SOFT, lw=1, ls=(0, (4, 4)))
        name_line(axes, wagon[-1, :2].tolist(), "wagon", SOFT, shift=(0, 8), align="right")
        for take, text, ink in ((loose, "not pinned", color(0)), (pinned, "pinned when passed", color(1))):
            way = take.tracks["ball.move.target"]
            axes.plot(way[:, 0], way[:, 1], color=ink, label=text)
            axes.plot(way[::6, 0], way[::6, 1], ".", color=ink, ms=4)
        axes.legend(loc="lower left")
        axes.set(aspect="equal", xlabel="x, m", ylabel="y, m")
