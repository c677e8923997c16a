"""Figures 7 and 8 of paper 003, "Simply Implicit": a ball bounces into a nursery and clears the shelf."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.gallery.soft_surfaces import apart, close_up, dents, field
from impel.render.outputs import write_png, write_take
from impel.render.sequences import picture, strip
from impel.stage import simulate
from impel.takes import Take

ORDER = 370
TITLE = "Simply Implicit: the ball in the nursery"
TEXT = (
    "Nine rough keys for the ball, and nothing for anybody else: it bounces in, bumps into chest and bear, pushes the "
    "bear off, rolls along the shelf and knocks down what stands on it. That it rolls at all is the work of friction. "
    "Ball and toys are soft."
)

TOYS = ("bear", "big block", "small block", "cup", "book", "plush ball", "tower", "last block")
SHELF = 0.71  # m, the middle of the board
QUIET = 0.001  # m: before they are hit
LYING = 0.01  # m in the last second
SEEN = 0.1  # of its radius: how much flatter the ball gets at least
DENTED = 0.005  # m, and each toy
DRAWN = 1e-6  # m: where the ball touches what is rigid


class Story(NamedTuple):
    hits: list[str]  # what the ball touches, in that order
    restless: float  # m, the farthest that a toy moves before anything reaches it
    fallen: list[str]
    drift: float  # m, the farthest that a toy moves in the last second
    rolling: float  # spin times radius over speed of the ball on the shelf
    flat: float  # m, how deep the ball is pressed in at most
    dent: float  # m, how deep the toy is that is pressed in least
    through: float  # m, the farthest that the ball is seen in what it lies on


def story(take: Take, radius: float) -> Story:
    hits = []
    for event in take.events:
        pair = event["subject"], event["details"].get("with")
        if event["kind"] == "contact begins" and "ball" in pair:
            hits.append(pair[1] if pair[0] == "ball" else pair[0])
    # No toy is reached by anything before the ball gets to the bear.
    first = next(e["time"] for e in take.events if {e["subject"], e["details"].get("with")} == {"ball", "bear"})
    toys = np.array([take.index(name) for name in TOYS])
    place = take.position[:, toys]
    early = place[take.time < first]
    second = round(take.fps)
    return Story(
        list(dict.fromkeys(hits)),
        float(np.linalg.norm(early - early[0], axis=-1).max()),
        [name for name, at in zip(TOYS, place[-1]) if at[2] < SHELF / 2],
        float(np.linalg.norm(place[-second:] - place[-1], axis=-1).max()),
        _rolling(take, radius),
        float(dents(take, "ball").max()),
        min(float(dents(take, name).max()) for name in TOYS),
        max(apart(take, "ball", name, _deepest(take, name)) for name in ("floor", "shelf")),
    )


def _deepest(take: Take, name: str) -> int:
    """The frame in which the ball is deepest in something that does not yield."""
    depth = [
        -field(take, name, frame, take.position[frame, take.index("ball")][None])[0] for frame in range(len(take.time))
    ]
    return int(np.argmax(depth))


def _rolling(take: Take, radius: float) -> float:
    """How much of the way along the shelf the ball rolled rather than slid: 1 is all."""
    i = take.index("ball")
    x, q = take.position[:, i], take.orientation[:, i]
    turn = 2 * np.arccos(np.clip(np.abs((q[1:] * q[:-1]).sum(axis=1)), 0, 1))
    on = (x[:-1, 0] > 0.4) & (x[:-1, 0] < 1.9)
    return float(radius * turn[on].sum() / np.linalg.norm(np.diff(x, axis=0), axis=1)[on].sum())


def verdict(told: Story, radius: float = 0.14) -> Verdict:
    script = ["floor", "bear", "chest", "shelf"]
    order = [name for name in told.hits if name in script]
    return judge(
        "003.13",
        order == script
        and len(told.fallen) == len(TOYS)
        and told.restless < QUIET
        and told.drift < LYING
        and told.flat > SEEN * radius
        and told.dent > DENTED
        and told.through < DRAWN,
        f"the ball touches {', '.join(order)} in that order, then rolls on the shelf ({told.rolling:.0%} of rolling "
        f"without sliding); {len(told.fallen)} of {len(TOYS)} toys fall to the floor; before they are hit they move "
        f"less than {1000 * told.restless:.2f} mm ({1000 * QUIET:.0f} allowed), in the last second "
        f"{1000 * told.drift:.1f} mm ({1000 * LYING:.0f} allowed). The ball is flattened by up to "
        f"{1000 * told.flat:.0f} mm ({1000 * SEEN * radius:.0f} asked), each of the toys by {1000 * told.dent:.0f} mm "
        f"or more ({1000 * DENTED:.0f} asked), and it is drawn on floor and shelf to {told.through:.0e} m ({DRAWN:.0e} "
        "allowed)",
    )


def play() -> tuple[Take, Story]:
    scene = gallery_scene("nursery")
    take, radius = simulate(scene), scene.bodies["ball"].shape.sphere
    assert radius is not None
    return take, story(take, radius)


def make(directory: Path) -> Exhibit:
    take, told = play()
    write_png(picture(take, 0, overlays=["paths"], size=(1200, 675)), directory / "script.png")
    write_png(
        strip(take, times=[0.8, 2.6, 2.95, 3.5, 4.1, 4.6, 5.1, 10], columns=2, size=(640, 360)), directory / "strip.png"
    )
    near = [(0.83, "ball", (0.4, -1.7, 0.35)), (2.75, "bear", (-0.1, -1.9, 0.3)), (3.6, "bear", (0.4, -1.7, 0.5))]
    near += [(3.65, "cup", (0.1, -1.8, 0.3))]
    write_png(
        strip(close_up(take, near), times=[time for time, *_ in near], columns=4, size=(320, 280)),
        directory / "close.png",
    )
    write_take(take, directory / "nursery.mp4", size=(1280, 720))
    return Exhibit(
        pictures=[
            ("nursery.mp4", "The whole story."),
            ("script.png", "The script: the path through the ball's keys, floor, chest, bear and toys in its way."),
            ("close.png", "Ball, bear and toys are soft."),
            ("strip.png", "It enters, meets bear and chest, pushes the bear off, and starts rolling on the shelf ..."),
        ],
        verdicts=[verdict(told)],
    )
