"""Figures 10 and 11 of paper 000: three balls, three arches, and a graph of appointments."""

from pathlib import Path

import numpy as np

from impel.analysis.script import draw_script, plan_of
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_scene
from impel.render.outputs import write_take
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 50
TITLE = "Three balls and three arches"
TEXT = (
    "Two of the three balls must pass together under each arch, and all three end together. Who would be early slows "
    "down, and takes up its own speed again afterwards. In the second run a block falls in the way of the blue one and "
    "keeps it for more than a second: the others wait."
)

BLOCK = ((0.0, 3.0), (0.75, 3.0), (1.05, 0.4), (2.45, 0.4), (2.75, 3.0))  # s, m: when it is how high
TOGETHER = 1 / 60  # s
ARCHES = ("first", "second", "third")


def scene_with(block: bool) -> Scene:
    scene = gallery_scene("arches")
    if block:
        ways = [{"time": time, "at": [-1.7, 0.8, height]} for time, height in BLOCK]
        scene.body("block", box=[0.3, 1.4, 0.8], follows=ways, linear=True, color="#8a5a9e")
        scene.world = scene.world.model_copy(update={"seconds": 11.0})
    return scene


def times(take: Take, scene: Scene, kind: str) -> dict[str, list[float]]:
    """When the members of each appointment passed or reached their cues; infinite if they did not."""
    seen = {
        f"{event['subject']}.{event['details']['key']}": event["time"] for event in take.events if event["kind"] == kind
    }
    return {name: [seen.get(cue, np.inf) for cue in a.cues] for name, a in scene.appointments.items()}


def spread(take: Take, scene: Scene) -> float:
    """How long after the first of them the last of a pair was under its arch, at most, in seconds."""
    reached = times(take, scene, "key reached")
    return max(float(np.ptp(reached[name])) if np.isfinite(reached[name]).all() else np.inf for name in ARCHES)


def in_order(take: Take, scene: Scene) -> bool:
    """Whether each appointment began when as many of those before it as it needs were over, and not earlier."""
    begins, kept = (
        {e["subject"]: e["time"] for e in take.events if e["kind"] == f"appointment {kind}"}
        for kind in ("begins", "kept")
    )
    states = [np.unique(take.channels[f"{name}.appointment"]) for name in scene.appointments]
    well = all(set(each) <= {0.0, 1.0, 2.0} and 2.0 in each for each in states)
    for name, appointment in scene.appointments.items():
        needs = len(appointment.after) if appointment.needs is None else appointment.needs
        before = sorted(kept.get(parent, np.inf) for parent in appointment.after)
        due = before[needs - 1] if needs else 0.0
        well &= abs(begins.get(name, np.inf) - due) < 0.01 and kept.get(name, -1.0) > due
    return bool(well)


def verdicts(plain: Take, delayed: Take) -> list[Verdict]:
    scene = scene_with(False)
    late = times(delayed, scene, "key reached")["first"][0] - times(plain, scene, "key reached")["first"][0]
    ordered = in_order(plain, scene) and in_order(delayed, scene)
    begun = {e["subject"]: e["time"] for e in plain.events if e["kind"] == "appointment begins"}
    return [
        judge(
            "000.8",
            ordered,
            f"all of {len(scene.appointments)} appointments went from waiting to active to done, at "
            f"{begun['third']:.2f} s "
            f"the third, which waits for two, and the end, which needs one of two, at {begun['end']:.2f} s",
        ),
        judge(
            "000.9",
            max(spread(plain, scene), spread(delayed, scene)) < TOGETHER and late > 1.0,
            f"pairs are under their arches within {1000 * spread(plain, scene):.1f} ms of each other, and within "
            f"{1000 * spread(delayed, scene):.1f} ms where a block delays one by {late:.1f} s ({1000 * TOGETHER:.0f} "
            "asked)",
            correction="by clocks; as printed, targets stop each other for ever",
        ),
    ]


def make(directory: Path) -> Exhibit:
    plain, delayed = simulate(scene_with(False)), simulate(scene_with(True))
    write_take(plain, directory / "strip.png", overlays=["paths"])
    write_take(delayed, directory / "film.mp4", overlays=["paths"])
    draw_script(directory / "script.png", plain, plan_of(scene_with(False)), "The arches")
    return Exhibit(
        pictures=[
            (
                "strip.png",
                "Red and blue pass the first arch together, blue and yellow the second, red and yellow the third.",
            ),
            ("film.mp4", "A block falls in the way of the blue one."),
            (
                "script.png",
                "The graph of appointments in time, and the keys of the three, as `impel script` draws them.",
            ),
        ],
        verdicts=verdicts(plain, delayed),
    )
