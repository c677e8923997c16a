"""`impel script`: simulate a scene and draw its script."""

from pathlib import Path

from impel.analysis.script import Meeting, Plan, draw_script
from impel.cli.simulating import plain_warnings, progress
from impel.files import Problem, check_writable
from impel.scene import Scene, load_scene
from impel.scene.timing import key_times
from impel.stage import simulate

FORMS = (".png", ".svg", ".pdf")


def draw_file(scene: Path, output: Path | None) -> None:
    """Leave the sheet under the name that is given, or beside the scene."""
    path = scene.with_suffix(".script.png") if output is None else output
    if path.suffix.lower() not in FORMS:
        raise Problem(f"{path}: must end in {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    check_writable(path)
    loaded = load_scene(scene)
    with progress(f"Simulating {scene.name}") as report, plain_warnings():
        take = simulate(loaded, source=str(scene), progress=report)
    draw_script(path, take, plan_of(loaded), title=scene.stem)
    for line in take.remarks():
        print(f"{scene.name}: {line}")
    print(f"wrote {path}")


def plan_of(scene: Scene) -> Plan:
    """What a scene asks for, as the sheet shows it."""
    wishes = {f"{n}.{kind}": getattr(a, kind) for n, a in scene.actors.items() for kind in ("move", "turn")}
    due = {label: key_times(wish) or [] for label, wish in wishes.items() if wish is not None}
    holds = {
        label: [(time, time + key.hold) for time, key in zip(due[label], wish.keys) if key.hold]
        for label, wish in wishes.items()
        if wish is not None
    }
    meetings = {
        name: Meeting(cues=meeting.cues, after=meeting.after, needs=meeting.needs)
        for name, meeting in scene.appointments.items()
    }
    return Plan(meetings=meetings, due=due, holds=holds, joints={n: j.bodies for n, j in scene.joints.items()})
