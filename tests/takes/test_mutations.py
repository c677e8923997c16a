"""Damaged takes never show a traceback and never cost much; `make fuzz-takes` tries many more of them."""

import io

import numpy as np
import pytest
from mutations import bomb, judge, mutated, whole_take

from impel.files import Problem
from impel.takes import load_npz, save_npz


def test_the_whole_take_is_valid(tmp_path):
    save_npz(whole_take(), tmp_path / "take.npz")
    assert load_npz(tmp_path / "take.npz").names == whole_take().names


def test_damaged_takes_are_read_as_valid_ones_or_refused_in_one_line(tmp_path):
    assert [line for seed in range(100) if (line := judge(tmp_path, seed, picture=seed in (0, 1)))] == []


def test_every_change_within_an_array_is_found(tmp_path):
    save_npz(whole_take(), tmp_path / "take.npz")
    whole = (tmp_path / "take.npz").read_bytes()
    tried = 0
    for seed in range(300):
        how, data = mutated(whole, seed) if np.random.default_rng(seed).random() < 0.5 else ("", b"")
        if how == "flip_in_array":
            tried += 1
            (tmp_path / "take.npz").write_bytes(data)
            with pytest.raises(Problem, match="damaged"):
                load_npz(tmp_path / "take.npz")
    assert tried > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, seed):
    save_npz(whole_take(), tmp_path / "take.npz")
    with np.load(io.BytesIO((tmp_path / "take.npz").read_bytes())) as archive:
        arrays = {name: archive[name] for name in archive.files}
    (tmp_path / "take.npz").write_bytes(bomb(arrays, np.random.default_rng(seed)))
    with pytest.raises(Problem):
        load_npz(tmp_path / "take.npz")
