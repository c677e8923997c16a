"""What Blender makes of our .glb files: `make blender-test` installs it in an environment of its own."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from pressed import CASES
from scipy.spatial import cKDTree
from test_morphs import simulated

from impel.gallery.loading import gallery_scene
from impel.stage import simulate
from impel.takes import write_glb
from impel.takes.morphs import tolerance
from impel.takes.soft import rest_of, soft_bodies

ROOT = Path(__file__).parents[2]
BLENDER = Path(os.environ.get("IMPEL_BLENDER") or ROOT / ".cache" / "blender")  # an environment with bpy

pytestmark = pytest.mark.skipif(
    not (BLENDER / ".installed").exists(), reason="Blender is not installed; `make blender-test` does it"
)


def through_blender(take, folder):
    """Vertices (F, V, 3) of every soft body in Blender, in the order of the take's own, after a .glb was imported."""
    write_glb(take, folder / "take.glb")
    script, out = Path(__file__).with_name("blender_vertices.py"), folder / "seen.npz"
    words = [BLENDER / "bin" / "python", script, folder / "take.glb", f"{take.fps:.9g}", len(take.time), out]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=600, env=environment)
    assert run.returncode == 0, run.stderr
    seen = {}
    with np.load(out) as arrays:
        for name in soft_bodies(take):
            rest, vertices = rest_of(take, name)[0], arrays[f"{name}.rest"]
            # Blender turns meshes z up, too, and orders vertices as it likes; those at one place move alike.
            own = np.stack([vertices[:, 0], vertices[:, 2], -vertices[:, 1]], axis=-1)
            distance, index = cKDTree(own).query(rest)
            assert distance.max() < 1e-6
            seen[name] = arrays[name][:, index]
    return seen


@pytest.mark.parametrize("case", ["bounces", "bounces and spins", "rolls", "comes to rest", "lies there"])
def test_blender_has_every_vertex_where_the_take_has_it(case, tmp_path):
    take = CASES[case]()
    vertices = through_blender(take, tmp_path)["ball"]
    off = np.linalg.norm(vertices - simulated(take, "ball")[0], axis=-1)
    assert off.max() < tolerance(rest_of(take, "ball")[0])


@pytest.mark.parametrize("scene", ["soft-balls", "soft-landing", "snake"])
def test_blender_shows_soft_bodies_as_they_were_simulated(scene, tmp_path):
    take = simulate(gallery_scene(scene))
    seen = through_blender(take, tmp_path)
    assert len(seen) == {"soft-balls": 2, "soft-landing": 1, "snake": 10}[scene]
    for name, vertices in seen.items():
        off = np.linalg.norm(vertices - simulated(take, name)[0], axis=-1)
        assert off.max() < tolerance(rest_of(take, name)[0])
