"""Times on keys: what is filled in, and what cannot be."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel import Problem, Scene
from impel.scene import parse_scene
from impel.scene.actors import Move
from impel.scene.advice import warnings
from impel.scene.checks import problems
from impel.scene.timing import timetable


def scene_of(**move: Any) -> Scene:
    scene = Scene(seconds=5)
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    scene["ball"].move(**move)
    return scene


def move(keys: list[Any], **fields: Any) -> Move:
    wish = scene_of(keys=keys, **fields).actors["ball"].move
    assert wish is not None
    return wish


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"keys": [{"at": [0, 0, 1], "time": 1}, [1, 0, 1]]}, "keys.0.time: must be 0 or left out"),
        (
            {"keys": [[0, 0, 1], {"at": [1, 0, 1], "time": 2}, {"at": [2, 0, 1], "time": 1}]},
            "keys.2.time: must be later than 2",
        ),
        (
            {"keys": [[0, 0, 1], {"at": [1, 0, 1], "time": 2, "hold": 2}, {"at": [2, 0, 1], "time": 3}]},
            "keys.2.time: must be later than 4",
        ),
        ({"keys": [{"at": [0, 0, 1], "hold": 1}]}, "keys.0.hold: is about the way between keys"),
        ({"keys": [[0, 0, 1], {"at": [1, 0, 1], "hold": 1, "speed": 1}]}, "keys.1.speed: give hold or speed"),
        (
            {"keys": [[0, 0, 1], [1, 0, 1], {"at": [0, 0, 1], "time": 2, "hold": 1}], "loop": True},
            "keys.2.hold: is the first key again",
        ),
        (
            {"keys": [[0, 0, 1], {"at": [1, 0, 1], "time": 2, "speed": 9}, [2, 0, 1]]},
            "keys.1.speed: must be at most 1.5 m/s",
        ),
        (
            {"keys": [[0, 0, 1], {"at": [1, 0, 1], "time": 2, "speed": 1}, [0, 0, 1]]},
            "keys.1.speed: the path turns back here",
        ),
    ],
)
def test_times_that_cannot_be_are_told_in_one_line(fields: dict[str, Any], line: str) -> None:
    (found,) = problems(scene_of(**fields))
    assert found.startswith(f"actors.ball.move.{line}")


def test_late_must_be_one_of_two_words() -> None:
    with pytest.raises(Problem, match="late"):
        scene_of(keys=[[0, 0, 1], [1, 0, 1]], late="never")


def test_actor_that_is_too_weak_for_its_times_is_warned_of() -> None:
    scene = scene_of(keys=[[0, 0, 1], {"at": [2, 0, 1], "time": 0.4}], strength=40)
    assert any("the times on its keys take 75 N" in line for line in warnings(scene))  # 6·2 m/(0.4 s)²
    assert not any("take" in line for line in warnings(scene_of(keys=[[0, 0, 1], {"at": [2, 0, 1], "time": 2}])))


def test_keys_with_times_are_written_and_read_as_they_are() -> None:
    scene = scene_of(keys=[[0, 0, 1], {"at": [1, 0, 1], "time": 2, "hold": 0.5}], late="wait")
    document = scene.to_document()
    assert document["actors"]["ball"]["move"]["keys"] == [[0, 0, 1], {"at": [1, 0, 1], "time": 2, "hold": 0.5}]
    assert parse_scene(document).to_document() == document


def test_path_without_times_has_no_timetable() -> None:
    assert timetable(move([[0, 0, 1], [1, 0, 1]])) is None


places = st.tuples(*[st.integers(-3, 3)] * 3).map(list)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(places, st.booleans(), st.sampled_from([None, 0.5])), min_size=2, max_size=8), st.booleans())
def test_times_that_are_written_are_kept_and_all_spans_are_positive(rows: list[Any], loop: bool) -> None:
    keys, clock = [], 0.0
    for i, (at, timed, hold) in enumerate(rows):
        clock += 1.0
        closes = loop and i == len(rows) - 1 and at == rows[0][0]
        key = {"at": at, **({"time": clock} if timed and i else {}), **({"hold": hold} if hold and not closes else {})}
        clock += hold or 0.0
        keys.append(key)
    table = timetable(move(keys, loop=loop))
    if table is None:
        return
    assert min(table.spans) > 0
    assert len(table.spans) == len(table.keys) - (not loop)
    come = [math.fsum(table.spans[:k]) for k in range(len(table.keys) + loop)]
    for k, i in enumerate(table.written):
        if i is not None and "time" in keys[i]:
            assert come[k] == pytest.approx(keys[i]["time"])
