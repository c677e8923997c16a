"""Walks: feet that stay, bodies that do not jump, moods that can be changed on the way, stairs, paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import Problem
from impel.gaits.course import measure_over
from impel.gaits.encoding import Encoding
from impel.gaits.energy import measure
from impel.gaits.gait import CYCLE, PACE, PERIOD, PUBLISHED
from impel.gaits.ground import CLEARANCE, MARGIN, Ground, Obstacle, Stairs, foothold
from impel.gaits.legs import pose_legs
from impel.gaits.mood import Moods, load_library, load_moods
from impel.gaits.route import make_route
from impel.gaits.steps import TOO_SLOW
from impel.gaits.walk import walk, walk_gait
from impel.gaits.walker import load_walker, rig_of, walker_names

MOODS = {name: load_moods(name) for name in walker_names()}


def slide_of(walked):
    """How far a foot moves between two ticks in both of which it stands."""
    stands = ~walked.lifted[1:] & ~walked.lifted[:-1]
    return np.abs(np.diff(walked.foot, axis=0))[stands].max()


def jump_of(walked):
    """The greatest change of the body's velocity in a tick, from its positions alone."""
    velocity = np.diff(walked.body, axis=0) * 240
    return np.linalg.norm(np.diff(velocity, axis=0), axis=1).max()


def reach_of(walked):
    """By how much the distance from hip to foot exceeds the leg's length, at most."""
    rig = rig_of(walked.walker)
    hip, knee = pose_legs(rig, walked.body, walked.heading, walked.foot)
    lengths = np.linalg.norm(knee - hip, axis=-1) - rig.length[:, 0], np.linalg.norm(walked.foot - knee, axis=-1)
    assert np.abs(lengths[0]).max() < 1e-9
    assert np.abs(lengths[1] - rig.length[:, 1]).max() < 1e-9  # the drawn legs keep their lengths too
    return (np.linalg.norm(hip - walked.foot, axis=-1) - rig.length.sum(axis=1)).max()


def keys(values):
    return st.lists(st.tuples(st.floats(0, 12), values), min_size=1, max_size=5).map(sorted)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(walker_names()),
    keys(st.floats(0, 100)),
    st.lists(st.tuples(st.floats(1, 4), st.floats(-3, 3)), min_size=1, max_size=4),
    st.none() | st.tuples(st.integers(0, 5), keys(st.floats(0, 1))),
)
def test_whatever_is_asked_on_the_way_no_foot_slides_no_leg_is_too_short_and_the_body_does_not_jump(
    name, mood, turns, limping
):
    """Keys may be at the same time, which asks for a sudden change."""
    path = np.cumsum([(0, 0), *turns], axis=0)
    extra = {}
    if limping is not None:
        legs = list(MOODS[name].walker.legs)
        extra = {"lame": legs[limping[0] % len(legs)], "limp": limping[1]}
    walked = walk(MOODS[name], mood=mood, path=path, **extra)
    assert walked.arrived
    assert slide_of(walked) <= 1e-9
    assert reach_of(walked) <= 0
    assert jump_of(walked) <= 0.2
    assert jump_of(walked) == pytest.approx(walked.jump, rel=1e-6)


def test_pace_and_height_can_be_changed_on_the_way():
    moods = MOODS["creature"]
    walked = walk(moods, mood=60, height=[(0, 1.0), (5, 1.0), (5, 1.3)], pace=1.0, path=[(0, 0), (14, 0)])
    assert jump_of(walked) <= 0.2
    early = (walked.time > 3) & (walked.time < 5)
    late = (walked.time > 9) & (walked.time < walked.time[-1] - 3)
    assert walked.body[early, 2].mean() == pytest.approx(1.0, abs=0.03)
    assert walked.body[late, 2].mean() == pytest.approx(1.3, abs=0.03)
    walked = walk(moods, mood=60, pace=[(0, 0.6), (9, 0.6), (9, 1.2)], path=[(0, 0), (16, 0)])
    landed = np.flatnonzero(walked.lifted[:-1, 0] & ~walked.lifted[1:, 0]) + 1
    steps = np.diff(walked.foot[landed, 0, 0])
    early, late = steps[walked.time[landed[1:]] < 9], steps[walked.time[landed[:-1]] > 14]
    assert early[-1] == pytest.approx(0.6, abs=0.02)
    assert late[0] == pytest.approx(1.2, abs=0.02)
    assert walked.genes[int(8.5 * 240), PACE] == pytest.approx(0.6, abs=1e-3)
    assert walked.genes[-1, PACE] == pytest.approx(1.2, abs=1e-2)
    assert jump_of(walked) <= 0.2


