"""The gallery's scene and toy files, and variants of them."""

from pathlib import Path
from typing import Any

from impel.scene import Scene, load_scene
from impel.scene.actors import Move
from impel.toys.figure import Figure
from impel.toys.toy import Toy, read_toy

SCENES = Path(__file__).parent / "scenes"


def gallery_scene(name: str, **world: Any) -> Scene:
    """The scene of that name, new each time, with some fields of its world changed."""
    scene = load_scene(SCENES / f"{name}.yaml")
    scene.world = scene.world.model_copy(update=world)
    return scene


def gallery_toy(name: str) -> tuple[Toy, Figure]:
    """The toy of that name and its figure."""
    return read_toy(SCENES / f"{name}.toy.yaml")


def move_of(scene: Scene, actor: str) -> Move:
    """Where an actor wants to move."""
    move = scene.actors[actor].move
    if move is None:
        raise ValueError(f"{actor} has no wish to move")
    return move


def change_move(scene: Scene, actor: str, **fields: Any) -> None:
    """Let an actor move otherwise."""
    move = move_of(scene, actor).model_copy(update=fields)
    scene.actors[actor] = scene.actors[actor].model_copy(update={"move": move})


def fixed_step(scene: Scene) -> float:
    """The step, in seconds, of a scene that gives one."""
    if isinstance(scene.world.step, str):
        raise ValueError("the scene's steps are adaptive")
    return scene.world.step
