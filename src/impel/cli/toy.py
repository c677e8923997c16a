"""`impel toy`: find ways to move for planar figures, run them, and look at how they move."""

from pathlib import Path
from typing import Annotated, Any

import typer

toy = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Wind-up toys: find ways to move for any planar figure, run them, look at how they move.

    Examples:

        impel toy list

        impel toy search luxo -o hop.yaml

        impel toy run hop.yaml -o hop.mp4

        impel toy bifurcate hop.yaml --vary times.2 --from 0.04 --to 0.14 -o diagram.png""",
)

ToyFile = Annotated[Path, typer.Argument(metavar="TOY", help="A toy file.", show_default=False)]
Outputs = Annotated[
    list[Path],
    typer.Option("--output", "-o", metavar="FILE", help="What to write. May be repeated.", show_default=False),
]


@toy.command("list")
def list_figures() -> None:
    """List the built-in figures.

    Example:  impel toy list
    """
    from impel.toys.figure import built_in_figures, load_figure

    for name in built_in_figures():
        figure = load_figure(name)
        print(f"{name:10} {len(figure.links):2} links, {len(figure.active):2} motors  {figure.about}")


@toy.command("search")
def search_figure(
    figure: Annotated[
        str, typer.Argument(metavar="FIGURE", help="A built-in figure or a figure file.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The toy file to write.", show_default=False)
    ],
    strategy: Annotated[
        str | None, typer.Option(help="generate, modify, anneal, genetic, cma or relay.", show_default="relay")
    ] = None,
    evaluations: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many candidates to try.")] = 1500,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same toy.")] = 0,
    seconds: Annotated[float, typer.Option(min=0.1, max=120, help="How long each trial lasts.")] = 4.0,
    poses: Annotated[int | None, typer.Option(min=1, max=64, help="How many poses; by default the figure's.")] = None,
    time: Annotated[float | None, typer.Option(min=0.005, max=5, help="Seconds on every arc; the figure's.")] = None,
    vary_times: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="FROM TO", help="Find the seconds on every arc, too, within this range."),
    ] = None,
    vary_sensors: Annotated[
        bool,
        typer.Option(
            "--vary-sensors", help="Find out, too, which poses end early when a contact point touches or leaves."
        ),
    ] = False,
    linear: Annotated[bool, typer.Option("--linear", help="Move evenly from pose to pose instead of holding.")] = False,
    term: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=WEIGHT",
            help="What counts: lasting (distance upright), distance, speed, effort, work, height, upright, "
            "periodicity. May be repeated.",
            show_default="lasting=1",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            help="How modify and anneal change a parameter: wide, shrinking-fixed or shrinking-random.",
            show_default="shrinking-random",
        ),
    ] = None,
    several: Annotated[
        int | None, typer.Option(min=1, help="How many parameters they change at once.", show_default="1")
    ] = None,
    hot: Annotated[
        float | None, typer.Option(help="The loss that anneal takes now and then at first.", show_default="0.3")
    ] = None,
    cold: Annotated[float | None, typer.Option(help="The same at the end.", show_default="0.003")] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep every trial here; the same command resumes, one with more evaluations goes on."
        ),
    ] = None,
    palette: Annotated[
        int, typer.Option(min=0, max=24, help="Write up to so many clearly different ones, with strips of a cycle.")
    ] = 0,
    refine: Annotated[
        Path | None, typer.Option(metavar="TOY", help="Improve this toy instead of starting anywhere.")
    ] = None,
) -> None:
    """Find out how a figure could move. Ctrl-C keeps the best so far.

    Examples:

        impel toy search luxo -o hop.yaml

        impel toy search cheetah --term distance=1 --term effort=-2 --study run.study -o run.yaml

        impel toy search bounder --strategy anneal --several 4 --hot 0.5 -o bound.yaml

        impel toy search luxo --vary-times 0.05 0.3 -o hop.yaml

        impel toy search luxo --vary-sensors -o hop.yaml

        impel toy search luxo --palette 5 -o hop.yaml

        impel toy search luxo --refine hop-2.yaml -o better.yaml
    """
    from impel.cli.toy_work import search_and_write

    search_and_write(
        figure, output, strategy=strategy, budget=evaluations, seed=seed, seconds=seconds, poses=poses, time=time,
        vary_times=vary_times, vary_sensors=vary_sensors, linear=linear, terms=term or [], study=study,
        palette_size=palette, refining=refine, delta=delta, several=several, hot=hot, cold=cold,
    )  # fmt: skip


@toy.command("run")
def run_file(
    file: ToyFile,
    output: Outputs = [],  # noqa: B006 - typer copies it
    seconds: Annotated[float, typer.Option(min=0.05, max=600, help="How long.")] = 10.0,
    fps: Annotated[float, typer.Option(min=1, max=1000, help="Frames a second.")] = 60.0,
    strides: Annotated[
        bool, typer.Option("--strides", help="A .png shows moments of one cycle side by side, not of the whole run.")
    ] = False,
) -> None:
    """Run a toy as it was verified, say what it does, and write the motion (.npz .csv .glb .mp4 .gif .png).

    Pictures and tables of the run: a name ending in .footfalls.png, .joints.png or .JOINT.tracking.png (or .csv).

    Examples:

        impel toy run hop.yaml -o hop.mp4 -o hop.glb -o hop.footfalls.png

        impel toy run hop.yaml --strides -o strip.png
    """
    from impel.cli.toy_work import run_and_write

    run_and_write(file, output, seconds=seconds, fps=fps, strides=strides)


@toy.command("phase")
def phase_file(
    file: ToyFile,
    output: Outputs,
    x: Annotated[str, typer.Option(help="Horizontal: tilt, height, x, 'angle JOINT', 'speed JOINT', ...")] = "tilt",
    y: Annotated[str, typer.Option(help="Vertical.")] = "height",
    settle: Annotated[float, typer.Option(min=0, max=600, help="Seconds to wait before drawing.")] = 20.0,
) -> None:
    """Draw the settled motion as a curve, and say its period (.png .svg .pdf .csv).

    Example:  impel toy phase hop.yaml -o phase.png
    """
    from impel.cli.toy_work import phase_and_write

    phase_and_write(file, output, x=x, y=y, settle=settle)


@toy.command("bifurcate")
def bifurcate_file(
    file: ToyFile,
    output: Outputs,
    vary: Annotated[str, typer.Option(help="times.N, poses.N.JOINT, joints.JOINT.stiffness, ground.friction, ...")],
    low: Annotated[float, typer.Option("--from", help="The first value.")],
    high: Annotated[float, typer.Option("--to", help="The last value.")],
    values: Annotated[int, typer.Option(min=2, max=20000, help="How many values.")] = 400,
    cycles: Annotated[int, typer.Option(min=20, max=20000, help="Cycles at each value.")] = 260,
    quantity: Annotated[str, typer.Option(help="What to draw: height, tilt, 'angle JOINT', 'speed x', ...")] = "height",
) -> None:
    """Vary one number of a toy and see where its motion repeats every cycle, every second, or never.

    Example:  impel toy bifurcate hop.yaml --vary times.2 --from 0.04 --to 0.14 -o diagram.png
    """
    from impel.cli.toy_work import bifurcate_and_write

    span: Any = (low, high, values)
    bifurcate_and_write(file, output, vary, span, cycles=cycles, quantity=quantity)
