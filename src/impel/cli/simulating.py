"""`impel simulate` and `impel render`: from a scene or a take to output files, saying how it goes."""

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from impel.cli.kinds import read_as
from impel.files import Problem, check_writable

if TYPE_CHECKING:
    from impel.takes import Take

NOT_TO_BE_TRUSTED = 3  # exit code: the take was written, but joints in it are apart
DEMO = Path(__file__).parents[1] / "gallery" / "scenes" / "blow.yaml"


def simulate_file(path: Path, outputs: Sequence[Path], *, overlays: bool = False, fps: float | None = None) -> None:
    """Simulate a scene and write every output; whatever can be refused is refused before the work begins."""
    from impel.scene import load_scene

    with read_as("scene", path):
        scene = load_scene(path)
    _check_outputs(outputs)

    from impel.scene.limits import beyond_limits
    from impel.stage import simulate

    begun = time.perf_counter()
    moments = []
    with progress(f"Simulating {path.name}") as report:

        def note(done: int, total: int) -> None:
            moments.append(time.perf_counter())
            report(done, total)

        with plain_warnings():
            take = simulate(scene, fps=fps, progress=note, source=str(path))
    spent = time.perf_counter() - begun
    # Before the first frame everything is loaded, or even compiled: the pace is that of the others.
    playing = moments[-1] - moments[0] if len(moments) > 1 else spent
    pace = max(len(moments) - 1, 1) / scene.world.fps / playing
    start = moments[0] - begun if moments else 0.0
    started = f", of which {start:.1f} s to start" if start > 2.0 else ""
    motion = f"{scene.world.seconds:g} s of motion at {pace:.3g} times real time"
    print(f"{path.name}: {motion} ({spent:.1f} s in all{started})")
    for line in (*beyond_limits(scene), *take.remarks()):
        print(f"{path.name}: {line}")
    _write_outputs(take, outputs, overlays)
    if any(event["kind"] == "joint apart" for event in take.events):
        sys.exit(NOT_TO_BE_TRUSTED)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say what a scene is warned of in plain lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: print(message, file=sys.stderr)
        yield


def render_file(path: Path, outputs: Sequence[Path], *, overlays: bool = False, fps: float | None = None) -> None:
    """Write a take that was kept in any other form."""
    from impel.takes import load_npz, resampled

    if path.suffix.lower() != ".npz":
        raise Problem(f"{path}: is not a take; simulate a scene with -o {path.with_suffix('.npz').name} to get one")
    take = load_npz(path)
    if fps is not None:
        take = resampled(take, fps)
    _check_outputs(outputs)
    _write_outputs(take, outputs, overlays)


def _check_outputs(outputs: Sequence[Path]) -> None:
    from impel.render.outputs import check_output

    for output in outputs:
        check_writable(output)
        check_output(output)


def _write_outputs(take: "Take", outputs: Sequence[Path], overlays: bool) -> None:
    from impel.render.outputs import write_take

    for output in outputs:
        with progress(f"Writing {output.name}") as report:
            write_take(take, output, overlays=overlays, progress=report)
        print(f"wrote {output}")


class Report(Protocol):
    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def progress(title: str) -> Iterator[Report]:
    """A bar on the terminal that is told how much is done, how much there is to do and what to say about it.

    It moves to and fro until it is told; silent when nobody watches.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, note="": None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, note="": bar.update(
            task, completed=done, total=total, description=f"{title}: {note}" if note else title
        )
