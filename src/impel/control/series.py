"""Numbers that change over time: straight from one moment to the next, or at once where two are at the same time."""

from collections.abc import Sequence

import numpy as np

from impel.kernel import Floats, Integers, kernel, struct

ROUNDING = 1e-9  # s: of a sum of many steps


@struct
class Series:
    """A series, some of them empty."""

    first: Integers  # (A + 1,) where the moments of each begin
    time: Floats  # s
    value: Floats


def make_series(pairs: Sequence[Sequence[tuple[float, float]]]) -> Series:
    """Each is a list of times, which do not go back, and values."""
    flat = [pair for each in pairs for pair in each]
    return Series(
        first=np.cumsum([0, *map(len, pairs)], dtype=np.int64),
        time=np.array([time for time, _ in flat], float),
        value=np.array([value for _, value in flat], float),
    )


@kernel
def follow_series(series, time, values):
    """Set the values of those series that have any to what they are at a time."""
    if len(series.time) == 0:
        return
    for a in range(len(values)):
        first, last = series.first[a], series.first[a + 1] - 1
        if last < first:
            continue
        i = first
        while i <= last and series.time[i] <= time + ROUNDING:
            i += 1
        if i == first or i > last:
            values[a] = series.value[min(i, last)]
        else:
            share = (time - series.time[i - 1]) / (series.time[i] - series.time[i - 1])
            values[a] = series.value[i - 1] + share * (series.value[i] - series.value[i - 1])
