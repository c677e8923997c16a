"""The longer commands of `impel toy`, behind their options."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import Problem, check_writable
from impel.toys.figure import Figure, load_figure
from impel.toys.measures import footfalls, joint_table, labelled, series, tracking
from impel.toys.objectives import Objective
from impel.toys.synthesis import HOLDS_UP, Gait, find_gait, objective_for, palette
from impel.toys.toy import read_toy, run_toy, write_toy
from impel.toys.trials import Results


def search_and_write(
    name: str, output: Path, *, strategy: str, budget: int, seed: int, seconds: float, poses: int | None,
    time: float | None, linear: bool, terms: Sequence[str], study: Path | None, palette_size: int,
    refining: Path | None,
) -> None:  # fmt: skip
    """Find one gait or a palette of them, and write toys."""
    from impel.render.outputs import write_take
    from impel.toys.performance import take_of

    if palette_size and (study or refining):
        raise Problem("--palette: cannot be combined with --study or --refine")
    check_writable(output)
    figure = load_figure(name)
    options: dict[str, Any] = {"seconds": seconds, "interpolation": "linear" if linear else "hold"}
    options |= {"poses": poses} if poses is not None else {}
    options |= {"times": time} if time is not None else {}
    start = None
    how: dict[str, Any] = {}
    if refining is not None:
        known, figure_there = read_toy(refining)
        if figure_there != figure:
            raise Problem(f"{refining}: is a toy of {figure_there.figure}, not of {figure.figure}")
        start = known.angles(figure).ravel()
        options |= {"poses": len(known.poses), "times": tuple(known.times), "interpolation": known.interpolation}
        how = {"spread": 0.08} if strategy == "cma" else {}
    objective = objective_for(figure, _weights(terms), **options)
    source = None if figure.figure == name else _beside(name, output)
    with _bar(f"Searching {figure.figure}", budget) as report:
        if palette_size:
            gaits = palette(objective, seed=seed, budget=budget, size=palette_size, progress=report)
        else:
            how |= {"strategy": strategy, "start": start, "study": study}
            gaits = [find_gait(objective, seed=seed, budget=budget, progress=report, **how)]
    if not gaits:
        raise Problem(f"{figure.figure}: no gait stayed up for ten seconds; try more --evaluations or another --time")
    for i, gait in enumerate(gaits):
        path = output if not palette_size else output.with_stem(f"{output.stem}-{i + 1}")
        found = gait.toy(objective, source=source)
        write_toy(path, found)
        print(f"wrote {path}: {_worth(objective, gait)}")
        if palette_size:
            write_take(take_of(found, figure, seconds=HOLDS_UP), path.with_suffix(".png"))
            print(f"wrote {path.with_suffix('.png')}")
    if gaits[0].outcome.interrupted:
        print(f"stopped early: the best of {len(gaits[0].outcome.values)} candidates was kept")


def _beside(name: str, output: Path) -> str:
    """How a toy names its figure's file: absolute, so that either may be moved."""
    return str(Path(name).resolve()) if output.parent.resolve() != Path(name).parent.resolve() else Path(name).name


def _worth(objective: Objective, gait: Gait) -> str:
    single = dict(objective.terms) == {"distance": 1.0}
    unit = f" m in {objective.seconds:g} s" if single else ""
    return f"{gait.value:.2f}{unit}, {gait.verified:.2f} at a quarter of the step"


