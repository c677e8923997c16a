"""Another name for something in a scene: whoever speaks of it uses the new one, and all else stays."""

from pathlib import Path

import pytest

from impel.files import Problem, parse_document
from impel.gallery.loading import SCENES
from impel.scene.checks import problems
from impel.studio.document import Document
from impel.studio.text import REMOVED

FILES = [*Path("examples").glob("*.yaml"), *(f for f in SCENES.glob("*.yaml") if not f.name.endswith(".toy.yaml"))]
TEXT = """\
impel: 1
bodies:
  ball: {shape: {sphere: 0.2}, at: [0, 0, 1]}  # the ball is round
  crate: {shape: {box: [1, 1, 1]}, at: [3, 0, 1], collides: {from: meet}}
  ball lightning: {shape: {sphere: 0.1}, at: [0, 3, 1]}
joints:
  tie: {ball: [world, "ball"], at: [0, 0, 1], until: meet}
actors:
  ball: {move: {keys: [[0, 0, 1], {at: [1, 0, 1], time: 1}]}}
  crate:
    move: {keys: [[3, 0, 1], {at: [0, 0, 1], in: ball, time: 1}]}
    turn: {keys: [{euler: [0, 0, 0], time: 0}, {euler: [0, 0, 9], time: 1}], against: ball}
appointments:
  meet: {cues: [ball.move.1, crate.move.1]}
  part: {cues: [crate.turn.1], after: [meet]}
in_step: {both: [ball.move, crate.turn]}
pushes: [{body: ball, force: [1, 0, 0]}]
changes: [{time: 1, field: bodies.ball.color, value: "#ffffff"}, {time: 1, field: actors.ball.move.strength, value: 3}]
camera: {follow: ball}
"""


def opened(text, name="scene.yaml", beside=Path()):
    return Document(text, file=None, name=name, beside=beside)


def test_whoever_speaks_of_it_uses_the_new_name():
    document = opened(TEXT)
    document.rename("bodies", "ball", "planet")
    assert document.problems == []
    expected = TEXT.replace("ball", "planet").replace('{planet: [world, "planet"]', "{ball: [world, planet]")
    expected = expected.replace("the planet is", "the ball is").replace("planet lightning", "ball lightning")
    assert document.text == expected
    document.rename("appointments", "meet", "an encounter")
    assert list(document.scene.appointments) == ["an encounter", "part"]
    assert document.scene.joints["tie"].until == document.scene.bodies["crate"].collides.from_ == "an encounter"
    document.rename("joints", "tie", "ball")
    assert list(document.scene.joints) == ["ball"]
    for _ in range(3):
        document.undo()
    assert document.text == TEXT


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_of_a_scene_get_other_names_and_theirs_again(file):
    """Whatever a scene names that is not there would be a problem of it."""
    text = file.read_text()
    document = opened(text, file.name, file.parent)
    for group in ("bodies", "joints", "walkers", "appointments"):
        for name in list(document.data.get(group) or {}):
            document.rename(group, name, f"{name} of old")
    assert problems(document.scene) == []
    for group in ("bodies", "joints", "walkers", "appointments"):
        for name in list(document.data.get(group) or {}):
            document.rename(group, name, name.removesuffix(" of old"))
    assert document.text == text


def test_what_is_taken_out_takes_along_what_makes_no_sense_without_it():
    document = opened(TEXT)
    with pytest.raises(Problem, match=r"actors\.crate\.move\.keys\.1\.in: there is no body called 'ball'"):
        document.remove("bodies", "ball")
    document.write(TEXT.replace("in: ball, ", ""))
    also = document.remove("bodies", "ball")
    assert document.problems == []
    assert set(also) == {
        "actors.ball", "actors.crate.turn.against", "appointments.meet.cues.0", "camera", "changes.0", "changes.1",
        "in_step.both", "joints.tie", "pushes.0",
    }  # fmt: skip
    assert list(document.scene.bodies) == ["crate", "ball lightning"]
    assert document.scene.appointments["meet"].cues == ["crate.move.1"]


def test_cues_stay_with_their_keys():
    document = opened(TEXT.replace("in_step: {both: [ball.move, crate.turn]}\n", ""))
    keys = document.data["actors"]["ball"]["move"]["keys"]
    document.edit(("actors", "ball", "move", "keys"), [keys[0], [0.5, 0, 1], keys[1]])
    assert document.scene.appointments["meet"].cues == ["ball.move.2", "crate.move.1"]
    document.edit(("actors", "ball", "move", "keys", 0), REMOVED)
    assert document.scene.appointments["meet"].cues == ["ball.move.1", "crate.move.1"]
    document.edit(("actors", "ball", "move", "keys", 1), REMOVED)
    assert document.scene.appointments["meet"].cues == ["crate.move.1"]
    assert document.data == parse_document(document.text, "scene.yaml")
    document.edit(("actors", "crate", "turn", "keys", 0, "euler"), [1, 0, 0])
    assert document.scene.appointments["part"].cues == ["crate.turn.1"]


def test_an_actor_or_an_appointment_goes_alone():
    document = opened(TEXT)
    assert set(document.remove("actors", "crate")) == {"appointments.meet.cues.1", "appointments.part", "in_step.both"}
    assert list(document.scene.bodies) == ["ball", "crate", "ball lightning"]
    document.undo()
    assert set(document.remove("appointments", "meet")) == {
        "appointments.part.after.0", "bodies.crate.collides.from", "joints.tie.until",
    }  # fmt: skip
    document.undo()
    assert document.text == TEXT


def _keys(actor):
    return [key for wish in (actor.move, actor.turn, actor.goals) if wish is not None for key in wish.keys]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_any_body_of_a_scene_can_be_taken_out(file):
    document = opened(file.read_text(), file.name, file.parent)
    kept = {key.in_ for actor in document.scene.actors.values() for key in _keys(actor)}  # whose frames keys are in
    for name in [name for name in document.scene.bodies if name not in kept and len(document.scene.bodies) > 1]:
        document.remove("bodies", name)
        assert name not in document.scene.bodies
        document.undo()
    assert document.text == file.read_text()


@pytest.mark.parametrize(
    ("group", "name", "new", "line"),
    [
        ("bodies", "moon", "sun", "bodies: there is no entry called 'moon'"),
        ("bodies", "ball", "crate", "bodies.crate: is there already"),
        ("bodies", "ball", "a.b", "a name must not contain dots"),
        ("bodies", "ball", "world", "is the name of the world itself"),
        ("world", "seconds", "hours", "world: "),
        ("colors", "red", "green", "colors: "),
    ],
)
def test_a_name_that_cannot_be_is_answered_and_changes_nothing(group, name, new, line):
    document = opened(TEXT)
    with pytest.raises(Problem, match=line):
        document.rename(group, name, new)
    assert document.text == TEXT
    assert not document.dirty
