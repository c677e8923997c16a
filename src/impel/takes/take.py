"""A take: a recorded motion, whatever made it. Scenes, toys and walkers all end up as one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.complaints import name_like
from impel.files import Problem

Floats = NDArray[np.float64]

VERSION = 2  # of what a take holds; one that a newer impel made keeps its own
SOFT_VERSION = 4  # ... of one that holds soft surfaces; 3 wrote them at length

# The kinds of events that this version makes. An event is {time, kind, subject, details}.
EVENT_KINDS = (
    "key passed",  # by the target: this is what a cue means
    "key reached",  # by the body, as near as it came, and when it was there
    "contact begins",
    "contact ends",
    "pressed flat",  # between what follows keys, which goes on through it, and what holds it up
    "joint limit",
    "joint apart",
    "strength saturated",
    "step rejected",
    "smallest step",
    "footfall",
    "waits",  # a walker, for something that it cannot push ...
    "goes on",  # ... which is gone
    "fall",
    "held up",
    "out of time",
    "overloaded",  # an actuator whose strength was used up for long
    "joint broke",
    "appointment begins",
    "appointment kept",
    "appointment missed",
    "goal met",
    "goal missed",  # by how much, and how much later it would have been nearest
    "goal released",  # that was held
    "joint made",
    "joint let go",
)

GROUND = "#d9d4c7"  # for planes whose author chose no colour

# Colours for bodies whose author chose none: distinct, of similar lightness, calm enough to stand side by side.
PALETTE = ("#e4572e", "#2e86ab", "#f2a541", "#4f9d69", "#8a5a9e", "#d1495b", "#3aafa9", "#c98b5a", "#5b6c9d", "#b5a642")
WORLD = "world"  # whose wires belong to no body


def linear_color(color: str) -> Floats:
    """What "#rrggbb" means: the three amounts of light, 0 to 1, decoded from sRGB."""
    encoded = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def opacity(color: str) -> float:
    """0 to 1: what the last two digits of "#rrggbbaa" mean; without them nothing shines through."""
    return int(color[7:9] or "ff", 16) / 255


@dataclass(repr=False)
class Take:
    """What happened, frame by frame, in metres, seconds and unit quaternions (w, x, y, z); z is up."""

    time: Floats  # (F,)
    names: list[str]  # (N,) bodies
    position: Floats  # (F, N, 3) of each shape's origin
    orientation: Floats  # (F, N, 4)
    shapes: list[dict[str, Any]]  # (N,) as written in a scene, e.g. {"sphere": 0.2}
    colors: list[str]  # (N,) "#rrggbb", or "#rrggbbaa" for what is seen through
    events: list[dict[str, Any]] = field(default_factory=list)
    channels: dict[str, Floats] = field(default_factory=dict)  # scalar series (F,), e.g. "ball.move.distance"
    tracks: dict[str, Floats] = field(default_factory=dict)  # points over time (F, 3), e.g. "ball.move.target",
    # or orientations (F, 4), e.g. "arm.turn.target"
    paths: dict[str, Floats] = field(default_factory=dict)  # polylines in the world (P, 3), e.g. "ball.move",
    # or orientations (P, 4), e.g. "arm.turn"; those of a path that moves for every frame (F, P, ..)
    wires: dict[str, Floats] = field(default_factory=dict)  # polylines (P, 3) in the frame of a body: "beam.rail"
    surfaces: dict[str, Floats] = field(default_factory=dict)  # of {"mesh": {"surface": NAME}} in the body's frame:
    # NAME.vertices (V, 3), NAME.normals (V, 3), NAME.triangles (T, 3), perhaps NAME.colors (V, 3) as light
    soft: dict[str, NDArray[Any]] = field(default_factory=dict)  # surfaces that are pressed in, see takes/soft.py
    ropes: dict[str, Floats] = field(default_factory=dict)  # both ends (F, 2, 3); channel "rope.slack" goes with it
    camera: dict[str, Any] | None = None  # {"from": [..], "to": [..], "fov": 40}, {"follow": "ball", ..}, or None:
    # frame the action
    cameras: list[dict[str, Any]] = field(default_factory=list)  # instead, each with the "time" it takes over at
    keys: dict[str, list[Any]] = field(default_factory=dict)  # as written in the scene, by "ball.move", "arm.turn"
    others: dict[str, NDArray[Any]] = field(default_factory=dict)  # what a newer version has added, kept as it is
    version: int = VERSION

    def __repr__(self) -> str:
        names = ", ".join(self.names[:5]) + (", ..." if len(self.names) > 5 else "")
        return f"<Take of {float(self.time[-1]):g} s: {len(self.time)} frames of {len(self.names)} bodies ({names})>"

    @property
    def fps(self) -> float:
        return (len(self.time) - 1) / float(self.time[-1] - self.time[0]) if len(self.time) > 1 else 1.0

    def index(self, name: str) -> int:
        if name not in self.names:
            raise Problem(f"take: {name_like(name, self.names, 'body')}")
        return self.names.index(name)

    def remarks(self) -> list[str]:
        """Where it did not go as wished: who did not come to its last key and why, what went badly; one line each."""
        from impel.takes.remarks import remarks

        return remarks(self)


def path_at(take: Take, name: str, frame: int) -> Floats:
    """A path's points (P, 3) or orientations (P, 4) at a frame, whether it moves or not."""
    path = take.paths[name]
    return path[frame] if path.ndim == 3 else path


def owner_of(take: Take, name: str) -> int | None:
    """The body whose path, track or wire this is ("ball.move", "post.rail"); None for what is the world's."""
    owners = [i for i, body in enumerate(take.names) if name == body or name.startswith(f"{body}.")]
    return max(owners, key=lambda i: len(take.names[i])) if owners else None
