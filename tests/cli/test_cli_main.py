"""The program itself: quick to start, helpful, and calm when something goes wrong."""

import json
import resource
import signal
import subprocess
import sys
import types

import pytest
import typer

import impel as package
from impel.cli import main

SCENE = "bodies: {ball: {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}}\n"


def program(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "impel", *arguments], capture_output=True, text=True, **options)


def cpu_seconds(*command):
    """Processor time of a fresh Python, the best of three."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def test_importing_the_package_is_light():
    assert cpu_seconds("-c", "import impel") <= 0.2
    code = "import impel, sys; print([m for m in ('numpy', 'numba', 'pydantic', 'yaml', 'typer') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_help_is_instant():
    assert cpu_seconds("-m", "impel", "--help") <= 0.5


def test_the_package_offers_its_names_and_no_others():
    assert package.Scene.__module__ == "impel.scene.scene"
    assert package.load_take.__module__ == "impel.takes.archive"
    assert issubclass(package.Problem, Exception)
    assert {"Problem", "Scene", "Take", "load_scene", "load_take", "simulate"} <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'Sceen'"):
        _ = package.Sceen


def test_help_shows_every_command_with_an_example():
    text = program("--help").stdout
    for command in ("simulate", "render", "check", "schema", "warmup", "gallery", "demo"):
        assert command in text
        assert f"impel {command}" in program(command, "--help").stdout
    assert "toy" in text
    assert "gait" in text


def test_wrong_usage_is_told_with_exit_code_2():
    for arguments in (["simulat"], ["simulate"], ["simulate", "scene.yaml"], ["check", "--frobnicate", "x"]):
        done = program(*arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert program("--version").stdout == f"impel {package.__version__}\n"


def test_check_sums_up_a_good_scene_and_warns(tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE)
    done = program("check", scene)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{scene}: is fine: 1 body, 5 s at 60 frames a second\n"
    scene.write_text(SCENE.replace("mass: 1", "mass: 1, fixed: true"))
    done = program("check", scene)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{scene}: warning: bodies.ball.mass: has no effect, for the body is fixed",
        f"{scene}: can be read, but see the warnings above: 1 body, 5 s at 60 frames a second",
    ]


def test_schema_is_json():
    assert json.loads(program("schema").stdout)["title"] == "impel scene"


def test_groups_of_commands_are_loaded_when_called(impel, monkeypatch):
    group = typer.Typer()

    @group.callback()
    def about():
        """All about toys."""

    @group.command("list")
    def listing():
        print("luxo")

    monkeypatch.setitem(sys.modules, "impel.cli.toy", types.SimpleNamespace(toy=group))
    assert impel("toy", "list") == (0, "luxo\n", "")
    assert "Usage: impel toy" in impel("toy", "--help")[1]
    assert impel("toy", "lst")[0] == 2


def broken(error):
    def raises():
        raise error

    return types.SimpleNamespace(warmup=raises)


def test_faults_of_our_own_show_one_line_unless_asked(impel, monkeypatch):
    monkeypatch.setitem(sys.modules, "impel.stage", broken(TypeError("bad\ntype")))
    code, out, err = impel("warmup")
    assert (code, out) == (1, "")
    assert err == "impel: stopped by a fault of its own: TypeError: bad type (IMPEL_DEBUG=1 shows where)\n"
    monkeypatch.setenv("IMPEL_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["impel", "warmup"])
    with pytest.raises(TypeError):
        main()


def test_no_memory_is_said_plainly(impel, monkeypatch):
    monkeypatch.setitem(sys.modules, "impel.stage", broken(MemoryError()))
    assert impel("warmup") == (1, "", "impel: there is not enough memory for this\n")


def test_ctrl_c_leaves_quietly_with_130(tmp_path):
    program = (
        "import sys, time, impel.scene as scene\n"
        "scene.load_scene = lambda _: (print('reading', file=sys.stderr, flush=True), time.sleep(60))\n"
        f"sys.argv = ['impel', 'simulate', 'scene.yaml', '-o', {str(tmp_path / 'take.npz')!r}]\n"
        "from impel.cli import main\nmain()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err) == ("", "")
    assert not (tmp_path / "take.npz").exists()


def test_check_tells_what_will_not_stay_where_it_was_put(impel, tmp_path):
    scene = tmp_path / "sunk.yaml"
    scene.write_text(
        "bodies:\n  ground: {shape: {plane: {}}, fixed: true}\n"
        "  ball: {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 0.1]}\n"
    )
    code, out, _ = impel("check", scene)
    assert code == 0
    assert out.splitlines() == [
        f"{scene}: warning: bodies.ball: overlaps ground at the start, and the two are pushed apart",
        f"{scene}: can be read, but see the warnings above: 2 bodies, 5 s at 60 frames a second",
    ]
