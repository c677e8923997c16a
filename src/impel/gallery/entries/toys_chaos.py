"""Figure 13 of paper 002: what a toy makes of a steady drive, and the whole bifurcation diagram."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.analysis.toys import draw_bifurcation, legend_below, period_ink
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_toy
from impel.toys.measures import Phase, phase, series
from impel.toys.periods import CHAOS, Bifurcation, bifurcate, period_name

ORDER = 260
TITLE = "The same spring, wound the same way: steady, limping, wild, limping, steady"
TEXT = (
    "A pose graph drives Luxo with a clockwork's regularity, but the hop it makes of it need not repeat every cycle. "
    "As one of the four times shrinks, it limps (every second hop is the same), doubles its period again, becomes "
    "chaotic, hops in threes for a while, is lost once more, and comes back to limping and at last to a steady trot. "
    "Where the windows lie, and whether there are more of them, hangs on details of the body: the folded lamp rocks on "
    "its shade, and half of the shade's width, which the paper does not give, decides which cascade one sees."
)

SPAN = (0.14, 0.036)  # s, of the third time
WIDE = 0.002  # s: what is narrower is no window
PUBLISHED = [1, 2, CHAOS, 2, 1]
WIDTHS = (0.015, 0.0165, 0.02, 0.022)  # m, half of the shade's; the figure has 0.0185
# One value in each window, from long to short (s).
SHOWN = (0.130, 0.108, 0.077, 0.059, 0.048, 0.040)
LETTERS = "abcdef"


def diagram(count: int = 400, cycles: int = 260, *, width: float | None = None) -> Bifurcation:
    """width: half of the shade's, in metres; the figure's own if not given."""
    toy, figure = gallery_toy("luxo-hop")
    if width is not None:
        for name, x in (("shade back", -width), ("shade front", width)):
            figure.contacts[name].at = (x, figure.contacts[name].at[1])
    return bifurcate(toy, figure, "times.2", np.linspace(*SPAN, count), cycles=cycles)


def sections(found: Bifurcation) -> list[tuple[int, float, float]]:
    """Windows of one period that are wide enough, and chaos where it lies between two of them: (period, from, to)."""
    kept: list[tuple[int, float, float]] = []
    wide = [w for w in found.windows() if w[0] in (1, 2, 3) and w[1] - w[2] >= WIDE]
    for period, high, low in wide:
        if kept and kept[-1][0] == period and not _wild(found, kept[-1][2], high):
            kept[-1] = (period, kept[-1][1], low)
            continue
        if kept and _wild(found, kept[-1][2], high):
            kept.append((CHAOS, kept[-1][2], high))
        kept.append((period, high, low))
    return kept


def _wild(found: Bifurcation, high: float, low: float) -> bool:
    """Whether there is chaos between two values."""
    inside = (found.values < high) & (found.values > low)
    return bool((found.periods[inside] == CHAOS).any())


def cascade(found: Bifurcation) -> list[int]:
    """The periods from the longest time to the shortest; regular windows with chaos on both sides are part of it."""
    periods = [period for period, *_ in sections(found)]
    wild = [i for i, period in enumerate(periods) if period == CHAOS]
    if wild:
        periods[wild[0] : wild[-1] + 1] = [CHAOS]
    return periods


def named(periods: list[int]) -> str:
    return " ".join("chaos" if period == CHAOS else str(period) for period in periods)


def verdict(found: Bifurcation, others: Mapping[float, Bifurcation] | None = None) -> Verdict:
    """others: the same for shades of other widths, by half of it in metres."""
    way = sections(found)
    told = ", ".join(f"{period_name(p)} {high:.3f}-{low:.3f}" for p, high, low in way)
    doublings = [p for p in (4, 8) if (found.periods == p).any()]
    widths = (
        f"; {named(cascade(other))} if the shade is {width} m wide to either side"
        for width, other in (others or {}).items()
    )
    return judge(
        "002.10",
        cascade(found) == PUBLISHED,
        f"{named(cascade(found))} as the whole, {named(PUBLISHED)} asked; as the third time shrinks: {told} s "
        f"({len(found.values)} values, windows of at least {WIDE} s, states repeat within 0.5 %; the paper: 1 above "
        f"0.14, 2, chaos 0.102-0.070, 2 until 0.046, 1 below 0.045 s); periods "
        f"{' and '.join(map(str, doublings)) or 'beyond 2'} at the edge of chaos{''.join(widths)}",
    )


def make(directory: Path) -> Exhibit:
    found = diagram()
    others = {width: diagram(count=150, cycles=160, width=width) for width in WIDTHS}
    draw_diagram(directory / "bifurcation.png", found)
    draw_phases(directory / "phases.png", phases())
    return Exhibit(
        pictures=[
            ("phases.png", "Height of the base over its tilt, twelve cycles after 20 s; a dot where each begins."),
            ("bifurcation.png", "Speed of the base's tilt at the start of every cycle, over the third time."),
        ],
        verdicts=[verdict(found, others)],
    )


def phases() -> list[Phase]:
    toy, figure = gallery_toy("luxo-hop")
    times = toy.times
    return [phase(toy.model_copy(update={"times": [*times[:2], value, *times[3:]]}), figure) for value in SHOWN]


def draw_phases(path: Path, curves: list[Phase]) -> None:
    with plot(path, columns=3, rows=2, size=(10, 5.6), sharex=True, sharey=True) as all_axes:
        for axes, letter, value, curve in zip(all_axes, LETTERS, SHOWN, curves, strict=True):
            ink = period_ink(period_name(curve.period))
            axes.plot(curve.curve[:, 0], 1000 * curve.curve[:, 1], color=ink, lw=0.9)
            axes.plot(curve.marks[:, 0], 1000 * curve.marks[:, 1], "o", color=color(0), ms=4)
            axes.set_title(f"{letter}   {1000 * value:.0f} ms: {period_name(curve.period)}")
        for axes in all_axes[3:]:
            axes.set_xlabel("tilt of the base (°)")
        for axes in all_axes[::3]:
            axes.set_ylabel("its height (mm)")


def draw_diagram(path: Path, found: Bifurcation) -> None:
    _, figure = gallery_toy("luxo-hop")
    states = series(figure, found.rows, found.states, "speed tilt")
    with plot(path, size=(10, 5.2)) as axes:
        draw_bifurcation(axes, 1000 * found.values, states, [period_name(period) for period in found.periods])
        for value in SHOWN:
            axes.axvline(1000 * value, color=SOFT, lw=0.6, ls=(0, (2, 4)))
        top = float(np.nanmax(states))
        for value, letter in zip(SHOWN, LETTERS, strict=True):
            name_line(axes, (1000 * value, top), letter, SOFT, shift=(4, 8))
        axes.invert_xaxis()
        axes.set(xlabel="third time (ms)", ylabel="speed of the base's tilt (°/s)")
        legend_below(axes, columns=9)
