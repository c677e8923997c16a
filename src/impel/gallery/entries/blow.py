"""The blow, which the papers do not have: an arm under gravity does not sag, gives way, and comes back."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.analysis.lines import distances
from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.motion.orientations import matrix_from_quaternion
from impel.render.outputs import write_png, write_take
from impel.render.sequences import strip
from impel.stage import simulate
from impel.takes import Take

ORDER = 395
TITLE = "The blow"
TEXT = (
    "An arm of three links sways on a loop of keys. It carries its weight without sagging, gives way when a ball drops "
    "on it, and finds back to its loop by itself: soft to what is sudden, stiff to what lasts."
)

REACH = 0.25  # m from the middle of the last link to its free end
ARM = 1.5  # m from the shoulder to the free end
LINKS = ("upper", "middle", "lower")
BACK_AFTER = 2.0  # s after the hit
SAG, GIVE, BACK = 0.01, 0.15, 0.02  # of the arm's length, as the project asks

Floats = NDArray[np.float64]


class Blow(NamedTuple):
    """The same arm three times; the last two long enough for their tips to draw the whole loop."""

    hit: Take
    unhit: Take
    weightless: Take  # nor hit: where the loop is without any load
    time: float  # s, of the hit


class Measured(NamedTuple):
    """In shares of the arm's length, at the tip. The targets wait while the arm is deflected, so it is a matter of the
    distance from the loop's curve, not of the clock."""

    sag: float  # before the hit, from the weightless loop
    deflection: float  # from the unhit loop
    left: float  # of it from BACK_AFTER on


def play() -> Blow:
    hit = simulate(gallery_scene("blow"))
    unhit = gallery_scene("blow", seconds=20.0)
    weightless = gallery_scene("blow", seconds=20.0, gravity=(0.0, 0.0, 0.0))
    for scene in (unhit, weightless):
        del scene.bodies["ball"]
    time = min(
        event["time"]
        for event in hit.events
        if event["kind"] == "contact begins" and {event["subject"], event["details"]["with"]} & set(LINKS)
    )
    return Blow(hit, simulate(unhit), simulate(weightless), time)


def tip(take: Take) -> Floats:
    """The way (F, 3) of the arm's free end."""
    last = take.index("lower")
    return take.position[:, last] + matrix_from_quaternion(take.orientation[:, last])[..., 2] * REACH


def measure(blow: Blow) -> Measured:
    time, way = blow.hit.time, tip(blow.hit)
    off = distances(way, tip(blow.unhit)) / ARM
    sag = distances(way[time < blow.time], tip(blow.weightless)) / ARM
    return Measured(float(sag.max()), float(off.max()), float(off[time >= blow.time + BACK_AFTER].max()))


def verdict(found: Measured) -> Verdict:
    return judge(
        "003.16",
        found.sag < SAG and found.deflection > GIVE and found.left < BACK,
        f"at the tip, in shares of the arm: sag before the hit {found.sag:.2%} (below {SAG:.0%}), deflection "
        f"{found.deflection:.0%} (above {GIVE:.0%}), {BACK_AFTER:.0f} s later {found.left:.2%} (below {BACK:.0%})",
        correction="actuators feel all that they carry (inverse dynamics), know their weight from the start, and their "
        "correction is clamped",
    )


def make(directory: Path) -> Exhibit:
    blow = play()
    draw(directory / "tip.png", blow)
    moments = [blow.time + after for after in (-2.5, -0.12, 0.1, 0.3, 0.6, 2.5)]
    write_png(strip(blow.hit, times=moments, overlays=["trails"]), directory / "strip.png")
    write_take(blow.hit, directory / "blow.mp4")
    return Exhibit(
        pictures=[
            ("blow.mp4", "The upper link goes round a cone, the others keep their slant; the ball is nobody's."),
            ("strip.png", f"Before, at, and after the hit at {blow.time:.2f} s."),
            ("tip.png", "How far the tip is from its loop, and the loop seen along the arm."),
        ],
        verdicts=[verdict(measure(blow))],
    )


def draw(path: Path, blow: Blow) -> None:
    way, loop = tip(blow.hit), tip(blow.unhit)
    with plot(path, columns=2, size=(10, 3.6), width_ratios=[1.7, 1]) as (left, right):
        left.plot(blow.hit.time, 100 * distances(way, loop) / ARM, color=color(1))
        left.axvline(blow.time, color=SOFT, lw=0.8, ls=":")
        name_line(left, (blow.time, 36), "the ball hits", SOFT, shift=(-6, 0), align="right")
        left.set(xlabel="s", title="Distance of the tip from its loop, % of the arm")
        right.plot(way[:, 1], way[:, 2], color=color(0), lw=1.1)
        right.plot(loop[:, 1], loop[:, 2], color=color(1))
        name_line(right, (float(loop[:, 1].max()), float(loop[:, 2].mean())), "loop", color(1))
        name_line(right, tuple(way[way[:, 2].argmin()][1:]), "after the hit", color(0), shift=(10, 4))
        right.set(aspect="equal", xlim=(-0.3, 0.3), xlabel="y, m", title="Way of the tip, z over y")
