"""`impel toy`: the whole way from a figure to pictures, and plain lines when something is wrong."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from impel.files import read_document, write_document
from impel.toys.figure import FIGURES

HOPPER = {
    "figure": "luxo",
    "poses": [
        {"ankle": -60, "elbow": -97.8},
        {"ankle": -53.8, "elbow": -88.1},
        {"ankle": -6.7, "elbow": -140},
        {"ankle": -5.8, "elbow": 28.5},
    ],
    "times": [0.14, 0.14, 0.14, 0.14],
    "interpolation": "hold",
}


@pytest.fixture
def hopper(tmp_path):
    write_document(tmp_path / "hop.yaml", HOPPER)
    return tmp_path / "hop.yaml"


def test_list_names_every_figure(impel):
    code, out, _ = impel("toy", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["bounder", "cheetah", "kangaroo", "luxo", "worm"]


@pytest.mark.parametrize("command", ["", "list", "search", "run", "phase", "bifurcate"])
def test_help_has_an_example(impel, command):
    code, out, _ = impel("toy", *([command] if command else []), "--help")
    assert code == 0
    assert "impel toy " in out.split("Usage")[1].split("\n", 1)[1]


def test_search_then_run_and_the_same_seed_gives_the_same_toy(impel, tmp_path):
    toys = []
    for name in ("a.yaml", "b.yaml"):
        code, out, err = impel("toy", "search", "luxo", "--evaluations", 96, "--seed", 3, "-o", tmp_path / name)
        assert (code, err) == (0, "")
        assert "m in 4 s" in out
        toys.append((tmp_path / name).read_text())
    assert toys[0] == toys[1]
    refining = ("--refine", tmp_path / "a.yaml", "--evaluations", 32)
    assert impel("toy", "search", "luxo", *refining, "-o", tmp_path / "c.yaml")[0] == 0
    assert impel("toy", "search", "worm", *refining, "-o", tmp_path / "d.yaml")[::2] == (
        2,
        f"{tmp_path / 'a.yaml'}: is a toy of luxo, not of worm\n",
    )
    outputs = [tmp_path / f"a.{kind}" for kind in ("npz", "glb", "csv", "footfalls.png", "elbow.tracking.csv")]
    code, out, err = impel("toy", "run", tmp_path / "a.yaml", "--seconds", 1, *[x for o in outputs for x in ("-o", o)])
    assert (code, err) == (0, "")
    assert all(path.stat().st_size > 0 for path in outputs)
    assert np.load(outputs[0])["position"].shape[1] == 4  # three links and the ground


def test_terms_poses_and_a_users_own_figure(impel, tmp_path):
    document = read_document(FIGURES / "luxo.yaml") | {"figure": "lamp"}
    write_document(tmp_path / "lamp.yaml", document)
    code, _, err = impel(
        "toy", "search", tmp_path / "lamp.yaml", "--strategy", "generate", "--evaluations", 64, "--poses", 3,
        "--time", 0.2, "--linear", "--term", "speed=1", "--term", "effort=-0.1", "-o", tmp_path / "toy.yaml",
    )  # fmt: skip
    assert (code, err) == (0, "")
    toy = read_document(tmp_path / "toy.yaml")
    assert (toy["figure"], toy["times"], toy["interpolation"]) == ("lamp.yaml", [0.2] * 3, "linear")
    assert len(toy["poses"]) == 3
    assert impel("toy", "run", tmp_path / "toy.yaml", "--seconds", 1)[0] == 0


def test_phase_and_bifurcate_say_the_period(impel, hopper, tmp_path):
    code, out, err = impel("toy", "phase", hopper, "--settle", 5, "-o", tmp_path / "p.png")
    assert (code, err) == (0, "")
    assert "period 1" in out
    code, out, err = impel(
        "toy", "bifurcate", hopper, "--vary", "times.2", "--from", 0.12, "--to", 0.14, "--values", 6, "--cycles", 60,
        "-o", tmp_path / "b.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "times.2 0.12 to 0.14: period 1" in out


REFUSED = {
    "figure": (["search", "gazelle", "-o", "x.yaml"], "gazelle: no such figure"),
    "strategy": (["search", "luxo", "--strategy", "luck", "-o", "x.yaml"], "luck: no such strategy"),
    "term": (["search", "luxo", "--term", "flair=1", "-o", "x.yaml"], "flair: no such term"),
    "weight": (["search", "luxo", "--term", "effort=much", "-o", "x.yaml"], "--term effort=much: expected NAME=WEIGHT"),
    "toy": (["run", "missing.yaml"], "missing.yaml: cannot be read"),
    "ending": (["run", "HOPPER", "-o", "x.doc"], "x.doc: .doc is unknown"),
    "joint": (["run", "HOPPER", "-o", "x.knee.tracking.png"], "luxo has no joint named 'knee'"),
    "quantity": (["phase", "HOPPER", "--x", "flair", "-o", "x.png"], "flair: no such quantity"),
    "parameter": (["bifurcate", "HOPPER", "--vary", "mass", "--from", 0, "--to", 1, "-o", "x.png"], "mass: no such"),
    "both": (["search", "luxo", "--palette", 3, "--study", "s", "-o", "x.yaml"], "--palette: cannot be combined"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_get_one_line_and_no_file(impel, case, hopper, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, expected = REFUSED[case]
    code, _, err = impel("toy", *(hopper if a == "HOPPER" else a for a in arguments))
    assert code == 2
    assert expected in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["hop.yaml"]


def test_ctrl_c_keeps_the_best(tmp_path):
    program = [sys.executable, "-c", "from impel.cli import main; main()", "toy", "search", "luxo"]
    options = ["--evaluations", "1000000", "--study", str(tmp_path / "s"), "-o", str(tmp_path / "toy.yaml")]
    process = subprocess.Popen([*program, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal, began = tmp_path / "s-wal", time.monotonic()
    while (not journal.exists() or journal.stat().st_size < 40_000) and time.monotonic() - began < 120:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "stopped early: the best of" in out
    assert len(read_document(tmp_path / "toy.yaml")["poses"]) == 4
