from making import verdicts_of

from impel.gallery.entries import limp


def test_entry_shows_a_limp(tmp_path):
    assert verdicts_of("limp", tmp_path) == [("001.6", "holds")]


def test_neither_a_sound_creature_nor_one_with_the_factor_alone_passes_for_one_that_limps():
    limps = limp.evolved()
    assert limp.verdict(limps).verdict == "holds"
    assert limp.verdict(limps._replace(spared=limps.sound)).verdict == "does not hold"
    assert limp.verdict(limps._replace(spared=limps.printed)).verdict == "does not hold"