def _weights(terms: Sequence[str]) -> dict[Any, float] | None:
    weights: dict[Any, float] = {}
    for term in terms:
        name, _, number = term.partition("=")
        try:
            weights[name] = float(number or "1")
        except ValueError:
            raise Problem(f"--term {term}: expected NAME=WEIGHT, such as effort=-0.5") from None
        if not np.isfinite(weights[name]):
            raise Problem(f"--term {term}: the weight must be a finite number")
    return weights or None


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[int, float], None]]:
    """A bar with the best value so far; silent when nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done, best: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    best_column = TextColumn("best {task.fields[best]}")
    with Progress(*columns, best_column, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, best="-")
        yield lambda done, best: bar.update(task, completed=min(done, total), best=f"{best:.2f}")


def run_and_write(path: Path, outputs: Sequence[Path], *, seconds: float, fps: float) -> None:
    """Run a toy once and write every output."""
    from impel.cli.simulating import progress
    from impel.render.outputs import write_take
    from impel.toys.performance import record

    toy, figure = read_toy(path)
    drawing = [_drawing(output, figure) for output in outputs]
    for output in outputs:
        check_writable(output)
    result = run_toy(toy, figure, seconds=seconds)
    ending = f"fell after {result.time[0]:.2f} s" if result.fallen[0] else f"stayed up for {seconds:g} s"
    print(
        f"{path}: {figure.figure} came {result.distance[0]:.2f} m and {ending}; "
        f"work {result.work[0].sum():.2f} J, effort {result.effort[0].sum():.3g} N²m²s"
    )
    take = record(figure, result, fps=fps) if any(draw is None for draw in drawing) else None
    for output, draw in zip(outputs, drawing):
        if draw is not None:
            draw(output, result)
        else:
            assert take is not None
            with progress(f"Writing {output.name}") as report:
                write_take(take, output, progress=report)
        print(f"wrote {output}")


def _drawing(output: Path, figure: Figure) -> Callable[[Path, Results], None] | None:
    """What draws an output whose name asks for a chart; None if it is a take. Refuses what neither can write."""
    from impel.analysis.toys import write_footfalls, write_joints, write_tracking
    from impel.render.outputs import check_output

    parts = output.stem.split(".")
    if parts[-1] == "footfalls":
        return lambda path, result: write_footfalls(path, footfalls(figure, result))
    if parts[-1] == "joints":
        return lambda path, result: write_joints(path, joint_table(figure, result))
    if parts[-1] == "tracking":
        joint = parts[-2].replace("-", " ") if len(parts) > 1 else ""
        if joint not in figure.joints:
            known = ", ".join(figure.joints)
            raise Problem(f"{output}: {figure.figure} has no joint named {joint!r}; there are {known}")
        return lambda path, result: write_tracking(path, *tracking(figure, result, joint), joint=joint)
    check_output(output)
    return None


def bifurcate_and_write(
    path: Path, outputs: Sequence[Path], parameter: str, span: tuple[float, float, int], *, cycles: int, quantity: str
) -> None:
    """Run a toy at many values of one parameter, a part at a time so that the bar moves."""
    from impel.analysis.toys import write_bifurcation
    from impel.cli.simulating import progress
    from impel.toys.mechanism import rows_of
    from impel.toys.periods import Bifurcation, bifurcate, period_name

    toy, figure = read_toy(path)
    series(figure, rows_of(figure), np.zeros((1, rows_of(figure).saved)), quantity)  # refuse it before the work
    for output in outputs:
        check_writable(output)
    values = np.linspace(*span)
    parts: list[Bifurcation] = []
    with progress(f"Varying {parameter}") as report:
        for part in np.array_split(values, max(1, len(values) // 64)):
            parts.append(bifurcate(toy, figure, parameter, part, cycles=cycles))
            report(sum(len(done.values) for done in parts), len(values))
    diagram = Bifurcation(
        parameter,
        values,
        np.concatenate([part.states for part in parts]),
        np.concatenate([part.periods for part in parts]),
        parts[0].rows,
    )
    drawn = series(figure, diagram.rows, diagram.states, quantity)
    kinds = [period_name(period) for period in diagram.periods]
    for output in outputs:
        write_bifurcation(output, values, drawn, kinds, labels=(parameter, labelled(quantity)))
        print(f"wrote {output}")
    for period, low, high in diagram.windows():
        if low < high:
            print(f"{parameter} {low:.4g} to {high:.4g}: {period_name(period)}")
