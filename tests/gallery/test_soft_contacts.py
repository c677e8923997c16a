import numpy as np
import pytest

from impel.gallery.entries import soft_contacts
from impel.gallery.soft_surfaces import apart, dents, distance, patch, unbalance, volume
from impel.geometry.meshes import mesh_of


def test_the_measures_of_surfaces_are_those_of_closed_forms():
    points = np.array([[0.0, 0, 0], [0, 0, 0.3], [0.5, 0, 0]])
    np.testing.assert_allclose(distance({"sphere": 0.2}, points), [-0.2, 0.1, 0.3])
    np.testing.assert_allclose(distance({"box": [0.2, 0.4, 0.4]}, points), [-0.1, 0.1, 0.4])
    rod = {"radius": 0.1, "length": 0.4}
    np.testing.assert_allclose(distance({"capsule": rod}, points), [-0.1, 0.0, 0.4], atol=1e-12)
    np.testing.assert_allclose(distance({"cylinder": rod}, points), [-0.1, 0.1, 0.4])
    vertices, _, triangles = mesh_of({"box": [0.2, 0.4, 0.4]})
    assert volume(vertices, triangles) == pytest.approx(0.032, rel=0.02)


def test_contacts_are_exact_and_volume_is_kept():
    take, balls = soft_contacts.play("soft-balls")
    _, floor = soft_contacts.play("soft-floor")
    assert soft_contacts.verdict({"balls": balls, "floor": floor}).verdict == "holds"
    assert balls.dent > 0.04
    assert floor.dent > 0.08
    for worse in ({"unbalance": 1e-5}, {"apart": 1e-2}, {"volume": 0.95}):
        assert soft_contacts.verdict({"balls": balls._replace(**worse)}).verdict == "does not hold"
    # By another share than that of the forces, the surface would not be where it is.
    frame = int(np.argmax(dents(take, "soft")))
    assert len(patch(take, "soft", "firm", frame)) > 50
    assert unbalance(take, "soft", "firm", 0.8, frame) < 1e-8
    assert unbalance(take, "soft", "firm", 0.5, frame) > 1e-3
    assert apart(take, "firm", "soft", frame) < 4e-4
