"""Whatever ends a run, a take is whole or there is none; `make fuzz-ends` tries more moments."""

import os
import signal
import subprocess
import sys

import pytest
from endings import assert_whole, command, crowded, unheard

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="ends in other ways")


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """What runs for the first time on a machine compiles, and says so."""
    subprocess.run(command(tmp_path_factory.mktemp("first")), capture_output=True, check=True)


def test_nobody_listens_and_everything_is_written(tmp_path):
    assert unheard(tmp_path, 0.0) == 141


def test_no_room_for_what_is_printed_and_everything_is_written(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no full device")
    with open("/dev/full", "w") as full:
        run = subprocess.run(command(tmp_path), stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (2, "standard output: cannot be written: no space left on device\n")
    assert_whole(tmp_path, all_of_them=True)


@pytest.mark.parametrize("size", [1000, 9_000])
def test_a_disk_that_is_full_leaves_whole_files_or_none(tmp_path, size):
    assert crowded(tmp_path, size) == 2
    assert_whole(tmp_path)


@pytest.mark.parametrize(("blow", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_asked_to_stop_it_cleans_up_as_after_ctrl_c(tmp_path, blow, code):
    """The moment is when the film is half drawn."""
    program = (
        "import sys\nimport impel.render.movies as movies\n"
        "draw = movies.exposures\n"
        "def slowly(*arguments):\n"
        "    for n, picture in enumerate(draw(*arguments)):\n"
        "        print('half way', flush=True) if n == 3 else None\n"
        "        yield picture\n"
        "movies.exposures = slowly\n"
        "from impel.cli import main\n"
        f"sys.argv = ['impel', *{command(tmp_path)[3:]!r}]\n"
        "main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while "half way" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(blow)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "")
    assert_whole(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["scene.yaml", "take.csv", "take.npz", "take.png"]
