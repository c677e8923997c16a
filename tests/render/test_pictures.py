"""Pictures: sizes and colours as they should be, shadows and overlays where they belong, the same bytes every time."""

import colorsys
import time
from dataclasses import replace

import numpy as np
import pytest
from parade import parade

from impel.files import Problem
from impel.render.camera import focal_length
from impel.render.light import FIELD_NONE, tiles_of
from impel.render.overlays import chosen_overlays, ink_of
from impel.render.picture import expose, plate_of, touched
from impel.render.scenery import prepare
from impel.render.sequences import exposures, film_of, moments, picture, strip
from impel.render.setting import canvas_for, set_up
from impel.takes import Take

SIZE = (320, 180)


def one_ball(color="#e4572e", radius=0.5, height=0.5, **fields):
    return Take(
        time=np.arange(31) / 30,
        names=["ground", "ball"],
        position=np.stack([np.zeros((31, 3)), np.linspace([-1, 0, height], [1, 0, height], 31)], axis=1),
        orientation=np.tile([1.0, 0, 0, 0], (31, 2, 1)),
        shapes=[{"plane": {}}, {"sphere": radius}],
        colors=["#c8c8c8", color],
        **fields,
    )


def without_ball(film):
    position = film.position.copy()
    position[:, 1] = np.nan
    return replace(film, position=position)


def test_a_ball_covers_the_area_that_perspective_says():
    take = one_ball(height=3.0, camera={"from": [0, -10, 3], "to": [0, 0, 3], "fov": 40})
    film = prepare(take, SIZE)
    changed = np.abs(expose(film, 15).astype(int) - expose(without_ball(film), 15).astype(int)).max(axis=-1)
    radius = focal_length(40, SIZE) * 0.5 / np.sqrt(10**2 - 0.5**2)
    rows, columns = np.ogrid[:180, :320]
    away = np.hypot(columns + 0.5 - 160, rows + 0.5 - 90)
    assert np.all(changed[away < radius - 1] > 0)
    assert np.all(changed[(away > radius + 1) & (rows < 90)] == 0)  # above it there is no shadow


