"""Section 4.2 of paper 003: a rough path, smoothed by the base distance, hurried by α, settled by B."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.lines import distances
from impel.analysis.plots import SOFT, name_line, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene, move_of
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.scene.derived import drive
from impel.stage import simulate
from impel.takes import Take

ORDER = 340
TITLE = "Smoothing a path that nothing could follow"
TEXT = (
    "The corners of the path would take infinite force. How much they are rounded is a matter of the base distance; α "
    "changes how fast, but not where a body goes; B decides whether it swings out of the corners."
)

LABELS = {
    "plain": "d = 0.2, α = 0.1, B = 0.7",
    "wide": "d = 0.45",
    "quick": "α = 0.3",
    "springy": "B = 0.3",
    "dragging": "B = 1.5",
}

Floats = NDArray[np.float64]


def way(take: Take, name: str) -> Floats:
    """The body's way (F, 2) in the plane of the path."""
    return take.position[:, take.index(name)][:, [0, 2]]


def rounding(take: Take, name: str) -> float:
    """How far, on average over the path, the body's way stays from the path, in metres."""
    return float(distances(take.paths[f"{name}.move"][:, [0, 2]], way(take, name)).mean())


def beyond(take: Take, name: str) -> float:
    """How far the body swings out above and below everything the path asks for, in metres."""
    path, body = take.paths[f"{name}.move"][:, 2], way(take, name)[:, 1]
    return float(max(body.max() - path.max(), path.min() - body.min(), 0))


def arrival(take: Take, name: str) -> float:
    """When the last key is reached, in seconds."""
    return next(
        e["time"] for e in reversed(take.events) if e["kind"] == "key reached" and e["subject"].startswith(name)
    )


def verdict(scene: Scene, take: Take) -> Verdict:
    numbers = {name: drive(move_of(scene, name)) for name in LABELS}
    base = numbers["plain"].base
    wider = rounding(take, "wide") / rounding(take, "plain")
    bases = numbers["wide"].base / base
    apart = float(distances(way(take, "quick"), way(take, "plain")).max()) / base
    faster = arrival(take, "plain") / arrival(take, "quick")
    expected = math.sqrt(numbers["quick"].alpha / numbers["plain"].alpha)
    out = {name: beyond(take, name) / base for name in ("springy", "plain", "dragging")}
    return judge(
        "003.8",
        wider > 0.5 * bases
        and apart < 0.02
        and abs(faster / expected - 1) < 0.02
        and out["springy"] > 4 * out["plain"]
        and out["dragging"] < 0.01,
        f"a base distance {bases:.2f} times as large leaves the path {wider:.2f} times as far away (half of it asked); "
        f"three times the α goes the same way within {100 * apart:.2f} % of d (2 allowed), {faster:.3f} times as fast "
        f"(√3 = {expected:.3f} ± 2 %); out of the corners it swings {100 * out['springy']:.0f} % of d at B = 0.3, "
        f"{100 * out['plain']:.1f} % at 0.7 and {100 * out['dragging']:.1f} % at 1.5",
    )


def make(directory: Path) -> Exhibit:
    scene = gallery_scene("smoothing")
    take = simulate(scene)
    draw(directory / "ways.png", take)
    write_take(take, directory / "strip.png", overlays=["paths", "trails"])
    return Exhibit(
        pictures=[
            ("ways.png", "Each wish beside the plain one; dots are a tenth of a second apart."),
            ("strip.png", "The five bodies on their way; front to back as in the plot."),
        ],
        verdicts=[verdict(scene, take)],
    )


def draw(path: Path, take: Take) -> None:
    with plot(path, columns=2, rows=2, size=(10, 4.6), sharex=True, sharey=True) as sides:
        plain = way(take, "plain")
        for axes, name in zip(sides, [name for name in LABELS if name != "plain"], strict=True):
            rough, body = take.paths[f"{name}.move"], way(take, name)
            ink = take.colors[take.index(name)]
            axes.plot(rough[:, 0], rough[:, 2], color=SOFT, lw=0.8)
            axes.plot(plain[:, 0], plain[:, 1], color=take.colors[take.index("plain")], lw=1.1, alpha=0.55)
            axes.plot(body[:, 0], body[:, 1], color=ink)
            axes.plot(body[::6, 0], body[::6, 1], ".", color=ink, ms=5)
            name_line(axes, (3.0, 1.28), LABELS[name], ink, shift=(0, 0), align="right")
            axes.set_aspect("equal")
            axes.set(ylim=(0.0, 1.4))
        sides[0].set_title(f"Blue, thin: {LABELS['plain']}")
