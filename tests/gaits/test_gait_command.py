"""`impel gait`, run as a person would."""

import re
import sys

import numpy as np
import pytest

from impel.cli import main
from impel.gaits.gait import PUBLISHED, load_gait, save_gait


@pytest.fixture
def impel(tmp_path, monkeypatch, capsys):
    """Runs `impel gait` in this process, in a directory of its own; gives exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["impel", "gait", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
        told = capsys.readouterr()
        return code, told.out, [line for line in told.err.splitlines() if "compiling" not in line]

    return run


def test_evolve_writes_a_gait_that_walk_turns_into_a_take(impel, tmp_path):
    options = ["--population", 50, "--generations", 3]
    code, out, _ = impel("evolve", "--energy", 60, *options, "-o", "tired.yaml")
    assert code == 0
    assert "wrote tired.yaml" in out
    gait = load_gait(tmp_path / "tired.yaml")
    assert gait.walker == "creature"
    assert re.search(r"energy [\d.]+ of 60 for 4 m", out)
    code, _, _ = impel("walk", "tired.yaml", "--path", "0,0 3,0", "-o", "walk.npz", "-o", "walk.glb")
    assert code == 0
    with np.load(tmp_path / "walk.npz") as take:
        body = list(take["names"]).index("body")
        assert take["position"][-1, body, 0] == pytest.approx(3, abs=0.02)
        assert "footfall" in str(take["events"])
    assert (tmp_path / "walk.glb").read_bytes()[:4] == b"glTF"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evolve", "--energy", -3], "wishes: energy: must be greater than 0, got -3.0"),
        (["evolve", "--energy", 9, "-o", "x.txt"], "x.txt: a gait file ends in .yaml or .json"),
        (["evolve", "--energy", 9, "--stairs", "1,2"], "stairs: expected 4 numbers with commas between, got '1,2'"),
        (["evolve", "--energy", 9, "--walker", "dog"], "dog: no such walker; built in are biped, creature, hexapod"),
        (["walk", "dog", "-o", "x.npz"], "dog: no such walker; give biped, creature, hexapod"),
        (["walk", "creature", "-o", "x.doc"], "x.doc: .doc is unknown"),
        (["walk", "creature", "--mood", "1,2", "-o", "x.npz"], "mood: several values need times"),
        (["walk", "creature", "--mood", "sad", "-o", "x.npz"], "mood: expected a value, or seconds:value"),
        (["walk", "brisk.yaml", "--mood", "9", "-o", "x.npz"], "mood: brisk.yaml is a single gait"),
        (["walk", "creature", "--path", "0,0 x", "-o", "x.npz"], "path: expected 2 numbers"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_nothing_is_written(impel, tmp_path, arguments, says):
    save_gait(tmp_path / "brisk.yaml", PUBLISHED["brisk"])
    before = sorted(tmp_path.iterdir())
    code, _, lines = impel(*arguments)
    assert code == 2
    assert len(lines) == 1
    assert says in lines[0]
    assert sorted(tmp_path.iterdir()) == before


def test_help_has_examples(impel):
    for command in ("evolve", "walk"):
        assert f"impel gait {command}" in impel(command, "--help")[1]
