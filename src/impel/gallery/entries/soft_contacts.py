"""Section 4.1 of paper 003: elastic coatings, whose contact surfaces are exact."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.gallery.soft_surfaces import apart, dents, unbalance, volume
from impel.render.outputs import write_png, write_take
from impel.render.sequences import strip
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take
from impel.takes.soft import rest_of, surface_at

ORDER = 362
TITLE = "Soft bodies"
TEXT = (
    "Bodies with soft coatings flatten where they touch, each by its share, and have one surface there; what is "
    "pressed in bulges out around it, and swells the rest a little. The same depths give the forces."
)

SCENES = {  # who touches whom, and moments to show
    "soft-balls": ("soft", "firm", [0.2, 0.42, 0.6, 2]),
    "soft-floor": ("ball", "floor", [0.1, 0.2, 0.25, 3]),
    "soft-capsule": ("cushion", "roll", [0, 0.2, 0.3, 3]),
    "soft-box": ("ball", "box", [0.4, 0.9, 1.5, 2.4]),
    "soft-landing": ("jelly", "floor", [0.1, 0.24, 0.3, 3]),
}
CAPTIONS = {
    "soft-balls": "Two balls that want to be where the other is; the blue one is four times as soft.",
    "soft-floor": "Three kilograms fall on the floor.",
    "soft-capsule": "A cushion falls across a roll that is twice as firm.",
    "soft-box": "A rigid box is pressed into a ball, edge first.",
    "soft-landing": "A blob of jelly lands on its feet.",
}
EXACT = 1e-6  # of the body's size: takes keep shifts in single precision
DRAWN = 1e-3  # of the body's size: between the triangles of one body and those of the other
KEPT = 0.02  # of the volume, at the deepest frame


class Contact(NamedTuple):
    """One scene at the frame in which its body is pressed in most."""

    dent: float  # m
    unbalance: float  # m
    apart: float  # m
    size: float  # m
    volume: float  # over that at rest


def share(scene: Scene, name: str, other: str) -> float:
    """How much of the depth a body takes upon itself: all, against what is rigid."""
    own, its = (scene.bodies[body].coating.stiffness for body in (name, other))
    return its / (own + its) if isinstance(own, float) and isinstance(its, float) else 1.0


def contact(take: Take, name: str, other: str, share: float) -> Contact:
    frame = int(np.argmax(dents(take, name)))
    rest, _, triangles = rest_of(take, name)
    return Contact(
        float(dents(take, name)[frame]),
        unbalance(take, name, other, share, frame),
        apart(take, name, other, frame),
        float(np.ptp(rest, axis=0).max()),
        volume(surface_at(take, name, frame)[0], triangles) / volume(rest, triangles),
    )


def verdict(contacts: dict[str, Contact]) -> Verdict:
    balance = max(one.unbalance / one.size for one in contacts.values())
    drawn = max(one.apart / one.size for one in contacts.values())
    kept = max(abs(one.volume - 1) for one in contacts.values())
    deep = ", ".join(f"{1000 * one.dent:.0f} mm" for one in contacts.values())
    return judge(
        "003.18",
        balance < EXACT and drawn < DRAWN and kept < KEPT,
        f"five pairs, at their deepest ({deep}): all vertices of a contact lie where both sides press alike, within "
        f"{balance:.0e} of the size ({EXACT:.0e} asked), both sides' triangles within {drawn:.0e} of each other "
        f"({DRAWN:.0e} asked), and the volume is kept to {100 * kept:.1f} % ({100 * KEPT:.0f} asked)",
    )


def play(name: str) -> tuple[Take, Contact]:
    scene, (body, other, _) = gallery_scene(name), SCENES[name]
    take = simulate(scene)
    return take, contact(take, body, other, share(scene, body, other))


def make(directory: Path) -> Exhibit:
    played = {name: play(name) for name in SCENES}
    for name, (take, _) in played.items():
        write_png(strip(take, times=SCENES[name][2], columns=4, size=(360, 360)), directory / f"{name}.png")
    write_take(played["soft-landing"][0], directory / "soft-landing.mp4")
    return Exhibit(
        pictures=[
            ("soft-landing.mp4", "A blob of jelly lands on its feet."),
            *((f"{name}.png", caption) for name, caption in CAPTIONS.items()),
        ],
        verdicts=[verdict({name: touch for name, (_, touch) in played.items()})],
    )
