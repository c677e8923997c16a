"""Wind-up toys in the studio: a search whose palette fills up while it runs, and a toy to play with.

A search is that of `impel toy search --palette`: first a short one, to have something to look at, then the whole, which
gives the very toys that the command line finds with the same seed.
"""

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.complaints import say
from impel.files import Problem
from impel.geometry.meshes import mesh_of
from impel.takes import Take
from impel.toys.figure import Figure, built_in_figures, load_figure
from impel.toys.measures import labelled, phase, series
from impel.toys.performance import take_of
from impel.toys.periods import bifurcate, period_name
from impel.toys.synthesis import objective_for, palette
from impel.toys.toy import Toy, check_toy

SIZE = 6  # toys of a palette
STAGES = (0.25, 1.0)  # of the evaluations, after which there is a palette to look at
MOST_EVALUATIONS = 20_000
PREVIEW_SECONDS, PREVIEW_FPS = 4.0, 30.0
SHOWN_SECONDS = 8.0
BIFURCATION_VALUES = 120
LEAVE = 1.0  # s that is waited for the thread at the end: it may be compiling, and leaves nothing behind


class Superseded(Exception):
    """Another search was asked for."""


class Toybox:
    """One thread that searches and runs toys; what it finds is told."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], show: Callable[[Take], None]) -> None:
        self.tell, self.show = tell, show  # both may be called from the thread
        self.figure: Figure | None = None
        self.toys: list[Toy] = []
        self.toy: Toy | None = None
        self._searches = 0
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def search(self, name: str, evaluations: int, seed: int) -> None:
        """Fill a palette with toys of a figure."""
        if not isinstance(evaluations, int) or not 50 <= evaluations <= MOST_EVALUATIONS:
            raise Problem(f"evaluations: must be a whole number from 50 to {MOST_EVALUATIONS}")
        if not isinstance(seed, int) or seed < 0:
            raise Problem(f"seed: must be a whole number of at least 0, got {say(seed)}")
        if name not in built_in_figures():
            raise Problem(f"figure: there is none called {name!r}; there is {', '.join(built_in_figures())}")
        figure = load_figure(name)
        self._searches += 1
        number = self._searches
        self._order(lambda: self._search(figure, evaluations, seed, number))

    def stop(self) -> None:
        self._searches += 1

    def pick(self, number: int) -> None:
        """Run a toy of the palette, to be seen and changed."""
        if number not in range(len(self.toys)):
            raise Problem(f"number: there are {len(self.toys)} toys, counted from 0")
        self.toy = self.toys[number]
        self._run()

    def change(self, pose: int | None, joint: str | None, time: int | None, value: float) -> None:
        """Another angle of a pose, in degrees, or another time."""
        toy, figure = self._picked()
        document = toy.model_dump(mode="json")
        if pose is not None and joint is not None:
            if pose not in range(len(toy.poses)):
                raise Problem(f"pose: there are {len(toy.poses)}, counted from 0")
            document["poses"][pose][joint] = value
        elif time in range(len(toy.times)):
            document["times"][time] = value
        else:
            raise Problem("toy: give pose and joint, or time")
        try:
            changed = Toy.model_validate(document)
        except ValueError as error:
            raise Problem(f"toy: {str(error).splitlines()[-2].strip()}") from None
        check_toy(changed, figure, subject="toy")
        self.toy = changed
        self._run()

    def plot(self, kind: str, parameter: str, low: float, high: float) -> None:
        """Its settled motion in the plane of tilt and height; or how its tilt depends on one parameter."""
        toy, figure = self._picked()
        if kind == "phase":
            self._order(lambda: self._phase(toy, figure))
        elif kind == "bifurcation":
            self._order(lambda: self._bifurcation(toy, figure, parameter, np.linspace(low, high, BIFURCATION_VALUES)))
        else:
            raise Problem("kind: must be phase or bifurcation")

    def close(self) -> None:
        self.stop()
        if self._thread is not None:
            self._work.put(None)
            self._thread.join(LEAVE)

    def _picked(self) -> tuple[Toy, Figure]:
        if self.toy is None or self.figure is None:
            raise Problem("toy: pick one first")
        return self.toy, self.figure

    def _order(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="toybox", daemon=True)
            self._thread.start()
        self._work.put(work)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Superseded:
                pass
            except Problem as problem:
                self.tell({"tell": "notice", "line": problem.lines[0]})
            except Exception as error:  # a fault of ours must not end the toys
                line = f"fault of the studio's own: {type(error).__name__}: {error}"
                self.tell({"tell": "notice", "line": line})

    def _search(self, figure: Figure, evaluations: int, seed: int, number: int) -> None:
        objective = objective_for(figure)

        def progress(done: int, best: float) -> None:
            if number != self._searches:
                raise Superseded
            self.tell({"tell": "search", "done": done, "of": evaluations, "best": float(best), "verifying": False})

        def verifying(done: int, of: int) -> None:
            if number != self._searches:
                raise Superseded
            self.tell({"tell": "search", "done": done, "of": of, "best": None, "verifying": True})

        for share in STAGES:
            graphs = palette(
                objective, seed=seed, budget=round(share * evaluations), size=SIZE, progress=progress,
                verifying=verifying,
            )  # fmt: skip
            self.figure = figure
            self.toys = [graph.toy(objective) for graph in graphs]
            cards = [
                {"distance": graph.distance, "time": graph.time, **preview(toy, figure)}
                for graph, toy in zip(graphs, self.toys)
            ]
            self.tell({"tell": "palette", "figure": figure.figure, "toys": cards, "ended": share == 1.0})

    def _run(self) -> None:
        toy, figure = self._picked()
        ranges = {name: figure.joints[name].range or (-180.0, 180.0) for name in figure.active}
        told = {"tell": "toy", "figure": figure.figure, "poses": toy.poses, "times": toy.times, "ranges": ranges}
        self.tell(told)
        self._order(lambda: self.show(take_of(toy, figure, seconds=SHOWN_SECONDS)))

    def _phase(self, toy: Toy, figure: Figure) -> None:
        found = phase(toy, figure)
        title = f"falls after {found.fell:.2f} s" if found.fell is not None else period_name(found.period)
        labels = [labelled(found.x), labelled(found.y)]
        told = {"tell": "plot", "kind": "phase", "title": title, "labels": labels}
        self.tell(told | {"line": _plain(found.curve[::2]), "points": _plain(found.marks)})

    def _bifurcation(self, toy: Toy, figure: Figure, parameter: str, values: NDArray[np.float64]) -> None:
        found = bifurcate(toy, figure, parameter, values, cycles=120, keep=24)
        tilts = series(figure, found.rows, found.states, "tilt")
        points = [(value, tilt) for value, row in zip(found.values, tilts) for tilt in row if np.isfinite(tilt)]
        kinds = ", ".join(dict.fromkeys(period_name(period) for period, _, _ in found.windows()))
        labels = [parameter, f"{labelled('tilt')} at the start of a cycle"]
        self.tell({"tell": "plot", "kind": "bifurcation", "title": kinds, "labels": labels, "points": _plain(points)})


def preview(toy: Toy, figure: Figure) -> dict[str, Any]:
    """A toy's run as outlines in its plane: for each part its outline (x, z), and x, z and angle of every frame."""
    take = take_of(toy, figure, seconds=PREVIEW_SECONDS, fps=PREVIEW_FPS)
    parts = []
    for i, shape in enumerate(take.shapes):
        if "plane" in shape:
            continue
        seen = shape.get("mesh")
        vertices = take.surfaces[f"{seen['surface']}.vertices"] if seen else mesh_of(shape, segments=16)[0]
        angle = 2 * np.arctan2(take.orientation[:, i, 2], take.orientation[:, i, 0])
        way = np.stack([take.position[:, i, 0], take.position[:, i, 2], angle], axis=1)
        parts.append({"color": take.colors[i], "outline": _plain(_hull(vertices[:, [0, 2]])), "way": _plain(way)})
    return {"fps": PREVIEW_FPS, "parts": parts}


def _hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The convex hull of points in a plane, counter-clockwise."""
    ordered = sorted({(round(float(x), 5), round(float(y), 5)) for x, y in points})

    def chain(some: Any) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in some:
            while len(kept) > 1 and _left(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(reversed(ordered)))


def _left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _plain(numbers: Any) -> Any:
    return np.round(np.asarray(numbers, float), 4).tolist()
