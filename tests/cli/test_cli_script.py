"""`impel script`: the sheet is written under the name that was asked for, and shows what happened."""

from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from impel.analysis.script import plan_of
from impel.cli.scripting import draw_file
from impel.files import Problem
from impel.gallery.loading import SCENES, gallery_scene


def test_sheet_is_drawn_beside_the_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SCENES / "climb.yaml").read_text().replace("seconds: 8", "seconds: 2")
    (tmp_path / "climb.yaml").write_text(text)
    draw_file(tmp_path / "climb.yaml", None)
    assert "climb.script.png" in capsys.readouterr().out
    with Image.open(tmp_path / "climb.script.png") as picture:
        assert picture.width > 1500
        assert len(set(picture.convert("L").resize((64, 64)).tobytes())) > 8


def test_name_that_is_no_picture_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"sheet\.txt: must end in \.png, \.svg or \.pdf"):
        draw_file(SCENES / "climb.yaml", tmp_path / "sheet.txt")


def test_a_scene_in_which_nobody_acts_has_no_script(tmp_path: Path) -> None:
    scene = tmp_path / "fall.yaml"
    scene.write_text("world: {seconds: 0.1}\nbodies: {ball: {shape: {sphere: 0.2}, mass: 1}}\n")
    with pytest.raises(Problem, match="fall: nobody acts in it"):
        draw_file(scene, None)
    assert not (tmp_path / "fall.script.png").exists()


def test_plan_tells_what_was_asked_for() -> None:
    plan = plan_of(gallery_scene("handover"))
    assert plan.due["left_hand.move"][2] == 1.7
    assert plan.holds["left_hand.move"] == [(1.7, pytest.approx(1.9))]
    assert plan.parts["left_hand"] == ["left_hand", "left_fore", "left_upper"]
    assert plan.meetings["give"].cues == ["left_hand.move.3", "right_hand.move.2"]


def test_goals_are_drawn() -> None:
    from impel.analysis.script import Row, _draw_goals, _rows
    from impel.scene import Scene
    from impel.stage import simulate

    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    scene["ball"].goals([{"at": [0.2, 0, 1], "time": 0.4}, {"at": [40, 0, 1], "time": 0.8, "hold": True}], strength=9)
    take = simulate(scene)
    assert list(_rows(take, plan_of(scene))) == [Row("ball", "goals")]

    drawn: list[tuple[float, object]] = []

    class Axes:
        def plot(self, x: list[float], y: list[float], **style: object) -> None:
            drawn.append((x[0], style.get("marker")))

        def annotate(self, text: str, at: tuple[float, float], **style: object) -> None:
            drawn.append((at[0], text))

    _draw_goals(Axes(), take, "ball.goals", 0, "black", 1.0)
    assert (0.4, "0") in drawn
    assert (0.4, "x") not in drawn
    assert (0.8, "x") in drawn


def test_who_waits_for_others_is_told_from_who_is_held_up() -> None:
    from impel.analysis.script import _waited
    from impel.scene import Scene
    from impel.stage import simulate

    scene = Scene(seconds=3, gravity=[0, 0, 0])
    for name, y, time in (("quick", 0, 1.0), ("slow", 1, 2.0)):
        scene.body(name, sphere=0.1, mass=1, at=[0, y, 1]).move([[0, y, 1], {"at": [1, y, 1], "time": time}])
    scene.appointment("meet", ["quick.move.1", "slow.move.1"])
    take, plan = simulate(scene), plan_of(scene)
    assert _waited(take, plan, "quick.move") == {1: pytest.approx(1.0, abs=0.05)}
    assert _waited(take, plan, "slow.move") == {}


def test_names_of_limits_do_not_pile_up() -> None:
    from impel.analysis.script import _now_and_then, labelled

    marks = [(0.01 * k, "elbow" if k % 2 else "shoulder") for k in range(800)]
    written = labelled([(time, name, "red") for time, name in _now_and_then(marks, 8.0)], 8.0)
    assert {text for _, text, _ in written} == {"shoulder, elbow", "elbow, shoulder"}
    assert min(b - a for (a, *_), (b, *_) in pairwise(written)) > 2.0
    many = labelled([(0.0, f"box{k}", "red") for k in range(9)], 8.0)
    assert [text for _, text, _ in many] == ["box0, box1, box2, box3 +5"]


def test_no_label_lies_on_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As wide as the letters are drawn: of a ball that touches two boxes of a tower within 0.1 s, twice."""
    from matplotlib.figure import Figure

    boxes = []

    def measured(sheet: Figure, *given: object, **options: object) -> None:
        sheet.canvas.draw()
        texts = [text for axes in sheet.axes for text in axes.texts]
        boxes.extend((text.get_text(), text.get_window_extent()) for text in texts)
        saved(sheet, *given, **options)

    saved = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", measured)
    draw_file(Path("examples/hop.yaml"), tmp_path / "hop.png")
    assert any("tower3, tower2" in text for text, _ in boxes)
    for k, (_, box) in enumerate(boxes):
        assert not any(box.overlaps(other) for _, other in boxes[:k])
