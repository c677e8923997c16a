"""The one place that reads and writes: plain errors, bounded input, and nothing half-written.

Everything an animator can get wrong ends in a `Problem`: one line per mistake, naming the file, the field
and what would be right. The command line prints those lines and leaves with exit code 2.
"""

import contextlib
import functools
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows: there leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]

MAX_BYTES = 8 * 2**20  # a scene written by a person is a few kilobytes
MAX_NODES = 400_000  # values in a document, after which it is no longer something a person wrote
MAX_DEPTH = 40


class Problem(Exception):
    """What is wrong with the input, one plain line per mistake."""

    def __init__(self, *lines: str) -> None:
        self.lines = [" ".join(line.splitlines()) for line in lines]
        super().__init__("\n".join(self.lines))


def read_document(path: str | Path) -> Any:
    """Read YAML or JSON as plain data; raise `Problem` for anything that is not one.

    Size and depth are limited before any object is built, aliases counted as what they stand for, so that a YAML bomb
    costs nothing.
    """
    return parse_document(read_text(path), source=str(path), as_json=_is_json(path))


def parse_document(text: str, source: str, *, as_json: bool = False) -> Any:
    """Make plain data of YAML or JSON text that came from `source`."""
    if not text.strip():
        raise Problem(f"{source}: is empty")
    return _parse_json(text, source) if as_json else _parse_yaml(text, source)


def read_text(path: str | Path) -> str:
    try:
        with open_file(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {_reason(error)}") from None
    if len(data) > MAX_BYTES:
        raise Problem(f"{path}: is larger than {MAX_BYTES // 2**20} MiB, which no file of this kind needs")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: is not UTF-8 text (byte {error.start})") from None


def open_file(path: str | Path) -> BinaryIO:
    """Open an ordinary file for reading; a pipe or a device, which could keep us waiting for ever, is refused."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise Problem(f"{path}: is a directory, expected a file")
        if not stat.S_ISREG(mode):
            raise Problem(f"{path}: is not an ordinary file; save it as one first")
        return path.open("rb")
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {_reason(error)}") from None
    except ValueError:  # such as a null byte
        raise Problem(f"{str(path)!r}: cannot be read: no file can have this name") from None


def _too_many(source: str) -> Problem:
    return Problem(f"{source}: holds more than {MAX_NODES} values, which no file of this kind needs")


def _too_deep(source: str) -> Problem:
    return Problem(f"{source}: is nested more than {MAX_DEPTH} levels deep")


def _parse_json(text: str, source: str) -> Any:
    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in pairs:
            if name in result:
                raise Problem(f"{source}: {name!r} is written twice")
            result[name] = value
        return result

    try:
        document = json.loads(text, object_pairs_hook=no_repeats)
    except json.JSONDecodeError as error:
        raise Problem(f"{source}: line {error.lineno}: not valid JSON: {error.msg}") from None
    except ValueError:  # Python refuses integers of thousands of digits
        raise Problem(f"{source}: holds a number that is too long") from None
    except RecursionError:
        raise _too_deep(source) from None
    level = [document]
    nodes = 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise _too_many(source)
        level = [child for node in level if isinstance(node, dict | list) for child in _children(node)]
        if not level:
            return document
    raise _too_deep(source)


def _children(node: dict[str, Any] | list[Any]) -> Any:
    return node.values() if isinstance(node, dict) else node


def _parse_yaml(text: str, source: str) -> Any:
    import yaml

    try:
        _inspect_yaml(text, source)
        loader = _yaml_loader()(source, text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark, why = error.problem_mark, error.problem or error.context
        line = f"line {mark.line + 1}: " if mark else ""
        if mark and "\t" in [*text.splitlines(), ""][mark.line][: mark.column + 1]:
            why = "there is a tab; indent with spaces"
        raise Problem(f"{source}: {line}not valid YAML: {why}") from None
    except yaml.YAMLError as error:
        raise Problem(f"{source}: not valid YAML: {str(error).splitlines()[0]}") from None


def _inspect_yaml(text: str, source: str) -> None:
    """Walk through the text without building anything, and refuse what could blow up."""
    import yaml

    nodes = depth = 0
    known: dict[str, tuple[int, int]] = {}  # of each anchor: how many values it stands for, and how deep
    opened: list[tuple[str | None, int, int]] = []  # collections: anchor, values so far, deepest level so far
    deepest = 0
    events: Iterator[Any] = yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for event in events:
        line, tag = event.start_mark.line + 1, getattr(event, "tag", None)
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before, above = opened.pop()
            if anchor is not None:
                known[anchor] = (nodes - before, deepest - depth + 1)
            deepest = max(deepest, above)
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            if tag is not None:
                raise Problem(f"{source}: line {line}: tags ({tag[:40]}) are not allowed here")
            if isinstance(event, yaml.AliasEvent):
                name = str(event.anchor)
                if name not in known:
                    raise Problem(f"{source}: line {line}: *{name[:40]} stands for nothing written before it")
                more, levels = known[name]
                nodes += more
                deepest = max(deepest, depth + levels)
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                opened.append((event.anchor, nodes, deepest))
                known.pop(str(event.anchor), None)  # not known within itself
                nodes += 1
                deepest = depth
            else:
                nodes += 1
                if event.anchor is not None:
                    known[event.anchor] = (1, 0)
            if nodes > MAX_NODES:
                raise _too_many(source)
            if max(depth, deepest) > MAX_DEPTH:
                raise _too_deep(source)


# YAML 1.1 reads 2e5 as text, 1:30 as ninety, 010 as eight and yes, no, on, off as booleans; people mean
# numbers and words. So true, false, null and decimal numbers are all that is not text.
_PLAIN_WORDS = {
    "bool": (r"true|True|false|False", "tTfF"),
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
}
_NUMBER_STARTS = "-+0123456789."


def _with_plain_words(base: Any) -> Any:
    """A loader or dumper that agrees on which unquoted words are numbers, booleans and nothing."""

    class Plain(base):
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own way

    for name, rule in _PLAIN_WORDS.items():
        pattern, starts = (rule, _NUMBER_STARTS) if isinstance(rule, str) else rule
        Plain.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{pattern})$"), list(starts))
    return Plain


@functools.cache
def _yaml_loader() -> Any:
    import yaml

    class Loader(_with_plain_words(getattr(yaml, "CSafeLoader", yaml.SafeLoader))):  # type: ignore[misc]
        def __init__(self, source: str, text: str) -> None:
            super().__init__(text)
            self.source = source

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key_node, _ in node.value:
                where = f"{self.source}: line {key_node.start_mark.line + 1}"
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, str):
                    raise Problem(f"{where}: a name must be text, got {str(key)[:40]} (put it in quotes)")
                if key in seen:
                    raise Problem(f"{where}: {key!r} is written twice")
                seen.add(key)
            result: dict[Any, Any] = super().construct_mapping(node, deep)
            return result

        def construct_number(self, node: Any) -> int | float:
            value = self.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan")
            try:
                return int(value) if node.tag.endswith("int") else float(value)
            except ValueError:  # Python refuses integers of thousands of digits
                raise Problem(f"{self.source}: line {node.start_mark.line + 1}: number too long") from None

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_number)
    Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_number)
    return Loader


def find_beside(file: str | Path, name: str | Path) -> Path:
    """Where the file is that another `file` names: beside that one, or else in the current directory."""
    beside = Path(file).parent / name
    found = beside if os.path.exists(beside) or not os.path.exists(name) else Path(name)
    folders = _below.get()
    if folders and not any(Path(os.path.realpath(found)).is_relative_to(folder) for folder in folders):
        raise Problem(f"{name}: is not below {folders[0]}, and nothing else is read here")
    return found


_below: ContextVar[tuple[Path, ...]] = ContextVar("below", default=())


@contextlib.contextmanager
def only_below(folders: tuple[Path, ...]) -> Iterator[None]:
    """Meanwhile files may name only others below these folders, wherever links lead."""
    token = _below.set(folders)
    try:
        yield
    finally:
        _below.reset(token)


def name_beside(file: str | Path, path: str | Path) -> str:
    """How `file` is to name the file at `path`, so that `find_beside` finds it wherever both are moved together."""
    if Path(path).is_absolute():
        return str(path)
    try:
        return Path(os.path.relpath(path, Path(file).parent)).as_posix()
    except ValueError:  # on another drive
        return str(Path(path).absolute())


def write_document(path: str | Path, document: Any) -> None:
    """Write plain data as YAML that a person can edit, or as JSON if the name says so."""
    text = format_document(document, as_json=_is_json(path))
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def format_document(document: Any, *, as_json: bool = False) -> str:
    """Plain data as text that `parse_document` reads back."""
    if as_json:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    import yaml

    dumper = _with_plain_words(yaml.SafeDumper)
    dumper.ignore_aliases = lambda *_: True  # repeated values are written out, for people to read and change
    text: str = yaml.dump(
        document, Dumper=dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True
    )
    return text


def _is_json(path: str | Path) -> bool:
    return str(path).lower().endswith(".json")


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file beside `path` to write to; it takes that name only when the block succeeds.

    Whatever goes wrong, an error, Ctrl-C or a kill, nothing half-written ever stands under `path`, and what a killed
    run left in this directory is removed. The temporary keeps the extension, which some encoders insist on.
    """
    path = Path(path)
    check_writable(path)
    final = Path(os.path.realpath(path))  # a link stays a link
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(final.parent)
        temporary, claim = _claim_temporary(final)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {_reason(error)}") from None
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, final)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {_reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)
        if claim is not None:
            os.close(claim)


