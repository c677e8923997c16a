"""What walkers promise, as measured here: speed, sliders, fitness, arrival. Run: python benchmarks/gaits.py [--quick]

Speeds are ratios of processor time, so that they mean the same on any machine; the one of cores needs two free ones.
"""

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
from _bars import end, meet

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "gaits"))

import plain_gait

from impel.gaits.encoding import Encoding
from impel.gaits.energy import measure, measure_gait
from impel.gaits.evolve import evolve
from impel.gaits.gait import PUBLISHED, genes_of
from impel.gaits.mood import load_moods
from impel.gaits.walk import walk
from impel.gaits.walker import Floats, load_walker, walker_names
from impel.gaits.wishes import Wishes

CREATURE = load_walker("creature")
GO_TO = [(4, 30), (10, 30), (2, 100), (10, 100), (2, 300), (20, 300), (5, 400)]


def population(count: int, seed: int = 0) -> Floats:
    encoding = Encoding(CREATURE, CREATURE.limits)
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
    print(f"1000 creatures, 1 generation: {fast * 1e3:.0f} ms, plain Python {slow:.1f} s: {slow / fast:.0f}x (>= 100x)")
    meet("1000 creatures", slow / fast, at_least=100)


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
        runs = [evolve(CREATURE, Wishes(energy=energy, curve="paper"), seed=seed) for seed in range(seeds)]
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
    for curve in ("smooth", "paper"):
        reached = 0
        for seconds, energy in GO_TO:
            run = evolve(CREATURE, Wishes(energy=energy, seconds=seconds, curve=curve))
            off = run.seconds / seconds - 1, run.energy / energy - 1
            good = max(map(abs, off)) <= 0.01
            reached += good
            why = "" if good else f"; in the way: {', '.join(run.binding)}"
            print(f"  {curve} {seconds} s, {energy}: time {off[0]:+.2%}, energy {off[1]:+.2%}{why}")
        print(f"go-to, {curve} curve: {reached} of {len(GO_TO)} within 1 % (>= 6)")
        meet(f"go-to, {curve}", reached, at_least=6)


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
    sliders()
    fitness(1 if quick else 5)
    if not quick:
        go_to()
    end()


if __name__ == "__main__":
    main()
