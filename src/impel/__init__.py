"""impel turns what an animator wants into motion that physics allows."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from impel.files import Problem
    from impel.render.outputs import write_take
    from impel.scene import Scene, load_scene
    from impel.stage import Frame, Moment, Show, play, simulate
    from impel.takes import Take
    from impel.takes import load_npz as load_take

__version__ = "0.1.0"

__all__ = [
    "Frame",
    "Moment",
    "Problem",
    "Scene",
    "Show",
    "Take",
    "load_scene",
    "load_take",
    "play",
    "simulate",
    "write_take",
]

# Where each name lives: looked up when it is first used, so that `import impel` stays light.
_HOMES = {
    "Frame": ("impel.stage", "Frame"),
    "Moment": ("impel.stage", "Moment"),
    "Problem": ("impel.files", "Problem"),
    "Scene": ("impel.scene", "Scene"),
    "Show": ("impel.stage", "Show"),
    "Take": ("impel.takes", "Take"),
    "load_scene": ("impel.scene", "load_scene"),
    "load_take": ("impel.takes", "load_npz"),
    "play": ("impel.stage", "play"),
    "simulate": ("impel.stage", "simulate"),
    "write_take": ("impel.render.outputs", "write_take"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'impel' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
