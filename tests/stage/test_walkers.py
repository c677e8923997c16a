"""Walkers on the stage: they kick what lies in their way, stand where they stand, and say when a foot lands."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from impel import Problem, Scene
from impel.cli import main
from impel.files import format_document, parse_document, read_document, write_document
from impel.gaits.gait import PUBLISHED, save_gait
from impel.gaits.walker import load_walker
from impel.scene import load_scene, parse_scene, problems, scene_schema, warnings
from impel.stage import simulate
from impel.stage.walkers import troupe_of
from impel.takes import Take

LEGS = ("front_left", "front_right", "rear_left", "rear_right")
SOLE = load_walker("creature").sole


def scene_with_a_ball(ground: float = 0.0, **walk: object) -> Scene:
    """A ball lies where the creature's front left foot comes by."""
    scene = Scene(seconds=3.0)
    scene.body("floor", plane={}, at=[0, 0, ground], fixed=True)
    scene.body("ball", sphere=0.2, mass=0.5, at=[1.9, 0.9, 0.2 + ground])
    scene.walker("spider", "creature", path=[[0, 0, ground], [8, 0, ground]], **{"mood": 90, **walk})
    return scene


@pytest.fixture(scope="module")
def take() -> Take:
    return simulate(scene_with_a_ball())


def touches(take: Take, name: str) -> set[str]:
    pairs = [(e["subject"], e["details"]["with"]) for e in take.events if e["kind"] == "contact begins"]
    return {b if a == name else a for a, b in pairs if name in (a, b)}


def test_a_walker_kicks_a_ball_that_lies_in_its_way(take: Take) -> None:
    ball = take.position[:, take.index("ball")]
    assert any(name.startswith("spider.front_left") for name in touches(take, "ball"))
    assert ball[-1, 0] > 2.4
    resting = take.time < 0.1
    np.testing.assert_allclose(ball[resting], [[1.9, 0.9, 0.2]] * resting.sum(), atol=2e-3)


def test_a_ball_beside_the_way_is_left_alone() -> None:
    scene = scene_with_a_ball()
    scene.bodies["ball"].at = (1.9, 3.0, 0.2)
    take = simulate(scene)
    assert np.ptp(take.position[:, take.index("ball"), :2], axis=0).max() < 1e-9
    assert touches(take, "ball") == {"floor"}


def test_a_walker_does_not_notice_what_it_kicks(take: Take) -> None:
    alone = scene_with_a_ball()
    del alone.bodies["ball"]
    other = simulate(alone)
    for name in other.names:
        np.testing.assert_allclose(take.position[:, take.index(name)], other.position[:, other.index(name)], atol=1e-12)


def test_its_bodies_bear_its_name_and_do_not_touch_each_other(take: Take) -> None:
    parts = [f"{leg}.{part}" for leg in LEGS for part in ("upper", "lower", "foot")]
    assert take.names == ["floor", "ball", "spider.body", *(f"spider.{part}" for part in parts)]
    for name in take.names[2:]:
        assert touches(take, name) <= {"ball"}


def test_planted_feet_stay_put_and_do_not_sink_into_the_floor(take: Take) -> None:
    planted = 0
    for leg in LEGS:
        foot = take.position[:, take.index(f"spider.{leg}.foot")]
        assert foot[:, 2].min() > SOLE - 1e-9
        down = foot[:, 2] < SOLE + 1e-12
        stands = down[1:] & down[:-1]
        planted += stands.sum()
        assert np.abs(np.diff(foot, axis=0))[stands].max() <= 1e-9
    assert planted > 4 * 30


def test_footfalls_are_events_in_order_with_the_others(take: Take) -> None:
    times = [event["time"] for event in take.events]
    assert times == sorted(times)
    falls = [event for event in take.events if event["kind"] == "footfall"]
    assert {event["subject"] for event in falls} == {f"spider.{leg}" for leg in LEGS}
    for event in falls:
        frame = int(np.ceil(event["time"] * 60 - 1e-9))  # the first one at which it stands
        foot = take.position[frame, take.index(f"{event['subject']}.foot")]
        np.testing.assert_allclose(foot - [0, 0, SOLE], event["details"]["at"], atol=1e-5)


def test_same_scene_twice_gives_the_same_bytes(take: Take) -> None:
    again = simulate(scene_with_a_ball())
    assert take.position.tobytes() == again.position.tobytes()
    assert take.orientation.tobytes() == again.orientation.tobytes()
    assert take.events == again.events


