"""The commands of `impel` itself; `toy` and `gait` have files of their own."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from impel.cli.options import Fps, Overlays, TakeFiles

# Groups of commands in modules of their own, loaded only when one of theirs is called.
GROUPS = {
    "toy": "Wind-up toys: find controllers for jumping, walking figures, run and study them.",
    "gait": "Walkers: evolve gaits under an energy budget, and let them walk.",
}


class Commands(TyperGroup):
    """Puts the real group in the place of its stand-in when one of its commands is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name in GROUPS:
            group = typer.main.get_group(getattr(import_module(f"impel.cli.{name}"), name))
            group.name = name
            return name, group, rest
        return name, command, rest


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""You write what should happen; physics decides how it happens.

    Examples:

        impel check scene.yaml

        impel simulate scene.yaml -o take.mp4 -o take.npz

        impel render take.npz --overlays -o strip.png

        impel gallery -o out""",
)

SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="A scene file, YAML or JSON.", show_default=False)]


def _version(asked: bool) -> None:
    if asked:
        from impel import __version__

        print(f"impel {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def simulate(
    scene: SceneFile,
    output: TakeFiles,
    overlays: Overlays = False,
    fps: Fps = None,
) -> None:
    """Simulate a scene and write the motion.

    Example:  impel simulate scene.yaml -o take.mp4 -o take.glb -o take.npz
    """
    from impel.cli.simulating import simulate_file

    simulate_file(scene, output, overlays=overlays, fps=fps)


@app.command()
def render(
    take: Annotated[
        Path, typer.Argument(metavar="TAKE", help="A take, .npz, from simulate or from Python.", show_default=False)
    ],
    output: TakeFiles,
    overlays: Overlays = False,
    fps: Fps = None,
) -> None:
    """Write a take that was kept as other files, without simulating again.

    Example:  impel render take.npz -o take.mp4 -o take.glb
    """
    from impel.cli.simulating import render_file

    render_file(take, output, overlays=overlays, fps=fps)


@app.command()
def check(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A scene, figure, toy, walker, gait or library, YAML or JSON.", show_default=False
        ),
    ],
) -> None:
    """Say what is wrong with a scene or any other file that people write, one line each, without playing it.

    Examples:

        impel check scene.yaml

        impel check figure.yaml
    """
    from impel.cli.kinds import check_file

    check_file(file)


@app.command()
def script(
    scene: SceneFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The picture, .png, .svg or .pdf; left out, beside the scene.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw the script of a scene: appointments with their times, and a timeline of every actor.

    Example:  impel script scene.yaml -o script.png
    """
    from impel.cli.scripting import draw_file

    draw_file(scene, output)


@app.command()
def schema(
    kind: Annotated[
        str, typer.Argument(metavar="[KIND]", help="scene, figure, toy, walker, gait or library.")
    ] = "scene",
) -> None:
    """Print the JSON Schema of a kind of file, with a sentence on every field.

    Examples:

        impel schema > scene.schema.json

        impel schema figure > figure.schema.json
    """
    import json

    from impel.cli.kinds import schema_named

    print(json.dumps(schema_named(kind), indent=2, ensure_ascii=False))


@app.command()
def warmup() -> None:
    """Compile for this machine now what scenes need, so that they start at once.

    Example:  impel warmup
    """
    from impel.stage import warmup as compile_all

    compile_all()
    print("Ready: scenes now start at once.")


@app.command()
def gallery(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Which entries to run; all if none is named.", show_default=False),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The directory for the page and its pictures.")
    ] = Path("out/gallery"),
) -> None:
    """Show or refute what the papers claim: scenes, pictures and computed verdicts on one page.

    Example:  impel gallery -o out/gallery
    """
    from impel.cli.simulating import progress
    from impel.gallery import run

    with progress("Gallery") as report:
        verdicts = run(names or [], output, progress=lambda name, done, total: report(done, total))
    for verdict in verdicts:
        print(f"{verdict.claim}: {verdict.verdict}: {verdict.measured}")
    print(f"wrote {output / 'index.html'}")


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The directory to write to.")] = Path(
        "out"
    ),
) -> None:
    """Simulate a show-case scene and leave a model, a video and a picture strip.

    Example:  impel demo -o out
    """
    from impel.cli.simulating import DEMO, simulate_file

    simulate_file(DEMO, [output / f"{DEMO.stem}{extension}" for extension in (".glb", ".mp4", ".png")])


Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="On 127.0.0.1; 0 takes any that is free.")]


@app.command()
def studio(
    scene: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENE]", help="A scene file; without one there are examples.", show_default=False),
    ] = None,
    port: Port = 0,
    browser: Annotated[bool, typer.Option(help="Open it in the browser.")] = True,
) -> None:
    """Open a scene in the browser: change a number, see the motion change.

    Example:  impel studio scene.yaml
    """
    from impel.cli.studio import run

    run(scene, port=port, pages=True, browser=browser)


@app.command()
def serve(
    scene: Annotated[
        Path | None, typer.Argument(metavar="[SCENE]", help="A scene file to begin with.", show_default=False)
    ] = None,
    port: Port = 0,
) -> None:
    """The studio without its page, for other programs: load, change, simulate, stream, cancel.

    Example:  impel serve scene.yaml --port 8642
    """
    from impel.cli.studio import run

    run(scene, port=port, pages=False, browser=False)


def _stand_in(name: str, summary: str) -> None:
    @app.command(name, help=summary)
    def group() -> None:
        """Never called: `Commands` puts the real group in its place."""


for _name, _summary in GROUPS.items():
    _stand_in(_name, _summary)
