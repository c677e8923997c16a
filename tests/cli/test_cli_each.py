"""One run of each command, for `make test-plain`; elsewhere each has tests of its own."""

from pathlib import Path

import pytest

import impel as package
from impel.files import read_document, write_document
from impel.kernel.inner import PLAIN

pytestmark = pytest.mark.skipif(not PLAIN, reason="each command has tests of its own")

SCENE = {
    "impel": 1,
    "world": {"seconds": 0.2, "fps": 30},
    "bodies": {
        "ground": {"shape": {"plane": {}}, "fixed": True},
        "ball": {"shape": {"sphere": 0.2}, "mass": 1, "at": [0, 0, 0.2]},
    },
    "actors": {"ball": {"move": {"keys": [[0, 0, 0.2], [1, 0, 0.2]], "base_distance": 0.3}}},
}
TOY = read_document(Path(package.__file__).parent / "gallery" / "scenes" / "luxo-hop.toy.yaml")


def test_each_command_runs(impel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(tmp_path / "scene.yaml", SCENE)
    write_document(tmp_path / "toy.yaml", TOY)
    for line in (
        "check scene.yaml",
        "schema",
        "simulate scene.yaml -o take.npz -o take.glb -o take.csv",
        "render take.npz -o take.png",
        "warmup",
        "gallery blow -o gallery",
        "toy list",
        "toy search luxo --evaluations 16 -o found.yaml",
        "toy run toy.yaml -o toy.csv",
        "toy phase toy.yaml -o phase.png",
        "toy bifurcate toy.yaml --vary times.1 --from 0.1 --to 0.2 --values 4 --cycles 20 -o diagram.png",
        "gait walk creature -o walk.csv",
        "gait evolve --energy 60 --generations 2 -o gait.yaml",
        "gait library biped -o moods.yaml",
        "demo -o out",
    ):
        assert impel(*line.split())[0] == 0, line
