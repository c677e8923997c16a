import numpy as np
import pytest

from impel.gallery.entries import toys_chaos
from impel.toys.mechanism import rows_of
from impel.toys.periods import CHAOS, Bifurcation


@pytest.mark.slow
def test_entry_finds_the_way_into_chaos_and_out_of_it():
    found = toys_chaos.diagram(count=200, cycles=160)
    verdict = toys_chaos.verdict(found)
    assert (verdict.claim, verdict.verdict) == ("002.10", "holds")
    assert 3 in [period for period, *_ in toys_chaos.sections(found)]


def made_up(periods):
    _, figure = toys_chaos.gallery_toy("luxo-hop")
    values = 0.14 - 0.001 * np.arange(len(periods))
    return Bifurcation("times.2", values, np.zeros((len(periods), 1, 1)), np.array(periods), rows_of(figure))


def test_sections_are_wide_windows_with_chaos_between_them():
    found = made_up([1] * 4 + [2] * 4 + [CHAOS, 7, 2, CHAOS] + [2] * 4 + [1] * 4)
    assert [period for period, *_ in toys_chaos.sections(found)] == [1, 2, CHAOS, 2, 1]
    assert toys_chaos.verdict(found).verdict == "holds"


def test_without_chaos_the_claim_does_not_hold():
    assert toys_chaos.verdict(made_up([1] * 5 + [2] * 5 + [1] * 5)).verdict == "does not hold"
