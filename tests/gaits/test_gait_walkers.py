import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import Problem, format_document, read_document
from impel.gaits.gait import PUBLISHED, Gait, genes_of, load_gait, save_gait
from impel.gaits.legs import pose_legs
from impel.gaits.record import tracks
from impel.gaits.walk import walk_gait
from impel.gaits.walker import BUILT_IN, Walker, load_walker, rig_of, validated, walker_names


def creature(**changes):
    document = read_document(BUILT_IN / "creature.yaml")
    document.update(changes)
    return document


def test_built_in_walkers_have_two_four_and_six_legs():
    assert {len(load_walker(name).legs) for name in walker_names()} == {2, 4, 6}


LEG = {"hip": [0.4, 0.4, 0], "foot": [0.9, 0.9], "upper": 1, "lower": 1}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"legs": {"a": LEG, "b": LEG, "c": LEG}}, "legs: a walker has 2, 4 or 6 legs, got 3"),
        ({"legs": {"a": LEG, "b": {**LEG, "lower": 0.5}}}, "legs.b: too short: upper and lower make 1.5"),
        ({"legs": {"a": LEG, "b": {**LEG, "upper": -1}}}, "legs.b.upper: must be greater than 0, got -1"),
        ({"legs": {"a": LEG, "b": {**LEG, "foot": [2.4, 0.4]}}}, "legs.b.foot: too far out: rests 2 beside its hip"),
        (
            {"limits": {"pace": [2, 1]}},
            "limits: pace: must be two positive numbers, the smaller one first, got 2 and 1",
        ),
        ({"orders": [[0, 1, 3, 2, 2]]}, "orders: each needs 4 places"),
        ({"orders": [[0, 0, 2, 2]]}, "orders: each needs 4 places"),
        (
            {"rhythm": "even", "orders": [[0, 1, 1, 0]]},
            "limits.spacing: 0.4 lets a foot lift again before it has landed",
        ),
        ({"body": {"shape": {"box": [1, 0, 1]}}}, "body.shape: must be {sphere: radius} or {box: [x, y, z]}"),
        ({"body": {"shape": {"sphere": "big"}}}, "body.shape: must be {sphere: radius} or {box: [x, y, z]}"),
        ({"wings": 2}, "wings: is not a known field"),
        (
            {"legs": {"a": LEG, "b": {**LEG, "foot": [0.4, 0.4], "knee": [0, 0, 1]}}},
            "legs.b.knee: must point away from the line from hip to foot, got [0.0, 0.0, 1.0]",
        ),
        (
            {"legs": {"a": LEG, "b": {**LEG, "foot": [0.4, 0.4], "knee": [0, 0, -3]}}},
            "legs.b.knee: must point away from the line from hip to foot",
        ),
        (
            {"legs": {"a": LEG, "b": {**LEG, "hip": [0.6, 0, 0], "foot": [-0.4, 0]}}, "stance": 2**0.5},
            "legs.b.knee: must point away from the line from hip to foot, got [1.0, 0.0, 1.0]",
        ),
        ({"stance": float("nan")}, "stance: must be"),
    ],
)
def test_an_impossible_walker_is_refused_with_one_plain_line(changes, says):
    with pytest.raises(Problem, match=re.escape(f"walker.yaml: {says}")) as caught:
        validated(Walker, creature(**changes), "walker.yaml")
    assert len(caught.value.lines) == 1


SIDES = [("left", 1), ("right", -1)]


@pytest.mark.parametrize("foot", [(0.5, 0.3), (0.0, 0.0)])
def test_a_hip_in_the_middle_of_the_body_has_a_knee_all_the_same(foot):
    """It points where its foot is, or ahead; straight up, along the leg, it would be nowhere."""
    legs = {name: {"hip": [0, 0, 0], "foot": [side * x for x in foot], "upper": 1, "lower": 1} for name, side in SIDES}
    walker = validated(Walker, creature(legs=legs), "walker.yaml")
    pole = walker.legs["left"].pole
    assert pole[2] == 1
    assert pole[:2] == pytest.approx(np.array(foot) / np.linalg.norm(foot) if any(foot) else (1, 0))
    gait = Gait(walker=walker, genes={**PUBLISHED["tired"].model_dump()["genes"], "delays": [0, 1], "pace": 0.5})
    walked = walk_gait(gait)
    assert np.isfinite(walked.energy).all()
    assert np.isfinite(tracks(walked).positions).all()


