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
    assert {"base", "arm", "head", "ground"} <= set(np.load(outputs[0])["names"].tolist())


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


VARY = ("--vary", "times.0")
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
    "values": (["bifurcate", "HOPPER", *VARY, "--from", "nan", "--to", 1, "-o", "x.png"], "times.0: must be 0.001 or"),
    "angle": (
        ["bifurcate", "HOPPER", "--vary", "poses.0.ankle", "--from", 0, "--to", 61, "-o", "x.png"],
        "poses.0.ankle: must lie within the range -60 to 60",
    ),
    "no toy file": (["search", "luxo", "-o", "x.npz"], "x.npz: a toy file ends in .yaml or .json"),
    "palette of pictures": (["search", "luxo", "--palette", 2, "-o", "x.png"], "x.png: a toy file ends in .yaml"),
    "study": (["search", "luxo", "--study", "./x.yaml", "-o", "x.yaml"], "x.yaml: is also the file of --study"),
    "numbered study": (["search", "luxo", "--palette", 2, "--study", "x-2.yaml", "-o", "x.yaml"], "x-2.yaml: is also"),
    "refined poses": (
        ["search", "luxo", "--refine", "HOPPER", "--poses", 3, "--linear", "-o", "x.yaml"],
        "--refine: keeps what the toy says; it cannot be combined with --poses or --linear",
    ),
    "refined time": (["search", "luxo", "--refine", "HOPPER", "--time", 0.1, "-o", "x.yaml"], "combined with --time"),
    "palette strategy": (
        ["search", "luxo", "--palette", 3, "--strategy", "genetic", "-o", "x.yaml"],
        "--palette: draws new pose graphs at random; it cannot be combined with --strategy",
    ),
    "palette refined": (["search", "luxo", "--palette", 3, "--refine", "HOPPER", "-o", "x.yaml"], "with --refine"),
    "times twice": (
        ["search", "luxo", "--vary-times", 0.1, 0.2, "--time", 0.1, "-o", "x.yaml"],
        "--vary-times: finds a time for every arc; it cannot be combined with --time",
    ),
    "times": (["search", "luxo", "--vary-times", 0.2, 0.1, "-o", "x.yaml"], "times: must vary from at least 0.001 s"),
    "delta": (["search", "luxo", "--delta", "wide", "-o", "x.yaml"], "--delta: is for the strategy modify or anneal"),
    "heat": (
        ["search", "luxo", "--strategy", "modify", "--hot", 1, "-o", "x.yaml"],
        "--hot: is for the strategy anneal",
    ),
    "chart": (["run", "HOPPER", "-o", "good.csv", "-o", "a.footfalls.mp4"], "a.footfalls.mp4: expected a picture or a"),
    "phase film": (["phase", "HOPPER", "-o", "x.mp4"], "x.mp4: expected a picture or a table"),
    "diagram film": (
        ["bifurcate", "HOPPER", *VARY, "--from", 0.1, "--to", 0.2, "-o", "x.mp4"],
        "x.mp4: expected a picture or a table",
    ),
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


def test_a_figure_is_not_overwritten_by_its_toy(impel, tmp_path):
    document = read_document(FIGURES / "luxo.yaml") | {"figure": "lamp"}
    write_document(tmp_path / "lamp.yaml", document)
    code, _, err = impel("toy", "search", tmp_path / "lamp.yaml", "-o", tmp_path / "lamp.yaml")
    assert (code, err) == (2, f"{tmp_path / 'lamp.yaml'}: is also the file of FIGURE; write the toy somewhere else\n")
    assert read_document(tmp_path / "lamp.yaml") == document


def test_a_toy_finds_a_figure_file_named_like_its_figure(impel, tmp_path, monkeypatch):
    document = read_document(FIGURES / "luxo.yaml") | {"figure": "lamp"}
    write_document(tmp_path / "lamp", document)
    (tmp_path / "toys").mkdir()
    monkeypatch.chdir(tmp_path)
    for output in ("here.yaml", "toys/there.yaml"):
        assert impel("toy", "search", "lamp", "--evaluations", 16, "-o", output)[0] == 0
    monkeypatch.chdir(tmp_path.parent)
    for output in ("here.yaml", "toys/there.yaml"):
        code, _, err = impel("toy", "run", tmp_path / output, "--seconds", 0.1)
        assert (code, err) == (0, "")


def test_refining_keeps_sensors_and_may_vary_the_times(impel, hopper, tmp_path):
    sensing = tmp_path / "sensing.yaml"
    write_document(sensing, HOPPER | {"sensors": [None, {"touches": "toe"}, None, None]})
    for options in (
        (),
        ("--vary-times", 0.1, 0.2),
        ("--strategy", "anneal", "--several", 2, "--hot", 1, "--cold", 0.1),
    ):
        command = ("toy", "search", "luxo", "--refine", sensing, "--evaluations", 16, *options)
        code, _, err = impel(*command, "-o", tmp_path / "better.yaml")
        assert (code, err) == (0, "")
        better = read_document(tmp_path / "better.yaml")
        assert better["sensors"] == [None, {"touches": "toe"}, None, None]
        assert (better["times"] == HOPPER["times"]) == ("--vary-times" not in options)