def test_a_walker_starts_when_told_and_walks_where_the_ground_is(take: Take) -> None:
    late = simulate(scene_with_a_ball(ground=-2.0, start=0.5))
    body = take.position[:, take.index("spider.body")]
    shifted = late.position[:, late.index("spider.body")] + [0, 0, 2]
    np.testing.assert_allclose(shifted[:30], np.broadcast_to(body[0], (30, 3)), atol=1e-12)
    np.testing.assert_allclose(shifted[30:], body[:-30], atol=1e-9)
    falls = [e["details"]["at"][2] for e in late.events if e["kind"] == "footfall"]
    assert falls == pytest.approx([-2.0] * len(falls))


def test_mood_changes_on_the_way_by_the_clock_of_the_take() -> None:
    def speed(**walk: object) -> float:
        take = simulate(scene_with_a_ball(**walk))
        return float(take.position[-1, take.index("spider.body"), 0])

    assert speed(mood=5) < speed(mood=[[0, 5], [1.5, 90]]) < speed(mood=90)
    assert speed(mood=[[0, 5], [0.4, 90]], start=0.5) == pytest.approx(speed(mood=90, start=0.5))


def test_walkers_and_bodies_share_the_stage_with_other_key_framed_bodies() -> None:
    scene = scene_with_a_ball()
    keys = [{"time": 0.2}, {"time": 0.7, "at": [2, -3, 0.7]}]
    scene.body("lift", box=[0.2, 0.2, 0.05], at=[2, -3, 0.5], follows=keys, linear=True)
    scene.walker("six", "hexapod", path=[[0, -4, 0], [3, -4, 0]], color="#2E86AB")
    take = simulate(scene)
    told = np.interp(take.time, [0.2, 0.7], [0.5, 0.7])
    np.testing.assert_allclose(take.position[:, take.index("lift"), 2], told, atol=1e-12)
    assert take.colors[take.index("six.body")] == "#2e86ab"
    assert set(take.paths) == {"spider.way", "six.way"}


def test_a_scene_of_walkers_alone_needs_no_bodies() -> None:
    scene = Scene(seconds=0.5)
    scene.walker("lonely", "biped", path=[[0, 0, 0], [2, 0, 0]])
    assert simulate(scene).names[0] == "lonely.body"


def test_round_trip_keeps_every_field() -> None:
    scene = scene_with_a_ball(
        mood=[[0, 10], [2, 90.5]], start=0.25, pace=0.8, height=[[0, 1.2], [1, 1.1]], lame="rear_right", limp=0.5,
        color="#112233",
    )  # fmt: skip
    document = scene.to_document()
    assert document["walkers"]["spider"]["mood"] == [[0, 10], [2, 90.5]]
    assert parse_scene(parse_document(format_document(document), "scene.yaml")) == scene
    plain = scene_with_a_ball().to_document()["walkers"]["spider"]
    assert plain == {"path": [[0, 0, 0], [8, 0, 0]], "mood": 90}