def test_a_gait_may_hold_its_walker_and_says_in_one_line_what_is_wrong_with_it(tmp_path):
    document = {**PUBLISHED["tired"].model_dump(exclude_none=True), "walker": creature(name="mine")}
    path = tmp_path / "gait.yaml"
    path.write_text(format_document(document))
    assert load_gait(path).load_walker().name == "mine"
    for wrong, says in (
        (creature(stance=5), "gait.yaml: walker: legs.front_left: too short"),
        (creature(body={"shape": {"sphere": 1}, "mass": -1}), "gait.yaml: walker: body.mass: must be greater than 0"),
        (7, "gait.yaml: walker: must be a walker's name, a walker file or a walker itself, got 7"),
    ):
        path.write_text(format_document({**document, "walker": wrong}))
        with pytest.raises(Problem, match=re.escape(says)) as caught:
            load_gait(path)
        assert len(caught.value.lines) == 1


def test_an_unknown_walker_names_those_that_exist():
    with pytest.raises(Problem, match=r"centipede: no such walker; built in are biped, creature, hexapod"):
        load_walker("centipede")


def test_a_gait_file_survives_the_round_trip(tmp_path):
    for name, gait in PUBLISHED.items():
        save_gait(tmp_path / f"{name}.yaml", gait)
        assert load_gait(tmp_path / f"{name}.yaml") == gait


def test_a_gait_with_too_few_delays_or_an_unknown_lame_leg_is_refused(tmp_path):
    document = PUBLISHED["tired"].model_dump(exclude_none=True)
    path = tmp_path / "gait.yaml"
    path.write_text(format_document({**document, "genes": {**document["genes"], "delays": [0, 1]}}))
    with pytest.raises(Problem, match=r"genes.delays: creature has 4 legs, got 2 delays"):
        load_gait(path)
    path.write_text(format_document({**document, "lame": "tail"}))
    with pytest.raises(Problem, match=r"gait.yaml: lame: creature has no leg 'tail'; its legs are front_left"):
        load_gait(path)
    path.write_text(format_document({**document, "genes": {**document["genes"], "cycle": 0.5}}))
    with pytest.raises(Problem, match=r"genes: cycle: must be at least 1 period, got 0.5"):
        load_gait(path)


@given(st.sampled_from(list(PUBLISHED)))
def test_rows_and_genes_say_the_same(name):
    gait: Gait = PUBLISHED[name]
    assert genes_of(gait.genes.row()) == gait.genes


@settings(deadline=None)
@given(st.sampled_from(walker_names()), st.integers(0, 2**31), st.floats(-3, 3))
def test_knees_keep_the_lengths_and_bend_to_the_side_of_their_pole(name, seed, heading):
    walker = load_walker(name)
    rig = rig_of(walker)
    random = np.random.default_rng(seed)
    body = np.array([[0.3, -0.2, 0.8 * rig.stance - rig.hip[0, 2]]])
    cosine, sine = np.cos(heading), np.sin(heading)
    turn = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    rest = np.column_stack([rig.rest, np.zeros(len(rig.rest))]) + random.uniform(-0.05, 0.05, (len(rig.rest), 3))
    foot = (rest @ turn.T + [0.3, -0.2, 0])[None]
    hip, knee, _ = pose_legs(rig, body, np.array([heading]), np.zeros((1, 2)), foot)
    np.testing.assert_allclose(hip[0], body[0] + rig.hip @ turn.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(knee - hip, axis=-1)[0], rig.length[:, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(foot - knee, axis=-1)[0], rig.length[:, 1], atol=1e-9)
    side = knee - (hip + foot) / 2
    assert (np.einsum("ij,ij->i", side[0], rig.pole @ turn.T) > 0).all()
