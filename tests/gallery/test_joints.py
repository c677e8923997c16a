from making import verdicts_of

from impel.gallery.entries import joints
from impel.gallery.loading import gallery_scene


def test_entry_shows_how_displacements_fare(tmp_path):
    assert verdicts_of("joints", tmp_path) == [("003.14", "does not hold")]


def test_rattle_holds_where_displacements_as_printed_break():
    exact, printed = joints.fared("loop", "rattle"), joints.fared("loop", "paper")
    assert exact.gap < 1e-8
    assert exact.drift < 1e-4
    assert printed.take is None or printed.gap > 0.01


def test_gaps_are_seen():
    scene = gallery_scene("joints-loop")
    take = joints.fared("loop", "rattle").take
    take.position[5, take.index("left")] += (0.0, 0.02, 0.0)
    assert abs(joints.widest_gap(scene, take) - 0.02) < 1e-6