def test_a_limp_taken_up_on_the_way_shifts_the_body_off_the_leg():
    walked = walk(MOODS["creature"], mood=50, lame="rear_right", limp=[(0, 0), (5, 0), (5, 1)], path=[(0, 0), (16, 0)])
    before = walked.body[(walked.time > 2) & (walked.time < 5), 1].mean()
    after = walked.body[(walked.time > 9) & (walked.time < walked.time[-1] - 2), 1].mean()
    assert before == pytest.approx(0, abs=0.05)
    assert after > 0.15  # rear right is at negative y


@pytest.mark.parametrize("name", walker_names())
def test_the_slider_names_energies_that_are_measured_within_five_percent_and_rise_all_the_way(name):
    moods = MOODS[name]
    measured = np.array([moods.gait(mood).energy for mood in range(101)])
    named = moods.named_energy(np.arange(101))
    assert np.all(np.diff(measured) > 0)
    assert np.abs(measured / named - 1).max() <= 0.05
    assert measured[100] > 3 * measured[0]


@pytest.mark.parametrize("name", walker_names())
def test_the_library_keeps_the_wishes_it_was_evolved_for(name):
    library = load_library(name)
    walker = load_walker(name)
    for rung in library.gaits:
        measured = measure(walker, rung.genes.row())
        wishes = rung.wishes
        assert measured.energy[0] == pytest.approx(wishes.energy, rel=0.02)
        assert measured.seconds[0] == pytest.approx(wishes.seconds, rel=0.02)
        assert measured.support[0] >= wishes.support
        assert measured.jump[0] <= 1.02 * wishes.max_jump  # it depends a little on where the ticks fall
        if wishes.min_height is not None:
            assert measured.low[0] >= wishes.min_height - 1e-3
        if wishes.max_height is not None:
            assert measured.high[0] <= wishes.max_height + 1e-3


def test_a_library_whose_energy_does_not_rise_is_refused():
    moods = MOODS["creature"]
    with pytest.raises(Problem, match="gaits: energy must rise from each to the next"):
        Moods(moods.walker, moods.rows[[100, 0]])


@pytest.mark.parametrize("curve", ["smooth", "paper"])
@pytest.mark.parametrize("name", walker_names())
def test_in_full_stride_walking_costs_what_the_cycle_says(name, curve):
    """Two independent ways to the same energy: the closed cycle, and steps taken one by one."""
    walker = load_walker(name)
    encoding = Encoding(walker, walker.limits)
    rows = encoding.rows(np.random.default_rng(2).random((6, encoding.dimension)))
    # Whole ticks and whole cycles, so that both sum the same instants.
    rows[:, PERIOD] = np.round(rows[:, CYCLE] * rows[:, PERIOD] * 240) / 240 / rows[:, CYCLE]
    rows = rows[rows[:, CYCLE] * rows[:, PERIOD] / rows[:, PACE] < TOO_SLOW]
    assert len(rows) > 2
    # The paper's feet stop dead, which the two may see one tick apart.
    precision = 1e-4 if curve == "smooth" else 5e-3
    for row in rows:
        cycle = measure(walker, row, curve=curve)
        course = measure_over(walker, row, Ground(), distance=row[PACE] * (1 - 1e-9), curve=curve)
        assert course.energy[0] == pytest.approx(cycle.energy[0], rel=precision)
        assert course.stretch[0] == pytest.approx(cycle.stretch[0], abs=precision)
        assert course.mean[0] == pytest.approx(cycle.mean[0], rel=precision)


def test_the_smooth_curve_lands_softly_where_the_papers_jerks():
    gait = PUBLISHED["brisk"]
    hard = walk_gait(gait)
    soft = walk_gait(gait.model_copy(update={"curve": "smooth"}))
    assert jump_of(hard) > 2
    assert jump_of(soft) <= 0.2
    assert slide_of(hard) <= 1e-9


def test_a_walk_starts_and_ends_standing_where_the_path_does():
    path = [(1, 2), (4, 2), (6, 5)]
    walked = walk(MOODS["hexapod"], path=path)
    assert not walked.lifted[0].any()
    assert not walked.lifted[-1].any()
    np.testing.assert_allclose(walked.body[0, :2], path[0], atol=1e-6)
    np.testing.assert_allclose(walked.body[-1, :2], path[-1], atol=0.02)
    assert walked.heading[0] == pytest.approx(0, abs=0.2)
    end = make_route(path).table[-1, 2]
    assert walked.heading[-1] == pytest.approx(end, abs=1e-6)
    assert np.linalg.norm(walked.body[-1] - walked.body[-2]) * 240 < 0.05


