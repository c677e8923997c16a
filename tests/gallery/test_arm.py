import pytest
from making import verdicts_of

from impel.gallery.entries import arm


@pytest.mark.slow
def test_entry_shows_what_the_filter_does(tmp_path):
    assert verdicts_of("arm", tmp_path) == [("003.7", "does not hold"), ("003.16", "holds")]


def test_the_paper_would_be_believed_if_the_filter_calmed_the_hand():
    calm, wild = arm.by_impel(arm.UNFILTERED), arm.by_impel(arm.FILTERED)
    takes = {(control, gamma): wild for control in arm.CONTROLS for gamma in (arm.UNFILTERED,)}
    takes |= {(control, arm.FILTERED): calm for control in arm.CONTROLS}
    assert arm.filter_effect(takes).verdict == "holds"
