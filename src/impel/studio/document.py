"""The scene that is open: its text, every change that can be undone, and the file that it belongs to."""

import contextlib
import os
from pathlib import Path
from typing import Any

from impel.files import Problem, format_document, only_below, parse_document, read_text, writing
from impel.scene import Scene
from impel.scene.reading import scene_beside
from impel.studio.names import recounted, removed, renamed
from impel.studio.text import REMOVED, with_name, with_value
from impel.studio.text import Path as FieldPath

MOST_UNDONE = 500  # changes
DRAFT = ".draft"  # unsaved changes are kept beside the file, as .NAME.draft ...
UNSAVED = ".unsaved.draft"  # ... or, of what has no file yet, in the studio's directory


class Document:
    """Text that can be changed field by field; what it says as plain data and as a scene."""

    def __init__(
        self, text: str, *, file: Path | None, name: str, beside: Path, folders: tuple[Path, ...] = ()
    ) -> None:
        self.file = file  # None until it is saved
        self.name = name
        self.beside = beside  # where walkers and meshes that it names are looked for ...
        self.folders = folders  # ... and below which they must be, if any are given
        self.saved = text
        self.undone: list[str] = []
        self.done: list[str] = []  # texts before each change
        self._gesture: Any = None
        self._edits: list[tuple[FieldPath, Any]] = []  # in the data, not yet in the text
        self._text = text
        self.data: Any = None
        self.scene: Scene | None = None  # None while the text is not a scene
        self.problems: list[str] = []
        self._stamp = _stamp(file)
        self._read()

    @property
    def as_json(self) -> bool:
        return self.name.lower().endswith(".json")

    @property
    def text(self) -> str:
        for path, value in self._edits:
            self._text = with_value(self._text, path, value, as_json=self.as_json)
        self._edits.clear()
        return self._text

    @property
    def dirty(self) -> bool:
        return bool(self._edits) or self.text != self.saved  # what an edit makes of the text is seen later

    def edit(self, path: FieldPath, value: Any, gesture: Any = None) -> None:
        """Change a field; `REMOVED` takes it out. Changes of one gesture are undone together.

        Raises `Problem`, and changes nothing, if the result would not be a scene.
        """
        if self.data is None:
            raise Problem("the text is not a scene yet: mend that first")
        edits = [(path, value), *recounted(self.data, path, value)]
        data = self.data
        for where, what in edits:
            data = _with(data, where, what)
        scene = self.scene_of(data)
        if gesture is None or gesture != self._gesture:
            self._remember()
        self._gesture = gesture
        self._edits += edits
        self.data, self.scene, self.problems = data, scene, []

    def rename(self, group: str, name: str, new: str) -> None:
        """Give an entry another name, here and wherever it is spoken of.

        Raises `Problem`, and changes nothing, if the result would not be a scene.
        """
        entries, fields = renamed(self.data, group, name, new)
        text = self.text
        for path, value in fields:
            text = with_value(text, path, value, as_json=self.as_json)
        for path in entries:
            text = with_name(text, path, new, as_json=self.as_json)
        self._take(text)

    def remove(self, group: str, name: str) -> list[str]:
        """Take an entry out, and what makes no sense without it; what went with it.

        Raises `Problem`, and changes nothing, if the result would not be a scene.
        """
        gone = removed(self.data, group, name)
        text = self.text
        for path in gone:
            text = with_value(text, path, REMOVED, as_json=self.as_json)
        self._take(text)
        return [".".join(map(str, path)) for path in reversed(gone) if path != (group, name)]

    def _take(self, text: str) -> None:
        """Take another text, if it is a scene."""
        self.scene_of(parse_document(text, self.name, as_json=self.as_json))
        self.write(text)

    def write(self, text: str) -> None:
        """Take another text, whether it is a scene or not: a person is writing."""
        if text == self.text:
            return
        self._remember()
        self._gesture = None
        self._set(text)

    def undo(self) -> bool:
        return self._go(self.done, self.undone)

    def redo(self) -> bool:
        return self._go(self.undone, self.done)

    def save(self, file: Path | None = None) -> None:
        file = file or self.file
        if file is None:
            raise Problem("save: give it a name first")
        with writing(file) as temporary:
            temporary.write_text(self.text, encoding="utf-8")
        self.drop_draft()  # of the file that it was, and of the one that it is now
        self.file, self.name, self.beside, self.saved = file, file.name, file.parent, self.text
        self._stamp = _stamp(file)
        self.drop_draft()

    def keep_draft(self) -> None:
        """Keep unsaved changes beside the file, for whatever may happen to this program."""
        draft = self._draft()
        if draft is None:
            return
        if not self.dirty:
            self.drop_draft()
            return
        with contextlib.suppress(Problem), writing(draft) as temporary:
            temporary.write_text(self.text, encoding="utf-8")

    def take_draft(self) -> bool:
        """Go on with changes that were never saved; are there any?"""
        draft = self._draft()
        if draft is None or not draft.is_file() or draft.is_symlink():
            return False
        text = read_text(draft)
        if text == self.text:
            return False
        self.write(text)
        return True

    def drop_draft(self) -> None:
        draft = self._draft()
        if draft is not None:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)

    def changed_outside(self) -> bool:
        """Whether somebody else has written the file since it was last read or saved."""
        now = _stamp(self.file)
        if now is None or now == self._stamp:
            return False
        self._stamp = now
        return True

    def take_file(self) -> None:
        """Take what the file says now; it can be undone."""
        assert self.file is not None
        text = read_text(self.file)
        self.write(text)
        self.saved = text

    def forget(self) -> None:
        """Go back to what is saved, or to what it began with; it can be undone."""
        if self.file is not None:
            self.take_file()
        else:
            self.write(self.saved)
        self.drop_draft()

    def _draft(self) -> Path | None:
        if self.file is not None:
            return self.file.with_name(f".{self.file.name}{DRAFT}")
        return self.folders[0] / f".{self.name}{UNSAVED}" if self.folders else None

    def _remember(self) -> None:
        self.done.append(self.text)
        del self.done[:-MOST_UNDONE]
        self.undone.clear()

    def _go(self, source: list[str], other: list[str]) -> bool:
        if not source:
            return False
        other.append(self.text)
        self._gesture = None
        self._set(source.pop())
        return True

    def _set(self, text: str) -> None:
        self._edits.clear()
        self._text = text
        self._read()

    def _read(self) -> None:
        self.scene, self.problems = None, []
        try:
            self.data = parse_document(self._text, self.name, as_json=self.as_json)
            self.scene = self.scene_of(self.data)
        except Problem as problem:
            self.problems = problem.lines
            if self.scene is None and not isinstance(self.data, dict):
                self.data = None

    def scene_of(self, data: Any) -> Scene:
        """Plain data as a scene that stands where this one does."""
        with only_below(self.folders):
            return scene_beside(self.beside / self.name, data, self.name)


def _with(data: Any, path: FieldPath, value: Any) -> Any:
    """Plain data with another value in one place; all else is shared."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if data is None and isinstance(head, int):
        data = []
    if isinstance(data, list) and isinstance(head, int):
        if not 0 <= head <= len(data):
            raise Problem(f"{head}: there are only {len(data)}")
        if not rest and value is REMOVED:
            return data[:head] + data[head + 1 :]
        inner = _with(data[head] if head < len(data) else None, rest, value)
        return [*data[:head], inner, *data[head + 1 :]]
    if data is None or isinstance(data, dict):
        fields = dict(data or {})
        if not rest and value is REMOVED:
            fields.pop(head, None)
        else:
            fields[head] = _with(fields.get(head), rest, value)
            if value is REMOVED and not fields[head]:
                del fields[head]
        return fields
    return _with(None, path, value)


def new_text() -> str:
    """What an empty studio begins with."""
    return format_document({"impel": 1, "bodies": {"ground": {"shape": {"plane": {}}, "fixed": True}}})


def _stamp(file: Path | None) -> tuple[int, int, int] | None:
    if file is None:
        return None
    try:
        told = os.stat(file)
    except OSError:
        return None
    return told.st_mtime_ns, told.st_size, told.st_ino