@pytest.mark.parametrize("color", ["#e4572e", "#2e86ab", "#4f9d69", "#f2a541"])
def test_a_body_has_its_colour(color):
    take = one_ball(color)
    film = prepare(take, SIZE)
    x, y, _ = film.shot.seen(15, take.position[15, 1], SIZE)
    r, g, b = expose(film, 15)[int(y) - 20 : int(y) + 20, int(x) - 20 : int(x) + 20].reshape(-1, 3).mean(axis=0) / 255
    wanted = colorsys.rgb_to_hsv(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    got = colorsys.rgb_to_hsv(r, g, b)
    assert abs((got[0] - wanted[0] + 0.5) % 1 - 0.5) < 0.04
    assert abs(got[2] - wanted[2]) < 0.25


def test_glass_lets_what_is_behind_shine_through():
    """Of a ball before a coloured wall just the told share is seen, at its edges too; it casts no shadow."""

    def shown(color):
        take = one_ball(color, camera={"from": [0, -6, 0.5], "to": [0, 0, 0.5], "fov": 40})
        take.shapes.append({"box": [8, 0.2, 4]})
        take.names.append("wall")
        take.colors.append("#2e86ab")
        take.position = np.concatenate([take.position, np.tile([0, 1.2, 2.0], (31, 1, 1))], axis=1)
        take.orientation = np.tile([1.0, 0, 0, 0], (31, 3, 1))
        film = prepare(take, SIZE)
        film.casts[film.meshes.body == 1] = False
        film.outsides.kind[1] = FIELD_NONE
        return expose(film, 15).astype(int), expose(without_ball(film), 15).astype(int)

    solid, wall = shown("#e4572e")
    assert np.abs(solid - wall).max() > 100
    for digits in ("40", "c0"):
        glass, again = shown(f"#e4572e{digits}")
        assert np.array_equal(again, wall)
        share = int(digits, 16) / 255
        assert np.abs(glass - (wall + share * (solid - wall))).max() <= 1


def test_glass_casts_no_shadow_and_hides_no_light():
    clear, film = (prepare(one_ball(color), SIZE) for color in ("#e4572e00", "#e4572e"))
    assert np.array_equal(expose(clear, 15), expose(without_ball(clear), 15))
    assert not np.array_equal(expose(film, 15), expose(without_ball(film), 15))


def test_overlays_within_glass_are_drawn_plainly():
    path = np.linspace([-0.4, 0, 0.5], [0.4, 0, 0.5], 9)

    def strongest(color):
        film = prepare(one_ball(color, paths={"x": path}), SIZE)
        return np.abs(expose(film, 15, ("paths",)).astype(int) - expose(film, 15)).max()

    assert strongest("#e4572e20") > 2 * strongest("#e4572e")


def test_edges_are_smooth():
    """Along a ball's outline on a plain ground many shades lie between inside and outside."""
    take = one_ball("#202020", height=3.0, camera={"from": [0, -10, 3], "to": [0, 0, 3], "fov": 40})
    shown = expose(prepare(take, SIZE), 15).astype(int).sum(axis=-1)
    row = shown[60:120]
    steps = np.abs(np.diff(row, axis=1))
    edge = np.sort(steps, axis=1)[:, -2:]  # an outline spreads over two pixels more often than not
    assert np.mean(edge[:, 0] > 0.15 * edge[:, 1]) > 0.5


def test_a_ball_casts_a_shadow_that_goes_with_it():
    take = one_ball()
    film = prepare(take, SIZE)
    for frame in (0, 30):
        darker = expose(without_ball(film), frame).astype(int).sum(-1) - expose(film, frame).astype(int).sum(-1)
        beside = film.shot.seen(frame, take.position[frame, 1] + [0.45, 0.35, -0.5], SIZE)
        assert darker[int(beside[1]), int(beside[0])] > 60


def test_nobody_sees_where_the_shade_around_a_ball_ends():
    """Looked for farther away, there is no more of it."""
    film, wider = prepare(one_ball(), SIZE), prepare(one_ball(), SIZE)
    wider.outsides.bound[1] += 2 * wider.outsides.reach
    np.testing.assert_allclose(expose(film, 15).astype(int), expose(wider, 15).astype(int), atol=1)


def test_a_turning_ball_is_seen_to_turn():
    take = one_ball()
    film = prepare(take, SIZE)
    before = expose(film, 15)
    film.orientation[15, 1] = [np.cos(0.6), 0, np.sin(0.6), 0]
    assert np.abs(before.astype(int) - expose(film, 15)).max() > 30


def test_same_take_gives_same_picture_on_any_number_of_threads():
    take = parade(12, 9)
    film = film_of(take, SIZE)
    alone = [expose(film, frame) for frame in range(9)]
    together = list(exposures(film_of(parade(12, 9), SIZE), range(9)))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))


def drawn_upon_plates(film):
    """All frames, as they are alone and as they come in a film."""
    frames = range(len(film.take.time))
    return np.array([expose(film, frame) for frame in frames]), np.array(list(exposures(film, frames)))


def test_a_plate_saves_most_of_the_work_and_changes_nothing():
    """A ball rolls past boxes, glass and a wire that stand still, and comes to rest; a rope swings."""
    take = parade(12, 30)
    take.position[:, 2:9], take.orientation[:, 2:9] = take.position[0, 2:9], take.orientation[0, 2:9]
    take.position[24:, 9:], take.orientation[24:, 9:] = take.position[24, 9:], take.orientation[24, 9:]
    take.colors[3] += "80"
    take.wires = {"world.rail": np.array([[-1.0, 1, 1], [1, 1, 1.5]])}
    swing = np.stack([np.sin(np.arange(30) / 9), np.zeros(30), np.full(30, 0.3)], axis=-1)
    take.ropes = {"rope": np.stack([np.tile([0, 0, 2.0], (30, 1)), swing], axis=1)}
    film = prepare(take, SIZE)
    alone, together = drawn_upon_plates(film)
    assert np.array_equal(alone, together)
    canvas = canvas_for(SIZE)
    plate = plate_of(film, range(24), canvas)
    share = touched(film, set_up(film, 10, canvas), plate).mean()
    assert 0.02 < share < 0.7


