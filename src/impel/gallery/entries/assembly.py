"""Paper 004, section 1: a structure that assembles itself, without its parts running into each other."""

from pathlib import Path

import numpy as np

from impel.gallery.goals import Met, met, show, verdict_on_goals
from impel.gallery.ledger import Exhibit, Verdict
from impel.gallery.loading import gallery_scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 440
TITLE = "A temple that builds itself"
TEXT = (
    "Eight parts lie about. Each is lifted, led over its place and put there on time, clear of the others, and held by "
    "a dynamic constraint until all are there. Then they are let go, and the temple stands by itself."
)

GOALS = 25
RELEASED = 6.6  # s


def parts(take: Take) -> list[int]:
    return [i for i, name in enumerate(take.names) if name != "ground"]


def settles(take: Take) -> float:
    """How far any part moves after it is let go, in metres."""
    after = take.position[take.time >= RELEASED - 1e-9][:, parts(take)]
    return float(np.linalg.norm(after - after[0], axis=-1).max())


def hardest(take: Take) -> float:
    """The hardest blow between two parts before they are let go, in newtons; none if they only settle on each other."""
    forces = [
        event["details"]["force"]
        for event in take.events
        if event["kind"] == "contact begins"
        and "ground" not in (event["subject"], event["details"]["with"])
        and event["time"] < RELEASED
    ]
    return max(forces, default=0.0)


def verdict(found: Met, moves: float, blow: float) -> Verdict:
    words = f"let go, no part moves by more than {1e3 * moves:.1f} mm; parts touch with {blow:.0f} N at most"
    return verdict_on_goals(found, GOALS, moves < 0.005 and blow < 100, words)


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("assembly"))
    times = [0.0, 1.2, 2.2, 3.4, 4.5, 5.2, 6.0, 7.9]
    return Exhibit(
        pictures=show(take, directory, "assembly", times, "From 6.6 s on nothing but its own weight holds it."),
        verdicts=[verdict(met(take), settles(take), hardest(take))],
    )
