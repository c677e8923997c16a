"""Figure 10 of paper 003: a snake whose head alone has a wish."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.gallery.soft_surfaces import close_up, dents, unbalance
from impel.render.outputs import write_png, write_take
from impel.render.sequences import strip
from impel.stage import simulate
from impel.takes import Take

ORDER = 390
TITLE = "The snake and the cylinder"
TEXT = (
    "Nine soft links on hinges, and a single actuator in the head, on a path that leads through a soft cylinder. The "
    "body unfolds behind it, the head hits, slows down, and drags the cylinder along as far as its path goes."
)

LINK = 0.36  # m between joints
PAIR = ("head", "cylinder")  # as soft as each other
LINKS = ("head", "neck", *(f"link {k}" for k in range(2, 8)), "tail")
SEEN = 0.02  # m: so deep must head and cylinder press each other in, ...
FLAT = 0.002  # m: ... and so deep the floor every link
SHARED = 1e-6  # m off the surface that both share, where they touch
CALM = 0.3  # s left out around the hit, when speeds are compared

Floats = NDArray[np.float64]


class Story(NamedTuple):
    hit: float  # s
    straight: Floats  # (F,) distance from the first link's middle to the last one's, over what it can be
    speed: Floats  # (F,) of the head, m/s
    before: float  # m/s, mean of the head's speed before the hit, and after it while it drags
    after: float
    dragged: float  # m
    touching: float  # share of the time from the hit to the end of the way
    pressed: tuple[float, float]  # m, how deep the head and the cylinder are pressed in at most
    flat: float  # m, how deep the least of all links is
    shared: float  # m, how far from one surface head and cylinder are where they touch, at their deepest


def story(take: Take) -> Story:
    head, tail, cylinder = (take.position[:, take.index(name)] for name in ("head", "tail", "cylinder"))
    touch = [
        (event["time"], event["kind"])
        for event in take.events
        if event["kind"].startswith("contact") and {event["subject"], event["details"]["with"]} == {"head", "cylinder"}
    ]
    hit, speed, time = touch[0][0], take.channels["head.speed"], take.time
    moving = time[np.linalg.norm(cylinder - cylinder[-1], axis=1) > 0.3][-1]  # the last stretch is arriving
    ends = [t for t, kind in touch if kind == "contact ends"]
    begins = [t for t, kind in touch if kind == "contact begins"]
    apart = sum(again - end for end, again in zip(ends, begins[1:]))
    return Story(
        hit,
        np.linalg.norm(head - tail, axis=1) / (8 * LINK),
        speed,
        float(speed[(time > hit - 0.5) & (time < hit)].mean()),
        float(speed[(time > hit + CALM) & (time < moving)].mean()),
        float(np.linalg.norm(cylinder[-1] - cylinder[0])),
        1 - apart / (moving - hit),
        (float(dents(take, "head").max()), float(dents(take, "cylinder").max())),
        min(float(dents(take, name).max()) for name in LINKS),
        max(unbalance(take, *pair, 0.5, int(np.argmax(dents(take, "cylinder")))) for pair in (PAIR, PAIR[::-1])),
    )


def verdict(told: Story) -> Verdict:
    first, last = float(told.straight[0]), float(told.straight[-1])
    return judge(
        "003.12",
        first < 0.6
        and last > 0.98
        and told.after < 0.9 * told.before
        and told.dragged > 1.0
        and told.touching > 0.8
        and min(told.pressed) > SEEN
        and told.flat > FLAT
        and told.shared < SHARED,
        f"from head to tail {first:.0%} of the stretched length at the start, {last:.0%} at the end; the head goes at "
        f"{told.before:.2f} m/s before it hits at {told.hit:.2f} s and at {told.after:.2f} m/s after (at least a tenth "
        f"less asked); it touches the cylinder {told.touching:.0%} of that time and drags it {told.dragged:.2f} m (1 "
        f"asked). They press each other in by {1000 * told.pressed[0]:.0f} and {1000 * told.pressed[1]:.0f} mm "
        f"({1000 * SEEN:.0f} asked) and share one surface to {told.shared:.0e} m ({SHARED:.0e} allowed); the floor "
        f"flattens each link by {1000 * told.flat:.1f} mm or more ({1000 * FLAT:.0f} asked)",
    )


def make(directory: Path) -> Exhibit:
    take = simulate(gallery_scene("snake"))
    told = story(take)
    draw(directory / "story.png", take, told)
    write_png(strip(take, times=[0, 0.6, 1.2, told.hit, 3, 5], overlays=["paths"]), directory / "strip.png")
    near = [(time, "head", (0.3, -1.7, 0.9)) for time in (told.hit - 0.2, told.hit + 0.1, 3.0)]
    write_png(
        strip(close_up(take, near, 26), times=[time for time, *_ in near], columns=3, size=(400, 320)),
        directory / "close.png",
    )
    write_take(take, directory / "snake.mp4")
    return Exhibit(
        pictures=[
            ("snake.mp4", "Only the head has an actuator."),
            ("strip.png", "Unfolding, hitting, dragging."),
            ("close.png", "Head and cylinder are as soft as each other."),
            ("story.png", "How straight the snake is, and how fast its head goes."),
        ],
        verdicts=[verdict(told)],
    )


def draw(path: Path, take: Take, told: Story) -> None:
    with plot(path, columns=2, size=(10, 3.2)) as (left, right):
        left.plot(take.time, 100 * told.straight, color=color(3))
        left.set(xlabel="s", ylim=(40, 103), title="From head to tail, % of the stretched length")
        right.plot(take.time, told.speed, color=color(0))
        right.set(xlabel="s", title="Speed of the head, m/s")
        for axes in (left, right):
            axes.axvline(told.hit, color=SOFT, lw=0.8, ls=":")
        name_line(right, (told.hit, 0.1), "hits the cylinder", SOFT)