def test_shadows_upon_a_plate_go_with_what_casts_them():
    """A ball high up, out of the picture, shades what is seen of the floor."""
    take = one_ball(height=3.0, camera={"from": [3, -4, 2.0], "to": [2.0, 1.5, 0], "fov": 30})
    alone, together = drawn_upon_plates(prepare(take, SIZE))
    assert np.array_equal(alone, together)
    assert np.abs(alone[0].astype(int) - alone[-1]).max() > 40


def test_what_creeps_is_not_drawn_again_and_still_nobody_sees_it():
    take = one_ball()
    take.position[:, 1] = [0, 0, 0.5]
    take.position[:, 1, 0] += np.linspace(0, 1e-5, 31)
    film = prepare(take, SIZE)
    drawn = list(exposures(film, range(31)))
    assert all(each is drawn[0] for each in drawn)
    film.position[:] = take.position
    assert np.count_nonzero(expose(film, 30) != drawn[30]) < 1e-3 * drawn[30].size
    take.position[:, 1, 0] += np.linspace(0, 0.1, 31)
    film = prepare(take, SIZE)
    assert np.abs(film.position[:, 1] - take.position[:, 1]).max() < 1e-3
    assert np.ptp(film.position[:, 1, 0]) > 0.099


def test_a_plate_serves_until_something_else_moves():
    take = parade(12, 60)
    take.position[:, 2:9], take.orientation[:, 2:9] = take.position[0, 2:9], take.orientation[0, 2:9]
    take.position[40:, 3] += 0.1
    film, canvas = prepare(take, SIZE), canvas_for(SIZE)
    plate = plate_of(film, range(16), canvas)
    assert plate_of(film, range(16, 32), canvas, plate) is plate
    assert plate_of(film, range(32, 48), canvas, plate) is not plate
    assert plate_of(film, range(44, 60), canvas, plate) is not plate
    alone, together = drawn_upon_plates(film)
    assert np.array_equal(alone, together)


def test_a_floor_without_end_looks_the_same_by_one_sample(monkeypatch):
    film = prepare(parade(9, 9), SIZE)
    once = expose(film, 4)
    monkeypatch.setattr("impel.render.picture._shown_in", lambda film, *_: np.ones(tiles_of(film.size), bool))
    assert np.array_equal(once, expose(film, 4))


def test_lost_bodies_are_left_out():
    take = parade(12, 9)
    take.position[4, 5], take.orientation[4, 6] = np.nan, np.nan
    film = prepare(take, SIZE)
    shown = expose(film, 4)
    film.position[4, 6] = np.nan
    film.orientation[4, 5:7] = [1, 0, 0, 0]
    assert np.array_equal(shown, expose(film, 4))


def test_takes_without_anything_to_see_still_give_pictures():
    nothing = Take(np.zeros(1), [], np.zeros((1, 0, 3)), np.zeros((1, 0, 4)), [], [])
    assert picture(nothing, 0, size=SIZE).shape == (180, 320, 3)
    only_ground = one_ball()
    only_ground.position[:, 1] = np.nan
    assert strip(only_ground, size=SIZE).dtype == np.uint8


def test_paths_and_targets_are_drawn_when_asked_for():
    take = one_ball(
        paths={"ball.move": np.linspace([-1.5, 0, 1.6], [1.5, 0, 1.6], 40)},
        tracks={"ball.move.target": np.linspace([-0.6, 0, 1.6], [1.4, 0, 1.6], 31)},
    )
    film = film_of(take, SIZE, True)
    plain, drawn = expose(film, 15), expose(film, 15, chosen_overlays(True))
    ink = np.array([int(ink_of(take, "ball.move")[i : i + 2], 16) for i in (1, 3, 5)])
    for point in ([-1.2, 0, 1.6], [0.0, 0, 1.6], take.tracks["ball.move.target"][15]):
        x, y, _ = film.shot.seen(15, np.array(point), SIZE)
        nearby = drawn[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].reshape(-1, 3)
        assert np.abs(nearby - ink).max(axis=-1).min() < 40
    assert 50 < np.count_nonzero((plain != drawn).any(axis=-1)) < 3000
    assert np.array_equal(plain, expose(film, 15))


