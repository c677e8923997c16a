"""The longer commands of `impel toy`, behind their options."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from impel.cli.kinds import read_as
from impel.cli.simulating import progress
from impel.files import Problem, check_writable
from impel.toys.figure import Figure, built_in_figures, load_figure
from impel.toys.measures import footfalls, joint_table, labelled, phase, series, tracking
from impel.toys.mechanism import rows_of
from impel.toys.objectives import DEFAULT_TERMS, Objective
from impel.toys.periods import period_name
from impel.toys.synthesis import DEFAULT_STRATEGY, FoundPoses, find_poses, objective_for, palette
from impel.toys.toy import Toy, read_toy, run_toy, write_toy
from impel.toys.trials import Results
from impel.toys.verify import LASTS, NEAR

# Which strategies listen to an option.
LISTENING = {"delta": ("modify", "anneal"), "several": ("modify", "anneal"), "hot": ("anneal",), "cold": ("anneal",)}
SETTLED = 4.0  # s before a strip of one cycle is taken


def search_and_write(
    name: str, output: Path, *, strategy: str | None, budget: int, seed: int, seconds: float, poses: int | None,
    time: float | None, vary_times: tuple[float, float] | None, vary_sensors: bool, linear: bool, terms: Sequence[str],
    study: Path | None, palette_size: int, refining: Path | None, **tuning: Any,
) -> None:  # fmt: skip
    """Find one pose graph or a palette of them, and write toys. tuning: options of strategies, None where not given."""
    how = {option: value for option, value in tuning.items() if value is not None}
    _check_together(
        {
            "--palette": palette_size, "--refine": refining, "--vary-times": vary_times, "--poses": poses,
            "--time": time, "--linear": linear, "--strategy": strategy != "generate" and strategy,
        }
    )  # fmt: skip
    chosen = strategy or ("generate" if palette_size else "cma" if refining else DEFAULT_STRATEGY)
    for option in how:
        if chosen not in LISTENING[option]:
            raise Problem(f"--{option}: is for the strategy {' or '.join(LISTENING[option])}, not for {chosen}")
    figure = load_figure(name)
    paths = _toy_paths(output, palette_size)
    _keep_apart(paths, {"--study": study, "FIGURE": None if name in built_in_figures() else Path(name)})
    if study is not None:
        check_writable(study)

    options: dict[str, Any] = {"seconds": seconds, "interpolation": "linear" if linear else "hold"}
    options |= {"poses": poses} if poses is not None else {}
    options |= {"times": time} if time is not None else {}
    known = None
    if refining is not None:
        with read_as("toy", refining):
            known, figure_there = read_toy(refining)
        if figure_there != figure:
            raise Problem(f"{refining}: is a toy of {figure_there.figure}, not of {figure.figure}")
        options |= {"poses": len(known.poses), "times": tuple(known.times), "interpolation": known.interpolation}
        options |= {"sensors": None if known.sensors is None else tuple(known.sensors)}
        how |= {"spread": NEAR} if chosen == "cma" else {}
    objective = objective_for(figure, _weights(terms), vary_times=vary_times, vary_sensors=vary_sensors, **options)
    start = None if known is None else objective.candidate(known.angles(figure))
    with progress(f"Searching {figure.figure}") as report:
        kept: dict[str, Any] = {
            "seed": seed, "budget": budget, "study": study,
            "progress": lambda done, best: report(done, budget, f"best {best:.2f}"),
            "verifying": lambda done, total: report(done, total, f"running the best for {LASTS:g} s"),
        }  # fmt: skip
        if palette_size:
            graphs = palette(objective, size=palette_size, **kept)
        else:
            graphs = [find_poses(objective, strategy=chosen, start=start, **kept, **how)]
    if not graphs:
        raise Problem(f"{figure.figure}: nothing kept it up for {LASTS:g} s; try more --evaluations or another --time")
    _write_toys(objective, graphs, paths, source=_source(name, output), strips=palette_size > 0)


# What makes no sense beside an option, and why.
APART = {
    "--palette": ("draws new pose graphs at random", ("--strategy", "--refine")),
    "--refine": ("keeps what the toy says", ("--poses", "--time", "--linear")),
    "--vary-times": ("finds a time for every arc", ("--time",)),
}


def _check_together(given: dict[str, Any]) -> None:
    for option, (why, others) in APART.items():
        senseless = [other for other in others if given[other]]
        if given[option] and senseless:
            raise Problem(f"{option}: {why}; it cannot be combined with {' or '.join(senseless)}")


def _toy_paths(output: Path, palette_size: int) -> list[Path]:
    """Where the toys go: as asked, or numbered beside it."""
    if output.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise Problem(f"{output}: a toy file ends in .yaml or .json")
    numbered = [output.with_stem(f"{output.stem}-{i + 1}") for i in range(palette_size)]
    return numbered or [output]


def _keep_apart(paths: Sequence[Path], others: dict[str, Path | None]) -> None:
    """Refuse to write over a file that is read or kept, or where nothing can be written."""
    for path in paths:
        for option, other in others.items():
            if other is not None and path.resolve() == other.resolve():
                raise Problem(f"{path}: is also the file of {option}; write the toy somewhere else")
        check_writable(path)


def _write_toys(
    objective: Objective, graphs: Sequence[FoundPoses], paths: Sequence[Path], *, source: str | None, strips: bool
) -> None:
    for path, graph in zip(paths, graphs):
        found = graph.toy(objective, source=source)
        write_toy(path, found)
        print(f"wrote {path}: {_worth(objective, graph)}")
        if strips:
            strip = path.with_suffix(".png")
            with progress(f"Writing {strip.name}"):
                _write_strides(strip, found, objective.figure)
            print(f"wrote {strip}")
    if graphs[0].outcome.interrupted:
        print(f"stopped early: the best of {len(graphs[0].outcome.values)} candidates was kept")


def _source(name: str, output: Path) -> str | None:
    """How a toy names a figure that is not built in: beside it by its name alone, so that both may be moved
    together; elsewhere by its whole path, so that the toy may be moved, but not the figure."""
    if name in built_in_figures():
        return None
    path = Path(name)
    return path.name if output.parent.resolve() == path.parent.resolve() else str(path.resolve())


def _worth(objective: Objective, graph: FoundPoses) -> str:
    """What was verified, and nothing else."""
    where = "at a quarter of the step, from the worst start"
    if not graph.stays_up:
        fallen = f"does not stay up: falls after {graph.time:.2f} s, {graph.distance:.2f} m on, {where}"
        return f"{fallen}; nothing that was tried lasts longer, so try more --evaluations, or another --time"
    short = f"{graph.verified:.2f} m in {objective.seconds:g} s and " if dict(objective.terms) == DEFAULT_TERMS else ""
    return f"stays up, and comes {short}{graph.distance:.2f} m in {LASTS:g} s, {where}"


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


def run_and_write(path: Path, outputs: Sequence[Path], *, seconds: float, fps: float, strides: bool) -> None:
    """Run a toy once, as it was verified, and write every output."""
    from impel.render.outputs import write_take
    from impel.toys.performance import record

    with read_as("toy", path):
        toy, figure = read_toy(path)
    drawing = [_drawing(output, figure) for output in outputs]
    if strides:
        if not any(draw is None and output.suffix.lower() == ".png" for output, draw in zip(outputs, drawing)):
            raise Problem("--strides: is for a picture; give -o with a name that ends in .png")
        drawing = [
            (lambda where, _: _write_strides(where, toy, figure))
            if draw is None and output.suffix.lower() == ".png"
            else draw
            for output, draw in zip(outputs, drawing)
        ]
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


def _write_strides(path: Path, toy: Toy, figure: Figure) -> None:
    """Moments of one settled cycle, side by side; of the last cycle before a fall if there is one."""
    from impel.gallery.strides import write_strides
    from impel.toys.performance import take_of

    cycle = sum(toy.times)
    begin = max(SETTLED, 2 * cycle)
    write_strides(path, [take_of(toy, figure, seconds=begin + cycle, fps=240.0)], begin=begin, seconds=cycle)


def _drawing(output: Path, figure: Figure) -> Callable[[Path, Results], None] | None:
    """What draws an output whose name asks for a chart; None if it is a take. Refuses what neither can write."""
    from impel.analysis.toys import check_chart, write_footfalls, write_joints, write_tracking
    from impel.render.outputs import check_output

    parts = output.stem.split(".")
    if parts[-1] not in ("footfalls", "joints", "tracking"):
        check_output(output)
        return None
    check_chart(output)
    if parts[-1] == "footfalls":
        return lambda path, result: write_footfalls(path, footfalls(figure, result))
    if parts[-1] == "joints":
        return lambda path, result: write_joints(path, joint_table(figure, result))
    written = parts[-2] if len(parts) > 1 else ""
    joint = written if written in figure.joints else written.replace("-", " ")  # spaces are a nuisance in file names
    if joint not in figure.joints:
        known = ", ".join(figure.joints)
        raise Problem(f"{output}: {figure.figure} has no joint named {written!r}; there are {known}")
    return lambda path, result: write_tracking(path, *tracking(figure, result, joint), joint=joint)


def phase_and_write(path: Path, outputs: Sequence[Path], *, x: str, y: str, settle: float) -> None:
    """Draw the settled motion of a toy and say its period."""
    from impel.analysis.toys import check_chart, write_phase

    with read_as("toy", path):
        toy, figure = read_toy(path)
    for output in outputs:
        check_chart(output)
    for quantity in (x, y):
        _check_quantity(figure, quantity)
    with progress(f"Settling {path.name}"):
        found = phase(toy, figure, x=x, y=y, settle=settle)
    if found.fell is not None:
        raise Problem(f"{path}: falls after {found.fell:.2f} s, so there is no settled motion to draw")
    for output in outputs:
        labels = labelled(x), labelled(y)
        write_phase(output, found.curve, found.marks, labels=labels, title=period_name(found.period))
        print(f"wrote {output}")
    print(f"{path}: {period_name(found.period)}")


def _check_quantity(figure: Figure, quantity: str) -> None:
    series(figure, rows_of(figure), np.zeros((1, rows_of(figure).saved)), quantity)


def bifurcate_and_write(
    path: Path, outputs: Sequence[Path], parameter: str, span: tuple[float, float, int], *, cycles: int, quantity: str
) -> None:
    """Run a toy at many values of one parameter, a part at a time so that the bar moves."""
    from impel.analysis.toys import check_chart, write_bifurcation
    from impel.toys.periods import FALLEN, Bifurcation, bifurcate, check_values

    with read_as("toy", path):
        toy, figure = read_toy(path)
    _check_quantity(figure, quantity)
    for output in outputs:
        check_chart(output)
    with np.errstate(invalid="ignore"):
        values = np.linspace(*span)
    check_values(toy, figure, parameter, values)
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
    fallen = int((diagram.periods == FALLEN).sum())
    if fallen == len(values):
        raise Problem(
            f"{path}: falls at every value of {parameter} within {cycles} cycles, so there is nothing to draw"
        )
    drawn = series(figure, diagram.rows, diagram.states, quantity)
    kinds = [period_name(period) for period in diagram.periods]
    for output in outputs:
        write_bifurcation(output, values, drawn, kinds, labels=(parameter, labelled(quantity)))
        print(f"wrote {output}")
    if fallen:
        print(f"it falls at {fallen} of {len(values)} values, which are left out of the picture")
    for period, low, high in diagram.windows():
        if low < high:
            print(f"{parameter} {low:.4g} to {high:.4g}: {period_name(period)}")
