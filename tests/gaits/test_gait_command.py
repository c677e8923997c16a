"""`impel gait`, run as a person would."""

import re
import sys

import numpy as np
import pytest
from scipy.stats import spearmanr

from impel import Scene
from impel.cli import main
from impel.files import read_document, write_document
from impel.gaits.energy import measure
from impel.gaits.evolve import evolve
from impel.gaits.gait import PUBLISHED, load_gait, save_gait
from impel.gaits.ladder import evolve_library, ladder_for
from impel.gaits.mood import Moods, load_library, load_moods
from impel.gaits.walk import walk
from impel.gaits.walker import BUILT_IN, Walker
from impel.stage.walkers import troupe_of


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


def mine(path, name="mine"):
    """A walker file: the built-in biped with a heavier body."""
    document = read_document(BUILT_IN / "biped.yaml")
    document |= {"name": name, "body": {**document["body"], "mass": 2.0}}
    write_document(path, document)


def test_evolve_takes_the_walker_as_library_and_walk_do(impel, tmp_path):
    mine(tmp_path / "mine.yaml")
    options = ["--energy", 100, "--population", 20, "--generations", 1]
    for given in (["mine.yaml"], ["--walker", "mine.yaml"], []):
        assert impel("evolve", *given, *options, "-o", "gait.yaml")[0] == 0
        assert load_gait(tmp_path / "gait.yaml").load_walker().name == ("mine" if given else "creature")
    code, _, complaints = impel("evolve", "mine.yaml", "--walker", "biped", *options)
    assert code == 2
    assert complaints == ["--walker biped: the walker is named already: mine.yaml"]


def test_a_gait_names_its_walkers_file_as_seen_from_itself(impel, tmp_path, monkeypatch):
    mine(tmp_path / "mine.yaml")
    options = ["--population", 20, "--generations", 1, "--energy", 100]
    assert impel("evolve", "--walker", "mine.yaml", *options, "-o", "sub/gait.yaml")[0] == 0
    assert read_document(tmp_path / "sub/gait.yaml")["walker"] == "../mine.yaml"
    walks = ["--path", "0,0 1,0", "-o", "walk.npz"]
    assert impel("walk", "sub/gait.yaml", *walks)[0] == 0
    monkeypatch.chdir(tmp_path / "sub")
    assert impel("walk", "gait.yaml", *walks)[0] == 0
    # Beside the gait comes first, then the current directory, as older files meant it.
    mine(tmp_path / "sub" / "walker.yaml", "beside")
    mine(tmp_path / "walker.yaml", "here")
    document = read_document("gait.yaml") | {"walker": "walker.yaml"}
    write_document("gait.yaml", document)
    monkeypatch.chdir(tmp_path)
    assert load_gait("sub/gait.yaml").load_walker().name == "beside"
    (tmp_path / "sub" / "walker.yaml").unlink()
    assert load_gait("sub/gait.yaml").load_walker().name == "here"


def test_ctrl_c_while_evolving_keeps_the_best_and_says_so(impel, monkeypatch):
    def interrupted(*args, on_generation, **options):
        def stop(best):
            on_generation(best)
            if best.number == 3:
                raise KeyboardInterrupt

        return evolve(*args, on_generation=stop, **options)

    monkeypatch.setattr("impel.gaits.evolve.evolve", interrupted)
    code, out, _ = impel("evolve", "--energy", 100, "--population", 50, "-o", "gait.yaml")
    assert code == 0
    assert "stopped early, after 3 of 20 generations: the best so far was kept" in out
    assert load_gait("gait.yaml").walker == "creature"


