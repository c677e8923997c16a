"""What walkers promise, as measured here: speed, sliders, fitness, arrival. Run: python benchmarks/gaits.py [--quick]

Speeds are ratios of processor time, so that they mean the same on any machine; the one of cores needs two free ones.
"""

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
from _bars import NOISE, end, meet

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "gaits"))

import plain_gait

from impel.gaits.encoding import Encoding
from impel.gaits.energy import measure, measure_gait
from impel.gaits.evolve import evolve
from impel.gaits.gait import PUBLISHED, genes_of
from impel.gaits.mood import load_moods
from impel.gaits.walk import walk, walk_gait
from impel.gaits.walker import Floats, load_walker, walker_names
from impel.gaits.wishes import Wishes

CREATURE = load_walker("creature")
# Seconds and energies.
GO_TO = {
    "creature": [(4, 60), (4, 100), (2.5, 150), (6, 200)],
    "biped": [(4, 60), (5, 40), (3, 80), (8, 100)],
    "hexapod": [(6, 60), (4, 100), (3.5, 150), (8, 80)],
}


def population(count: int, seed: int = 0) -> Floats:
    encoding = Encoding(CREATURE, CREATURE.bounds)
    return encoding.rows(np.random.default_rng(seed).random((count, encoding.dimension)))


def speed() -> None:
    rows = population(1000)
    measure(CREATURE, rows[:2])
    started = time.process_time()
    for _ in range(5):
        measure(CREATURE, rows)
    fast = (time.process_time() - started) / 5
    some = rows[::50]
    started = time.process_time()
    for row in some:
        plain_gait.energies(CREATURE, genes_of(row), "smooth")
    slow = (time.process_time() - started) * len(rows) / len(some)
    print(f"1000 creatures, 1 generation: {fast * 1e3:.0f} ms, plain Python {slow:.1f} s: {slow / fast:.0f}x (>= 150x)")
    meet("1000 creatures", slow / fast, at_least=150)


def _alone(rounds: int) -> None:
    rows = population(1000)
    for _ in range(rounds):
        measure(CREATURE, rows, cores=1)


def cores() -> None:
    """Two threads in one process against two processes of one thread each, both doing the same work, by turns."""
    rounds = 4
    rows = population(1000)
    ratios = []
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_alone, [1, 1], chunksize=1)
        for _ in range(9):
            started = time.perf_counter()
            pool.map(_alone, [rounds, rounds], chunksize=1)
            apart = time.perf_counter() - started
            started = time.perf_counter()
            for _ in range(2 * rounds):
                measure(CREATURE, rows)
            ratios.append(apart / (time.perf_counter() - started))
    print(
        f"both cores in one process: {np.median(ratios):.2f} of two independent processes (>= 0.9), "
        f"{min(ratios):.2f} to {max(ratios):.2f} in nine turns"
    )
    meet("both cores", float(np.median(ratios)), at_least=0.9)


def fitness(seeds: int) -> None:
    print("best fitness, paper curve, N = 1000, median of", seeds, "seeds, at generations 2 4 6 20")
    for energy, most in ((30, 5.0), (100, 0.5), (300, 2.0), (400, 12.0)):
        runs = [
            evolve(CREATURE, Wishes(energy=energy, curve="paper", in_full_stride=True), seed=seed)
            for seed in range(seeds)
        ]
        scores = np.median([[run.history[g].fitness for g in (2, 4, 6, 20)] for run in runs], axis=0)
        genes = np.median([run.gait.genes.row()[:3] for run in runs], axis=0)
        spent = np.median([run.energy for run in runs])
        print(
            f"  E = {energy}: {' '.join(f'{s:.2f}' for s in scores)} (<= {most:g}), energy {spent:.2f}, "
            f"amplitude {genes[0]:.2f}, period {genes[2] * 240:.0f} ticks"
        )
    for name, gait in PUBLISHED.items():
        print(f"  published {name}: {measure_gait(gait).energy[0]:.1f} here, {gait.energy:g} in the paper")


def go_to() -> None:
    """Walks of 4 m, from standing to standing, in a given time with a given energy."""
    reached = 0
    for name, wanted in GO_TO.items():
        walker = load_walker(name)
        for seconds, energy in wanted:
            run = evolve(walker, Wishes(energy=energy, seconds=seconds))
            walked = walk_gait(run.gait, path=[(0, 0), (4, 0)])
            off = walked.time[-1] / seconds - 1, walked.energy[-1].sum() / energy - 1
            good = abs(off[0]) <= 0.02 and abs(off[1]) <= 0.05
            reached += good
            why = "" if good else f"; in the way: {', '.join(run.binding)}"
            print(f"  {name} {seconds} s, {energy}: time {off[0]:+.2%}, energy {off[1]:+.2%}{why}")
    print(f"go-to: {reached} of 12 within 2 % of the time and 5 % of the energy (>= 9)")
    meet("go-to", reached, at_least=9)


def bodies() -> None:
    """How the body moves by mood."""
    moods = range(10, 91, 10)
    for name in walker_names():
        slider = load_moods(name)
        measured = measure(slider.walker, slider.at(slider.places(np.array(moods, float))))
        for what in ("heave", "roll", "pitch"):
            motion = getattr(measured, what)
            rank = float(np.corrcoef(np.argsort(np.argsort(motion)), np.arange(len(motion)))[0, 1])
            print(f"{name}: {what} {motion[0]:.3g} to {motion[-1]:.3g} (m, rad), rank correlation {rank:.2f} (>= 0.9)")
            meet(f"{name}, {what}", rank, at_least=0.9 * NOISE)


def sliders() -> None:
    for name in walker_names():
        moods = load_moods(name)
        energy = np.array([moods.gait(mood).energy for mood in range(101)])
        off = np.abs(energy / moods.named_energy(np.arange(101)) - 1).max()
        print(
            f"{name}: energies {energy[0]:.0f} to {energy[-1]:.0f}, "
            f"{'monotone' if np.all(np.diff(energy) > 0) else 'NOT monotone'}, at most {off:.2%} off (<= 5 %)"
        )
        meet(f"{name}, energy off by %", 100 * off, at_most=5)
        jump, stretch, slide = 0.0, -np.inf, 0.0
        random = np.random.default_rng(0)
        for _ in range(40):
            moments = np.sort(random.uniform(0, 12, 5))
            mood = [(at, value) for at, pair in zip(moments, random.uniform(0, 100, (5, 2))) for value in pair]
            way = np.cumsum(np.vstack([[0, 0], random.uniform([1, -3], [4, 3], (4, 2))]), axis=0)
            walked = walk(moods, mood=mood, path=way)
            stands = ~walked.lifted[1:] & ~walked.lifted[:-1]
            slide = max(slide, np.abs(np.diff(walked.foot, axis=0))[stands].max())
            jump, stretch = max(jump, walked.jump), max(stretch, walked.stretch)
        print(
            f"  40 walks with sudden changes of mood: body jumps {jump:.3f} m/s a tick (<= 0.2), planted feet move "
            f"{slide:.0e} m (<= 1e-9), legs have {-stretch:.2f} m to spare"
        )
        meet(f"{name}, jumps", jump, at_most=0.2)
        meet(f"{name}, feet", slide, at_most=1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, no go-to")
    quick = parser.parse_args().quick
    speed()
    cores()
    bodies()
    sliders()
    fitness(1 if quick else 5)
    if not quick:
        go_to()
    end()


if __name__ == "__main__":
    main()
