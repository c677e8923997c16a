"""Search: strategies that propose candidates and learn from their values, and studies that keep every trial.

    strategy = strategy_named("cma", low, high, seed=1, budget=1500)
    outcome = search(strategy, evaluate, budget=1500, study=Study("luxo.study", settings))

Candidates are rows of numbers within bounds; values are numbers, greater is better. Nothing here knows what a
candidate means.
"""

from impel.search.run import Outcome, search
from impel.search.strategies import STRATEGIES, Strategy, strategy_named
from impel.search.study import Study

__all__ = ["STRATEGIES", "Outcome", "Strategy", "Study", "search", "strategy_named"]
