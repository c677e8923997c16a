"""From a file, or plain data, to a scene: everything that is wrong is said at once, one line each."""

import copy
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
        wrong = [line.removeprefix(f"{SUBJECT}: ") for line in problem.lines]
        raise Problem(*(f"{source}: {line}" for line in wrong + _besides(document, wrong, beside))) from None
    lines = _problems(scene, beside)
    if lines:
        raise Problem(*(f"{source}: {line}" for line in lines))
    return scene


def _problems(scene: Scene, beside: str | Path | None) -> list[str]:
    """What is wrong with a scene, whose files are looked for beside another from now on, if one is given."""
    if beside is not None:
        scene.bodies = move_files(scene.bodies, lambda name: str(find_beside(beside, name)))
    return problems(scene)


def _besides(document: dict[str, Any], wrong: list[str], beside: str | Path | None) -> list[str]:
    """What else is wrong with a document some of whose fields are, each in a line: what is found once they are left
    out, but for what is only wrong without them."""
    rest, gone = copy.deepcopy(document), []
    for line in wrong:
        left_out = _leave_out(rest, line.split(": ")[0].split("."))
        if left_out is None:
            return []
        gone.append(left_out)
    try:
        lines = _problems(Scene(**rest), beside)
    except Problem:
        return []
    names = [say(path[-1]) for path in gone if len(path) == 2]
    fields = [".".join(path) for path in gone] + [".".join(path[:-1]) for path in gone]
    return [
        line
        for line in lines
        if line.split(": ")[0] not in fields and not any(f"called {name}" in line for name in names)
    ]


def _leave_out(document: Any, path: list[str]) -> list[str] | None:
    """Take the field at a path out of plain data, or the innermost around it that has a name; which was it?"""
    here, last, n = document, None, 0
    for n, part in enumerate(path):
        if isinstance(here, dict) and part in here:
            last, here = (here, part, n), here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            break
    if last is None:
        return None
    table, key, n = last
    del table[key]
    return path[: n + 1]