UP = Ground(stairs=(Stairs(start=3, rise=0.2, tread=0.6, steps=4),))
DOWN = Ground(stairs=(Stairs(start=3, rise=-0.2, tread=0.6, steps=4),))
LOG = Ground(obstacles=(Obstacle(start=3, length=0.3, height=0.4),))


@pytest.mark.parametrize("name", walker_names())
@pytest.mark.parametrize("ground", [UP, DOWN, LOG], ids=["up", "down", "log"])
@pytest.mark.parametrize("mood", [20, 70])
def test_stairs_are_climbed_and_obstacles_stepped_over_without_touching_them(name, ground, mood):
    walked = walk(MOODS[name], mood=mood, ground=ground)
    assert slide_of(walked) <= 1e-9
    assert reach_of(walked) <= 0
    assert jump_of(walked) <= 0.2
    edges = ground.edges()
    x = walked.foot[:, :, 0]
    level = edges[np.searchsorted(edges[:, 0], x, side="right") - 1, 1]
    above = walked.foot[:, :, 2] - level
    assert above.min() >= -1e-3
    stands = ~walked.lifted
    np.testing.assert_allclose(above[stands], 0, atol=1e-9)
    near = np.abs(x[..., None] - edges[1:, 0]).min(axis=-1)
    assert near[stands].min() >= MARGIN - 1e-6
    passing = (near < 0.03) & walked.lifted & (level >= walked.foot[:, :, 2] - 0.6)
    assert above[passing].min() > CLEARANCE / 2
    assert walked.body[-1, 2] - walked.body[0, 2] == pytest.approx(edges[-1, 1], abs=0.01)


def test_a_tired_walker_rises_to_bring_its_body_over_an_obstacle():
    log = Ground(obstacles=(Obstacle(start=3, length=0.3, height=0.65),))
    flat, over = (walk(MOODS["creature"], mood=0, ground=ground) for ground in (Ground(), log))
    assert over.body[:, 2].mean() > flat.body[:, 2].mean() + 0.05
    beside = np.maximum(0, np.abs(over.along - 3.15) - 0.15)
    bottom = over.body[:, 2] + over.walker.sole - over.walker.body.depth(beside)
    assert bottom.min() >= 0.65


def test_a_foot_never_lands_on_an_obstacle_or_an_edge():
    edges = LOG.edges()
    for x in np.linspace(2, 4, 81):
        landing = foothold(edges, x)
        assert landing <= 3 - MARGIN + 1e-12 or landing >= 3.3 + MARGIN - 1e-12


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"mood": 101}, "mood: must be from 0 to 100, got 101"),
        ({"pace": 5}, "pace: must be from 0.3 to 2.6, got 5"),
        ({"height": 3}, "height: must be from"),
        ({"limp": 1}, "limp: needs a lame leg"),
        ({"lame": "tail"}, "lame: creature has no leg 'tail'"),
        ({"path": [(0, 0)]}, "path: needs at least two points"),
        ({"path": [(0, 0), (1, 0), (1, 0)]}, "path: points 2 and 3 are the same place"),
        ({"path": [(0, 0), (4, 0), (8, 4)], "ground": UP}, "path: stairs and obstacles need a straight path"),
        ({"path": [(0, 0), (9e3, 0)]}, "path: 9000 m takes longer than 3600 s at any pace"),
        ({"path": [(0, 0), (2e4, 0)]}, "path: is 2e+04 m long, must be at most 10000 m"),
        ({"mood": [(5, 10), (1, 20)]}, "mood: times must be finite and in order"),
        (
            {"mood": 0, "ground": Ground(obstacles=(Obstacle(start=3, length=0.2, height=1.7),))},
            "creature: its (body would hit the ground|legs are .* too short)",
        ),
        (
            {"ground": Ground(obstacles=(Obstacle(start=3, length=4, height=0.3),))},
            "creature: its legs are",
        ),
    ],
)
def test_impossible_walks_are_refused_with_one_plain_line(wish, says):
    with pytest.raises(Problem, match=says.replace("+", r"\+")) as caught:
        walk(MOODS["creature"], **wish)
    assert len(caught.value.lines) == 1