def test_a_path_behind_a_body_is_faint_but_visible():
    behind = np.linspace([-2, 1.5, 0.5], [2, 1.5, 0.5], 60)
    take = one_ball(radius=0.5, paths={"x": behind}, camera={"from": [0, -6, 0.5], "to": [0, 0, 0.5], "fov": 40})
    film = prepare(take, SIZE)
    change = np.abs(expose(film, 15, ("paths",)).astype(int) - expose(film, 15)).max(axis=-1)
    hidden, free = (
        change[88:94, int(film.shot.seen(15, np.array(p), SIZE)[0])].max() for p in ([0, 1.5, 0.5], [1.8, 1.5, 0.5])
    )
    assert free > 80
    assert 10 < hidden < 0.6 * free


def test_trails_show_where_bodies_were():
    film = prepare(one_ball(radius=0.2), SIZE)
    change = np.abs(expose(film, 30, ("trails",)).astype(int) - expose(film, 30)).max(axis=-1)
    x, y, _ = film.shot.seen(30, film.take.position[24, 1], SIZE)
    assert change[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].max() > 20


def test_unknown_overlays_are_refused():
    with pytest.raises(Problem, match="expected paths, targets, goals, trails"):
        chosen_overlays(["ghosts"])


def test_moments_include_both_ends_and_crowd_where_things_move():
    time = np.linspace(0, 10, 301)
    take = one_ball()
    take.time = time
    x = np.clip(time - 6, 0, 1) * 3  # still, a quick second, still
    take.position = np.stack([np.zeros((301, 3)), np.stack([x, 0 * x, 0 * x + 0.5], axis=-1)], axis=1)
    take.orientation = np.tile([1.0, 0, 0, 0], (301, 2, 1))
    frames = moments(take, 6)
    assert frames[0] == 0
    assert frames[-1] == 300
    assert sorted(set(frames)) == frames
    assert len(frames) == 6
    assert sum(6 <= time[f] <= 7 for f in frames) >= 2


def test_moments_are_even_when_things_only_settle():
    take = one_ball()
    take.position[:] = [[3.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    take.position[1:, 1, 2] -= 1e-4
    assert moments(take, 6) == [0, 6, 12, 18, 24, 30]


def test_moments_contain_the_hardest_hits():
    """A ball rolls through a still room and bounces off at 1.7 and 3.1 s; what is softer is not worth a picture."""
    time = np.linspace(0, 10, 601)
    x = np.interp(time, [0, 1.7, 3.1, 10], [-2, 2, -1, -0.9])
    take = one_ball(events=[{"time": t, "kind": "contact begins", "subject": "ball", "details": {}} for t in HITS])
    take.time = time
    take.position = np.stack([np.zeros((601, 3)), np.stack([x, 0 * x, 0 * x + 0.5], axis=-1)], axis=1)
    take.orientation = np.tile([1.0, 0, 0, 0], (601, 2, 1))
    shown = time[moments(take, 6)]
    assert len(shown) == 6
    assert (shown[0], shown[-1]) == (0, 10)
    for hit in (1.7, 3.1):
        assert 0 <= (shown - hit)[np.argmin(np.abs(shown - hit))] < 0.04
    assert np.abs(shown - 6.0).min() > 0.04


HITS = (0.0, 1.7, 3.1, 6.0)


def test_a_strip_is_a_sheet_of_labelled_moments():
    take = one_ball()
    sheet = strip(take, count=6, size=SIZE)
    assert sheet.shape == (2 * 180 + 6, 3 * 320 + 12, 3)
    panel, alone = sheet[:180, :320], picture(take, 0.0, size=SIZE)
    assert np.array_equal(panel[:140], alone[:140])
    assert not np.array_equal(panel[140:, :100], alone[140:, :100])  # the time
    row = strip(take, count=4, columns=4, size=SIZE)
    assert row.shape == (180, 4 * 320 + 18, 3)


def test_thirty_bodies_are_drawn_quickly():
    film = film_of(parade(), (640, 360))
    expose(film, 0)
    start = time.process_time()
    expose(film, 20)
    assert time.process_time() - start < 0.5  # 0.09 s on an idle machine