@pytest.mark.slow
def test_a_walker_of_ones_own_gets_a_mood(impel, tmp_path):
    mine(tmp_path / "mine.yaml")
    code, out, _ = impel("library", "mine.yaml", "-o", "sub/moods.yaml")
    assert code == 0
    assert re.search(r"moods of mine: energy [\d.]+ to [\d.]+ for 4 m", out)
    assert read_document("sub/moods.yaml")["walker"] == "../mine.yaml"
    library = load_library("sub/moods.yaml")
    assert library.order == [0, 1]
    slider = load_moods("sub/moods.yaml")
    assert slider.walker.body.mass == 2
    assert slider.energies[-1] > 2 * slider.energies[0]
    for rung in library.gaits:
        measured = measure(slider.walker, rung.genes.row())
        assert measured.energy[0] == pytest.approx(rung.wishes.energy, rel=0.02)
        assert measured.seconds[0] == pytest.approx(rung.wishes.seconds, rel=0.05)
    seconds = [rung.wishes.seconds for rung in library.gaits]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[-1] < 0.6 * seconds[0]  # exuberant is fast, too
    code, _, _ = impel("walk", "sub/moods.yaml", "--mood", "0:0,4:100,8:0", "--path", "0,0 6,0", "-o", "walk.npz")
    assert code == 0
    walked = walk(slider, mood=[(0, 0), (4, 100), (8, 0)], path=[(0, 0), (6, 0)])
    assert walked.jump <= 0.2
    scene = Scene(seconds=0.2)
    scene.walker("own", "sub/moods.yaml", mood=80, path=[[0, 0, 0], [2, 0, 0]])
    assert "own.left.foot" in troupe_of(scene, "scene").parts
    code, _, _ = impel("library", "mine.yaml", "--wishes", "sub/moods.yaml", "-o", "again.yaml")
    assert code == 0
    assert load_library("again.yaml").gaits == library.gaits


def ant(size):
    """A walker of six unlike legs, written down from the back to the front, that says nothing but its lengths."""
    legs = {
        f"{place}_{side}": {
            "hip": [size * ahead, sign * 0.12 * size, 0], "foot": [size * out, sign * 0.6 * size],
            "upper": 0.42 * size, "lower": 0.58 * size, "mass": 0.05, "knee": [ahead, sign, 1.5],
        }
        for place, ahead, out in (("rear", -0.1, -0.6), ("middle", 0.1, 0.05), ("front", 0.25, 0.65))
        for side, sign in (("left", 1), ("right", -1))
    }  # fmt: skip
    body = {"shape": {"box": [1.2 * size, 0.3 * size, 0.25 * size]}, "mass": 1.0}
    return Walker.model_validate({"name": "ant", "body": body, "legs": legs})


def test_six_legs_are_lifted_as_insects_do_wherever_the_file_names_them():
    tripods, ripple, wave = ant(1.0).all_orders()
    assert tripods == (0, 1, 1, 0, 0, 1)
    assert ripple == (1, 2, 2, 0, 0, 1)
    assert wave == (0, 3, 1, 4, 2, 5)


@pytest.mark.slow
def test_a_small_ant_has_moods_that_differ():
    """At its size a step takes a few ticks of 1/240 s: energies that were counted by them rose and fell with their
    number, and no slider could be made."""
    walker = ant(0.02)
    order, ladder = ladder_for(walker)
    moods = Moods.of_library(evolve_library(walker, order, ladder))
    rows = moods.at(moods.places(np.arange(10, 91, 10.0)))
    measured = measure(walker, rows)
    for motion in (measured.heave, measured.roll, measured.pitch):
        assert spearmanr(np.arange(len(rows)), motion).statistic >= 0.9
    assert measured.seconds[-1] < 0.6 * measured.seconds[0]


@pytest.mark.parametrize("name", ["biped", *(pytest.param(n, marks=pytest.mark.slow) for n in ("creature", "hexapod"))])
def test_the_libraries_that_come_with_it_can_be_made_again(impel, tmp_path, name):
    """As walks go: processors round differently, and a search magnifies that in genes on which little depends."""
    assert impel("library", name, "-o", "again.yaml")[0] == 0
    made, kept = load_library("again.yaml"), load_library(name)
    assert made.order == kept.order
    assert [rung.wishes for rung in made.gaits] == [rung.wishes for rung in kept.gaits]
    again, before = (walks_of(Moods.of_library(library)) for library in (made, kept))
    for measured, closeness in {"energy": 1e-3, "seconds": 0.02, "heave": 0.1, "roll": 0.1, "pitch": 0.1}.items():
        np.testing.assert_allclose(getattr(again, measured), getattr(before, measured), rtol=closeness)


