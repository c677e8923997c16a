"""The gallery's scene files."""

from pathlib import Path

from impel.scene import Scene, load_scene


def gallery_scene(name: str) -> Scene:
    """The scene of that name, new each time, so that variants can be made of it."""
    return load_scene(Path(__file__).parent / "scenes" / f"{name}.yaml")
