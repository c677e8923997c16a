import pytest
from making import verdicts_of

from impel.gallery.entries import tired_brisk
from impel.gallery.walks import evolutions


@pytest.mark.slow
def test_entry_shows_tired_and_brisk(tmp_path):
    assert verdicts_of("tired_brisk", tmp_path) == [("001.2", "holds"), ("001.3", "holds")]


def test_swapped_energies_would_be_noticed():
    runs = {energy: evolutions(energy, [1]) for energy in tired_brisk.ENERGIES}
    assert [v.verdict for v in tired_brisk.verdicts(runs)] == ["holds", "holds"]
    runs[30], runs[400] = runs[400], runs[30]
    assert [v.verdict for v in tired_brisk.verdicts(runs)] == ["does not hold", "does not hold"]
