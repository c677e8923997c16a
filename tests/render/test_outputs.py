"""Files by extension: complete and the same every time, or not there at all."""

import subprocess

import numpy as np
import pytest
from imageio_ffmpeg import get_ffmpeg_exe
from parade import parade
from PIL import Image

from impel.files import Problem
from impel.render import movies
from impel.render.outputs import EXTENSIONS, check_output, write_take
from impel.takes import load_npz

SIZE = (96, 54)


@pytest.fixture(scope="module")
def take():
    return parade(6, 31, fps=60)


def decoded(path, size):
    """The frames of a film as ffmpeg reads them back."""
    run = subprocess.run(
        [get_ffmpeg_exe(), "-loglevel", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        check=True,
    )
    return np.frombuffer(run.stdout, np.uint8).reshape(-1, size[1], size[0], 3)


@pytest.mark.parametrize("extension", [*EXTENSIONS, ".channels.csv", ".PNG"])
def test_every_kind_is_written_whole_and_twice_the_same(take, extension, tmp_path):
    for name in ("a", "b"):
        write_take(take, tmp_path / f"{name}{extension}", size=SIZE, overlays=True)
    a, b = ((tmp_path / f"{name}{extension}").read_bytes() for name in ("a", "b"))
    assert len(a) > 500
    assert a == b
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a{extension}", f"b{extension}"]


def test_a_film_shows_the_take_in_real_time(take, tmp_path):
    write_take(take, tmp_path / "take.mp4", size=(160, 90))
    frames = decoded(tmp_path / "take.mp4", (160, 90))
    assert len(frames) == 16  # 31 frames at 60 a second, every other one
    probe = subprocess.run([get_ffmpeg_exe(), "-i", tmp_path / "take.mp4"], capture_output=True, text=True).stderr
    assert "30 fps" in probe
    assert "yuv420p" in probe
    drawn = list(movies.exposures(movies.film_of(take, (160, 90)), range(0, 31, 2)))
    assert np.abs(frames.astype(int) - np.array(drawn)).mean() < 4  # of 255: the codec's loss


def test_odd_sizes_are_made_even_for_films(take, tmp_path):
    write_take(take, tmp_path / "take.mp4", size=(97, 55))
    assert decoded(tmp_path / "take.mp4", (96, 54)).shape[0] == 16


def test_an_animation_lasts_as_long_as_the_take(take, tmp_path):
    write_take(take, tmp_path / "take.gif", size=SIZE)
    with Image.open(tmp_path / "take.gif") as image:
        assert image.size == SIZE
        assert image.info["loop"] == 0
        lengths = []
        for k in range(image.n_frames):
            image.seek(k)
            lengths.append(image.info["duration"])
    assert sum(lengths) == pytest.approx(1000 * 11 * 3 / 60, abs=10)


def test_a_strip_is_a_readable_png(take, tmp_path):
    write_take(take, tmp_path / "take.png", size=SIZE)
    with Image.open(tmp_path / "take.png") as image:
        assert image.size == (3 * 96 + 12, 2 * 54 + 6)


def test_npz_by_extension_is_the_take(take, tmp_path):
    write_take(take, tmp_path / "sub" / "take.npz")
    assert np.array_equal(load_npz(tmp_path / "sub" / "take.npz").position, take.position)


def test_progress_is_told_for_every_picture(take, tmp_path):
    told = []
    write_take(take, tmp_path / "take.gif", size=SIZE, progress=lambda done, total: told.append((done, total)))
    assert told == [(k, 11) for k in range(1, 12)]


@pytest.mark.parametrize("name", ["take", "take.avi", "take.blend", ".npz", "take.npz.bak"])
def test_unknown_kinds_are_refused_with_the_possible_ones(take, name, tmp_path):
    for attempt in (lambda: check_output(tmp_path / name), lambda: write_take(take, tmp_path / name)):
        with pytest.raises(Problem) as problem:
            attempt()
        (line,) = problem.value.lines
        assert all(extension in line for extension in EXTENSIONS)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_places_are_refused_beforehand(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.png").mkdir()
    for path in (tmp_path / "file" / "take.png", tmp_path / "folder.png"):
        with pytest.raises(Problem) as problem:
            check_output(path)
        assert len(problem.value.lines) == 1
    check_output(tmp_path / "new" / "folders" / "take.mp4")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.png"]  # nothing is left behind


@pytest.mark.parametrize("size", [(0, 10), (64, -3), (100_000, 100)])
def test_impossible_sizes_are_refused(take, size, tmp_path):
    with pytest.raises(Problem, match="size"):
        write_take(take, tmp_path / "take.png", size=size)


def test_an_encoder_that_fails_leaves_one_line_and_no_file(take, tmp_path, monkeypatch):
    real = movies._ffmpeg_command
    monkeypatch.setattr(movies, "_ffmpeg_command", lambda *a: [x.replace("libx264", "nonsense") for x in real(*a)])
    with pytest.raises(Problem, match="ffmpeg") as problem:
        write_take(take, tmp_path / "take.mp4", size=SIZE)
    assert len(problem.value.lines) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("extension", [".mp4", ".gif", ".png"])
def test_stopping_half_way_leaves_nothing(take, extension, tmp_path):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_take(take, tmp_path / f"take{extension}", size=SIZE, progress=stop)
    assert list(tmp_path.iterdir()) == []
