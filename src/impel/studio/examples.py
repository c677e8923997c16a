"""Scenes to start from."""

import functools
from pathlib import Path

from impel.files import Problem, read_text
from impel.gallery.loading import SCENES

HERE = Path(__file__).parent / "examples"  # put there when a wheel is built
CLONE = Path(__file__).parents[3] / "examples"  # where they are in a clone

_OF_THE_GALLERY = ("blow", "bird", "snake", "nursery", "collisions", "moods")


@functools.cache
def _files() -> dict[str, Path]:
    folder = HERE if HERE.is_dir() else CLONE
    found = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    return found | {name: SCENES / f"{name}.yaml" for name in _OF_THE_GALLERY}


def example_text(name: str) -> tuple[str, Path]:
    """The text of an example, and where what it names is to be looked for."""
    if name not in _files():
        raise Problem(f"example: there is none called {name!r}; there is {', '.join(_files())}")
    return read_text(_files()[name]), _files()[name].parent


def _about(file: Path) -> str:
    """The comment that a scene begins with."""
    lines = []
    for line in read_text(file).splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines)


EXAMPLES = [{"name": name, "about": _about(file)} for name, file in _files().items()]