def test_schema_has_a_sentence_on_every_field() -> None:
    schema = scene_schema()
    assert "walkers" in schema["properties"]
    fields = schema["$defs"]["Walker"]["properties"]
    assert {"walker", "path", "mood", "start", "pace", "height", "lame", "limp", "pushes", "color"} == set(fields)
    assert all(field["description"].endswith(".") for field in fields.values())
    json.dumps(schema)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"walker": "creatur"}, "scene: walkers.spider.walker: there is no walker called 'creatur'; did you mean"),
        ({"mood": 101}, "scene: walkers.spider.mood: must be a number from 0 to 100, or pairs [[seconds, value], ...]"),
        ({"mood": [[0, 10], [1, -1]]}, "scene: walkers.spider.mood: must be a number from 0 to 100, or pairs"),
        ({"mood": [[1, 10], [1, 20]]}, "scene: walkers.spider.mood: its times must rise, from 0 on"),
        ({"mood": float("nan")}, "scene: walkers.spider.mood: must be a number from 0 to 100"),
        ({"mood": "tired"}, "scene: walkers.spider.mood: must be a number from 0 to 100"),
        ({"path": [[0, 0, 0]]}, "scene: walkers.spider.path: must have at least 2 entries, got 1"),
        ({"path": [[0, 0], [1, 0, 0]]}, "scene: walkers.spider.path.0: must be three numbers [x, y, z], got [0, 0]"),
        ({"path": [[0, 0, 0], [0, 0, 0]]}, "scene: walkers.spider.path.1: must be at least 0.01 m from"),
        ({"path": [[0, 0, 0], [1, 0, 1]]}, "scene: walkers.spider.path.1: must be as high as the first point, 0"),
        ({"lame": "tail"}, "scene: walkers.spider.lame: creature has no leg 'tail'; its legs are front_left"),
        ({"limp": 0.5}, "scene: walkers.spider.limp: needs a lame leg"),
        ({"start": -1}, "scene: walkers.spider.start: must be at least 0, got -1"),
        ({"speed": 3}, "scene: walkers.spider.speed: is not a known field"),
        ({"height": 1.9}, "scene: walkers.spider.height: must be from"),
        ({"pace": 9}, "scene: walkers.spider.pace: must be from 0.3 to 2.6, got 9"),
        ({"walker": "nowhere.yaml"}, "scene: walkers.spider: nowhere.yaml: cannot be read: no such file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_plain_line(fields: dict[str, object], line: str) -> None:
    document = scene_with_a_ball().to_document()
    document["walkers"]["spider"] |= fields
    with pytest.raises(Problem) as caught:
        simulate(parse_scene(document))
    assert len(caught.value.lines) == 1
    assert caught.value.lines[0].startswith(line)


@pytest.mark.parametrize("name", ["ball", "world"])
def test_a_walker_cannot_take_the_name_of_a_body(name: str) -> None:
    scene = scene_with_a_ball()
    scene.walker(name, path=[[0, 5, 0], [1, 5, 0]])
    assert problems(scene) == [
        f"walkers.{name}: is the name of a body, or of the world itself; call the walker something else"
    ]


def test_a_walker_that_starts_after_the_end_is_doubted() -> None:
    assert warnings(scene_with_a_ball(start=5)) == ["walkers.spider.start: 5 is after the end of the take at 3"]


def test_a_scene_names_a_gait_as_seen_from_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the scene, wherever one stands; else in the current directory, as older scenes meant it."""
    monkeypatch.chdir(tmp_path)
    save_gait("sub/gait.yaml", PUBLISHED["brisk"])
    scene = Scene(seconds=0.1)
    scene.walker("spider", "sub/gait.yaml", path=[[0, 0, 0], [2, 0, 0]])
    scene.save("sub/scene.yaml")
    assert read_document("sub/scene.yaml")["walkers"]["spider"]["walker"] == "gait.yaml"
    assert load_scene("sub/scene.yaml") == scene
    assert "spider.body" in troupe_of(load_scene("sub/scene.yaml"), "scene").parts
    monkeypatch.chdir(tmp_path / "sub")
    assert "spider.body" in troupe_of(load_scene("scene.yaml"), "scene").parts
    monkeypatch.chdir(tmp_path)
    write_document("sub/scene.yaml", scene.to_document())  # sub/gait.yaml, which is not beside it
    assert "spider.body" in troupe_of(load_scene("sub/scene.yaml"), "scene").parts


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"walker": "nothere.yaml"}, "walkers.spider: {folder}/nothere.yaml: cannot be read: no such file"),
        ({"walker": "creatur"}, "walkers.spider.walker: there is no walker called 'creatur'; did you mean creature?"),
        ({"walker": "x" * 900 + ".yaml"}, "walkers.spider: {folder}/xxx"),
        ({"walker": "x\0.yaml"}, "walkers.spider: '{folder}/x\\x00.yaml': cannot be read: no file can have this name"),
        ({"lame": "tail"}, "walkers.spider.lame: creature has no leg 'tail'"),
        ({"height": 1.9}, "walkers.spider.height: must be from"),
    ],
)
def test_check_refuses_what_simulate_would_refuse(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fields: dict[str, object],
    line: str,
) -> None:
    document = scene_with_a_ball().to_document()
    document["walkers"] = dict.fromkeys(("spider", "twin"), document["walkers"]["spider"] | fields)
    write_document(tmp_path / "scene.yaml", document)
    monkeypatch.setattr(sys, "argv", ["impel", "check", str(tmp_path / "scene.yaml")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = [text for text in capsys.readouterr().err.splitlines() if "compiling" not in text]
    assert told[0].startswith(f"{tmp_path / 'scene.yaml'}: {line.format(folder=tmp_path)}")
    assert len(told) == 2  # and the same about its twin


def test_scenes_know_nothing_of_gaits() -> None:
    """Import rules: what was written is checked without what performs it."""
    code = (
        "import sys; from impel.scene import Scene, problems; scene = Scene(seconds=1);"
        "scene.walker('spider', 'creatur', path=[[0, 0, 0], [4, 0, 0]]); assert not problems(scene);"
        "sys.exit(any(name.startswith('impel.gaits') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
