"""Mood: a slider from exhausted (0) to exuberant (100), made of evolved gaits that share one order of the feet.

Each position names an energy. Between two evolved gaits the genes are blended, and the slider's place on the way
from one to the other is where the blend costs just that energy.
"""

from pathlib import Path

import numpy as np
from pydantic import Field, model_validator

from impel.complaints import validated
from impel.files import Problem, read_document, write_document
from impel.gaits.energy import measure
from impel.gaits.gait import (
    Curve,
    Gait,
    Genes,
    WhoseGait,
    genes_of,
    load_gait,
    reference,
    walker_of,
    with_file_found,
    with_file_named,
)
from impel.gaits.walker import Floats, Walker, _Strict
from impel.gaits.wishes import Wishes

LIBRARY = Path(__file__).parent / "library"
FINENESS = 60  # blends tabulated between two evolved gaits; named energies are met to 0.1 % (measured)


class Rung(_Strict):
    wishes: Wishes = Field(description="What was wished for, by which the gait can be found again.")
    genes: Genes = Field(description="How it walks.")


class Library(_Strict):
    """Gaits of one walker, from the cheapest to the dearest."""

    walker: WhoseGait
    curve: Curve = Field(default="smooth", description="How a foot moves through the air; `paper` lands hard.")
    order: list[int] = Field(description="In which order the feet are lifted, by which the library can be made again.")
    gaits: list[Rung] = Field(description="Wishes of rising energy, and the genes found for each.")

    @model_validator(mode="after")
    def _two_at_least(self) -> "Library":
        if len(self.gaits) < 2:
            raise ValueError(f"gaits: a slider needs at least two, got {len(self.gaits)}")
        return self


class Moods:
    """A table of gaits along which a walker's mood can slide while it walks."""

    distance: float | None = None  # m: the way that a single gait was evolved for

    def __init__(self, walker: Walker, rows: Floats, *, curve: Curve = "smooth", lame: str | None = None) -> None:
        self.walker = walker
        self.curve: Curve = curve
        self.lame = lame
        self.rows = _blend(rows)
        self.measured = measured = measure(walker, self.rows, curve=curve, lame=lame)
        self.energies = measured.energy
        if np.any(np.diff(self.energies) <= 0):
            where = int(np.argmin(np.diff(self.energies))) // FINENESS
            raise Problem(
                f"gaits: energy must rise from each to the next, but does not between {where} and {where + 1}"
            )
        if measured.stretch.max() > 0:
            raise Problem("gaits: somewhere between them the legs are too short")

    @classmethod
    def of_gait(cls, gait: Gait) -> "Moods":
        """No slider, just one gait."""
        alone = cls(gait.load_walker(), gait.genes.row()[None], curve=gait.curve, lame=gait.lame)
        alone.distance = gait.distance
        return alone

    @classmethod
    def of_library(cls, library: Library) -> "Moods":
        walker = walker_of(library.walker)
        lines = [
            f"{where}: {walker.name} has {len(walker.legs)} legs, got {count}"
            for where, count in [
                ("order", len(library.order)),
                *((f"gaits.{k}.genes.delays", len(rung.genes.delays)) for k, rung in enumerate(library.gaits)),
            ]
            if count != len(walker.legs)
        ]
        if lines:
            raise Problem(*lines)
        return cls(walker, np.array([rung.genes.row() for rung in library.gaits]), curve=library.curve)

    def named_energy(self, mood: float | Floats) -> Floats:
        """The energy that a position of the slider stands for: equal moves of it are equal ratios of energy."""
        low, high = self.energies[0], self.energies[-1]
        return np.asarray(low * (high / low) ** (np.asarray(mood) / 100.0))

    def places(self, mood: float | Floats) -> Floats:
        """Where in the table the slider's positions lie."""
        return np.asarray(np.interp(self.named_energy(mood), self.energies, np.arange(len(self.energies))))

    def at(self, places: Floats) -> Floats:
        """Rows of genes at places of the table."""
        return np.column_stack([np.interp(places, np.arange(len(self.rows)), column) for column in self.rows.T])

    def gait(self, mood: float) -> Gait:
        """The gait of one position of the slider, to keep as a file."""
        if not 0 <= mood <= 100:
            raise Problem(f"mood: must be from 0 to 100, got {mood:g}")
        row = self.at(np.atleast_1d(self.places(mood)))[0]
        energy = float(measure(self.walker, row, curve=self.curve, lame=self.lame).energy[0])
        return Gait(walker=reference(self.walker), curve=self.curve, energy=energy, lame=self.lame, genes=genes_of(row))


def _blend(rows: Floats) -> Floats:
    """Rows between rows, each gene on a monotone cubic (Fritsch and Carlson 1980): no kink, which the body would feel
    as a jolt when the mood slides over it, and no overshoot."""
    if len(rows) == 1:
        return rows
    step = np.diff(rows, axis=0)
    slope = np.zeros_like(rows)
    slope[0], slope[-1] = step[0], step[-1]
    same_way = step[:-1] * step[1:] > 0
    slope[1:-1][same_way] = (2 * step[:-1] * step[1:])[same_way] / (step[:-1] + step[1:])[same_way]
    u = np.linspace(0, len(rows) - 1, (len(rows) - 1) * FINENESS + 1)[:, None]
    k = np.minimum(u.astype(int), len(rows) - 2)[:, 0]
    u = u - k[:, None]
    left = (1 + 2 * u) * (1 - u) ** 2 * rows[k] + u * (1 - u) ** 2 * slope[k]
    return np.asarray(left + u**2 * (3 - 2 * u) * rows[k + 1] - u**2 * (1 - u) * slope[k + 1])


def load_library(name: str | Path) -> Library:
    """The library of a built-in walker by name, or a library file."""
    path = LIBRARY / f"{name}.yaml"
    if str(name) not in library_names():
        path = Path(name)
    document = read_document(path)
    if not isinstance(document, dict) or "gaits" not in document:
        raise Problem(f"{name}: is not a library of gaits; impel gait library makes one")
    return validated(Library, with_file_found(path, document), str(name))


def save_library(path: str | Path, library: Library) -> None:
    write_document(path, with_file_named(path, library.model_dump(exclude_defaults=True, by_alias=True)))


def library_names() -> list[str]:
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def load_moods(name: str | Path) -> Moods:
    library = load_library(name)
    try:
        return Moods.of_library(library)
    except Problem as problem:
        raise Problem(*(f"{name}: {line}" for line in problem.lines)) from None


def moods_of(name: str, *, with_mood: bool) -> Moods:
    """Whoever can walk: a built-in walker by name, a library file, or a gait file, which has no mood to choose."""
    if name in library_names():
        return load_moods(name)
    if not name.endswith((".yaml", ".yml", ".json")):
        raise Problem(f"{name}: no such walker; give {', '.join(library_names())}, or a gait or library file (.yaml)")
    document = read_document(name)
    if isinstance(document, dict) and "gaits" in document:
        return load_moods(name)
    if isinstance(document, dict) and "legs" in document:
        raise Problem(f"{name}: is a walker without gaits; make some with impel gait library {name} -o library.yaml")
    if with_mood:
        raise Problem(
            f"mood: {name} is a single gait; a mood needs a walker: {', '.join(library_names())}, or a library file"
        )
    return Moods.of_gait(load_gait(name))
