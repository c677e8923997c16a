import numpy as np
import pytest

from impel.gallery.entries import toys_modes, toys_search
from impel.gallery.strides import write_strides
from impel.toys.performance import take_of


@pytest.mark.slow
def test_chance_finds_several_modes_for_the_lamp(tmp_path):
    found = toys_modes.look("luxo", budget=2000)
    assert toys_modes.verdict([found]).verdict == "holds"
    figure = found.objective.figure
    takes = [take_of(gait.toy(found.objective), figure, seconds=2.0) for gait in found.gaits[:2]]
    write_strides(tmp_path / "strides.png", takes, begin=1.0, seconds=0.5, size=(640, 115))
    assert (tmp_path / "strides.png").stat().st_size > 10_000


@pytest.mark.slow
def test_every_way_improves_and_too_much_heat_spoils_it():
    ways = toys_search.DELTAS | {"hot": {"hot": 3.0, "cold": 0.03}}
    found = toys_search.race("bounder", ways, runs=4, trials=150, first=256)
    for way in toys_search.DELTAS:
        assert np.all(found.best[way] >= found.start)
        assert found.best[way].mean() > 1.3 * found.start.mean()
    assert found.best["hot"].mean() < 0.85 * found.best[toys_search.PLAIN].mean()


def race_of(**means):
    ways = toys_search.DELTAS | toys_search.SEVERAL | toys_search.ANNEALING
    noise = np.array([-0.1, 0.1, 0.0, 0.05])
    best = dict.fromkeys(ways, 3.0 + noise) | {way.replace("_", " "): mean + noise for way, mean in means.items()}
    return toys_search.Race(np.ones(4), best, {})


def test_verdicts_follow_the_races():
    cold, hot = "annealed from 0.3 m", "annealed from 3 m"
    found = race_of(**{"4 angles at a time": 3.3, cold: 3.4, hot: 2.0})
    assert [v.verdict for v in toys_search.verdicts(found, found)] == ["holds"] * 4
    found = race_of(**{"anywhere in the range": 2.0})
    assert [v.verdict for v in toys_search.verdicts(found, found)] == ["does not hold"] * 4
