from making import verdicts_of

from impel.gallery.entries import sag
from impel.gallery.loading import gallery_scene


def test_entry_shows_sag_speed_and_promise(tmp_path):
    assert verdicts_of("sag", tmp_path) == [("003.1", "holds corrected"), ("003.5", "holds"), ("003.6", "holds")]


def test_binary_search_breaks_the_promise_and_would_be_noticed():
    published = sag.as_published(gallery_scene("sag-hairpin"))
    assert published.farthest_passed() > 3
    assert sag.promise(published, published).verdict == "does not hold"
