import pytest

from impel.gallery.entries.odd_things import TEETH, bin_of_odd_things, gear_train, turns
from impel.stage import Performance, simulate


def test_teeth_drive_teeth_and_none_is_skipped(tmp_path):
    take = simulate(gear_train(tmp_path))
    assert turns(take, "gear0") == pytest.approx(2)
    for k, sign in ((1, -1), (2, 1)):
        backlash = 0.6 / TEETH[k]
        assert turns(take, f"gear{k}") == pytest.approx(sign * 2 * TEETH[0] / TEETH[k], abs=backlash)


def test_nothing_overlaps_before_it_falls_into_the_bin(tmp_path):
    assert Performance(bin_of_odd_things(tmp_path, 5)).doubts == []
