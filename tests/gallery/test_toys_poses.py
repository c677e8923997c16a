import numpy as np

from impel.analysis.plots import color
from impel.gallery.entries import toys_poses
from impel.gallery.loading import gallery_toy


def test_both_kinds_of_poses_find_gaits_and_held_ones_work_harder():
    found = [toys_poses.energy("bounder", seeds=1, graphs=100)]
    assert toys_poses.verdicts(found)[1].verdict == "holds"
    assert (found[0].work > 1).mean() > 0.9
    assert min(way.min() for way in found[0].distances.values()) > toys_poses.USEFUL


def test_two_thirds_of_the_way_is_not_equal():
    def verdicts(linear):
        ways = {"hold": np.array([3.0, 3.2]), "linear": np.array([linear, linear])}
        return [v.verdict for v in toys_poses.verdicts([toys_poses.Energy("luxo", np.full(9, 2.0), ways)])]

    assert verdicts(2.9) == ["holds", "holds"]
    assert verdicts(2.0) == ["does not hold", "holds"]


def test_pictures_show_the_graph_and_the_tracking(tmp_path, pixels_of):
    toy, figure = gallery_toy("luxo-hop")
    toys_poses.draw_graph(tmp_path / "graph.png", toy, figure)
    toys_poses.draw_tracking(tmp_path / "tracking.png", toy, figure)
    for link in figure.links.values():
        assert pixels_of(tmp_path / "graph.png", link.color) > 500
    assert pixels_of(tmp_path / "tracking.png", color(1)) > 500  # the actual angle
    assert pixels_of(tmp_path / "tracking.png", color(0)) > 500  # the torque


def test_links_meet_at_their_joints():
    toy, figure = gallery_toy("luxo-hop")
    for pose in toy.poses:
        (base, *_), (arm, *_), (head, *_) = toys_poses.links_of(figure, pose)
        assert abs(arm[0] - base.mean(axis=0)).max() < 1e-12
        assert abs(head[0] - arm[1]).max() < 1e-12
