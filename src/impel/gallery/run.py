"""Makes gallery entries and collects them, with the ledger, in one page."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from impel.files import Problem, check_writable, write_document
from impel.gallery import entries
from impel.gallery.ledger import Verdict, load_exhibit, save_exhibit
from impel.gallery.page import write_page

EXHIBIT = "exhibit.yaml"  # what an entry's folder keeps for the page


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
    """Make the named entries (all, if none is named) below `directory`; give their verdicts.

    The page and the list of verdicts show them and all that were made there before.
    """
    known = entry_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Problem(*(f"gallery: no entry is called {name}; there are {', '.join(known)}" for name in unknown))
    chosen = [name for name in known if name in names] or known
    directory = Path(directory)
    files = [directory / "index.html", directory / "verdicts.yaml"]
    for file in [*files, *(directory / name / EXHIBIT for name in chosen)]:
        check_writable(file)
    exhibits = {name: load_exhibit(directory / name / EXHIBIT) for name in known if name not in chosen}
    for number, name in enumerate(chosen):
        if progress:
            progress(name, number, len(chosen))
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        made = exhibits[name] = _entry(name).make(folder)
        save_exhibit(folder / EXHIBIT, made)
    if progress:
        progress("", len(chosen), len(chosen))
    shown = [(name, exhibit) for name in known if (exhibit := exhibits[name]) is not None]
    write_page(files[0], [(_entry(name), exhibit) for name, exhibit in shown])
    write_document(files[1], [vars(verdict) for _, exhibit in shown for verdict in exhibit.verdicts])
    return [verdict for name, exhibit in shown if name in chosen for verdict in exhibit.verdicts]