def _claim_temporary(final: Path) -> tuple[Path, int | None]:
    """A new file beside `final`, locked as long as this process lives: that tells it from what a killed one left."""
    while True:
        temporary = final.with_name(f".{final.stem[:40]}-{secrets.token_hex(6)}.part{final.suffix}")
        claim = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:
            os.close(claim)
            return temporary, None
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = not temporary.exists()
        except BlockingIOError:
            taken = True
        except OSError:  # not every file system has locks
            taken = False
        if not taken:
            return temporary, claim
        os.close(claim)  # another process took it for a leftover before it was locked


_LEFTOVER = re.compile(r"\..{0,40}-[0-9a-f]{12}\.part(\..*)?", re.DOTALL)


def _remove_leftovers(folder: Path) -> None:
    """Remove what runs that were killed while they wrote have left here."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if _LEFTOVER.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), open(entry.path, "rb") as stream:
                    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def check_writable(path: str | Path) -> None:
    """Raise `Problem` if no file can be written under this name, before long work is spent on it."""
    path = Path(path)
    try:
        if path.is_dir():
            raise Problem(f"{path}: is a directory, expected a file name")
        if path.exists() and not path.is_file():
            raise Problem(f"{path}: is not an ordinary file and would be replaced")
        if path.exists() and not os.access(path, os.W_OK):
            raise Problem(f"{path}: cannot be written: it is read-only")
        folder = next(parent for parent in Path(os.path.realpath(path)).parents if parent.exists())
    except OSError as error:  # such as a name that is too long
        raise Problem(f"{path}: cannot be written: {_reason(error)}") from None
    if not folder.is_dir():
        raise Problem(f"{path}: cannot be written: {folder} is not a directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Problem(f"{path}: cannot be written: permission denied in {folder}")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