def walks_of(moods):
    """What moods from 0 to 100 take and move."""
    return measure(moods.walker, moods.at(moods.places(np.arange(0, 101, 10.0))))


def test_ctrl_c_while_a_library_is_made_leaves_nothing(impel, tmp_path, monkeypatch):
    def interrupted(*args, progress, **options):
        def stop(done, total):
            if done > total / 2:
                raise KeyboardInterrupt

        return evolve_library(*args, progress=stop, **options)

    monkeypatch.setattr("impel.gaits.ladder.evolve_library", interrupted)
    assert impel("library", "biped", "-o", "moods.yaml")[0] == 130
    assert list(tmp_path.iterdir()) == []


def test_a_walker_that_cannot_walk_smoothly_is_told_so(impel, tmp_path):
    document = read_document(BUILT_IN / "biped.yaml")
    document["limits"] |= {"pace": [1.5, 1.5], "period": [0.1, 0.1]}
    write_document(tmp_path / "stiff.yaml", document | {"name": "stiff"})
    code, _, lines = impel("library", "stiff.yaml")
    assert code == 2
    assert "stiff: of 20000 random gaits only 0 walk smoothly" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evolve", "--energy", -3], "wishes: energy: must be greater than 0, got -3.0"),
        (["evolve", "--energy", 9, "-o", "x.txt"], "x.txt: a gait file ends in .yaml or .json"),
        (["evolve", "--energy", 9, "--stairs", "1,2"], "stairs: expected 4 numbers with commas between, got '1,2'"),
        (["evolve", "--energy", 9, "--walker", "dog"], "dog: no such walker; built in are biped, creature, hexapod"),
        (["evolve", "--energy", 9, "-o", "brisk.yaml/x.yaml"], "brisk.yaml/x.yaml: cannot be written"),
        (["library", "dog"], "dog: no such walker; built in are biped, creature, hexapod"),
        (["library", "biped", "-o", "x.txt"], "x.txt: a library file ends in .yaml or .json"),
        (["library", "biped", "-o", "brisk.yaml/x.yaml"], "brisk.yaml/x.yaml: cannot be written"),
        (
            ["library", "biped", "--wishes", "brisk.yaml"],
            "brisk.yaml: is not a library of gaits; impel gait library makes one",
        ),
        (
            ["walk", "mine.yaml", "-o", "x.npz"],
            "mine.yaml: is a walker without gaits; make some with impel gait library",
        ),
        (["library", "biped", "--wishes", "short.yaml"], "biped: orders: each needs 2 places counted from 0"),
        (["walk", "typo.yaml", "-o", "x.npz"], "typo.yaml: creatur: no such walker; built in are biped"),
        (["walk", "short.yaml", "-o", "x.npz"], "short.yaml: gaits.1.genes.delays: creature has 4 legs, got 2"),
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
    write_document(tmp_path / "typo.yaml", PUBLISHED["brisk"].model_dump(exclude_none=True) | {"walker": "creatur"})
    mine(tmp_path / "mine.yaml")
    short = load_library("creature").model_dump(exclude_defaults=True)
    short["gaits"][1]["genes"]["delays"] = [0.0, 1.0]
    write_document(tmp_path / "short.yaml", short)
    before = sorted(tmp_path.iterdir())
    code, _, lines = impel(*arguments)
    assert code == 2
    assert says in lines[0]
    assert len(lines) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_help_has_examples(impel):
    for command in ("evolve", "library", "walk"):
        assert f"impel gait {command}" in impel(command, "--help")[1]
