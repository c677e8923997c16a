"""Energies against the plain reference, and against what the formulas say in closed form."""

import time

import numpy as np
import plain_gait
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaling import scaled

from impel.gaits.carrying import GRAVITY, pulled, steady_start
from impel.gaits.encoding import Encoding
from impel.gaits.energy import CHUNK, DISTANCE, TERMS, measure, measure_gait, share_out
from impel.gaits.gait import AMPLITUDE, PACE, PERIOD, PUBLISHED, SPRING, genes_of
from impel.gaits.walker import load_walker, walker_names


def random_rows(name, count, seed, **options):
    walker = load_walker(name)
    encoding = Encoding(walker, walker.bounds, **options)
    return walker, encoding.rows(np.random.default_rng(seed).random((count, encoding.dimension)))


@pytest.mark.parametrize("name", walker_names())
@pytest.mark.parametrize("curve", ["smooth", "paper"])
def test_energies_agree_with_the_plain_reference_to_the_last_digits(name, curve):
    walker, rows = random_rows(name, 4, seed=7, curve=curve)
    lame = list(walker.legs)[-1]
    for who in (None, lame):
        measured = measure(walker, rows, curve=curve, lame=who)
        for k, row in enumerate(rows):
            expected = plain_gait.energies(walker, genes_of(row), curve, who)
            found = [getattr(measured, term)[k] for term in TERMS]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            assert measured.energy[k] == pytest.approx(sum(expected), rel=1e-12)


def test_energies_of_freely_delayed_feet_agree_too():
    walker, rows = random_rows("creature", 4, seed=11, free_delays=True)
    measured = measure(walker, rows)
    for k, row in enumerate(rows):
        expected = plain_gait.energies(walker, genes_of(row), "smooth")
        np.testing.assert_allclose([getattr(measured, term)[k] for term in TERMS], expected, rtol=1e-12)


def test_published_genes_keep_their_order_on_a_compressed_scale():
    energy = {name: measure_gait(gait).energy[0] for name, gait in PUBLISHED.items()}
    assert 35 < energy["tired"] < 50
    assert energy["tired"] < energy["limping"] < energy["brisk"]
    assert 190 < energy["brisk"] < 220  # published as 400: no weighting of the terms closes the gap


def test_a_population_measured_on_all_cores_equals_one_gait_at_a_time():
    walker, rows = random_rows("creature", 100, seed=3)
    together = measure(walker, rows)
    for k in (0, 15, 16, 57, 99):
        alone = measure(walker, rows[k])
        assert alone.energy[0] == together.energy[k]
        assert alone.low[0] == together.low[k]


def test_lifting_the_body_costs_its_weight_times_its_rises():
    """With the body's own path sampled from the reference, m·g times the summed rises, per distance walked."""
    walker, rows = random_rows("creature", 1, seed=5)
    genes = genes_of(rows[0])
    heights = [body[2] for body in plain_gait.motion(walker, genes, "smooth")[3]]
    rises = np.maximum(np.diff([heights[-1], *heights]), 0).sum()
    measured = measure(walker, rows[0])
    assert measured.body[0] == pytest.approx(GRAVITY * walker.body.mass * rises * DISTANCE / genes.pace, rel=1e-9)
    assert measured.low[0] == pytest.approx(min(heights), rel=1e-12)
    assert measured.high[0] == pytest.approx(max(heights), rel=1e-12)


def test_a_body_on_springs_answers_a_drive_as_an_oscillator_does():
    """Against the closed form of a damped oscillator in its periodic motion: amplitude and lag."""
    count, seconds, frequency, damping = 4000, 1.0, 11.0, 0.3
    drive = 2 * np.pi / seconds * 2
    dt = seconds / count
    time = np.arange(count) * dt
    wanted = np.cos(drive * time)
    place, velocity = 0.0, 0.0
    for to in wanted:
        place, velocity = pulled(place, velocity, to, 0.0, frequency, damping, dt)
    place, velocity = steady_start(place, velocity, count, frequency, damping, dt)
    places = []
    for to in wanted:
        place, velocity = pulled(place, velocity, to, 0.0, frequency, damping, dt)
        places.append(place)
    answer = frequency**2 / (frequency**2 - drive**2 + 2j * damping * frequency * drive)
    expected = (answer * np.exp(1j * drive * time)).real
    np.testing.assert_allclose(places, expected, atol=0.01 * abs(answer))


@pytest.mark.parametrize("scale", [0.1, 10.0])
@pytest.mark.parametrize("name", walker_names())
def test_walkers_of_all_sizes_cost_as_much_for_their_weight_and_way(name, scale):
    """The same genes in leg lengths, and times by the square root: the same energy for the same distance, and the same
    motion (but for the ticks, which stay as long)."""
    walker, rows = random_rows(name, 20, seed=9)
    other = scaled(walker, scale)
    bigger = rows.copy()
    bigger[:, [AMPLITUDE, PACE, SPRING]] *= scale
    bigger[:, PERIOD] *= np.sqrt(scale)
    one, two = measure(walker, rows), measure(other, bigger)
    np.testing.assert_allclose(two.energy, one.energy, rtol=0.1)  # fewer ticks in a step of the small one
    np.testing.assert_allclose(two.heave, scale * one.heave, rtol=0.1, atol=1e-3 * scale)
    np.testing.assert_allclose(two.seconds, one.seconds / np.sqrt(scale), rtol=1e-9)
    np.testing.assert_allclose(other.bounds.pace, np.array(walker.bounds.pace) * scale)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(walker_names()), st.integers(0, 2**31), st.sampled_from(["smooth", "paper"]))
def test_every_term_is_finite_and_never_negative_and_scales_with_mass(name, seed, curve):
    walker, rows = random_rows(name, 3, seed)
    heavy = walker.model_copy(update={"body": walker.body.model_copy(update={"mass": 2 * walker.body.mass})})
    measured, doubled = (measure(w, rows, curve=curve) for w in (walker, heavy))
    for term in TERMS:
        value = getattr(measured, term)
        assert np.isfinite(value).all()
        assert (value >= 0).all()
        factor = 1 if term == "legs" else 2
        np.testing.assert_allclose(getattr(doubled, term), factor * value, rtol=1e-9)


def test_the_legs_share_the_weight_and_nothing_is_lost():
    """Some foot is always down, so each leg's mean load, taken as the lame one in turn, is a part of one whole.

    With no sway a lame leg changes nothing, which makes the four measurements the same walk.
    """
    for name in ("creature", "biped", "hexapod"):
        walker = load_walker(name)
        encoding = Encoding(walker, walker.bounds)
        point = np.full((1, encoding.dimension), 0.9)
        point[0, 3] = 0.0
        row = encoding.rows(point)
        assert measure(walker, row).support[0] >= 1
        total = sum(measure(walker, row, lame=leg).load[0] for leg in walker.legs)
        assert total == pytest.approx(1.0, abs=1e-12)


def test_ctrl_c_leaves_no_work_behind():
    """The rest of a population is not measured any more, so that the program ends at once."""
    done = []

    def work(first, last):
        time.sleep(0.01)
        done.append(first)

    def interrupted(first, last):
        if first == 0:
            raise KeyboardInterrupt
        work(first, last)

    with pytest.raises(KeyboardInterrupt):
        share_out(interrupted, 2000 * CHUNK)
    share_out(work, CHUNK)  # after all that had begun
    assert len(done) < 200
