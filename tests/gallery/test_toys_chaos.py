import numpy as np
import pytest

from impel.gallery.entries import toys_chaos
from impel.toys.mechanism import rows_of
from impel.toys.periods import CHAOS, Bifurcation


@pytest.mark.slow
def test_entry_finds_the_way_into_chaos_and_out_of_it():
    found = toys_chaos.diagram(count=200, cycles=160)
    verdict = toys_chaos.verdict(found)
    # There and back again, with a window of three within; but it steadies once more on its way in, unlike the paper's.
    # (How it goes at the edges of chaos differs with the last digits of a step.)
    cascade = toys_chaos.cascade(found)
    assert cascade[:3] == [1, 2, 1]
    assert CHAOS in cascade
    assert cascade[-2:] == [2, 1]
    assert (verdict.claim, verdict.verdict) == ("002.10", "does not hold")
    assert 3 in [period for period, *_ in toys_chaos.sections(found)]


def made_up(periods):
    _, figure = toys_chaos.gallery_toy("luxo-hop")
    values = 0.14 - 0.001 * np.arange(len(periods))
    return Bifurcation("times.2", values, np.zeros((len(periods), 1, 1)), np.array(periods), rows_of(figure))


def test_sections_are_wide_windows_with_chaos_between_them():
    found = made_up([1] * 4 + [2] * 4 + [CHAOS, 7, 2, CHAOS] + [2] * 4 + [1] * 4)
    assert [period for period, *_ in toys_chaos.sections(found)] == [1, 2, CHAOS, 2, 1]
    assert toys_chaos.verdict(found).verdict == "holds"


def test_the_whole_cascade_is_judged_and_not_a_part_of_it():
    inside = made_up([1] * 4 + [2] * 4 + [CHAOS] * 2 + [3] * 4 + [CHAOS] * 2 + [2] * 4 + [1] * 4)
    assert toys_chaos.verdict(inside).verdict == "holds"
    detour = made_up([1] * 4 + [2] * 4 + [1] * 4 + [2] * 4 + [CHAOS] * 2 + [2] * 4 + [1] * 4)
    verdict = toys_chaos.verdict(detour, {0.02: inside})
    assert verdict.verdict == "does not hold"
    assert verdict.measured.startswith("1 2 1 2 chaos 2 1 as the whole, 1 2 chaos 2 1 asked")
    assert verdict.measured.endswith("1 2 chaos 2 1 if the shade is 0.02 m wide to either side")


def test_without_chaos_the_claim_does_not_hold():
    assert toys_chaos.verdict(made_up([1] * 5 + [2] * 5 + [1] * 5)).verdict == "does not hold"
