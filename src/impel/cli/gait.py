"""`impel gait`: evolve gaits under an energy budget, and let walkers walk. Thin: everything is loaded when it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from impel.cli.options import TakeFiles
from impel.files import Problem, check_writable

if TYPE_CHECKING:
    from impel.gaits.evolve import Evolved
    from impel.gaits.wishes import Wishes

gait = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="""Walkers: an energy budget decides how they walk. Little looks tired, much looks brisk.

    Examples:

        impel gait evolve --energy 30 -o tired.yaml

        impel gait walk tired.yaml -o walk.glb

        impel gait walk creature --mood 0:10,6:90 --path "0,0 4,0 6,3" -o walk.mp4

        impel gait library mine.yaml -o moods.yaml""",
)

Stairs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="START,RISE,TREAD,STEPS",
        help="Stairs on the way, in metres and a count; a negative rise goes down. May be repeated.",
        show_default=False,
    ),
]
Obstacle = Annotated[
    list[str] | None,
    typer.Option(
        metavar="START,LENGTH,HEIGHT", help="Something to step over, in metres. May be repeated.", show_default=False
    ),
]
WALKER = "A walker file, or a built-in walker (creature, biped, hexapod)."
Number = float | None
Lame = Annotated[str | None, typer.Option(metavar="LEG", help="The leg to be spared.", show_default=False)]


def _wish(text: str, metavar: str = "NUMBER") -> Any:
    return typer.Option(help=text, metavar=metavar, show_default=False)


@gait.command()
def evolve(
    energy: Annotated[float, _wish("The energy to spend on the way.")],
    walker: Annotated[str | None, typer.Argument(metavar="WALKER", help=WALKER, show_default="creature")] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The gait file to write, .yaml or .json.")
    ] = Path("gait.yaml"),
    named: Annotated[
        str | None, typer.Option("--walker", metavar="WALKER", help="The same as an option.", show_default=False)
    ] = None,
    seconds: Annotated[Number, _wish("Be there after this time; as soon as possible if not given.")] = None,
    distance: Annotated[
        Number, _wish("How long the way is (m), from standing to standing; 4, or twice its legs, if not given.")
    ] = None,
    min_height: Annotated[Number, _wish("The body never sinks below this (m).")] = None,
    max_height: Annotated[Number, _wish("The body never rises above this (m).")] = None,
    min_pace: Annotated[Number, _wish("Steps are at least this long (m).")] = None,
    max_pace: Annotated[Number, _wish("Steps are at most this long (m).")] = None,
    lame: Lame = None,
    max_load: Annotated[
        Number, _wish("The share of the weight that the lame leg may carry; 0.17 if not given.")
    ] = None,
    support: Annotated[int | None, _wish("How many feet stay on the ground at any time.", "COUNT")] = None,
    min_contact: Annotated[Number, _wish("The share of its feet that are down, in the mean over time.")] = None,
    min_heave: Annotated[Number, _wish("The body rises and sinks by at least this much (m).")] = None,
    max_heave: Annotated[Number, _wish("The body rises and sinks by at most this much (m).")] = None,
    stairs: Stairs = None,
    obstacle: Obstacle = None,
    curve: Annotated[str, typer.Option(help="How feet move through the air: smooth, or as in the paper.")] = "smooth",
    strategy: Annotated[str, typer.Option(help="genetic, as in the paper, or cma.")] = "genetic",
    free_delays: Annotated[bool, typer.Option("--free-delays", help="Let every foot keep its own time.")] = False,
    generations: Annotated[int, typer.Option(min=1, help="How often to breed.")] = 20,
    population: Annotated[int, typer.Option(min=10, help="How many walkers compete.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same gait.")] = 0,
) -> None:
    """Evolve a gait that meets wishes: energy, time, height, pace, a limp, stairs.

    Energy and time are those of the whole walk, from standing to standing. A time and an energy that no gait can meet
    are refused, with the nearest that one does.

    Examples:

        impel gait evolve --energy 30 -o tired.yaml

        impel gait evolve --energy 100 --lame rear_right -o limp.yaml

        impel gait evolve mine.yaml --energy 100 --seconds 10 --obstacle 2,0.3,0.4 -o careful.yaml
    """
    from impel.cli.simulating import progress
    from impel.complaints import validated
    from impel.gaits.evolve import evolve as search
    from impel.gaits.evolve import nearest_granted
    from impel.gaits.gait import save_gait
    from impel.gaits.walker import load_walker
    from impel.gaits.wishes import Wishes

    _check_document(output, "gait")
    if walker is not None and named is not None:
        raise Problem(f"--walker {named}: the walker is named already: {walker}")
    walker = walker or named or "creature"
    if strategy not in ("genetic", "cma"):
        raise Problem(f"strategy: must be genetic or cma, got {strategy!r}")
    given = {
        "energy": energy, "seconds": seconds, "distance": distance, "min_height": min_height,
        "max_height": max_height, "min_pace": min_pace, "max_pace": max_pace, "lame": lame, "max_load": max_load,
        "support": support, "min_contact": min_contact, "min_heave": min_heave, "max_heave": max_heave,
        "curve": curve, "ground": _ground(stairs, obstacle),
    }  # fmt: skip
    wishes = validated(Wishes, {name: value for name, value in given.items() if value is not None}, "wishes")
    creature = load_walker(walker)
    way = wishes.way(creature)

    def run(wanted: Wishes, title: str = "Evolving") -> "Evolved":
        with progress(f"{title} {creature.name}") as report:
            return search(
                creature, wanted, generations=generations, population=population, seed=seed,
                strategy=strategy,  # type: ignore[arg-type]
                free_delays=free_delays, on_generation=lambda best: report(best.number + 1, generations + 1),
            )  # fmt: skip

    evolved = run(wishes)
    bred = f"stopped early, after {len(evolved.history) - 1} of {generations} generations"
    if not evolved.possible:
        cut = f" ({bred})" if evolved.interrupted else ""
        raise Problem(f"wishes: no gait of {creature.name} meets them all{cut}: {', '.join(evolved.binding)}")
    if seconds is not None and not evolved.interrupted and not evolved.meets(wishes):
        granted = nearest_granted(wishes, evolved, lambda other: run(other, "Looking for what can be granted to"))
        raise Problem(_refusal(creature.name, way, wishes, evolved, granted))
    save_gait(output, evolved.gait.model_copy(update={"walker": walker}))
    _tell(evolved, wishes, way)
    if evolved.interrupted:
        print(f"{bred}: the best so far was kept")
    print(f"wrote {output}")


def _refusal(name: str, way: float, wishes: "Wishes", found: "Evolved", granted: "Wishes | None") -> str:
    why = ", ".join(found.binding) or "too few generations"
    line = f"wishes: {name} cannot walk {way:g} m in {wishes.seconds:g} s for an energy of {wishes.energy:g} ({why})"
    if granted is None:
        return f"{line}; nor could anything near be found"
    return f"{line}; the nearest that it can: --energy {granted.energy:g} --seconds {granted.seconds:g}"


def _check_document(output: Path, what: str) -> None:
    check_writable(output)
    if output.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise Problem(f"{output}: a {what} file ends in .yaml or .json")


@gait.command()
def library(
    walker: Annotated[
        str,
        typer.Argument(metavar="WALKER", help=WALKER, show_default=False),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The library file to write, .yaml or .json.")
    ] = Path("library.yaml"),
    wishes: Annotated[
        str | None,
        _wish("A library whose wishes and order of the feet to use; found out by trying if not given.", "FILE"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same library.")] = 0,
) -> None:
    """Evolve gaits for a ladder of energies: with them a walker of your own has a mood.

    Without --wishes, random gaits show what the walker can do, from exhausted to exuberant; the wishes are kept in the
    library, to be edited and used again. For a built-in walker they are those it came with, which gives its library
    again.

    Examples:

        impel gait library mine.yaml -o moods.yaml

        impel gait walk moods.yaml --mood 0:0,6:100 -o walk.mp4

        impel gait library mine.yaml --wishes moods.yaml -o moods.yaml
    """
    from impel.cli.simulating import progress
    from impel.gaits.ladder import evolve_library, ladder_for
    from impel.gaits.mood import Moods, library_names, load_library, save_library
    from impel.gaits.walker import load_walker

    _check_document(output, "library")
    creature = load_walker(walker)
    source = wishes or (walker if walker in library_names() else None)
    with progress(f"Evolving moods of {creature.name}") as report:
        if source is not None:
            known = load_library(source)
            order, ladder = known.order, [rung.wishes for rung in known.gaits]
        else:
            order, ladder = ladder_for(creature, seed=seed)
        made = evolve_library(creature, order, ladder, seed=seed, progress=report)
    save_library(output, made.model_copy(update={"walker": walker}))
    slider = Moods.of_library(made)
    print(f"moods of {creature.name}: energy {slider.energies[0]:.3g} to {slider.energies[-1]:.3g} for 4 m")
    print(f"wrote {output}")


def _tell(evolved: "Evolved", wishes: "Wishes", way: float) -> None:
    measured = evolved.measured
    print(
        f"energy {evolved.energy:.2f} of {wishes.energy:g} for {way:g} m in {evolved.seconds:.2f} s, "
        f"fitness {evolved.fitness:.2f}"
    )
    print(", ".join(f"{term} {getattr(measured, term)[0]:.1f}" for term in ("torque", "legs", "body", "acceleration")))
    off = evolved.energy / wishes.energy - 1
    if abs(off) > 0.01:
        why = ", ".join(evolved.binding) or "too few generations"
        print(f"not reached: energy is {off:+.1%} off; in the way: {why}")


@gait.command()
def walk(
    gait: Annotated[
        str,
        typer.Argument(
            metavar="GAIT",
            help="A gait file, or a walker with a mood: creature, biped, hexapod, or a library file.",
            show_default=False,
        ),
    ],
    output: TakeFiles,
    mood: Annotated[str | None, _wish("From exhausted (0) to exuberant (100); 50 if not given.", "KEYS")] = None,
    path: Annotated[
        str | None,
        _wish(
            "Points to walk through, as x,y in metres, with spaces between; if not given, straight on as far as the "
            "gait was evolved for, or 8 m.",
            "POINTS",
        ),
    ] = None,
    pace: Annotated[str | None, _wish("How long steps are (m).", "KEYS")] = None,
    height: Annotated[str | None, _wish("How high the body is (m), in the mean.", "KEYS")] = None,
    lame: Lame = None,
    limp: Annotated[str | None, _wish("How much the lame leg is spared, from 0 to 1; 1 if not given.", "KEYS")] = None,
    seconds: Annotated[Number, _wish("Stop after this time, wherever it is.")] = None,
    stairs: Stairs = None,
    obstacle: Obstacle = None,
    fps: Annotated[float, typer.Option(min=1, max=1000, help="Frames a second.")] = 60.0,
) -> None:
    """Walk along a path and write the motion.

    KEYS are one value, or values at times in seconds to go through: 0:10,4:90,8:10.

    Examples:

        impel gait walk creature --mood 0:0,5:100 -o walk.mp4

        impel gait walk tired.yaml --path "0,0 4,0 6,3" -o walk.glb

        impel gait walk biped --mood 30 --stairs 3,0.2,0.6,4 -o stairs.glb -o stairs.png
    """
    from impel.cli.simulating import progress
    from impel.complaints import validated
    from impel.gaits.ground import Ground
    from impel.gaits.mood import moods_of
    from impel.gaits.record import as_take
    from impel.gaits.walk import walk as take_a_walk
    from impel.render.outputs import check_output, write_take

    for file in output:
        check_output(file)
    moods = moods_of(gait, with_mood=mood is not None)
    born_lame = moods.lame is not None
    keys = {"mood": mood or "50", "limp": limp or ("0" if lame is None or born_lame else "1")}
    keys |= {name: text for name, text in (("pace", pace), ("height", height)) if text is not None}
    if seconds is not None and not 0 < seconds <= 3600:
        raise Problem(f"seconds: must be above 0 and at most 3600, got {seconds:g}")
    with progress(f"Walking {moods.walker.name}"):  # nobody knows beforehand how long it takes to arrive
        walked = take_a_walk(
            moods,
            path=[_numbers("path", point, 2) for point in path.split()] if path else [(0, 0), (moods.distance or 8, 0)],
            lame=lame,
            ground=validated(Ground, _ground(stairs, obstacle), "ground"),
            seconds=seconds,
            **{name: _keys(name, text) for name, text in keys.items()},  # type: ignore[arg-type]
        )
        take = as_take(walked, fps=fps)
    spent = walked.energy[-1].sum()
    print(
        f"{moods.walker.name}: {walked.time[-1]:.2f} s, {len(walked.footfalls())} steps, "
        f"{walked.along[-1]:.3g} m, energy {spent:.4g}"
    )
    for file in output:
        with progress(f"Writing {file.name}") as report:
            write_take(take, file, progress=report)
        print(f"wrote {file}")


def _numbers(name: str, text: str, count: int) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise Problem(f"{name}: expected {count} numbers with commas between, got {text!r}")
    return numbers


def _keys(name: str, text: str) -> list[tuple[float, float]]:
    """`20`, or `0:20,4:90`."""
    keys = []
    for part in text.split(","):
        time, colon, value = part.rpartition(":")
        try:
            keys.append((float(time) if colon else 0.0, float(value)))
        except ValueError:
            raise Problem(f"{name}: expected a value, or seconds:value with commas between, got {text!r}") from None
        if not colon and text != part:
            raise Problem(f"{name}: several values need times, as seconds:value, got {text!r}")
    return keys


def _ground(stairs: list[str] | None, obstacle: list[str] | None) -> dict[str, Any]:
    flights = [_numbers("stairs", text, 4) for text in stairs or []]
    things = [_numbers("obstacle", text, 3) for text in obstacle or []]
    return {
        "stairs": [dict(zip(("start", "rise", "tread", "steps"), flight)) for flight in flights],
        "obstacles": [dict(zip(("start", "length", "height"), thing)) for thing in things],
    }
