"""Paper 004, sections 1 and 4: an element turns a somersault somewhere in its motion."""

from pathlib import Path

import numpy as np

from impel.gallery.goals import Met, met, show, verdict_on_goals
from impel.gallery.ledger import Exhibit, Verdict
from impel.gallery.loading import gallery_scene
from impel.motion.orientations import turns_between
from impel.stage import simulate
from impel.takes import Take

ORDER = 430
TITLE = "A somersault"
TEXT = (
    "Off the tower, once round, and on both feet at 1.5 s. The goals say 60, 180, 300 and 360 degrees: the acrobat "
    "turns as it is written, not the shorter way."
)

GOALS = 4
LANDS = 1.5  # s


def turned(take: Take) -> float:
    """By how many degrees the acrobat turns forwards in all, until it lands."""
    q = take.orientation[take.time <= LANDS + 1e-9, take.index("acrobat")]
    return float(np.degrees(turns_between(q[:-1], q[1:])[:, 1].sum()))


def sways(take: Take) -> float:
    """How far the acrobat strays from where it stands, in metres."""
    stands = take.position[take.time > LANDS + 0.2, take.index("acrobat")]
    return float(np.ptp(stands, axis=0).max())


def verdict(found: Met, degrees: float, strays: float) -> Verdict:
    words = f"turned {degrees:.1f}° in all, then stands within {1e3 * strays:.1f} mm"
    return verdict_on_goals(found, GOALS, abs(degrees - 360) < 0.1 and strays < 0.005, words)


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("somersault"))
    times = [0.0, 0.3, 0.6, 0.85, 1.0, 1.2, 1.5, 2.9]
    return Exhibit(
        pictures=show(take, directory, "somersault", times, "The acrobat lands at 1.5 s, and is held there."),
        verdicts=[verdict(met(take), turned(take), sways(take))],
    )
