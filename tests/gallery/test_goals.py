"""The verdicts on paper 004, and that each can fail; films are left to the gallery."""

import pytest
from PIL import Image

from impel.gallery.entries import assembly, deviation, fishing, rods, somersault
from impel.gallery.goals import Met, met
from impel.gallery.loading import gallery_scene
from impel.stage import simulate

FAR = Met(4, 0, 0.01, 0.0)


def test_dynamic_constraints_dwell_and_sequential_goals_do_not(tmp_path):
    take = simulate(gallery_scene("deviation"))
    rushes, even = deviation.near(take, "rushes"), deviation.near(take, "even")
    assert deviation.verdict_on_dwelling(rushes, even).verdict == "holds"
    assert deviation.verdict_on_dwelling(even, even).verdict == "does not hold"
    assert 0.45 < rushes.share < 0.53
    assert even.share < 0.06
    deviation.draw(tmp_path / "deviations.png", take)
    with Image.open(tmp_path / "deviations.png") as picture:
        assert len(set(picture.convert("L").resize((64, 64)).tobytes())) > 8


def test_the_equation_has_one_solution_and_k_can_nearly_always_be_chosen():
    found = deviation.solutions()
    assert deviation.verdict_on_solutions(found).verdict == "holds corrected"
    assert deviation.verdict_on_solutions(found._replace(solved=found.beyond - 1)).verdict == "does not hold"
    share = deviation.feasible()
    assert 0.98 < share <= 1
    assert deviation.verdict_on_choice(share).verdict == "holds corrected"
    assert deviation.verdict_on_choice(0.9).verdict == "does not hold"


@pytest.mark.slow
def test_three_rods_pierce_balls_and_hit_the_target():
    take = rods.play()
    flown, paper = rods.flights(take), rods.flights(rods.play("paper"))
    assert rods.verdict_on_speed(flown, paper).verdict == "holds"
    assert max(f.steadiness for f in flown.values()) < min(f.steadiness for f in paper.values())
    assert rods.verdict_on_marks(met(take), flown, rods.hits(take)).verdict == "holds corrected"
    assert rods.verdict_on_marks(met(take), flown, [float("inf")] * 3).verdict == "does not hold"
    assert rods.verdict_on_marks(met(take)._replace(missed=1), flown, rods.hits(take)).verdict == "does not hold"


def test_the_acrobat_goes_round_once():
    take = simulate(gallery_scene("somersault"))
    assert somersault.verdict(met(take), somersault.turned(take), somersault.sways(take)).verdict == "holds corrected"
    assert somersault.verdict(met(take), 0.0, 0.0).verdict == "does not hold"  # the shorter way


@pytest.mark.slow
def test_the_temple_stands_when_it_is_let_go():
    take = simulate(gallery_scene("assembly"))
    found = met(take), assembly.settles(take), assembly.hardest(take)
    assert assembly.verdict(*found).verdict == "holds corrected"
    assert assembly.verdict(found[0], 0.5, 0.0).verdict == "does not hold"


def test_the_bird_takes_the_fish_and_keeps_it():
    take = simulate(gallery_scene("fishing"))
    assert fishing.verdict(met(take), fishing.slips(take)).verdict == "holds corrected"
    assert fishing.verdict(FAR, 0.0).verdict == "does not hold"
