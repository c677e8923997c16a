"""The plates of paper 004: three rods pierce moving balls and hit a target, all on time."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.analysis.plots import color, name_line, plot
from impel.gallery.goals import Met, met, show, verdict_on_goals
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 420
TITLE = "Three rods"
TEXT = (
    "Each rod flies its own way through 25, 16 and 17 goals, places and orientations, of which only the last has a "
    "time. On the way each goes through the middle of a red ball that is key-framed and knows nothing of it. All three "
    "hit the target at 4 s, and are let go."
)

RODS = {"first": 25, "second": 16, "third": 17}  # with so many goals
PIERCES = {"first": 5, "second": 4, "third": 4}  # the goal, counted from 1, that is in the middle of a ball
HIT = 4.0  # s
SMOOTH, PAPER = 1.15, 1.7  # largest over smallest speed, as asked for


class Flight(NamedTuple):
    """How one rod flew."""

    steadiness: float  # its largest over its smallest speed until it hits
    pierced: float  # m: how far from the middle of its ball it passed


def play(ending: str = "smooth") -> Take:
    scene = gallery_scene("rods")
    for name in RODS:
        goals = scene.actors[name].goals
        assert goals is not None
        scene.actors[name].goals = goals.model_copy(update={"ending": ending})
    return simulate(scene)


def flights(take: Take) -> dict[str, Flight]:
    found, flying = {}, take.time <= HIT + 1e-9
    for name, goal in PIERCES.items():
        when = take.keys[f"{name}.goals"][goal - 1]["time"]
        near = np.abs(take.time - when) < 0.1
        rod, ball = take.position[near, take.index(name)], take.position[near, take.index(f"{name}_ball")]
        away, way = rod - ball, np.gradient(rod - ball, axis=0)
        closest = away - way * (np.sum(away * way, axis=1) / np.sum(way * way, axis=1))[:, None]
        speed = take.channels[f"{name}.speed"][flying]
        i = int(np.argmin(np.linalg.norm(away, axis=1)))
        found[name] = Flight(float(speed.max() / speed.min()), float(np.linalg.norm(closest[i])))
    return found


def hits(take: Take) -> list[float]:
    """When each rod first touches the target."""
    first: dict[str, float] = {}
    for event in take.events:
        pair = {event["subject"], event["details"].get("with")}
        if event["kind"] == "contact begins" and "target" in pair:
            (other,) = pair - {"target"}
            first.setdefault(str(other), event["time"])
    return [first.get(name, float("inf")) for name in RODS]


def verdict_on_speed(smooth: dict[str, Flight], paper: dict[str, Flight]) -> Verdict:
    best, published = (max(flight.steadiness for flight in each.values()) for each in (smooth, paper))
    return judge(
        "004.5",
        published <= PAPER and best <= SMOOTH,
        f"largest over smallest speed of a rod {published:.2f} with the published choice of k ({PAPER} asked), "
        f"{best:.2f} with mean velocities weighted by time ({SMOOTH} asked)",
    )


def verdict_on_marks(found: Met, flown: dict[str, Flight], hit: list[float]) -> Verdict:
    pierced, late = max(flight.pierced for flight in flown.values()), max(abs(time - HIT) for time in hit)
    return verdict_on_goals(
        found,
        sum(RODS.values()),
        pierced < 0.01 and late < 0.02,
        f"rods pass the middles of their balls by {1e3 * pierced:.1f} mm, and touch the target {1e3 * late:.0f} ms "
        f"from {HIT:g} s",
        claim="004.6",
    )


def make(directory: Path) -> Exhibit:
    take, paper = play(), play("paper")
    draw(directory / "speeds.png", take, paper)
    times = [0.0, 0.75, 1.5, 2.4, 3.3, 4.0, 4.25, 5.2]
    pictures = show(take, directory, "rods", times, "Through the balls and onto the target, at 4 s.")
    return Exhibit(
        pictures=[*pictures, ("speeds.png", "The speeds of the rods: with `ending: smooth`, and as published.")],
        verdicts=[
            verdict_on_speed(flights(take), flights(paper)),
            verdict_on_marks(met(take), flights(take), hits(take)),
        ],
    )


def draw(path: Path, smooth: Take, paper: Take) -> None:
    with plot(path, columns=2, size=(10, 3.4), sharey=True) as sides:
        for axes, take, title in zip(sides, (smooth, paper), ("ending: smooth", "ending: paper"), strict=True):
            flying = take.time <= HIT
            for i, name in enumerate(RODS):
                ink = take.colors[take.index(name)] if name in take.names else color(i)
                axes.plot(take.time[flying], take.channels[f"{name}.speed"][flying], color=ink)
                name_line(axes, (HIT, float(take.channels[f"{name}.speed"][flying][-1])), name, ink)
            axes.set(xlabel="s", title=f"Speed, m/s, {title}", ylim=(0, 2.8))
