"""Walkers are played frame by frame: they can be changed, wait for what they cannot push, and are part of snapshots."""

import numpy as np
import pytest

from impel import Problem, Scene
from impel.gaits.mood import load_moods
from impel.gaits.record import tracks
from impel.gaits.walk import walk
from impel.stage import simulate
from impel.stage.opening import opening_doubts
from impel.stage.show import play
from impel.stage.walkers import heights


def meadow(seconds: float = 3.0, fps: float = 60, **walker: object) -> Scene:
    scene = Scene(world={"seconds": seconds, "fps": fps})
    scene.body("floor", plane={}, fixed=True)
    scene.walker("spider", **{"walker": "creature", "path": [[0, 0, 0], [8, 0, 0]], "mood": 80, **walker})
    return scene


def place(take, name: str = "spider.body"):
    return take.position[:, take.index(name)]


@pytest.mark.parametrize("fps", [24, 60, 50])
@pytest.mark.parametrize("start", [0.0, 0.31])
def test_what_is_played_is_the_walk_that_can_be_computed_at_once(fps: float, start: float) -> None:
    take = simulate(meadow(fps=fps, start=start, path=[[0, 0, 0], [3, 0, 0], [5, 2, 0]], mood=[[0, 20], [2, 90]]))
    keys = [(time - start, mood) for time, mood in ((0, 20), (2, 90))]
    walked = walk(load_moods("creature"), mood=keys, path=[(0, 0), (3, 0), (5, 2)], seconds=3.0)
    told = tracks(walked)
    for k, name in enumerate(told.names):
        for c in range(3):
            expected = np.interp(take.time - start, told.times, told.positions[:, k, c])
            np.testing.assert_allclose(place(take, f"spider.{name}")[:, c], expected, atol=1e-9)


def crate(mass: float = 200.0) -> Scene:
    scene = meadow(seconds=14.0)
    scene.body("crate", box=[0.8, 0.8, 0.8], mass=mass, at=[4.5, 0, 0.4])
    return scene


@pytest.fixture(scope="module")
def waited():
    """A crate that is drawn up and away after 6 s."""
    scene = crate()
    scene.push("crate", spring=20000, to=[[6, 4.5, 0, 0.4], [8, 4.5, 0, 5]], **{"from": 6})
    return simulate(scene)


def test_a_walker_waits_for_a_crate_it_cannot_push_and_arrives_when_it_is_gone(waited) -> None:
    body = place(waited)
    held = (waited.time > 5) & (waited.time < 6)
    assert np.ptp(body[held, 0]) < 0.02
    assert body[held, 0].max() < 4.1  # before the crate
    np.testing.assert_allclose(body[-1, :2], [8, 0], atol=0.1)
    touched = [event for event in waited.events if event["kind"] == "contact begins" and "crate" in str(event)]
    assert not any("spider" in str(event) for event in touched)
    told = [(event["kind"], event["details"]) for event in waited.events if event["kind"] in ("waits", "goes on")]
    assert told == [("waits", {"for": "crate"}), ("goes on", {})]
    assert not any("waits" in line for line in waited.remarks())


def test_while_it_waits_all_feet_stand_and_none_slides(waited) -> None:
    held = (waited.time > 5) & (waited.time < 6)
    for leg in ("front_left", "front_right", "rear_left", "rear_right"):
        foot = place(waited, f"spider.{leg}.foot")[held]
        assert np.ptp(foot, axis=0).max() <= 1e-9
        assert foot[0, 2] == pytest.approx(load_moods("creature").walker.sole)
    velocity = np.diff(place(waited), axis=0) * 60
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() < 0.4  # four ticks a frame


def test_what_it_can_push_it_pushes() -> None:
    for scene in (crate(mass=5.0), crate()):
        scene.world.seconds = 7.0
        scene.walkers["spider"].pushes = 300.0 if scene.bodies["crate"].mass == 200 else None
        take = simulate(scene)
        assert not any(event["kind"] == "waits" for event in take.events)
        assert place(take, "crate")[-1, 0] > 4.6 or abs(place(take, "crate")[-1, 1]) > 0.1


