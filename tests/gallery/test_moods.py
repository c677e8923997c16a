import numpy as np
import pytest
from making import verdicts_of

from impel.gallery.entries import moods
from impel.gallery.loading import gallery_scene
from impel.stage import simulate


@pytest.mark.slow
def test_entry_walks_from_tired_to_brisk_and_back(tmp_path):
    assert verdicts_of("moods", tmp_path) == [("001.7", "holds")]


def test_a_sliding_foot_would_be_noticed():
    done = moods.walked()
    assert moods.verdict(done).verdict == "holds"
    done.walk.foot[:, 0, 0] += 1e-8 * np.arange(len(done.walk.time))
    assert moods.verdict(done).verdict == "does not hold"


def test_the_creature_kicks_what_lies_in_its_way_and_the_brisk_part_steps_faster():
    take = simulate(gallery_scene("moods"))
    assert {"ball", "marble", "drum"} <= set(moods.kicked(take))
    falls = np.array(moods.footfalls(take))
    assert np.sum((falls > 8) & (falls < 11)) > 3 * np.sum((falls > 0) & (falls < 3))
