"""The bars that figures must meet: a benchmark fails at its end where one missed its bar by more than noise."""

import sys

NOISE = 1.15  # figures of the same code differ by so much from run to run

_missed: list[str] = []


def meet(what: str, figure: float, *, at_most: float | None = None, at_least: float | None = None) -> None:
    """Remember a figure that misses its bar."""
    if at_most is not None and not figure <= at_most * NOISE:
        _missed.append(f"{what}: {figure:.3g}, at most {at_most:g}")
    if at_least is not None and not figure >= at_least / NOISE:
        _missed.append(f"{what}: {figure:.3g}, at least {at_least:g}")


def end() -> None:
    """Leave, with exit code 1 if any bar was missed."""
    for line in _missed:
        print(f"MISSED {line}")
    sys.exit(1 if _missed else 0)
