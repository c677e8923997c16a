"""What the entries about goals have in common: how near and how punctual bodies were, and what is shown of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from impel.gallery.ledger import Verdict, judge
from impel.render.outputs import write_png, write_take
from impel.render.sequences import strip
from impel.takes import Take

EXACT = 1e-9  # m
EXACT_ANGLE = 1e-4  # degrees


class Met(NamedTuple):
    """How goals were met."""

    goals: int
    missed: int
    distance: float  # m, the largest
    angle: float  # degrees, the largest


def met(take: Take, subject: str = "") -> Met:
    """Of all goals of a take, or of one actor's."""
    told = [e for e in take.events if e["kind"] in ("goal met", "goal missed") and e["subject"].startswith(subject)]
    return Met(
        len({(event["subject"], event["details"]["goal"]) for event in told}),
        sum(event["kind"] == "goal missed" for event in told),
        max((event["details"].get("distance", 0.0) for event in told), default=0.0),
        max((event["details"].get("angle", 0.0) for event in told), default=0.0),
    )


def exact(found: Met, goals: int) -> bool:
    return found.goals == goals and found.missed == 0 and found.distance <= EXACT and found.angle <= EXACT_ANGLE


def verdict_on_goals(found: Met, goals: int, more: bool, words: str, claim: str = "004.2") -> Verdict:
    """Whether so many goals were met exactly, and what else there is to see is so."""
    return judge(
        claim,
        exact(found, goals) and more,
        f"{found.goals - found.missed} of {goals} goals met on time, at most {found.distance:.1g} m ({EXACT:g} asked) "
        f"and {found.angle:.1g}° off; {words}",
        correction="solved anew in each step, with a last step that aims at the goal alone",
    )


def show(take: Take, directory: Path, name: str, times: Sequence[float], caption: str) -> list[tuple[str, str]]:
    """A strip and a film, with their captions."""
    write_png(strip(take, times=list(times), overlays=["goals", "trails"]), directory / "strip.png")
    write_take(take, directory / f"{name}.mp4")
    return [(f"{name}.mp4", caption), ("strip.png", "Rings are goals to come, discs those that were met.")]
