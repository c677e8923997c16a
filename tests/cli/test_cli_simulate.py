"""`impel simulate` with a real scene: whole files or none, whatever happens."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import impel as package
from impel.scene import Scene

# Free fall for half a second: the least that has to be compiled.
FALL = "world: {seconds: 0.5, fps: 20}\nbodies: {ball: {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}}\n"


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "fall.yaml"
    path.write_text(FALL)
    return path


def test_a_scene_becomes_files_of_every_kind_asked_for(impel, scene, tmp_path):
    outputs = [tmp_path / "new" / f"take{extension}" for extension in (".npz", ".csv", ".glb")]
    code, out, err = impel("simulate", scene, *(word for output in outputs for word in ("-o", output)))
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    start = r"(, of which [\d.]+ s to start)?"  # if it had to be compiled
    motion = r"0.5 s of motion at [\d.e+]+ times real time"
    assert re.fullmatch(rf"fall.yaml: {motion} \([\d.]+ s in all{start}\)", first)
    assert rest == [f"wrote {output}" for output in outputs]
    assert sorted(os.listdir(tmp_path / "new")) == ["take.csv", "take.glb", "take.npz"]
    take = package.load_take(outputs[0])
    assert take.names == ["ball"]
    np.testing.assert_allclose(take.position[:, 0, 2], 1 - 9.81 / 2 * take.time**2, atol=1e-12)


def test_a_motion_that_came_out_rough_says_so(impel, tmp_path):
    scene = tmp_path / "hard.yaml"
    scene.write_text(
        "world: {seconds: 0.5, step: 0.005}\nbodies:\n  ground: {shape: {plane: {}}, fixed: true}\n"
        "  stone: {shape: {sphere: 0.1}, mass: 0.1, at: [0, 0, 0.2], coating: {stiffness: 1.0e+9, thickness: 0.01}}\n"
    )
    code, out, _ = impel("simulate", scene, "-o", tmp_path / "take.npz")
    assert code == 0
    words = (
        r"rough for 0\.\d+ s in all, most at 0.\d+ s: contact too (stiff|deep) at stone and ground; "
        r"a lower coating.stiffness, a heavier body or a shorter world.step may help"
    )
    assert re.fullmatch(f"hard.yaml: {words}", out.splitlines()[1])


def test_an_actor_that_did_not_come_to_its_last_key_is_told_after_the_motion(impel, tmp_path):
    scene = tmp_path / "late.yaml"
    scene.write_text(
        "world: {seconds: 1}\nbodies: {ball: {shape: {sphere: 0.2}, mass: 1}}\n"
        "actors: {ball: {move: {keys: [[0, 0, 0], [1, 0, 0], [4, 0, 0]], speed: 2}}}\n"
    )
    code, out, _ = impel("simulate", scene, "-o", tmp_path / "take.npz")
    assert code == 0
    assert re.fullmatch(
        r"late.yaml: ball.move: came as far as key 1 of 2 and is still on its way when the 1 s are over; "
        r"about 1(\.\d)? s more are needed",
        out.splitlines()[1],
    )


def test_the_same_scene_gives_the_same_bytes(impel, scene, tmp_path):
    for name in ("a.npz", "b.npz"):
        assert impel("simulate", scene, "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_take_is_rendered_again_as_if_it_were_simulated(impel, tmp_path, monkeypatch):
    scene = tmp_path / "walk.yaml"
    scene.write_text(
        "world: {seconds: 0.3, fps: 20}\nbodies: {ball: {shape: {sphere: 0.2}, mass: 1}}\n"
        "actors: {ball: {move: {keys: [[0, 0, 0], [0.3, 0, 0]], speed: 2}}}\n"
    )
    endings = [".csv", ".channels.csv", ".glb", ".png"]
    asked = [word for ending in endings for word in ("-o", tmp_path / f"first{ending}")]
    assert impel("simulate", scene, "--overlays", "-o", tmp_path / "take.npz", *asked)[0] == 0
    monkeypatch.setattr("impel.stage.simulate", None)  # must not be reached
    outputs = [tmp_path / f"again{ending}" for ending in endings]
    asked = [word for output in outputs for word in ("-o", output)]
    code, out, err = impel("render", tmp_path / "take.npz", "--overlays", *asked)
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"wrote {output}" for output in outputs]
    for ending in endings:
        assert (tmp_path / f"again{ending}").read_bytes() == (tmp_path / f"first{ending}").read_bytes()


def test_what_is_not_a_take_is_not_rendered(impel, scene, tmp_path):
    for wrong, words in ((scene, "is not a take; simulate a scene"), (tmp_path / "none.npz", "cannot be read")):
        code, out, err = impel("render", wrong, "-o", tmp_path / "take.csv")
        assert (code, out) == (2, "")
        assert err.startswith(f"{wrong}: {words}")
    assert os.listdir(tmp_path) == ["fall.yaml"]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("take", "has no ending"),
        ("take.avi", ".avi is unknown"),
        ("folder.npz", "is a directory"),
        ("fall.yaml/take.npz", "not a directory"),
        ("x" * 300 + ".npz", "file name too long"),
        ("pipe.npz", "not an ordinary file"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    impel, scene, tmp_path, monkeypatch, output, words
):
    (tmp_path / "folder.npz").mkdir()
    os.mkfifo(tmp_path / "pipe.npz")
    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr("impel.stage.simulate", None)  # must not be reached
    code, out, err = impel("simulate", scene, "-o", tmp_path / "good.npz", "-o", tmp_path / output)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"{tmp_path / output}: ")
    assert words in line
    assert sorted(os.listdir(tmp_path)) == before


def test_an_output_that_fails_while_it_is_written_leaves_nothing(impel, scene, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = impel("simulate", scene, "-o", tmp_path / "take.npz")
    assert code == 2
    assert err == f"{tmp_path / 'take.npz'}: cannot be written: no space left on device\n"
    assert os.listdir(tmp_path) == ["fall.yaml"]


@pytest.mark.parametrize(("blow", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_stopped_half_way_nothing_stands_under_the_name(scene, tmp_path, blow, code):
    """The moment to stop at is when the file is written but does not have its name yet."""
    program = (
        "import os, sys, time\n"
        "os.fsync = lambda _: (print('half way', flush=True), time.sleep(60))\n"
        f"sys.argv = ['impel', 'simulate', {str(scene)!r}, '-o', {str(tmp_path / 'take.npz')!r}]\n"
        "from impel.cli import main\n"
        "main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while "half way" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(blow)
        _, err = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in err
    assert not (tmp_path / "take.npz").exists()


def test_any_output_can_have_another_frame_rate(impel, scene, tmp_path):
    assert impel("simulate", scene, "--fps", 24, "-o", tmp_path / "film.npz", "-o", tmp_path / "film.csv")[0] == 0
    film = package.load_take(tmp_path / "film.npz")
    np.testing.assert_allclose(film.time, np.arange(13) / 24)
    np.testing.assert_allclose(film.position[:, 0, 2], 1 - 9.81 / 2 * film.time**2, atol=1e-9)
    assert len((tmp_path / "film.csv").read_text().splitlines()) == 14
    assert impel("render", tmp_path / "film.npz", "--fps", 12, "-o", tmp_path / "again.npz")[0] == 0
    assert np.array_equal(package.load_take(tmp_path / "again.npz").position, film.position[::2])
    assert impel("simulate", scene, "--fps", 0, "-o", tmp_path / "film.npz")[0] == 2


def test_a_frame_that_takes_long_says_where_the_time_goes(impel, scene, tmp_path, monkeypatch):
    monkeypatch.setattr("impel.stage.performance.SLOW", 0.0)
    code, _, err = impel("simulate", scene, "-o", tmp_path / "take.npz")
    assert code == 0
    lines = err.splitlines()
    assert len(lines) == 10  # a line for each frame
    assert lines[1] == (
        f"{scene}: the frame at 0.05 s takes long, 0 s so far for 100 % of it: "
        "steps: 1; in each bodies: 1, contacts: 0, joints: 0"
    )


def test_keys_beyond_a_limit_of_a_joint_are_told(impel, tmp_path):
    scene = Scene(seconds=0.1)
    lid = scene.body("lid", box=[0.4, 0.4, 0.02], mass=1, at=[0.2, 0, 1])
    scene.joint("hinge", hinge=["world", lid], at=[0, 0, 1], axis=[0, -1, 0], limits=[0, 100])
    lid.turn([{"euler": [0, 0, 0]}, {"euler": [0, -150, 0]}])
    path = tmp_path / "box.yaml"
    scene.save(path)
    line = "actors.lid.turn.keys.1: asks joints.hinge for 150°, beyond its limits [0, 100]"
    for command in (["check", path], ["simulate", path, "-o", tmp_path / "box.npz"]):
        code, out, err = impel(*command)
        assert code == 0
        assert out.count(line) + err.count(line) == 1
