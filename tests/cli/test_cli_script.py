"""`impel script`: the sheet is written under the name that was asked for, and shows what happened."""

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


def test_plan_tells_what_was_asked_for() -> None:
    plan = plan_of(gallery_scene("handover"))
    assert plan.due["left_hand.move"][2] == 1.7
    assert plan.holds["left_hand.move"] == [(1.7, pytest.approx(1.9))]
    assert plan.parts["left_hand"] == ["left_hand", "left_fore", "left_upper"]
    assert plan.meetings["give"].cues == ["left_hand.move.3", "right_hand.move.2"]
