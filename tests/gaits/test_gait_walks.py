"""Walks: feet that stay, bodies that do not jump, moods that can be changed on the way, stairs, paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaling import scaled
from scipy.stats import spearmanr

from impel.files import Problem
from impel.gaits.carrying import GRAVITY
from impel.gaits.energy import DISTANCE, measure
from impel.gaits.gait import AMPLITUDE, CYCLE, PACE, PERIOD, PUBLISHED, SPRING, genes_of
from impel.gaits.ground import CLEARANCE, MARGIN, STANDS, TOP, Ground, Obstacle, Stairs, foothold, surface_at
from impel.gaits.legs import pose_legs
from impel.gaits.mood import Moods, load_library, load_moods
from impel.gaits.route import make_route
from impel.gaits.walk import walk, walk_gait
from impel.gaits.walker import Walker, load_walker, rig_of, walker_names

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
    hip, knee, _ = pose_legs(rig, walked.body, walked.heading, walked.tilt, walked.foot)
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
        assert 0.97 * wishes.min_heave <= measured.heave[0] <= 1.03 * wishes.max_heave
        assert measured.contact[0] >= wishes.min_contact - 0.01
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
    """Two independent ways to the same motion and energy: the closed cycle in its periodic state, and steps taken one
    by one from standing, far from start and stop."""
    gait = MOODS[name].gait(60).model_copy(update={"curve": curve})
    row = gait.genes.row()
    # Whole ticks, so that both see the same instants.
    row[PERIOD] = np.round(row[CYCLE] * row[PERIOD] * 240) / 240 / row[CYCLE]
    gait = gait.model_copy(update={"genes": genes_of(row)})
    cycle = measure(MOODS[name].walker, row, curve=curve)
    walked = walk_gait(gait, path=[(0, 0), (16 * row[PACE], 0)])
    ticks = round(row[CYCLE] * row[PERIOD] * 240)
    end = int(np.searchsorted(walked.along, 12 * row[PACE]))
    spent = (walked.energy[end] - walked.energy[end - ticks]).sum() * DISTANCE / row[PACE]
    precision = 1e-3 if curve == "smooth" else 5e-3  # the paper's feet stop dead, which the two may see one tick apart
    assert spent == pytest.approx(cycle.energy[0], rel=precision)
    stride = slice(end - ticks, end)
    assert np.ptp(walked.body[stride, 2]) == pytest.approx(cycle.heave[0], rel=1e-2)
    np.testing.assert_allclose(np.ptp(walked.tilt[stride], axis=0), [cycle.roll[0], cycle.pitch[0]], rtol=1e-2)


@pytest.mark.parametrize("name", walker_names())
def test_the_body_moves_more_the_better_the_mood(name):
    moods = MOODS[name]
    rows = moods.at(moods.places(np.arange(10, 91, 10.0)))
    measured = measure(moods.walker, rows)
    for motion in (measured.heave, measured.roll, measured.pitch):
        rank = spearmanr(np.arange(len(rows)), motion).statistic
        assert rank >= 0.9
        assert motion[-1] > 2.5 * motion[0]
    assert measured.fall.max() < GRAVITY  # nothing pulls it down but its weight


def test_a_slow_biped_has_both_feet_down_at_times():
    walked = walk(MOODS["biped"], mood=0, path=[(0, 0), (6, 0)])
    assert (walked.lifted.sum(axis=1) == 0).mean() >= 0.2


def test_a_tired_walker_keeps_two_feet_down_and_drags_them():
    for name in ("creature", "hexapod"):
        tired, brisk = (walk(MOODS[name], mood=mood) for mood in (0, 100))
        assert (~tired.lifted).sum(axis=1).min() >= 2
        assert 2 * tired.foot[:, :, 2].max() < brisk.foot[:, :, 2].max()


def test_the_body_leans_into_a_start_a_stop_and_a_turn():
    moods = MOODS["creature"]
    straight = walk(moods, mood=80, path=[(0, 0), (12, 0)])
    length = straight.along[-1]
    start, stop = (straight.tilt[part, 1].mean() for part in (straight.along < 1, straight.along > length - 0.2))
    assert start > np.radians(0.3)
    assert stop < -np.radians(0.3)
    for side in (1, -1):
        turning = walk(moods, mood=80, path=[(0, 0), (4, 0), (6, 2 * side), (6, 6 * side)])
        bends = (turning.along > 4) & (turning.along < 6.5)
        assert -side * turning.tilt[bends, 0].mean() > np.radians(0.3)  # rolled to the inner side


@pytest.mark.parametrize("name", walker_names())
@pytest.mark.parametrize("mood", [0, 50, 100])
def test_a_right_angle_costs_little_more_than_the_straight_way(name, mood):
    reach = 2 * MOODS[name].walker.leg_length
    straight = walk(MOODS[name], mood=mood, path=[(0, 0), (2 * reach, 0)])
    corner = walk(MOODS[name], mood=mood, path=[(0, 0), (reach, 0), (reach, reach)])
    assert corner.time[-1] <= 1.3 * straight.time[-1]
    assert corner.energy[-1].sum() <= 1.3 * straight.energy[-1].sum()


def test_also_a_long_body_gets_round_a_corner_at_little_cost():
    """A lizard of a metre on legs of a third of that: its feet are farther from its middle than they are long."""
    legs = {
        f"{end}_{side}": {
            "hip": [0.35 * ahead, 0.07 * sign, 0], "foot": [0.4 * ahead, 0.27 * sign],
            "upper": 0.17, "lower": 0.17, "knee": [0, sign, 0.8],
        }
        for end, ahead in (("front", 1), ("rear", -1))
        for side, sign in (("left", 1), ("right", -1))
    }  # fmt: skip
    body = {"shape": {"box": [1.0, 0.14, 0.12]}}
    lizard = Walker.model_validate({"name": "lizard", "body": body, "legs": legs})
    # amplitude, pace, period, sway, stature, spring, cycle and delays
    moods = Moods(lizard, np.array([[0.05, 0.2, 0.3, 0.4, 0.8, 0.004, 3.2, 0.0, 1.5, 0.7, 2.2]]))
    reach = 2 * lizard.leg_length
    straight = walk(moods, path=[(0, 0), (2 * reach, 0)])
    corner = walk(moods, path=[(0, 0), (reach, 0), (reach, reach)])
    assert corner.time[-1] <= 1.3 * straight.time[-1]
    assert corner.energy[-1].sum() <= 1.3 * straight.energy[-1].sum()


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_walkers_of_all_sizes_walk_alike(scale):
    moods = MOODS["hexapod"]
    rows = np.array([moods.gait(mood).genes.row() for mood in (20, 80)])
    rows[:, [AMPLITUDE, PACE, SPRING]] *= scale
    rows[:, PERIOD] *= np.sqrt(scale)
    other = Moods(scaled(moods.walker, scale), rows)
    path = np.array([(0, 0), (4, 0), (6, 3)])
    small, large = walk(moods, mood=20, path=path), walk(other, mood=0, path=scale * path)
    assert large.time[-1] == pytest.approx(small.time[-1] * np.sqrt(scale), rel=0.03)
    np.testing.assert_allclose(large.body[-1], scale * small.body[-1], atol=0.02 * scale)


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
    end = make_route(path, 1.4).table[-1, 2]
    assert walked.heading[-1] == pytest.approx(end, abs=1e-6)
    assert np.linalg.norm(walked.body[-1] - walked.body[-2]) * 240 < 0.05


UP = Ground(stairs=(Stairs(start=3, rise=0.2, tread=0.6, steps=4),))
DOWN = Ground(stairs=(Stairs(start=3, rise=-0.2, tread=0.6, steps=4),))
LOG = Ground(obstacles=(Obstacle(start=3, length=0.3, height=0.4),))


WAYS = {"straight": [(0, 0), (8, 0)], "curved": [(0, 0), (3, 0), (6, 1.5), (7.5, 4)]}


@pytest.mark.parametrize("name", walker_names())
@pytest.mark.parametrize("ground", [UP, DOWN, LOG], ids=["up", "down", "log"])
@pytest.mark.parametrize(("way", "mood"), [("straight", 20), ("straight", 70), ("curved", 40)])
def test_stairs_are_climbed_and_obstacles_stepped_over_without_touching_them(name, ground, way, mood):
    walked = walk(MOODS[name], mood=mood, ground=ground, path=WAYS[way])
    unit = walked.walker.leg_length / 2
    assert slide_of(walked) <= 1e-9
    assert reach_of(walked) <= 0
    assert jump_of(walked) <= 0.2
    surfaces = walked.surfaces
    flat = walked.foot.reshape(-1, 3)
    under = np.array([surface_at(surfaces, x, y) for x, y, _ in flat])
    above = flat[:, 2] - surfaces[under, TOP]
    assert above.min() >= -1e-3
    stands = ~walked.lifted.reshape(-1)
    np.testing.assert_allclose(above[stands], 0, atol=1e-9)
    assert surfaces[under[stands], STANDS].all()
    # Where an edge is near, a standing foot keeps away from it, and one in the air is well above it.
    for k in np.flatnonzero(stands)[::50]:
        x, y, _ = flat[k]
        around = [
            surface_at(surfaces, x + 0.49 * MARGIN * unit * c, y + 0.49 * MARGIN * unit * s)
            for c, s in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        assert np.ptp(surfaces[around, TOP]) == 0
    level = surfaces[under, TOP] > surfaces[:, TOP].min()
    crossing = (
        walked.lifted.reshape(-1)
        & level
        & np.append(under[walked.foot.shape[1] :] != under[: -walked.foot.shape[1]], [False] * walked.foot.shape[1])
    )
    if len(ground.obstacles):
        assert above[crossing].min() > CLEARANCE * unit / 2
    assert walked.body[-1, 2] - walked.body[0, 2] == pytest.approx(ground.edges()[-1, 1], abs=0.01)


def test_a_tired_walker_rises_to_bring_its_body_over_an_obstacle():
    log = Ground(obstacles=(Obstacle(start=3, length=0.3, height=0.65),))
    flat, over = (walk(MOODS["creature"], mood=0, ground=ground) for ground in (Ground(), log))
    assert over.body[:, 2].mean() > flat.body[:, 2].mean() + 0.05
    beside = np.maximum(0, np.abs(over.along - 3.15) - 0.15)
    bottom = over.body[:, 2] + over.walker.sole - over.walker.body.depth(beside)
    assert bottom.min() >= 0.65


def test_a_foot_never_lands_on_an_obstacle_or_an_edge():
    surfaces = LOG.surfaces(make_route([(0, 0), (8, 0)], 2.0), 1.0)
    for x in np.linspace(2, 4, 81):
        landing = x + foothold(surfaces, x, 0.3, 1.0, 0.0, MARGIN)
        assert landing <= 3 - MARGIN + 1e-9 or landing >= 3.3 + MARGIN - 1e-9


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
        (
            {"ground": Ground(stairs=(Stairs(start=3, rise=0.2, tread=0.1, steps=2),))},
            "stairs.0.tread: must be at least",
        ),
        ({"path": [(0, 0), (9e3, 0)]}, "path: 9000 m takes longer than 3600 s at any pace"),
        ({"path": [(0, 0), (2e4, 0)]}, "path: is 2e+04 m long, must be at most 10000 m"),
        ({"mood": [(5, 10), (1, 20)]}, "mood: times must be finite and in order"),
        (
            {"mood": 0, "ground": Ground(obstacles=(Obstacle(start=3, length=0.2, height=1.7),))},
            "creature: its (body would hit the ground|legs are .* too short)",
        ),
        (
            {"ground": Ground(obstacles=(Obstacle(start=3, length=4, height=0.3),))},
            "creature: its (body would hit the ground|legs are .* too short)",
        ),
    ],
)
def test_impossible_walks_are_refused_with_one_plain_line(wish, says):
    with pytest.raises(Problem, match=says.replace("+", r"\+")) as caught:
        walk(MOODS["creature"], **wish)
    assert len(caught.value.lines) == 1
