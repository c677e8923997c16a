"""Scenes to start from."""

import functools
from pathlib import Path

from impel.files import Problem, read_text
from impel.gallery.loading import SCENES

HERE = Path(__file__).parent / "examples"  # put there when a wheel is built
CLONE = Path(__file__).parents[3] / "examples"  # where they are in a clone

_FIRST = "hop"  # the one that the README begins with
_OF_THE_GALLERY = ("blow", "bird", "snake", "nursery", "collisions", "moods")


@functools.cache
def _files() -> dict[str, Path]:
    folder = HERE if HERE.is_dir() else CLONE
    found = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    return {_FIRST: found[_FIRST]} | found | {name: SCENES / f"{name}.yaml" for name in _OF_THE_GALLERY}


def example_folders() -> tuple[Path, ...]:
    """Where what examples name is looked for."""
    return tuple(dict.fromkeys(file.parent.resolve() for file in _files().values()))


def example_text(name: str) -> tuple[str, Path]:
    """The text of an example, and where what it names is to be looked for."""
    if not isinstance(name, str) or name not in _files():
        raise Problem(f"example: there is none called {name!r}; there is {', '.join(_files())}")
    return read_text(_files()[name]), _files()[name].parent


def _about(file: Path) -> str:
    """What a scene says of itself: the comment above its bodies."""
    head = read_text(file).split("bodies:")[0]
    about = " ".join(line.lstrip("# ") for line in head.splitlines() if line.startswith("#"))
    return about or "A ball follows rough keys and knocks over a tower."


EXAMPLES = [{"name": name, "about": _about(file)} for name, file in _files().items()]
