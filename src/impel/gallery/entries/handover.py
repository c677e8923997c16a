"""One that the papers do not have: a cup changes hands while somebody throws a ball at them."""

from pathlib import Path

import numpy as np

from impel.analysis.script import draw_script, plan_of
from impel.gallery.ledger import Exhibit
from impel.gallery.loading import gallery_scene
from impel.motion.orientations import matrix_from_quaternion
from impel.render.outputs import write_take
from impel.stage import simulate
from impel.takes import Take

ORDER = 60
TITLE = "A hand-over under fire"
TEXT = (
    "An arm takes a cup, hands it over to another, which puts it down; a third arm throws a ball at the first. Grips "
    "are "
    "joints that the script makes and lets go: by appointments, so that nobody lets go before the other holds, however "
    "late the ball makes them."
)


def grips(take: Take) -> dict[str, tuple[float, float]]:
    """From when until when each hand holds the cup."""
    found = {}
    for side in ("left", "right"):
        made, over = (
            next(e["time"] for e in take.events if e["kind"] == kind and e["subject"] == f"{side}_grip")
            for kind in ("joint made", "joint let go")
        )
        found[side] = (made, over)
    return found


def apart(take: Take) -> float:
    """How far the cup moves against a hand that holds it, at most, in metres."""
    cup, most = take.position[:, take.index("cup")], 0.0
    for side, (made, over) in grips(take).items():
        hand = take.index(f"{side}_hand")
        turned = matrix_from_quaternion(take.orientation[:, hand])
        seen = np.einsum("fji,fj->fi", turned, cup - take.position[:, hand])
        most = max(most, float(np.ptp(seen[(take.time > made) & (take.time < over)], axis=0).max()))
    return most


def make(directory: Path) -> Exhibit:
    scene = gallery_scene("handover")
    take = simulate(scene)
    write_take(take, directory / "strip.png")
    write_take(take, directory / "film.mp4")
    draw_script(directory / "script.png", take, plan_of(scene), "The hand-over")
    return Exhibit(
        pictures=[
            ("strip.png", "The ball hits the left arm on its way; the right one waits for it."),
            (
                "film.mp4",
                f"While a hand holds the cup, it moves by less than {max(apart(take), 1e-10):.0e} m against it.",
            ),
            ("script.png", "What was asked for and what became of it, as `impel script` draws it."),
        ],
    )
