"""`impel schema` and `impel check` know every kind of file that people write."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import impel as package
from impel.cli.kinds import KINDS, kind_of, schema_named
from impel.files import read_document, write_document

SOURCE = Path(package.__file__).parent
FILES = {
    "scene": "gallery/scenes/blow.yaml",
    "figure": "toys/figures/cheetah.yaml",
    "toy": "gallery/scenes/luxo-hop.toy.yaml",
    "walker": "gaits/walkers/hexapod.yaml",
    "library": "gaits/library/biped.yaml",
}
GAIT = {
    "walker": "biped",
    "genes": {
        "amplitude": 0.2, "pace": 1.0, "period": 0.6, "sway": 1.0, "stature": 0.8, "delays": [0.0, 1.1], "cycle": 2.2,
    },
}  # fmt: skip


@pytest.fixture
def files(tmp_path):
    write_document(tmp_path / "gait.yaml", GAIT)
    return {**{kind: SOURCE / path for kind, path in FILES.items()}, "gait": tmp_path / "gait.yaml"}


def test_a_file_is_told_by_its_fields(files):
    assert set(files) == set(KINDS)
    assert {kind: kind_of(path) for kind, path in files.items()} == {kind: kind for kind in files}


def test_a_scene_that_says_little_is_still_a_scene(tmp_path):
    for text in ("- 1\n", "impel: 1\n", "walkers: {}\n", "world: {seconds: 1}\nlegs: {}\n"):
        (tmp_path / "x.yaml").write_text(text)
        assert kind_of(tmp_path / "x.yaml") == "scene"


@pytest.mark.parametrize("kind", KINDS)
def test_check_reads_every_kind(impel, files, kind):
    code, out, err = impel("check", files[kind])
    assert (code, err) == (0, "")
    assert f"{files[kind]}: is fine: " in out


@pytest.mark.parametrize("kind", KINDS)
def test_check_complains_about_a_slip_in_every_kind(impel, files, kind, tmp_path):
    write_document(tmp_path / "slip.yaml", read_document(files[kind]) | {"colour": "red"})
    code, out, err = impel("check", tmp_path / "slip.yaml")
    assert (code, out) == (2, "")
    assert "slip.yaml: colour: is not a known field" in err


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_every_kind_names_its_fields(impel, files, kind):
    code, out, err = impel("schema", kind)
    assert (code, err) == (0, "")
    schema = json.loads(out)
    assert schema["title"] == f"impel {kind}"
    assert set(read_document(files[kind])) <= set(schema["properties"])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", ["figure", "toy", "walker", "gait", "library"])
def test_every_field_has_a_sentence(kind):
    schema = schema_named(kind)
    missing = []
    for model, definition in [(kind, schema), *schema["$defs"].items()]:
        for name, field in definition["properties"].items():
            text = field.get("description", "")
            if not (text.endswith(".") and len(text) <= 160):
                missing.append((model, name, text))
    assert missing == []


def test_a_kind_that_does_not_exist_is_refused(impel):
    code, _, err = impel("schema", "poem")
    assert (code, err) == (2, "poem: no such kind of file; there are scene, figure, toy, walker, gait, library\n")


@pytest.mark.parametrize(("command", "given"), [("simulate", "figure"), ("script", "walker"), ("toy run", "scene")])
def test_a_file_of_another_kind_is_answered_in_one_line(files, tmp_path, command, given):
    done = subprocess.run(
        [sys.executable, "-m", "impel", *command.split(), files[given], "-o", tmp_path / "out.png"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    wanted = "toy" if command == "toy run" else "scene"
    assert line.startswith(f"{files[given]}: is a {given}, not a {wanted}: {KINDS[given].use} ")
    assert list(tmp_path.glob("out*")) == []
