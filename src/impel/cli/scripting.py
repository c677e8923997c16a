"""`impel script`: simulate a scene and draw its script."""

from pathlib import Path

from impel.analysis.script import draw_script, plan_of
from impel.cli.kinds import read_as
from impel.cli.simulating import plain_warnings, progress
from impel.files import Problem, check_writable
from impel.scene import load_scene
from impel.stage import simulate

FORMS = (".png", ".svg", ".pdf")


def draw_file(scene: Path, output: Path | None) -> None:
    """Leave the sheet under the name that is given, or beside the scene."""
    path = scene.with_suffix(".script.png") if output is None else output
    if path.suffix.lower() not in FORMS:
        raise Problem(f"{path}: must end in {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    check_writable(path)
    with read_as("scene", scene):
        loaded = load_scene(scene)
    with progress(f"Simulating {scene.name}") as report, plain_warnings():
        take = simulate(loaded, source=str(scene), progress=report)
    draw_script(path, take, plan_of(loaded), title=scene.stem)
    for line in take.remarks():
        print(f"{scene.name}: {line}")
    print(f"wrote {path}")
