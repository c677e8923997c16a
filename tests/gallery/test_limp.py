from making import verdicts_of

from impel.gallery.entries import limp


def test_entry_shows_a_limp(tmp_path):
    assert verdicts_of("limp", tmp_path) == {"001.6": "holds corrected"}


def test_a_sound_creature_does_not_pass_for_a_lame_one():
    limps = limp.evolved()
    assert limp.verdict(limps._replace(spared=limps.printed)).verdict == "does not hold"
