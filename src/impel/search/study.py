"""Studies: every trial of a search, kept in one SQLite file as soon as it is known.

A batch is one transaction, so a killed search leaves whole batches. Nothing of a strategy's inner state is
kept: a resumed search replays the known values, which gives the same candidates bit for bit.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, open_file

Floats = NDArray[np.float64]

APPLICATION = 0x696D7073  # "imps", so that other SQLite files are not mistaken for studies
VERSION = 1


class Study:
    """One search's trials. `settings` says what was searched and how; a study made otherwise is refused."""

    def __init__(self, path: str | Path, settings: dict[str, Any]) -> None:
        self.path = Path(path)
        self.settings = json.loads(json.dumps(settings, sort_keys=True))
        begun = check_study(self.path)
        self._connection = _connect(self.path)
        try:
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            # The journal survives a killed process; only a power cut could lose the last batches.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            if not begun:
                self._create()
            self._compare()
        except sqlite3.Error as error:
            self._connection.close()
            raise _problem(self.path, error) from None
        except Problem:
            self._connection.close()
            raise

    def _create(self) -> None:
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("CREATE TABLE settings (text TEXT NOT NULL)")
            connection.execute(
                "CREATE TABLE trial (batch INTEGER, place INTEGER, candidate BLOB NOT NULL, value REAL NOT NULL,"
                " PRIMARY KEY (batch, place)) WITHOUT ROWID"
            )
            connection.execute("INSERT INTO settings VALUES (?)", (json.dumps(self.settings),))

    def _compare(self) -> None:
        row = self._connection.execute("SELECT text FROM settings").fetchone()
        if row is None:
            raise Problem(f"{self.path}: is damaged: its settings are missing")
        known = json.loads(row[0])
        self._known = known
        for name in sorted((set(known) | set(self.settings)) - {"budget"}):
            if known.get(name) != self.settings.get(name):
                there, here = (json.dumps(s.get(name))[:60] for s in (known, self.settings))
                raise Problem(
                    f"{self.path}: was made with other settings: {name} is {there} there and {here} here;"
                    " use the same ones or another study file"
                )

    def legs(self, budget: int) -> list[int]:
        """The budgets for which this search was planned, one after the other; a larger one extends the last plan."""
        planned = self._known.get("budget", budget)
        legs = [planned] if isinstance(planned, int) else list(planned)
        if budget < sum(legs):
            raise Problem(f"{self.path}: was planned for {sum(legs)} evaluations; ask for as many, or for more")
        if budget > sum(legs):
            legs.append(budget - sum(legs))
            self._known["budget"] = legs
            try:
                with self._connection as connection:
                    connection.execute("UPDATE settings SET text = ?", (json.dumps(self._known),))
            except sqlite3.Error as error:
                raise _problem(self.path, error) from None
        return legs

    def batches(self) -> list[tuple[Floats, Floats]]:
        """Everything known, in order: candidates (n, d) and values (n,) of every batch."""
        found: dict[int, list[tuple[bytes, float]]] = {}
        try:
            rows = self._connection.execute("SELECT batch, candidate, value FROM trial ORDER BY batch, place")
            for batch, candidate, value in rows:
                found.setdefault(batch, []).append((candidate, value))
        except sqlite3.Error as error:
            raise _problem(self.path, error) from None
        if list(found) != list(range(len(found))):
            raise Problem(f"{self.path}: is damaged: batches are missing")
        return [
            (np.stack([np.frombuffer(c, "<f8") for c, _ in trials]), np.array([v for _, v in trials]))
            for trials in found.values()
        ]

    def add(self, batch: int, candidates: Floats, values: Floats, *, first: int = 0) -> None:
        """Keep a batch from its `first` place on, all or nothing. -inf is kept as SQLite's own infinity."""
        blobs = [np.ascontiguousarray(candidate, "<f8").tobytes() for candidate in candidates]
        rows = [(batch, place, blob, float(value)) for place, (blob, value) in enumerate(zip(blobs, values), first)]
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany("INSERT INTO trial VALUES (?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise _problem(self.path, error) from None

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_study(path: Path) -> bool:
    """Whether a study is there. Refuses, without touching it, what is not a whole study of this version.

    A search that was killed while it made its study leaves a file without tables: that is none yet.
    """
    if not path.exists():
        return False
    try:
        with open_file(path) as stream:
            header = stream.read(108)
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if not header:
        return False
    if header[:16] != b"SQLite format 3\0" or len(header) < 108:
        raise Problem(f"{path}: is not a study file")
    application = int.from_bytes(header[68:72], "big")
    pages, page_size = int.from_bytes(header[28:32], "big"), int.from_bytes(header[16:18], "big")
    # One page, and the list of tables on it has no entries. A study's tables and its mark come together.
    empty = application == 0 and pages == 1 and header[103:105] == b"\0\0"
    if application != APPLICATION and not empty:
        raise Problem(f"{path}: is an SQLite file of another program, not a study")
    journal = path.with_name(path.name + "-wal")
    if not journal.exists() or journal.stat().st_size == 0:  # otherwise the file alone does not say what it holds
        if empty:
            return False
        if path.stat().st_size < pages * (65536 if page_size == 1 else page_size):
            raise Problem(f"{path}: is truncated; restore it from a copy or start another study")
    connection = _connect(path, reading=True)
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        if application != APPLICATION:
            raise Problem(f"{path}: is an SQLite file of another program, not a study")
        if version > VERSION:
            raise Problem(f"{path}: was written by a newer impel (study version {version}, this one reads {VERSION})")
        damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise Problem(f"{path}: is damaged: {damage.splitlines()[0]}")
    except sqlite3.Error as error:
        raise _problem(path, error) from None
    finally:
        connection.close()
    return True


def _connect(path: Path, *, reading: bool = False) -> sqlite3.Connection:
    """`reading` leaves the file and its journal as they are."""
    mode = "?mode=ro" if reading else ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(path.absolute().as_uri() + mode, uri=True, isolation_level=None, timeout=2.0)
    except (sqlite3.Error, OSError) as error:
        raise _problem(path, error) from None


def _problem(path: Path, error: Exception) -> Problem:
    text = str(error).splitlines()[0]
    if "locked" in text:
        return Problem(f"{path}: is in use by another search")
    if "malformed" in text or "not a database" in text or "no such table" in text:
        return Problem(f"{path}: is damaged: {text}")
    return Problem(f"{path}: cannot be used: {text}")
