"""The open scene: edits, undo, drafts, files that others write."""

import pytest

from impel.files import Problem
from impel.studio.document import Document
from impel.studio.text import REMOVED

TEXT = """\
impel: 1  # the format
bodies:
  ball: {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}  # round
"""


@pytest.fixture
def document(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(TEXT)
    return Document(TEXT, file=file, name=file.name, beside=tmp_path)


def test_the_first_of_a_list_is_added_like_any_other(document):
    document.edit(("pushes", 0), {"body": "ball", "force": [1, 0, 0]})
    document.edit(("pushes", 1), {"body": "ball", "force": [2, 0, 0]})
    assert [push.force for push in document.scene.pushes] == [(1, 0, 0), (2, 0, 0)]
    assert document.text == TEXT + "pushes: [{body: ball, force: [1, 0, 0]}, {body: ball, force: [2, 0, 0]}]\n"


def test_an_edit_changes_scene_and_text_and_can_be_undone_to_the_letter(document):
    document.edit(("bodies", "ball", "mass"), 3)
    assert document.scene.bodies["ball"].mass == 3
    assert document.text == TEXT.replace("mass: 1", "mass: 3")
    assert document.undo()
    assert document.text == TEXT
    assert document.scene.bodies["ball"].mass == 1
    assert document.redo()
    assert document.scene.bodies["ball"].mass == 3
    assert not document.redo()


def test_edits_of_one_gesture_are_undone_together(document):
    for mass in (2, 3, 4):
        document.edit(("bodies", "ball", "mass"), mass, gesture=1)
    document.edit(("bodies", "ball", "mass"), 9, gesture=2)
    document.undo()
    assert document.scene.bodies["ball"].mass == 4
    document.undo()
    assert document.text == TEXT


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("bodies", "ball", "mass"), -1, "bodies.ball.mass: must be greater than 0"),
        (("bodies", "ball", "mas"), 1, "bodies.ball.mas"),
        (("bodies", "ball", "shape"), REMOVED, "bodies.ball.shape"),
        (("actors", "nobody", "move"), {"keys": [[0, 0, 0]]}, "nobody"),
        (("impel",), 7, "impel"),
    ],
)
def test_a_wrong_value_is_refused_in_plain_words_and_changes_nothing(document, path, value, line):
    with pytest.raises(Problem, match=line.replace(".", r"\.")):
        document.edit(path, value)
    assert document.text == TEXT
    assert not document.undo()


def test_a_text_that_is_no_scene_is_kept_with_its_problems(document):
    document.write("impel: 1\nbodies: {ball: {}}\n")
    assert document.scene is None
    assert "ball" in document.problems[0]
    document.write("bodies: [")
    assert "line" in document.problems[0]
    document.undo()
    document.undo()
    assert document.scene is not None


def test_what_is_not_saved_is_there_again(document, tmp_path):
    document.edit(("bodies", "ball", "mass"), 3)
    document.keep_draft()
    other = Document(TEXT, file=document.file, name="scene.yaml", beside=tmp_path)
    assert other.take_draft()
    assert other.scene.bodies["ball"].mass == 3
    other.save()
    assert document.file.read_text() == TEXT.replace("mass: 1", "mass: 3")
    assert not list(tmp_path.glob(".*.draft"))


def test_what_others_write_is_seen_once(document):
    assert not document.changed_outside()
    document.file.write_text(TEXT.replace("mass: 1", "mass: 44"))
    assert document.changed_outside()
    assert not document.changed_outside()
    document.take_file()
    assert document.scene.bodies["ball"].mass == 44
    assert not document.dirty
