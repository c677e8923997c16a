"""How pressure grows with the depth of a coating: flat tables, and what two coatings make together.

The stiffness of a coating is told at some depths and is linear in between, so pressure is a parabola from one row of
its table to the next, and what is summed over a round patch has a closed form. Two coatings that press on each other
feel the same pressure, so depths add up: what they make together is tabulated row by row of pressure.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel

Floats = NDArray[np.float64]

# Columns of a table. Each row tells of what lies deeper, up to the next; after the last one stiffness is constant. Rows
# that are not needed lie infinitely deep.
DEPTH = 0  # m
PRESSURE = 1  # Pa, there
STIFFNESS = 2  # N/m³: by how much it grows from there
BEND = 3  # N/m⁴: how that grows
ENERGY = 4  # N/m: pressure summed over the depth up to there
MOMENT = 5  # N: pressure x depth, likewise
COLUMNS = 6

SAME = 1e-6  # what differs by a smaller share is the same
LAST = 1e300  # m: deeper than any row that is needed
ROWS = 64  # of what two coatings make together: pressures are equal within 0.2 %, or 2 % where stiffness jumps 300-fold
TIP = 0.2  # of a bar's chord: how much of it counts as being as deep as its deepest line, see `sum_layers`


def make_table(points: Sequence[tuple[float, float]], rows: int | None = None) -> Floats:
    """(rows, 6) of a stiffness (N/m³) that is told at some depths (m), the first of which may be 0."""
    depth, stiffness = (np.array(column, float) for column in zip(*points))
    if depth[0] > 0.0:
        depth, stiffness = np.append(0.0, depth), np.append(stiffness[0], stiffness)
    n = len(depth)
    table = np.zeros((max(rows or n, n), COLUMNS))
    table[n:, DEPTH] = table[n:, PRESSURE] = math.inf
    table[:n, DEPTH] = depth
    table[0, STIFFNESS] = stiffness[0]
    for i in range(1, n):
        span = depth[i] - depth[i - 1]
        end_row(
            table, i, depth[i], 0.5 * (stiffness[i - 1] + stiffness[i]) * span + table[i - 1, PRESSURE], stiffness[i]
        )
    return table


@kernel
def end_row(table, i, depth, pressure, stiffness):
    """Begin row i where the one before it ends, which is bent so that it gets there."""
    before = i - 1
    span, rise = depth - table[before, DEPTH], pressure - table[before, PRESSURE]
    first = table[before, STIFFNESS]
    right = 2.0 * rise / (span * (first + stiffness))  # 1 for what is a parabola, and next to 1 for what is nearly one
    first *= right
    bend = right * (stiffness - table[before, STIFFNESS]) / span
    p, d = table[before, PRESSURE], table[before, DEPTH]
    energy = span * (p + span * (first / 2.0 + span * bend / 6.0))
    moment = span * span * (p / 2.0 + span * (first / 3.0 + span * bend / 8.0))
    table[before, STIFFNESS], table[before, BEND] = first, bend
    table[i, DEPTH], table[i, PRESSURE], table[i, STIFFNESS], table[i, BEND] = depth, pressure, stiffness, 0.0
    table[i, ENERGY] = table[before, ENERGY] + energy
    table[i, MOMENT] = table[before, MOMENT] + d * energy + moment


@kernel
def _row(table, column, value):
    """The last row whose value in a column is not beyond this one."""
    low, high = 0, len(table)
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, column] <= value:
            low = middle
        else:
            high = middle
    return low


@kernel
def pressure(table, depth):
    """At a depth, in Pa; infinite in what is rigid."""
    if depth <= 0.0:
        return 0.0
    i = _row(table, DEPTH, depth)
    more = depth - table[i, DEPTH]
    return table[i, PRESSURE] + more * (table[i, STIFFNESS] + 0.5 * more * table[i, BEND])


@kernel
def energy_at(table, depth):
    """What it takes to press a coating in, in J/m²."""
    i = _row(table, DEPTH, depth)
    more = depth - table[i, DEPTH]
    p = table[i, PRESSURE] + more * (table[i, STIFFNESS] / 2.0 + more * table[i, BEND] / 6.0)
    return table[i, ENERGY] + more * p


@kernel
def slope(table, depth):
    """By how much pressure grows with the depth, in N/m³; above the surface as at it."""
    i = _row(table, DEPTH, max(depth, 0.0))
    return table[i, STIFFNESS] + max(depth - table[i, DEPTH], 0.0) * table[i, BEND]


@kernel
def depth_at(table, pressed):
    """How deep a coating yields to a pressure, and how stiff it is there."""
    i = _row(table, PRESSURE, pressed)
    first, bend, more = table[i, STIFFNESS], table[i, BEND], pressed - table[i, PRESSURE]
    there = math.sqrt(max(first * first + 2.0 * bend * more, 0.0))
    return table[i, DEPTH] + 2.0 * more / (first + there), there


@kernel
def join(a, b, table):
    """Write what two coatings make together: rows where one of them has one, and in between."""
    for i in range(len(table)):
        table[i, DEPTH] = table[i, PRESSURE] = math.inf
    table[0, DEPTH] = table[0, PRESSURE] = table[0, BEND] = table[0, ENERGY] = table[0, MOMENT] = 0.0
    table[0, STIFFNESS] = 1.0 / (1.0 / a[0, STIFFNESS] + 1.0 / b[0, STIFFNESS])
    spans = _row(a, DEPTH, LAST) + _row(b, DEPTH, LAST)
    parts = (len(table) - 1) // max(spans, 1)
    row, i, j = 0, 1, 1
    while True:
        next_a, next_b = _part_row(a, i, parts), _part_row(b, j, parts)
        at = min(next_a, next_b)
        if at == math.inf:
            return
        i += next_a == at
        j += next_b == at
        if at > (1.0 + SAME) * table[row, PRESSURE]:
            depth, stiff = depth_at(a, at)
            more, other = depth_at(b, at)
            row += 1
            end_row(table, row, depth + more, at, 1.0 / (1.0 / stiff + 1.0 / other))


@kernel
def _part_row(table, i, parts):
    """The pressure after the first i parts of all rows, each cut so that stiffness grows alike in its parts; infinite
    after the last row."""
    row, part = i // parts, i % parts
    if row == len(table) or part == 0:
        return table[row, PRESSURE] if row < len(table) else math.inf
    span = table[row + 1, DEPTH] - table[row, DEPTH] if row + 1 < len(table) else math.inf
    if span == math.inf:
        return math.inf
    growth = 1.0 + span * table[row, BEND] / table[row, STIFFNESS]
    share = part / parts
    if abs(growth - 1.0) > SAME:
        share = (growth**share - 1.0) / (growth - 1.0)
    return pressure(table, table[row, DEPTH] + share * span)


@kernel
def sum_layers(table, depth, volume, area, tip):
    """The force on a round patch this deep, and how it grows with the depth.

    The patch has an area at the surface and a volume below it. Its area grows evenly with the distance from its deepest
    place, as that of a cap does; of a bar's side, whose bottom is flat, a share of it, `tip`, is all at that place.
    """
    i = _row(table, DEPTH, depth)
    more = depth - table[i, DEPTH]
    p, first, bend = table[i, PRESSURE], table[i, STIFFNESS], table[i, BEND]
    energy = energy_at(table, depth)
    here = energy - table[i, ENERGY]
    moment = (
        table[i, MOMENT] + table[i, DEPTH] * here + more * more * (p / 2.0 + more * (first / 3.0 + more * bend / 8.0))
    )
    p += more * (first + 0.5 * more * bend)
    flat = tip * area
    area, mean = area - flat, volume / depth - flat
    even, rising = (4.0 * area - 6.0 * mean) / depth, (12.0 * mean - 6.0 * area) / (depth * depth)
    force = even * energy + rising * moment + flat * p
    return force, even * p + rising * (depth * p - energy) + flat * (first + more * bend)
