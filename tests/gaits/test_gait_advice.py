"""What `impel check` doubts about walkers and gaits."""

import pytest

from impel.files import Problem, read_document
from impel.gaits.advice import gait_doubts, moods_doubts, stature_of, walker_doubts
from impel.gaits.gait import PUBLISHED
from impel.gaits.mood import library_names, load_moods
from impel.gaits.walk import walk
from impel.gaits.walker import BUILT_IN, Walker, load_walker, validated, walker_names


def changed(**legs):
    document = read_document(BUILT_IN / "biped.yaml")
    document["legs"]["left"] |= legs
    return document


def test_nothing_is_doubtful_about_what_comes_with_it():
    assert [walker_doubts(load_walker(name)) for name in walker_names()] == [[], [], []]
    assert [moods_doubts(load_moods(name)) for name in library_names()] == [[], [], []]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (changed(upper=500, lower=500), "legs.left: is 1e+03 m long; lengths are in metres"),
        (changed(hip=[0, 5, -0.3], foot=[0, 5.02]), "legs.left.hip: is 5.01 m from the middle of a body of 0.378 m"),
        (changed(mass=1e-7), "legs.left.mass: is 1e-07 kg; masses are in kilograms"),
        (changed() | {"limits": {"pace": [300, 1400]}}, "limits.pace: up to 1400 leg lengths; limits are counted in"),
        (changed() | {"limits": {"period": [250, 1200]}}, "limits.period: from 250 to 1200 s for legs of 1 m"),
        (
            changed() | {"body": {"shape": {"box": [0.3, 0.3, 2.5]}}},
            "limits.stature: at 0.7 the body, 1.25 m deep, would be in the ground",
        ),
    ],
)
def test_what_was_probably_not_meant_is_said(document, says):
    assert any(line.startswith(says) for line in walker_doubts(validated(Walker, document, "walker.yaml")))


@pytest.mark.parametrize("wrong", [1e200, float("inf"), float("nan"), -1e200])
@pytest.mark.parametrize("where", ["hip", "mass", "upper", "shape"])
def test_numbers_that_nothing_can_be_made_of_are_one_plain_line(where, wrong):
    document = changed()
    if where == "shape":
        document["body"]["shape"] = {"sphere": wrong}
    else:
        document["legs"]["left"][where] = [0, wrong, 0] if where == "hip" else wrong
    with pytest.raises(Problem) as caught:
        validated(Walker, document, "walker.yaml")
    assert len(caught.value.lines) == 1
    assert caught.value.lines[0].startswith("walker.yaml: ")


def test_genes_that_no_legs_can_walk_are_doubted():
    assert gait_doubts(PUBLISHED["limping"])[0].startswith("genes: the legs are ")
    assert gait_doubts(load_moods("hexapod").gait(50)) == []


def test_it_tells_how_tall_a_walker_stands():
    moods = load_moods("biped")
    low, high = map(float, stature_of(moods.walker, moods.measured).removesuffix(" m tall").split(" to "))
    tops = [walk(moods, mood=mood).body[:, 2] + moods.walker.sole + 0.3 for mood in (0, 100)]
    assert low == pytest.approx(tops[0].min(), abs=0.05)
    assert high == pytest.approx(tops[1].max(), abs=0.05)