def test_it_waits_for_ever_before_a_wall_and_check_says_so() -> None:
    scene = meadow(seconds=7.0)
    scene.body("wall", box=[0.3, 6, 3], at=[5, 0, 1.5], fixed=True)
    (doubt,) = opening_doubts(scene)
    assert doubt.startswith("walkers.spider.path: leads through wall, which is fixed, ")
    assert place(simulate(scene))[-1, 0] < 4.5
    scene.bodies["wall"].at = (5, 6, 1.5)
    assert opening_doubts(scene) == []


def test_check_tells_how_tall_walkers_are() -> None:
    (line,) = heights(meadow(), "scene")
    assert line.startswith("walkers.spider: stands 1.")
    tall = float(line.split(" to ")[1].split(" m")[0])
    take = simulate(meadow(mood=100))
    assert place(take)[:, 2].max() + 0.55 <= tall + 0.01


@pytest.mark.parametrize("path", [[[0, 0, 0], [8, 0, 0]], [[0, -1, 0], [3, 0, 0], [8, 1, 0]]])
def test_boxes_on_the_way_are_climbed_and_stepped_over(path: list[list[float]]) -> None:
    scene = meadow(seconds=12.0, path=path)
    scene.body("step", box=[2.0, 6, 0.25], at=[4.0, 0, 0.125], fixed=True)
    scene.body("log", box=[0.2, 6, 0.2], at=[6.5, 0, 0.1], fixed=True, euler=[0, 0, 10])
    assert opening_doubts(scene) == []
    take = simulate(scene)
    sole = load_moods("creature").walker.sole
    stood = set()
    for leg in ("front_left", "front_right", "rear_left", "rear_right"):
        foot = place(take, f"spider.{leg}.foot")
        still = np.abs(np.diff(foot, axis=0)).max(axis=1) < 1e-9
        for x, y, z in foot[1:][still]:
            on = 0.25 if abs(x - 4.0) < 1.0 and abs(y) < 3 else 0.0
            assert z == pytest.approx(on + sole, abs=1e-6)
            stood.add(on)
    assert stood == {0.0, 0.25}
    assert not [event for event in take.events if event["kind"] == "waits"]
    np.testing.assert_allclose(place(take)[-1, :2], path[-1][:2], atol=0.1)


def frames(show, count: int) -> np.ndarray:
    for _ in range(count):
        show.next_frame()
    return show.recorder.position[show.frame].copy()


def test_mood_pace_height_and_limp_can_be_changed_at_any_frame() -> None:
    scene = meadow(seconds=8.0, lame="rear_right", limp=0.0, mood=40)
    show = play(scene)
    frames(show, 90)
    before = show.snapshot()
    plain = frames(show, 240)
    places = {name: i for i, name in enumerate(show.names)}
    body = places["spider.body"]
    for field, value, moves in (
        ("mood", 100, lambda now: now[body, 0] > plain[body, 0] + 0.1),
        ("pace", 0.6, lambda now: now[body, 0] < plain[body, 0] - 0.1),
        ("height", 1.3, lambda now: abs(now[body, 2] - plain[body, 2]) > 0.02),
        ("limp", 1.0, lambda now: now[body, 1] > plain[body, 1] + 0.05),
    ):
        show.restore(before)
        show.change(f"walkers.spider.{field}", value)
        now = frames(show, 240)
        assert moves(now), field
        speeds = np.diff(show.recorder.position[:330, body], axis=0) * 60
        assert np.linalg.norm(np.diff(speeds, axis=0), axis=1).max() < 0.8  # 0.2 m/s a tick
        again = simulate(show.to_scene())
        np.testing.assert_array_equal(again.position[330], now)
    show.restore(before)
    np.testing.assert_array_equal(frames(show, 240), plain)


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("mood", 101, "scene: walkers.spider.mood: must be a number from 0 to 100"),
        ("height", 9, "scene: walkers.spider.height: must be from"),
        ("limp", 1, "scene: walkers.spider.limp: needs a lame leg"),
        ("path", [[0, 0, 0], [1, 0, 0]], "scene: walkers.spider.path: cannot be changed while the scene plays"),
    ],
)
def test_a_change_that_cannot_be_changes_nothing(field: str, value: object, line: str) -> None:
    show, other = play(meadow()), play(meadow())
    with pytest.raises(Problem) as caught:
        show.change(f"walkers.spider.{field}", value)
    assert caught.value.lines[0].startswith(line)
    np.testing.assert_array_equal(frames(show, 60), frames(other, 60))


