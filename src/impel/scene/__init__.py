"""What the animator wrote: models of the file format, the Python builder, and plain complaints."""

from impel.scene.advice import warnings
from impel.scene.changing import how_it_changes
from impel.scene.checks import problems
from impel.scene.reading import load_scene, parse_scene
from impel.scene.scene import Scene
from impel.scene.schema import scene_schema

__all__ = [
    "Scene",
    "how_it_changes",
    "load_scene",
    "parse_scene",
    "problems",
    "scene_schema",
    "warnings",
]
