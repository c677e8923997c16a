"""Compiles ahead of time what scenes usually need, by playing one frame of small scenes."""

from collections.abc import Callable
from typing import Any

from impel.scene import Scene
from impel.stage.performance import Performance
from impel.stage.record import Recorder


def _scenes() -> list[Scene]:
    """Scenes that together use every room, alone and with the others, as typical scenes do."""

    def scene(*parts: Callable[[Scene], Any]) -> Scene:
        made = Scene(seconds=0.1)
        made.body("ball", sphere=0.2, mass=1, at=[0, 0, 1])
        for part in parts:
            part(made)
        return made

    def ground(s: Scene) -> None:
        s.body("ground", plane={}, fixed=True)

    def boxes(s: Scene) -> None:
        s.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[3, 0, 0.1])

    def bars(s: Scene) -> None:
        s.body("bar", capsule={"radius": 0.1, "length": 0.4}, mass=1, at=[6, 0, 1])

    def joint(s: Scene) -> None:
        s.joint("pin", ball=["world", "ball"], at=[0, 0, 1.5])

    def actor(s: Scene) -> None:
        s["ball"].move([[0, 0, 1], [1, 0, 1]], base_distance=0.3)

    def follower(s: Scene) -> None:
        s.body("lift", box=[0.2, 0.2, 0.2], at=[9, 0, 1], follows=[{"time": 0}, {"time": 1, "at": [9, 0, 2]}])

    def walker(s: Scene) -> None:
        s.walker("spider", path=[[0, 5, 0], [4, 5, 0]])

    return [
        scene(ground),
        scene(ground, boxes),
        scene(ground, boxes, actor),
        scene(ground, boxes, bars, actor),
        scene(ground, boxes, bars, joint, actor),
        scene(ground, bars, joint, actor),
        scene(ground, boxes, joint, actor),
        scene(ground, boxes, bars, joint, actor, follower),
        scene(ground, boxes, walker),
        scene(joint, actor),
        scene(actor),
    ]


def warmup() -> None:
    """Compile what scenes usually need, so that later simulations start at once."""
    for scene in _scenes():
        performance = Performance(scene)
        Recorder(scene, performance).write_frame()
        performance.next_frame()