def test_a_controller_changes_a_mood() -> None:
    def cheer(moment) -> None:
        if abs(moment.time - 1.0) < 1e-9:
            moment.change("walkers.spider.mood", 100)

    cheered = simulate(meadow(seconds=5.0, mood=10), controller=cheer)
    told = meadow(seconds=5.0, mood=10)
    told.change("walkers.spider.mood", 100, time=1.0)
    np.testing.assert_array_equal(place(cheered), place(simulate(told)))
    assert place(cheered)[-1, 0] > place(simulate(meadow(seconds=5.0, mood=10)))[-1, 0] + 0.1


def test_snapshots_hold_walkers_and_branches_go_their_own_way() -> None:
    show = play(crate())
    frames(show, 150)
    then = show.snapshot()
    later, events = frames(show, 60), list(show.told)
    branch = show.branch()
    show.restore(then)
    np.testing.assert_array_equal(frames(show, 60), later)
    assert show.told == events
    branch.change("walkers.spider.mood", 0)
    frames(branch, 30)
    fresh = play(crate())
    np.testing.assert_array_equal(frames(fresh, 240), frames(show, 30))


def test_its_steps_are_foreseen_counted_and_can_be_slowed_down() -> None:
    scene = meadow(seconds=6.0)
    show = play(scene)
    foreseen = show.compiled.troupe.steps("spider")
    frames(show, 240)
    told = [event["time"] for event in show.told if event["kind"] == "footfall"]
    assert told == pytest.approx([time for time in foreseen if time <= 4.0])
    assert len(show.walks.falls[0]) in (len(told), len(told) + 1)  # ticks ahead of the frame
    slow = play(scene)
    slow.walks.slowed[0] = 0.5
    frames(slow, 240)
    assert len(slow.walks.falls[0]) < 0.75 * len(show.walks.falls[0])


def drummer(time: float, number: int) -> Scene:
    """Somebody who is to beat a drum, after `time` at the earliest, when a walker's foot comes down."""
    scene = meadow(seconds=5, mood=70)
    scene.body("drum", sphere=0.1, mass=1, at=[0, 3, 1]).move([[0, 3, 1], {"at": [0, 3, 2], "time": time}])
    scene.appointment("beat", [f"spider.step.{number}", "drum.move.1"])
    return scene


@pytest.mark.parametrize("early", [False, True])
def test_who_waits_for_a_footfall_waits_for_the_real_one_and_a_walker_that_is_early_slows_down(early: bool) -> None:
    scene = drummer(3.0 if early else 1.0, 4 if early else 6)
    if not early:  # something holds it up
        way = [{"time": 0, "at": [2.6, 0, 1]}, {"time": 2, "at": [2.6, 0, 1]}, {"time": 2.5, "at": [2.6, 0, 5]}]
        scene.body("block", box=[0.3, 3, 2], follows=way)
    take = simulate(scene)
    falls = [event["time"] for event in take.events if event["kind"] == "footfall"]
    (kept,) = [event["time"] for event in take.events if event["kind"] == "appointment kept"]
    assert kept > 2.5
    assert falls[4 if early else 6] == pytest.approx(kept, abs=0.1 if early else 0.01)


def test_a_biped_waits_before_its_knees_touch_what_it_cannot_push():
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    scene.body("wall", box=[0.5, 3, 1.2], mass=200, at=[2.2, 0, 0.6])
    scene.walker("bob", walker="biped", path=[[0, 0, 0], [4, 0, 0]], mood=90)
    take = simulate(scene)
    (since,) = [event["time"] for event in take.events if event["kind"] == "waits"]
    assert f"bob: waits for wall, which is in its way, since {since:.1f} s" in take.remarks()
    assert np.abs(place(take, "wall") - [2.2, 0, 0.6]).max() < 1e-3
