"""Paper 004, section 1: a bird catches a fish at a certain place, so both must be there at the same time."""

from pathlib import Path

import numpy as np

from impel.gallery.goals import Met, met, show, verdict_on_goals
from impel.gallery.ledger import Exhibit, Verdict
from impel.gallery.loading import gallery_scene
from impel.motion.orientations import matrix_from_quaternion
from impel.stage import simulate
from impel.takes import Take

ORDER = 450
TITLE = "A bird takes a fish"
TEXT = (
    "The fish leaps, the bird stoops, and at 1.6 s they are at the same place. From then on the fish is held in the "
    "bird's claws, by a goal in the bird's frame. The wings beat by keys: keys and goals play in one scene."
)

GOALS = 8
TAKEN = 1.75  # s
CLAWS = (0.04, 0.0, -0.18)  # m, in the bird's frame


def slips(take: Take) -> float:
    """How far the fish is from the claws at most, once it is taken, in metres."""
    held = take.time >= TAKEN
    bird, fish = take.index("bird"), take.index("fish")
    claws = take.position[held, bird] + matrix_from_quaternion(take.orientation[held, bird]) @ CLAWS
    return float(np.linalg.norm(take.position[held, fish] - claws, axis=1).max())


def verdict(found: Met, slip: float) -> Verdict:
    return verdict_on_goals(found, GOALS, slip < 0.005, f"the fish slips by {1e3 * slip:.2f} mm in the claws (5 asked)")


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("fishing"))
    times = [0.0, 0.9, 1.3, 1.5, 1.6, 1.8, 2.4, 3.4]
    return Exhibit(
        pictures=show(take, directory, "fishing", times, "The bird takes the fish at 1.6 s."),
        verdicts=[verdict(met(take), slips(take))],
    )
