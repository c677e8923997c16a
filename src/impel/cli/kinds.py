"""The kinds of file that people write: which one a file is, its JSON Schema, and what `impel check` says of it.

A kind is one entry of `KINDS`. Everything is loaded when it is asked for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from impel.files import Problem, read_document


@dataclass(frozen=True)
class Findings:
    """What a check found in a file that can be read."""

    summary: str  # what the file holds, after "is fine: "
    doubts: list[str] = field(default_factory=list)  # what can be read but is probably not meant
    notes: list[str] = field(default_factory=list)  # what is good to know


@dataclass(frozen=True)
class Kind:
    """model: where the pydantic model of the file stands. check: reads the file, or raises `Problem`. use: the command
    that takes it."""

    model: str
    check: Callable[[Path], Findings]
    use: str

    def schema(self, name: str) -> dict[str, Any]:
        from impel.scene.schema import scene_schema, schema_of

        if name == "scene":
            return scene_schema()
        module, model = self.model.split(":")
        return schema_of(getattr(import_module(module), model), name)


def kind_of(path: Path) -> str:
    """Which kind of file this is, by the fields that only one kind has; a scene if nothing tells."""
    if path.suffix.lower() == ".npz":
        return "scene"  # which knows what to say of a take
    document = read_document(path)
    written = set(document) if isinstance(document, dict) else set()
    if written & {"bodies", "world", "actors"}:
        return "scene"
    for name, telling in TELLING.items():
        if written & telling:
            return name
    return "scene"


@contextmanager
def read_as(name: str, path: Path) -> Iterator[None]:
    """While a file is read as of this kind: if it cannot be, being one of another kind, say that in one line."""
    try:
        yield
    except Problem as problem:
        try:
            found = kind_of(path)
        except Problem:  # which says why it cannot be read at all
            raise problem from None
        if found == name:
            raise
        raise Problem(f"{path}: is a {found}, not a {name}: {KINDS[found].use} is for it") from None


# Fields by which a kind is told from those further down.
TELLING = {
    "toy": {"poses", "times", "sensors"},
    "figure": {"figure", "links", "contacts"},
    "library": {"gaits"},
    "gait": {"genes"},
    "walker": {"legs", "stance"},
}


def check_file(path: Path) -> None:
    """Say what is wrong with a file of any kind, or doubtful, and what it holds."""
    name = kind_of(path)
    found = KINDS[name].check(path)
    for line in found.doubts:
        print(f"{path}: warning: {line}")
    for line in found.notes:
        print(f"{path}: {line}")
    verdict = "can be read, but see the warnings above" if found.doubts else "is fine"
    print(f"{path}: {verdict}: {found.summary}")


def schema_named(name: str) -> dict[str, Any]:
    if name not in KINDS:
        raise Problem(f"{name}: no such kind of file; there are {', '.join(KINDS)}")
    return KINDS[name].schema(name)


def counted(*many: tuple[str, int]) -> str:
    """`3 links, 1 joint`, without what there is none of."""
    return ", ".join(f"{count} {_one(word) if count == 1 else word}" for word, count in many if count)


def _one(word: str) -> str:
    return {"bodies": "body"}.get(word, word.removesuffix("s"))


def _scene(path: Path) -> Findings:
    from impel.scene import load_scene, warnings
    from impel.stage.cueing import cues
    from impel.stage.opening import opening_doubts, strengths

    scene = load_scene(path)
    doubts = warnings(scene) + opening_doubts(scene, str(path))
    notes = [*strengths(scene, str(path))] if scene.actors else []
    notes += cues(scene, str(path))
    if scene.walkers:
        from impel.stage.walkers import heights

        notes += heights(scene, str(path))
    held = counted(
        ("bodies", len(scene.bodies)), ("joints", len(scene.joints)), ("actors", len(scene.actors)),
        ("walkers", len(scene.walkers)),
    )  # fmt: skip
    world = scene.world
    return Findings(f"{held}, {world.seconds:g} s at {world.fps:g} frames a second", doubts, notes)


def _figure(path: Path) -> Findings:
    from impel.toys.advice import figure_doubts
    from impel.toys.figure import read_figure

    figure = read_figure(path)
    held = counted(
        ("links", len(figure.links)), ("joints", len(figure.joints)), ("motors", len(figure.active)),
        ("contacts", len(figure.contacts)),
    )  # fmt: skip
    return Findings(f"the figure {figure.figure}: {held}", figure_doubts(figure))


def _toy(path: Path) -> Findings:
    from impel.toys.advice import figure_doubts
    from impel.toys.figure import built_in_figures
    from impel.toys.toy import read_toy

    toy, figure = read_toy(path)
    doubts = [] if toy.figure in built_in_figures() else [f"{toy.figure}: {line}" for line in figure_doubts(figure)]
    return Findings(f"a toy of {figure.figure}: {counted(('poses', len(toy.poses)))} in {sum(toy.times):g} s", doubts)


def _walker(path: Path) -> Findings:
    from impel.gaits.advice import walker_doubts
    from impel.gaits.walker import load_walker

    walker = load_walker(str(path))
    tall = f"its body is carried at most {walker.tallest:.3g} m high"
    return Findings(f"the walker {walker.name}: {counted(('legs', len(walker.legs)))}, {tall}", walker_doubts(walker))


def _gait(path: Path) -> Findings:
    from impel.gaits.advice import gait_doubts, stature_of
    from impel.gaits.energy import measure_gait
    from impel.gaits.gait import load_gait

    gait = load_gait(path)
    walker = gait.load_walker()
    return Findings(f"a gait of {walker.name}, {stature_of(walker, measure_gait(gait))}", gait_doubts(gait))


def _library(path: Path) -> Findings:
    from impel.gaits.advice import moods_doubts, stature_of
    from impel.gaits.mood import load_library, load_moods

    library, moods = load_library(path), load_moods(path)
    held = counted(("gaits", len(library.gaits)))
    tall = stature_of(moods.walker, moods.measured)
    return Findings(f"moods of {moods.walker.name}: {held}, {tall}", moods_doubts(moods))


KINDS = {
    "scene": Kind("impel.scene.scene:Scene", _scene, "impel simulate"),
    "figure": Kind("impel.toys.figure:Figure", _figure, "impel toy search"),
    "toy": Kind("impel.toys.toy:Toy", _toy, "impel toy run"),
    "walker": Kind("impel.gaits.walker:Walker", _walker, "impel gait library"),
    "gait": Kind("impel.gaits.gait:Gait", _gait, "impel gait walk"),
    "library": Kind("impel.gaits.mood:Library", _library, "impel gait walk"),
}
