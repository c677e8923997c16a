"""What the entries of paper 001 share: its tables, evolutions to stand beside them, and moments of walks in rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.gaits.evolve import Evolved, Generation, evolve
from impel.gaits.gait import TICK, Gait, Genes
from impel.gaits.record import as_take
from impel.gaits.walk import walk_gait
from impel.gaits.walker import load_walker
from impel.gaits.wishes import Wishes
from impel.render.outputs import write_png
from impel.render.sequences import GAP, strip
from impel.takes import Take

CREATURE = load_walker("creature")
SEEDS = range(5)
WAY = 4.0  # m that walkers go in the pictures; energies are meant for as much

# Best of some generations as published: number, energy, arrival, fitness.
TABLES = {
    300: [
        (2, 302.35, 85, 27.85), (4, 299.87, 20, 6.12), (6, 299.87, 3, 1.02), (8, 300.98, 1, 1.28),
        (10, 300.94, 3, 1.84), (12, 300.97, 1, 1.27), (14, 300.98, 2, 1.58), (16, 300.96, 2, 1.56),
        (18, 300.97, 2, 1.57), (20, 300.96, 0, 0.96),
    ],
    30: [
        (0, 49.79, 1, 19.82), (2, 33.01, 70, 5.11), (4, 32.73, 13, 3.12), (6, 33.32, 5, 3.47), (8, 32.04, 4, 2.16),
        (10, 31.03, 11, 1.36), (12, 31.37, 3, 1.46), (14, 31.37, 1, 1.40), (16, 31.36, 1, 1.39), (18, 30.82, 6, 1.00),
        (20, 30.56, 5, 0.71), (38, 30.24, 2, 0.30),
    ],
    400: [
        (0, 407.79, 6, 10.19), (2, 407.79, 7, 10.59), (4, 407.79, 23, 16.99), (6, 394.26, 2, 6.53),
        (8, 394.26, 5, 7.73), (10, 394.26, 3, 6.93), (12, 394.26, 1, 6.13), (14, 396.79, 3, 4.40),
        (16, 396.79, 0, 3.20), (18, 396.79, 1, 3.60), (20, 396.79, 2, 4.00), (33, 396.79, 0, 3.20),
    ],
}  # fmt: skip
TABLE_HEADER = ("generation", "energy", "arrival", "fitness")


def evolutions(energy: float, seeds: Sequence[int] = SEEDS, *, generations: int = 20) -> list[Evolved]:
    """As in the paper: its curve, 1000 creatures in full stride, arrival and energy alone."""
    wishes = Wishes(energy=energy, curve="paper", in_full_stride=True)
    return [evolve(CREATURE, wishes, seed=seed, generations=generations) for seed in seeds]


def table_beside(
    energy: int, history: Sequence[Generation]
) -> list[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    """The published table and the same generations of a run here."""
    published = [(str(g), f"{e:.2f}", str(o), f"{f:.2f}") for g, e, o, f in TABLES[energy]]
    wanted = [history[g] for g, *_ in TABLES[energy] if g < len(history)]
    here = [(str(b.number), f"{b.energy:.2f}", f"{b.arrival:.0f}", f"{b.fitness:.2f}") for b in wanted]
    return [("Published", TABLE_HEADER, published), ("Here", TABLE_HEADER, here)]


def genes_row(name: str, genes: Genes, energy: float) -> list[str]:
    """Genes as the paper's tables list them: A, S, T in ticks, α, β, l₁ to l₄, energy."""
    values = [f"{genes.amplitude:.3f}", f"{genes.pace:.3f}", f"{genes.period / TICK:.0f}"]
    values += [f"{genes.sway:.3f}", f"{genes.stature:.3f}", *(f"{delay:.2f}" for delay in genes.delays)]
    return [name, *values, f"{energy:.0f}"]


GENES_HEADER = ("", "A", "S", "T", "α", "β", "l₁", "l₂", "l₃", "l₄", "E")


def filmed(gait: Gait) -> Take:
    """The gait over `WAY` metres, seen from the side, always from the same place."""
    take = as_take(walk_gait(gait, path=[(0.0, 0.0), (WAY, 0.0)]))
    middle = WAY / 2
    take.camera = {"from": [middle - 0.8, -10.0, 2.8], "to": [middle - 0.05, 0.0, 0.85], "fov": 23.5}
    return take


def write_rows(path: Path, takes: Sequence[Take], *, count: int = 4, size: tuple[int, int] = (440, 220)) -> None:
    """A picture with each take's moments in a row of its own."""
    rows: list[NDArray[np.uint8]] = [strip(take, count=count, columns=count, size=size) for take in takes]
    between = np.full((GAP, rows[0].shape[1], 3), 255, np.uint8)
    write_png(np.concatenate([piece for row in rows for piece in (between, row)][1:]), path)
