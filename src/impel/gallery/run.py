"""Makes gallery entries and collects them, with the ledger, in one page."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from impel.files import Problem, write_document
from impel.gallery import entries
from impel.gallery.ledger import Exhibit, Verdict
from impel.gallery.page import write_page


def entry_names() -> list[str]:
    """Names of all entries, in the order of the papers' figures."""
    names = [module.name for module in pkgutil.iter_modules(entries.__path__)]
    return sorted(names, key=lambda name: _entry(name).ORDER)


def _entry(name: str) -> Any:
    """An entry is a module with ORDER, TITLE, TEXT and `make(directory) -> Exhibit`."""
    return importlib.import_module(f"impel.gallery.entries.{name}")


def run(
    names: Sequence[str], directory: str | Path, *, progress: Callable[[str, int, int], None] | None = None
) -> list[Verdict]:
    """Make the named entries (all, if none is named) below `directory`, and the page that shows them."""
    known = entry_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Problem(*(f"gallery: no entry is called {name}; there are {', '.join(known)}" for name in unknown))
    chosen = [name for name in known if name in names] or known
    directory = Path(directory)
    shown: list[tuple[Any, Exhibit]] = []
    for number, name in enumerate(chosen):
        if progress:
            progress(name, number, len(chosen))
        entry = _entry(name)
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        shown.append((entry, entry.make(folder)))
    if progress:
        progress("", len(chosen), len(chosen))
    verdicts = [verdict for _, exhibit in shown for verdict in exhibit.verdicts]
    write_page(directory / "index.html", shown)
    write_document(directory / "verdicts.yaml", [vars(verdict) for verdict in verdicts])
    return verdicts
