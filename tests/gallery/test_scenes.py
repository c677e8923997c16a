"""The verdicts on the scenes of paper 003, sections 4.2 to 4.5, and on the blow; films are left to the gallery."""

import numpy as np
import pytest
from PIL import Image

from impel.gallery.entries import bird, blow, collisions, nursery, snake
from impel.gallery.loading import gallery_scene
from impel.stage import simulate


def test_mass_and_stiffness_decide_how_a_body_passes_an_obstacle(tmp_path):
    scene = gallery_scene("collisions")
    take = simulate(scene)
    assert collisions.verdict(take).verdict == "holds"
    collisions.draw(tmp_path / "ways.png", scene, take)
    with Image.open(tmp_path / "ways.png") as picture:
        assert len(set(picture.convert("L").resize((64, 64)).tobytes())) > 8
    # Without the bar there is nothing to bounce off, and the line is kept.
    del scene.bodies["bar"]
    height = simulate(scene).position[:, [take.index(name) - 1 for name in collisions.LABELS], 2]
    assert np.ptp(height) < 1e-9


@pytest.mark.slow
def test_bird_meets_light_heavy_and_falling_balls():
    takes = bird.play()
    assert bird.verdict(takes).verdict == "holds"
    assert bird.verdict({**takes, "light": takes["heavy"]}).verdict == "does not hold"
    assert bird.verdict_on_pace(bird.pace()).verdict == "holds"


@pytest.mark.slow
def test_snake_unfolds_hits_slows_and_drags():
    told = snake.story(simulate(gallery_scene("snake")))
    assert snake.verdict(told).verdict == "holds"
    assert snake.verdict(told._replace(after=told.before)).verdict == "does not hold"
    for rigid in ({"pressed": (0.03, 0.0)}, {"flat": 0.0}, {"shared": 1e-3}):
        assert snake.verdict(told._replace(**rigid)).verdict == "does not hold"


@pytest.mark.slow
def test_ball_clears_the_shelf_of_quiet_toys():
    _, told = nursery.play()
    assert nursery.verdict(told).verdict == "holds"
    for not_so in ({"fallen": told.fallen[1:]}, {"flat": 0.0}, {"dent": 0.0}, {"through": 1e-3}):
        assert nursery.verdict(told._replace(**not_so)).verdict == "does not hold"


def test_blow_is_judged_by_sag_deflection_and_return():
    good = blow.Measured(sag=0.001, deflection=0.4, left=0.001)
    assert blow.verdict(good).verdict == "holds corrected"
    for bad in ({"sag": 0.02}, {"deflection": 0.1}, {"left": 0.03}):
        assert blow.verdict(good._replace(**bad)).verdict == "does not hold"
