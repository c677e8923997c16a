import numpy as np
import pytest
from making import verdicts_of

from impel.gallery.entries import fitness
from impel.gallery.walks import TABLES, table_beside


@pytest.mark.slow
def test_entry_shows_fitness_falling_with_fixed_rivals(tmp_path):
    assert verdicts_of("fitness", tmp_path) == [("001.1", "holds corrected")]


def test_rivals_that_evolve_drive_a_tired_creature_far_beyond_its_energy():
    energies, _ = fitness.race(30, 0, population=300)
    assert energies[-1] > 1.5 * 30


def test_a_fitness_that_does_not_fall_would_be_noticed():
    runs = fitness.evolutions(fitness.ENERGY, [0], generations=20)
    good = np.full((1, 21), 0.1)
    races = {energy: (np.full((1, 21), float(energy)), good) for energy in fitness.RACES}
    assert fitness.verdict(runs, races).verdict == "holds"
    for best in runs[0].history:
        best.fitness = 40.0
    assert fitness.verdict(runs, races).verdict == "does not hold"


def test_published_tables_obey_the_paper_s_fitness():
    """Eq. 12: |E_c - E_u| + E_c·O/N with N = 1000; a slip in a copied number would show."""
    for energy, rows in TABLES.items():
        for _, spent, arrival, value in rows:
            assert abs(energy - spent) + energy * arrival / 1000 == pytest.approx(value, abs=0.011)


def test_tables_stand_beside_the_same_generations():
    run = fitness.evolutions(30, [0], generations=4)[0]
    (_, _, published), (_, _, here) = table_beside(30, run.history)
    assert [row[0] for row in here] == ["0", "2", "4"]
    assert len(published) == 12
