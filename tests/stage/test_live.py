"""A scene can be changed and pushed while it plays, and becomes a scene in which the same happens by itself."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_performance import busy_scene, same

from impel import Moment, Problem, Scene, Show, play, simulate
from impel.files import format_document, parse_document
from impel.scene import parse_scene, problems
from impel.stage import Performance
from impel.stage.step import play as kernel

CHANGES: list[tuple[str, Any]] = [
    ("actors.ball.move.speed", 3),
    ("actors.ball.move.keys.1", [1, 0.5, 0.6]),
    ("actors.ball.move.keys", [[0, 0, 0.4], [1, 1, 0.5], [2, 0, 0.5], [0, -1, 0.5]]),
    ("actors.ball.move.loop", True),
    ("actors.upper.turn.strength", 3),
    ("actors.upper.turn", {"keys": [{"euler": [0, 40, 0]}], "base_angle": 5}),
    ("actors.outer.move.adaptation", 0),
    ("world.gravity", [0, 1, -2]),
    ("world.drag", 0.5),
    ("bodies.crate.coating.friction", 0),
    ("bodies.ball.coating", {"stiffness": 1e5}),
    ("bodies.ball.coating.stiffness", None),
    ("bodies.ball.coating.stiffness", [[0, 1e5], [0.01, 1e6]]),
    ("bodies.crate.coating", {"stiffness": [[0, 1e6], [0.02, 2e5]], "bulge": 0.7}),
    ("bodies.ball.color", "#112233"),
]


def written_and_read(scene: Scene) -> Scene:
    return parse_scene(parse_document(format_document(scene.to_document()), "played.yaml"))


def do(show: Show, deed: Any) -> None:
    """Change something, or push, lead or release a body."""
    if isinstance(deed, tuple):
        show.change(*deed)
    elif deed == "push":
        show.push("rider", force=[1, 0, 2], point=[0, 0, 0.05], until=show.time + 0.123)
    elif deed == "pull":
        show.push("crate", spring=300, to=[0.5, 0.5, 0.8])
    else:
        for number, push in enumerate(show.scene.pushes):
            if push.spring is None or deed == "release":
                show.release(number)
            else:
                show.pull(number, [0.5, 0.5 + show.time, 0.8])


deeds = st.sampled_from([*CHANGES, "push", "pull", "lead", "release"])


@settings(max_examples=12, deadline=None)
@given(st.dictionaries(st.integers(0, 40), st.lists(deeds, max_size=3), max_size=6), st.integers(0, 50))
def test_what_was_played_is_a_scene_that_simulates_to_the_same_bytes(plan: dict[int, list[Any]], back: int) -> None:
    """Even if it was rewound in between, to before some of what was done."""
    show = play(busy_scene())
    snapshot = show.snapshot()
    for frame in show:
        if frame.number == back:
            snapshot = show.snapshot()
        for deed in plan.get(frame.number, []):
            do(show, deed)
    first = show.take()
    assert same(simulate(written_and_read(show.to_scene())), first)
    show.restore(snapshot)
    for frame in show:
        for deed in plan.get(frame.number, []):
            do(show, deed)
    assert same(simulate(show.to_scene()), show.take())
    assert same(show.take(), first)


@pytest.mark.parametrize(("field", "value"), CHANGES[:12])
def test_a_change_shows_from_its_frame_on(field: str, value: Any) -> None:
    plain = simulate(busy_scene())
    show = play(busy_scene())
    for frame in show:
        if frame.number == 10:
            show.change(field, value)
    take = show.take()
    states = [np.concatenate([t.position, t.orientation], axis=2) for t in (plain, take)]
    np.testing.assert_array_equal(states[0][:11], states[1][:11])
    assert not np.array_equal(states[0], states[1])


def test_a_change_at_the_start_is_as_good_as_another_scene() -> None:
    """What moves by its actors from time 0 moves as if the change had been written."""
    for field, value in [("speed", 1.5), ("elasticity", 1.2), ("keys", [[0, 0, 1], [0, 1, 1]]), ("strength", 40)]:
        scenes = []
        for fields in ({}, {field: value}):
            scene = Scene(seconds=1)
            wish = {"keys": [[0, 0, 1], [1, 0, 1]], "base_distance": 0.2, "speed": 1.0} | fields
            scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move(**wish)
            scenes.append(scene)
        show = play(scenes[0])
        show.change(f"actors.ball.move.{field}", value)
        for _ in show:
            pass
        np.testing.assert_allclose(show.take().position, simulate(scenes[1]).position, atol=1e-12)


def test_changing_compiles_nothing_and_does_not_start_over() -> None:
    show = play(busy_scene())
    show.next_frame()
    before = len(kernel._whole.signatures)
    for deed in [*CHANGES, "push", "pull"]:
        do(show, deed)
        show.next_frame()
    assert show.frame == 1 + len(CHANGES) + 2
    assert len(kernel._whole.signatures) == before


def test_what_sleeps_wakes_when_gravity_or_its_coating_changes_or_it_is_pushed() -> None:
    deeds: list[Any] = [
        lambda show: show.change("world.gravity", [0, -6, -9.81]),
        lambda show: show.change("bodies.box.coating.friction", 0.01),
        lambda show: show.push("box", force=[20, 0, 0]),
    ]
    for deed in deeds:
        scene = Scene(seconds=3)
        scene.body("slope", box=[4, 4, 0.1], euler=[10, 0, 0], fixed=True)
        height = 0.15 / math.cos(math.radians(10)) + 1e-4
        scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, height], euler=[10, 0, 0])
        show = play(scene)
        for frame in show:
            if frame.number == 90:
                assert show.stage.bodies.asleep[1] == 1.0
                rest = frame.position[1]
                deed(show)
        assert np.linalg.norm(show.take().position[-1, 1] - rest) > 0.05
        assert same(simulate(show.to_scene()), show.take())


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 0.9), st.floats(0.001, 0.1), st.floats(0.1, 10))
def test_the_impulse_of_a_push_is_exact_whenever_it_begins_and_ends(start: float, seconds: float, mass: float) -> None:
    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.1, mass=mass)
    scene.push("ball", from_=start, until=start + seconds, force=[3, -4, 12])
    assert simulate(scene).channels["ball.speed"][-1] == pytest.approx(13 * seconds / mass, rel=1e-6)


def test_a_push_off_the_centre_spins() -> None:
    """L = r x F t, and the spin follows from it."""
    scene = Scene(seconds=0.5, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.5, mass=2)
    scene.push("ball", until=0.01, force=[0, 10, 0], point=[0.5, 0, 0])
    take = simulate(scene)
    turned = 2 * math.acos(abs(take.orientation[30, 0] @ take.orientation[6, 0]))
    assert turned == pytest.approx(0.5 * 10 * 0.01 / (0.4 * 2 * 0.25) * 0.4, rel=1e-6)


@pytest.mark.parametrize("spring", [50.0, 1e4, 1e8])
def test_what_hangs_on_a_spring_stretches_it_by_its_weight(spring: float) -> None:
    scene = Scene(seconds=8)
    scene.body("box", box=[0.2, 0.4, 0.3], mass=2, at=[0, 0, 0.5])
    scene.push("box", spring=spring, to=[[0, 0, 0, 1]], point=[0, 0, 0.15])
    height = simulate(scene).position[-1, 0, 2]
    assert height == pytest.approx(1 - 0.15 - 2 * 9.81 / spring, abs=1e-4)


def test_a_spring_without_damping_swings_with_its_own_period() -> None:
    scene = Scene(seconds=4, gravity=[0, 0, 0])
    scene.body("ball", sphere=0.1, mass=2, at=[1, 0, 0])
    scene.push("ball", spring=20, damping=0, to=[[0, 0, 0, 0]])
    take = simulate(scene)
    np.testing.assert_allclose(take.position[:, 0, 0], np.cos(math.sqrt(10) * take.time), atol=0.02)


def test_a_body_is_led_by_its_spring() -> None:
    scene = Scene(seconds=2)
    scene.body("ball", sphere=0.1, mass=1)
    scene.push("ball", spring=1e5, to=[[0, 0, 0, 0], [1, 1, 0, 0], [1.5, 1, 1, 0]])
    take = simulate(scene)
    np.testing.assert_allclose(take.position[60, 0], [1, 0, 0], atol=0.02)
    np.testing.assert_allclose(take.position[-1, 0], [1, 1, 0], atol=1e-3)


NOT_NOW = "cannot be changed while the scene plays; change it in the scene and play that anew"


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("actors.ball.move.sped", 1, "actors.ball.move.sped: is not a known field; did you mean speed?"),
        ("actors.bal.move.speed", 1, "actors: there is no actor called 'bal'; did you mean ball?"),
        ("actors.ball.move.speed", -1, "actors.ball.move.speed: must be greater than 0, got -1"),
        ("actors.ball.move.keys.7", [0, 0, 1], "actors.ball.move.keys: counts from 0 to 2, got '7'"),
        ("actors.ball.move.keys.1", [0, 1], "actors.ball.move.keys.1.at: must be three numbers [x, y, z], got [0, 1]"),
        ("actors.ball.turn.speed", 1, "actors.ball.turn: is not there, so there is no speed in it"),
        ("actors.ball.move.keys", None, "actors.ball.move.keys: cannot be left out"),
        ("actors.ball.move", None, f"actors.ball.move: {NOT_NOW}"),
        ("bodies.ball.mass", 2, f"bodies.ball.mass: {NOT_NOW}"),
        ("world.joints", "paper", f"world.joints: {NOT_NOW}"),
        ("bodies.ball.coating.damping", "hard", "bodies.ball.coating.damping: must be a number, got 'hard'"),
        ("", 1, "field: must be written like actors.ball.move.speed, got ''"),
        (3, 1, "changes.0.field: must be text, got 3"),
    ],
)
def test_a_change_that_cannot_be_is_one_plain_line_and_does_nothing(field: Any, value: Any, line: str) -> None:
    refuses(lambda show: show.change(field, value), line)
    if isinstance(field, str) and value is not None:
        document = busy_scene().to_document() | {"changes": [{"time": 0.5, "field": field, "value": value}]}
        with pytest.raises(Problem) as problem:
            parse_scene(document)
        assert problem.value.lines == [f"scene: changes.0: {line}"]


@pytest.mark.parametrize(
    ("push", "line"),
    [
        ({"body": "bal", "force": [1, 0, 0]}, "pushes.0.body: there is no body called 'bal'; did you mean ball?"),
        ({"body": "ground", "force": [1, 0, 0]}, "pushes.0.body: ground is fixed and gives way to no push"),
        ({"body": "lift", "force": [1, 0, 0]}, "pushes.0.body: lift follows keys and gives way to no push"),
        ({"body": "ball"}, "pushes.0: needs either force or spring"),
        ({"body": "ball", "spring": 9}, "pushes.0.to: is missing: where does the spring pull to?"),
        ({"body": "ball", "force": [1, 0]}, "pushes.0.force: must be three numbers [x, y, z], got [1, 0]"),
        (
            {"body": "ball", "force": [1, 0, 0], "damping": 1},
            "pushes.0.damping: belongs to a spring, and there is none",
        ),
        (
            {"body": "ball", "force": [1, 0, 0], "from": 2, "until": 1},
            "pushes.0.until: must not be before from, 2, got 1",
        ),
        ({"body": "ball", "spring": 9, "to": 3}, "pushes.0.to: must be a list, got 3"),
        (
            {"body": "ball", "spring": 9, "to": [[1, 0, 0, 0], [1, 0, 0, 1]]},
            "pushes.0.to.1: must be later than 1, the time before it, got 1",
        ),
        ({"body": "ball", "forse": [1, 0, 0]}, "pushes.0.forse: is not a known field; did you mean force?"),
    ],
)
def test_a_push_that_cannot_be_is_one_plain_line_and_does_nothing(push: dict[str, Any], line: str) -> None:
    refuses(lambda show: show.push(**push), line)
    with pytest.raises(Problem) as problem:
        parse_scene(busy_scene().to_document() | {"pushes": [push]})
    assert problem.value.lines == [f"scene: {line}"]


def test_a_push_cannot_begin_before_the_present() -> None:
    show = play(busy_scene())
    for _ in range(10):
        show.next_frame()
    with pytest.raises(Problem) as problem:
        show.push("crate", force=[5, 0, 0], until=1, **{"from": 0})
    assert problem.value.lines == ["scene: pushes.0.from: must not be before 0.166667, the present time, got 0"]
    assert show.push("crate", force=[5, 0, 0], **{"from": show.time}) == 0
    show.next_frame()
    show.release(0)  # which began before


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("actors.a.move.keys", [[0, 0, 1], [1, 0, 2]], "appointments.meet.cues.0: a.move counts from 0 to 1, got 2"),
        (
            "actors.b.turn",
            {"keys": [{"euler": [0, 0, 90]}], "speed": 9},
            "in_step.both.1: 'b.turn' has no times on its keys",
        ),
    ],
)
def test_a_change_that_leaves_others_without_what_they_wait_for_is_one_plain_line(
    field: str, value: Any, line: str
) -> None:
    def scene() -> Scene:
        scene = Scene(seconds=2, gravity=[0, 0, 0])
        turn = [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 1}]
        a, b = (scene.body(name, sphere=0.1, mass=1, at=[0, y, 1]) for y, name in enumerate("ab"))
        a.move([[0, 0, 1], [1, 0, 1], [2, 0, 1]], speed=1).turn(turn)
        b.move([[0, 1, 1], [1, 1, 1]], speed=1).turn(turn)
        scene.appointment("meet", cues=["a.move.2", "b.move.1"])
        scene.in_step["both"] = ["a.turn", "b.turn"]
        return scene

    show = play(scene())
    with pytest.raises(Problem) as problem:
        show.change(field, value)
    assert [given.startswith(f"scene: {line}") for given in problem.value.lines] == [True]
    for _ in range(3):
        show.next_frame()
    written = scene()
    written.change(time=0.5, field=field, value=value)
    assert [given.startswith(f"changes.0: {line}") for given in problems(written)] == [True]


def test_only_what_is_pushed_can_be_led_or_released() -> None:
    refuses(lambda show: show.release(0), "pushes: there is none with the number 0")
    refuses(lambda show: show.pull(0, [0, 0, 0]), "pushes: there is none with the number 0")
    refuses(lambda show: show.release(False), "pushes: there is none with the number False")
    show = play(busy_scene())
    with pytest.raises(Problem, match=r"pushes\.0\.to: belongs to a spring, and there is none"):
        show.pull(show.push("ball", force=[1, 0, 0]), [0, 0, 0])


def refuses(deed: Any, line: str) -> None:
    show = play(busy_scene())
    before = show.memory.values.tobytes()
    with pytest.raises(Problem) as problem:
        deed(show)
    assert problem.value.lines == [f"scene: {line}"]
    assert show.memory.values.tobytes() == before
    assert show.to_scene() == busy_scene()


def test_frames_bring_what_happened_since_the_one_before() -> None:
    show = play(busy_scene())
    frames = list(show)
    take = show.take()
    assert [frame.number for frame in frames] == list(range(61))
    np.testing.assert_array_equal([frame.position for frame in frames], take.position)
    assert show.names == take.names
    events = [event for frame in frames for event in frame.events]
    assert sorted(events, key=lambda e: e["time"]) == [e for e in take.events if e in events]
    assert len(events) > 5


def test_whoever_stops_goes_back_and_looks_again_hears_nothing_twice() -> None:
    show = play(busy_scene())
    first = [frame.events for frame in show]
    middle = next(number for number, events in enumerate(first) if number > 10 and events)
    again = play(busy_scene())
    for frame in again:
        if frame.number == middle:
            moment = again.snapshot()
            break
    assert [frame.events for frame in again] == first[middle:]
    again.restore(moment)
    assert [frame.events for frame in again.branch()] == first[middle:]
    assert [frame.events for frame in again] == first[middle:]


def test_a_show_does_not_go_on_from_a_moment_without_its_frames() -> None:
    show = play(busy_scene())
    with pytest.raises(Problem, match="only from the snapshot of a show"):
        show.restore(Performance(busy_scene()).snapshot())


def test_after_its_last_frame_a_show_has_no_next_one() -> None:
    show = play(busy_scene())
    last = [frame.number for frame in show][-1]
    with pytest.raises(Problem, match=r"ends at 1 s \(world.seconds\): there is no next frame"):
        show.next_frame()
    assert len(show.take().time) == last + 1


@pytest.mark.parametrize("scene", ["scene.yaml", None, {"bodies": {}}])
def test_what_is_no_scene_is_one_plain_line(scene: Any) -> None:
    for start in (play, simulate):
        with pytest.raises(Problem, match=r"^scene: must be a Scene, got .*; load_scene reads one from a file$"):
            start(scene)


@pytest.mark.parametrize("force", [[math.nan, 0, 0], [1, 2], "up", None])
def test_a_controller_that_pushes_with_no_force_is_told_at_once(force: Any) -> None:
    with pytest.raises(Problem, match=r"^force: must be three finite numbers \[x, y, z\], got "):
        simulate(busy_scene(), controller=lambda moment: moment.push("ball", force))


def test_a_controller_may_be_given_to_a_show_at_any_frame_and_wakes_who_sleeps() -> None:
    def resting() -> Scene:
        scene = Scene(seconds=2)
        scene.body("ground", plane={}, fixed=True)
        scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.1])
        return scene

    def hold_up(moment: Moment) -> None:
        moment.push("box", [0, 0, 9.81 + 2])

    show = play(resting())
    while show.time < 1:
        show.next_frame()
    assert show.stage.bodies.asleep[1] == 1.0
    before = show.snapshot()
    while show.time < 1.5:
        show.next_frame(hold_up)
    assert show.take().position[-1, 1, 2] - 0.1 == pytest.approx(0.5 * 2 * 0.5**2, abs=0.01)
    middle = show.snapshot()
    show.next_frame()  # until told otherwise
    risen = show.take().position[-1]
    assert risen[1, 2] > 0.36
    for start in (before, middle):
        show.restore(start)
        show.next_frame()
    np.testing.assert_array_equal(show.take().position[-1], risen)
    show.restore(before)
    show.next_frame()
    assert show.take().position[-1, 1, 2] == pytest.approx(0.1, abs=1e-4)


def test_a_controller_from_the_first_frame_on_does_the_same_in_a_show_as_in_a_simulation() -> None:
    def shove(moment: Moment) -> None:
        moment.push("crate", [3 * math.sin(9 * moment.time), 1, 0])

    show = play(busy_scene())
    while show.frame < show.compiled.frames - 1:
        show.next_frame(shove)
    assert same(show.take(), simulate(busy_scene(), controller=shove))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"controller": 3}, "controller: must be a function that takes a Moment, got 3"),
        ({"every": "tick"}, "every: must be 'frame' or 'step', got 'tick'"),
    ],
)
def test_what_a_simulation_cannot_do_is_one_plain_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises(Problem) as problem:
        simulate(busy_scene(), **given)
    assert problem.value.lines == [line]


def test_hundreds_of_different_scenes_leave_little_behind() -> None:
    many_scenes = pytest.importorskip("many_scenes", exc_type=ImportError)  # not every system tells of memory
    assert many_scenes.left_behind(500) < 500 * many_scenes.ROOM
