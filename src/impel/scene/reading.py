"""From a file, or plain data, to a scene: everything that is wrong is said at once, one line each."""

from pathlib import Path
from typing import Any

from impel.complaints import empty_fields, say
from impel.files import Problem, find_beside, read_document
from impel.scene.bodies import move_files
from impel.scene.checks import problems
from impel.scene.clips import beside
from impel.scene.scene import SUBJECT, Scene, World
from impel.scene.walkers import find_walkers


def load_scene(path: str | Path) -> Scene:
    """Read a scene file (YAML or JSON); raise `Problem` with one line per mistake."""
    if Path(path).suffix.lower() == ".npz":
        raise Problem(f"{path}: is a take, not a scene; impel render draws it")
    return scene_beside(path, read_document(path), str(path))


def scene_beside(path: str | Path, document: Any, source: str) -> Scene:
    """Make a scene of plain data that belongs to a file: the clips, meshes and walkers that it names are beside it."""
    with beside(path):
        scene = parse_scene(document, source, beside=path)
    find_walkers(scene.walkers, path)
    return scene


def parse_scene(document: Any, source: str = SUBJECT, *, beside: str | Path | None = None) -> Scene:
    """Make a scene of plain data as read from a file called `source`; raise `Problem` with one line per mistake.

    Meshes are looked for beside a file, if one is given.
    """
    if not isinstance(document, dict):
        raise Problem(f"{source}: must be a scene like {Scene.example}, got {say(document)}")
    lines = empty_fields(document)
    lines += [f"{name}: belongs under world" for name in document if name in World.model_fields and name != "joints"]
    if lines:
        raise Problem(*(f"{source}: {line}" for line in lines))
    try:
        scene = Scene(**document)
    except Problem as problem:
        raise Problem(*(source + line.removeprefix(SUBJECT) for line in problem.lines)) from None
    if beside is not None:
        scene.bodies = move_files(scene.bodies, lambda name: str(find_beside(beside, name)))
    lines = problems(scene)
    if lines:
        raise Problem(*(f"{source}: {line}" for line in lines))
    return scene