def test_strategies_are_tuned_from_the_command_line(impel, tmp_path):
    found = []
    for i, options in enumerate(
        [
            (),
            ("--delta", "wide"),
            ("--delta", "shrinking-fixed"),
            ("--several", 4),
            ("--strategy", "anneal", "--hot", 5),
        ]
    ):
        path = tmp_path / f"{i}.yaml"
        command = ("toy", "search", "luxo", "--strategy", "modify", "--evaluations", 24, *options, "-o", path)
        assert impel(*command)[::2] == (0, "")
        found.append(str(read_document(path)["poses"]))
    assert len(set(found)) == len(found)


def test_a_palette_is_kept_in_a_study_and_drawn(impel, tmp_path):
    command = ("toy", "search", "luxo", "--palette", 2, "--evaluations", 320, "--study", tmp_path / "s", "--seed", 2)
    code, out, err = impel(*command, "-o", tmp_path / "hop.yaml")
    assert (code, err) == (0, "")
    assert f"wrote {tmp_path / 'hop-1.yaml'}" in out
    first = (tmp_path / "hop-1.yaml").read_text()
    assert (tmp_path / "hop-1.png").read_bytes()[:4] == b"\x89PNG"
    assert impel(*command, "-o", tmp_path / "again.yaml")[0] == 0
    assert (tmp_path / "again-1.yaml").read_text() == first


def test_a_joint_is_drawn_by_its_name_as_written_or_with_spaces(impel, tmp_path):
    document = read_document(FIGURES / "luxo.yaml") | {"figure": "lamp"}
    ankle, elbow = document["joints"].values()
    document["joints"] = {"low ankle": ankle, "mid-elbow": elbow}
    write_document(tmp_path / "lamp.yaml", document)
    poses = [{"low ankle": pose["ankle"], "mid-elbow": pose["elbow"]} for pose in HOPPER["poses"]]
    write_document(tmp_path / "toy.yaml", HOPPER | {"figure": "lamp.yaml", "poses": poses})
    outputs = [tmp_path / f"a.{joint}.tracking.csv" for joint in ("low-ankle", "low ankle", "mid-elbow")]
    command = ("toy", "run", tmp_path / "toy.yaml", "--seconds", 0.2)
    assert impel(*command, *[part for path in outputs for part in ("-o", path)])[::2] == (0, "")
    low, same, mid = (path.read_text() for path in outputs)
    assert low == same != mid


def test_one_search_parameter_is_said_to_be_too_few_for_cma(impel, tmp_path):
    document = read_document(FIGURES / "luxo.yaml") | {"figure": "lamp"}
    document["joints"]["ankle"]["active"] = False
    write_document(tmp_path / "lamp.yaml", document)
    command = ("toy", "search", tmp_path / "lamp.yaml", "--poses", 1, "--evaluations", 8, "-o", tmp_path / "x.yaml")
    code, _, err = impel(*command, "--strategy", "cma")
    assert code == 2
    assert err.startswith("cma: learns how parameters belong together")
    assert impel(*command)[0] == 0


FALLER = HOPPER | {"poses": [{"ankle": -60, "elbow": -140}, {"ankle": 60, "elbow": 140}], "times": [0.3, 0.3]}


def test_a_toy_that_falls_is_not_drawn_as_if_it_had_settled(impel, tmp_path):
    write_document(tmp_path / "fall.yaml", FALLER)
    code, _, err = impel("toy", "phase", tmp_path / "fall.yaml", "-o", tmp_path / "p.png")
    assert code == 2
    assert "fall.yaml: falls after" in err
    code, _, err = impel(
        "toy", "bifurcate", tmp_path / "fall.yaml", "--vary", "times.0", "--from", 0.28, "--to", 0.3, "--values", 3,
        "--cycles", 40, "-o", tmp_path / "b.png",
    )  # fmt: skip
    assert code == 2
    assert "falls at every value of times.0 within 40 cycles" in err
    assert not list(tmp_path.glob("*.png"))


def test_strides_show_one_cycle_and_a_search_says_what_was_verified(impel, hopper, tmp_path):
    code, out, err = impel("toy", "run", hopper, "--seconds", 1, "--strides", "-o", tmp_path / "s.png")
    assert (code, err) == (0, "")
    assert (tmp_path / "s.png").stat().st_size > 10_000
    assert impel("toy", "run", hopper, "--strides", "-o", tmp_path / "s.csv")[0] == 2
    code, out, _ = impel("toy", "search", "luxo", "--evaluations", 96, "-o", tmp_path / "x.yaml")
    assert code == 0
    assert ("stays up, and comes" in out and "m in 20 s" in out) or "does not stay up: falls after" in out
    code, out, _ = impel("toy", "run", tmp_path / "x.yaml", "--seconds", 20)
    assert "stayed up for 20 s" in out


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
