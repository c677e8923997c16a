import pytest
from making import verdicts_of

from impel.gallery.entries import height_pace


@pytest.mark.slow
def test_entry_shows_height_and_pace_within_limits(tmp_path):
    assert verdicts_of("height_pace", tmp_path) == [("001.4", "holds"), ("001.5", "holds")]


def test_a_gait_outside_its_limits_would_be_noticed():
    runs = height_pace.evolved()
    assert [v.verdict for v in height_pace.verdicts(runs)] == ["holds", "holds"]
    swapped = runs | {"tall": runs["low"], "low": runs["tall"], "long": runs["short"], "short": runs["long"]}
    assert [v.verdict for v in height_pace.verdicts(swapped)] == ["does not hold", "does not hold"]
