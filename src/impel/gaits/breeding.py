"""The genetic algorithm of paper 001 for genes of two kinds: numbers, and choices such as the order of the feet."""

import numpy as np

from impel.search.strategies import Floats, Strategy


class Breeding(Strategy):
    """Reproduction, crossover and mutation of points of the unit cube, a whole generation at a time.

    The trailing `categories` columns name choices: a child has them from one parent, or mutates them to any other.
    """

    PARENTS = 0.08  # share of a generation that has children
    ELITE = 0.01  # share that lives on unchanged
    BLEND = 0.5  # how far a child may lie outside its parents, relative to their distance (BLX crossover)
    MUTATION = 0.1  # chance of a gene to mutate
    STRAY = 0.06  # how far a mutated gene strays, standard deviation

    def __init__(self, dimension: int, *, population: int, seed: int, categories: int = 0) -> None:
        super().__init__(np.zeros(dimension), np.ones(dimension), seed=seed)
        self._reals = dimension - categories
        self._next = self._anywhere(population)

    def ask(self) -> Floats:
        return self._next

    def _learn(self, candidates: Floats, values: Floats) -> None:
        count = len(candidates)
        ranked = candidates[np.argsort(-values, kind="stable")]
        elite = ranked[: max(1, int(self.ELITE * count))]
        parents = ranked[: max(2, int(self.PARENTS * count))]
        random = self.random
        born = count - len(elite)
        mother = parents[random.integers(len(parents), size=born)]
        father = parents[random.integers(len(parents), size=born)]
        share = random.uniform(-self.BLEND, 1.0 + self.BLEND, mother.shape)
        child = mother + share * (father - mother)
        stray = random.random(child.shape) < self.MUTATION
        child += stray * random.normal(0.0, self.STRAY, child.shape)
        child = np.abs(child)  # reflect at the walls, where limits that bind are found
        child = self._clipped(np.where(child > 1.0, 2.0 - child, child))
        choice = np.where(random.random((born, 1)) < 0.5, mother, father)
        anew = random.random(child.shape) < self.MUTATION
        choice = np.where(anew, random.random(child.shape), choice)
        child[:, self._reals :] = choice[:, self._reals :]
        self._next = np.concatenate([elite, child])
