"""Keys from a file: takes and tables, found beside the scene; what is missing in them is told in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impel import Problem, Scene, load_scene, simulate, write_take
from impel.files import write_document

TIMES = np.arange(31) / 30


def table(path: Path, header: str, rows: np.ndarray) -> Path:
    lines = [header, *(",".join(f"{number:.9g}" for number in row) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def ball(clip: Any, kind: str = "move") -> Scene:
    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("ball", box=[0.1, 0.2, 0.3], mass=1)._wish(**{kind: {"keys_from": str(clip)}})
    return scene


def test_table_of_places_becomes_keys_from_time_zero_on(tmp_path: Path) -> None:
    rows = np.column_stack([TIMES + 7, np.sin(3 * TIMES), TIMES, 0 * TIMES])
    scene = ball(table(tmp_path / "clip.csv", "time,x,y,z", rows))
    scene.bodies["ball"].velocity = (3, 1, 0)
    take = simulate(scene)
    assert take.position[:-1:2, 0, 0] == pytest.approx(np.sin(3 * TIMES[:-1]), abs=2e-3)
    assert [event["kind"] for event in take.events].count(
        "key passed"
    ) == 29  # the last one would be passed as the take ends


@pytest.mark.parametrize("extension", ["npz", "csv"])
def test_take_can_be_followed_again(tmp_path: Path, extension: str) -> None:
    first = Scene(seconds=1, gravity=[0, 0, 0])
    first.body("other", sphere=0.1, mass=1, at=[5, 5, 5])
    first.body("ball", box=[0.1, 0.2, 0.3], mass=1, at=[0, 0, 0], velocity=[1, 0, 0], spin=[0, 90, 200])
    take = simulate(first)
    write_take(take, tmp_path / f"clip.{extension}")
    again = Scene(seconds=1, gravity=[0, 0, 0])
    again.body("ball", box=[0.1, 0.2, 0.3], mass=1, velocity=[1, 0, 0], spin=[0, 90, 200])
    clip = {"keys_from": str(tmp_path / f"clip.{extension}")}
    again["ball"]._wish(move=clip, turn=clip)
    there = simulate(again)
    assert there.position[:, 0] == pytest.approx(take.position[:, 1], abs=3e-3)
    turned = np.abs(np.sum(there.orientation[:-1, 0] * take.orientation[:-1, 1], axis=1))
    assert np.degrees(2 * np.arccos(np.minimum(turned, 1))).max() < 0.3


def test_arrays_of_ones_own_will_do(tmp_path: Path) -> None:
    np.savez(tmp_path / "clip.npz", time=TIMES, euler=np.column_stack([0 * TIMES, 0 * TIMES, 90 * TIMES]))
    assert simulate(ball(tmp_path / "clip.npz", "turn")).orientation[-1, 0, 3] == pytest.approx(
        np.sin(np.pi / 4), abs=0.01
    )


def test_scene_finds_clips_beside_itself_and_is_written_with_their_names(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shots").mkdir()
    table(Path("shots/clip.csv"), "time,x,y,z", np.column_stack([TIMES, TIMES, TIMES, TIMES]))
    body = {"shape": {"sphere": 0.1}}
    actor = {"move": {"keys_from": {"file": "clip.csv"}, "late": "wait"}}
    write_document("shots/scene.yaml", {"impel": 1, "bodies": {"ball": body}, "actors": {"ball": actor}})
    scene = load_scene("shots/scene.yaml")
    assert scene.actors["ball"].move is not None
    assert len(scene.actors["ball"].move.keys) == 31
    scene.save("shots/again.yaml")
    text = Path("shots/again.yaml").read_text()
    assert "file: clip.csv" in text
    assert "at:" not in text
    assert load_scene("shots/again.yaml") == scene


ROWS = np.column_stack([TIMES, TIMES, TIMES, TIMES])


@pytest.mark.parametrize(
    ("header", "rows", "line"),
    [
        ("time,x,y,z", np.delete(ROWS, slice(10, 14), axis=0), r"clip\.csv: key 11: comes after a gap: 0\.167 s"),
        ("time,x,y,z", np.where(ROWS[4, 0] == ROWS, np.nan, ROWS), r"clip\.csv: key 5: has a gap: a number in it is"),
        ("time,x,y,z", ROWS[::-1], r"clip\.csv: key 2: its time must be later than 1, the time before it"),
        ("time,x,y", ROWS[:, :3], r"clip\.csv: has no column called 'z'; it needs time and x, y, z"),
        ("time,x,y,z", ROWS[:1], r"clip\.csv: has 1 keys, and a motion needs two or more"),
    ],
)  # fmt: skip
def test_clip_with_gaps_is_told_in_one_line(tmp_path: Path, header: str, rows: np.ndarray, line: str) -> None:
    table(tmp_path / "clip.csv", header, rows)
    with pytest.raises(Problem, match=r"^scene: actors\.ball\.move\.keys_from: .*" + line) as caught:
        ball(tmp_path / "clip.csv")
    assert len(caught.value.lines) == 1


@pytest.mark.parametrize(
    ("wish", "line"),
    [
        ({"keys_from": "nowhere.npz"}, r"keys_from: nowhere\.npz: cannot be read: no such file"),
        ({"keys_from": "clip.mov"}, r"keys_from: clip\.mov: must be a \.npz or a \.csv"),
        ({"keys_from": "clip.csv", "keys": [[0, 0, 0]]}, r"keys_from: give keys or keys_from, not both"),
        ({"keys_from": 3}, r"keys_from: must be .*clip\.npz"),
        ({}, r"actors\.ball\.move\.keys: is missing"),
    ],
)
def test_what_is_no_clip_is_told(wish: dict[str, Any], line: str) -> None:
    with pytest.raises(Problem, match=line):
        Scene(bodies={"ball": {"shape": {"sphere": 0.1}}}, actors={"ball": {"move": wish}})
