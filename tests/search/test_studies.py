"""Studies: killed searches resume to the same best, broken files are refused and left alone."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from impel.files import Problem
from impel.search import STRATEGIES, Study, search, strategy_named

LOW, HIGH = np.zeros(3), np.ones(3)


def hill(candidates):
    return -((candidates - 0.3) ** 2).sum(1)


def run(path, name="cma", budget=300, evaluate=hill):
    with Study(path, {"seed": 4, "strategy": name}) as study:
        return search(strategy_named(name, LOW, HIGH, seed=4, budget=300), evaluate, budget=budget, study=study)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_stopped_search_resumes_to_the_same_bits_without_repeating_work(name, tmp_path):
    whole = search(strategy_named(name, LOW, HIGH, seed=4, budget=300), hill, budget=300)
    first = run(tmp_path / "s", name, budget=100)
    again = []

    def counted(candidates):
        again.append(len(candidates))
        return hill(candidates)

    resumed = run(tmp_path / "s", name, evaluate=counted)
    assert np.array_equal(resumed.candidates, whole.candidates)
    assert np.array_equal(resumed.values, whole.values)
    assert np.array_equal(resumed.best, whole.best)
    assert sum(again) == len(whole.values) - len(first.values)


@pytest.mark.parametrize("name", STRATEGIES)
def test_another_budget_may_cut_a_batch_anywhere(name, tmp_path):
    """Longer, shorter and longer again: what is known is never tried again, and the values are the same."""
    whole = search(strategy_named(name, LOW, HIGH, seed=4, budget=300), hill, budget=300)
    evaluated = []

    def counted(candidates):
        evaluated.append(len(candidates))
        return hill(candidates)

    for budget, fresh in ((70, 70), (37, 0), (101, 31), (300, 199)):
        evaluated.clear()
        assert np.array_equal(run(tmp_path / "s", name, budget=budget, evaluate=counted).values, whole.values[:budget])
        assert sum(evaluated) == fresh


KILLED = """
import sys, time
import numpy as np
from impel.search import Study, search, strategy_named
def slow(c):
    time.sleep(0.02)
    return -((c - 0.3) ** 2).sum(1)
with Study(sys.argv[1], {"seed": 4, "strategy": "cma"}) as study:
    search(strategy_named("cma", np.zeros(3), np.ones(3), seed=4, budget=300), slow, budget=300, study=study,
           progress=lambda n, best: print(n, flush=True))
"""


def test_a_search_killed_in_the_middle_loses_nothing_it_had_reported(tmp_path):
    path = tmp_path / "study"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    reported = 0
    while reported < 60:
        reported = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with Study(path, {"seed": 4, "strategy": "cma"}) as study:
        assert sum(len(v) for _, v in study.batches()) >= reported
    whole = search(strategy_named("cma", LOW, HIGH, seed=4, budget=300), hill, budget=300)
    assert np.array_equal(run(path).candidates, whole.candidates)


HALF_MADE = """
import os, signal, sys
from impel.search import Study
Study._create = lambda self: os.kill(os.getpid(), signal.SIGKILL)
Study(sys.argv[1], {"seed": 4, "strategy": "cma"})
"""


def test_a_search_killed_while_it_makes_its_study_can_be_started_again(tmp_path):
    path = tmp_path / "study"
    process = subprocess.run([sys.executable, "-c", HALF_MADE, str(path)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert path.stat().st_size > 0
    whole = search(strategy_named("cma", LOW, HIGH, seed=4, budget=300), hill, budget=300)
    assert np.array_equal(run(path).values, whole.values)


def test_a_foreign_file_is_left_alone_even_with_everything_still_in_its_journal(tmp_path):
    path = tmp_path / "songs.db"
    foreign = sqlite3.connect(path)
    foreign.execute("PRAGMA journal_mode = WAL")
    foreign.execute("CREATE TABLE songs (name TEXT)")
    foreign.commit()
    journal = tmp_path / "songs.db-wal"
    before = path.read_bytes(), journal.read_bytes()
    assert len(before[1]) > 0
    with pytest.raises(Problem, match="SQLite file of another program"):
        run(path)
    assert (path.read_bytes(), journal.read_bytes()) == before
    foreign.close()


def test_ctrl_c_keeps_the_best():
    calls = []

    def interrupted(candidates):
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(1)
        return hill(candidates)

    outcome = search(strategy_named("cma", LOW, HIGH, seed=4), interrupted, budget=300)
    assert outcome.interrupted
    assert outcome.best_value == hill(outcome.best[None])[0] == outcome.values.max()


def test_nan_counts_as_the_worst(tmp_path):
    def sometimes_nan(candidates):
        return np.where(candidates[:, 0] > 0.5, np.nan, hill(candidates))

    outcome = run(tmp_path / "s", evaluate=sometimes_nan)
    assert outcome.best[0] <= 0.5
    assert np.isneginf(outcome.values).any()
    assert np.array_equal(run(tmp_path / "s").values, outcome.values)  # -inf survives the file


def truncated(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def cut_in_header(path):
    path.write_bytes(path.read_bytes()[:40])


def text(path):
    path.write_text("figure: luxo\n")


def foreign(path):
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.commit()
    connection.close()


def newer(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()


def scribbled(path):
    data = bytearray(path.read_bytes())
    data[4096:8192] = os.urandom(4096)
    path.write_bytes(bytes(data))


BROKEN = {
    truncated: "is truncated",
    cut_in_header: "is not a study file",
    text: "is not a study file",
    foreign: "SQLite file of another program",
    newer: "written by a newer impel",
    scribbled: "is damaged",
}


@pytest.mark.parametrize("breaking", BROKEN)
def test_broken_studies_are_refused_in_one_line_and_left_alone(breaking, tmp_path):
    path = tmp_path / "broken.study"
    run(path)
    breaking(path)
    before = path.read_bytes()
    with pytest.raises(Problem) as problem:
        run(path)
    assert len(problem.value.lines) == 1
    assert problem.value.lines[0].startswith(f"{path}: ")
    assert BROKEN[breaking] in problem.value.lines[0]
    assert path.read_bytes() == before


def test_other_settings_are_refused(tmp_path):
    run(tmp_path / "s", budget=30)
    with pytest.raises(Problem, match='strategy is "cma" there and "genetic" here'):
        run(tmp_path / "s", name="genetic")


def test_a_study_in_use_is_refused(tmp_path):
    with Study(tmp_path / "s", {}) as study:
        study.add(0, np.zeros((1, 2)), np.zeros(1))
        started = time.monotonic()
        with pytest.raises(Problem, match="is in use by another search"):
            Study(tmp_path / "s", {})
        assert time.monotonic() - started < 10


def test_a_directory_or_unwritable_place_is_refused(tmp_path):
    with pytest.raises(Problem):
        Study(tmp_path, {})
