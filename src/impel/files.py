"""The one place that reads and writes: plain errors, bounded input, and nothing half-written.

Everything an animator can get wrong ends in a `Problem`: one line per mistake, naming the file, the field
and what would be right. The command line prints those lines and leaves with exit code 2.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_BYTES = 8 * 2**20  # a scene written by a person is a few kilobytes
MAX_NODES = 400_000  # values in a document, after which it is no longer something a person wrote
MAX_DEPTH = 40


class Problem(Exception):
    """What is wrong with the input, one plain line per mistake."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = list(lines)


def read_document(path: str | Path) -> Any:
    """Read YAML or JSON as plain data; raise `Problem` for anything that is not one.

    Size, depth and aliases are limited while parsing, before any object is built, so that a YAML bomb
    costs nothing.
    """
    text = read_text(path)
    if str(path).endswith(".json"):
        return _parse_json(text, path)
    return _parse_yaml(text, path)


def read_text(path: str | Path) -> str:
    path = Path(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise Problem(f"{path}: is a directory, expected a file") from None
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {_reason(error)}") from None
    if len(data) > MAX_BYTES:
        raise Problem(f"{path}: is larger than {MAX_BYTES // 2**20} MiB, which no file of this kind needs")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: is not UTF-8 text (byte {error.start})") from None


def _parse_json(text: str, path: str | Path) -> Any:
    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen: set[str] = set()
            name = next(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            raise Problem(f"{path}: {name}: is written twice")
        return result

    try:
        return json.loads(text, object_pairs_hook=no_repeats)
    except json.JSONDecodeError as error:
        raise Problem(f"{path}: line {error.lineno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise Problem(f"{path}: is nested more than {MAX_DEPTH} levels deep") from None


def _parse_yaml(text: str, path: str | Path) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        nodes = 0
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                line = self.peek_event().start_mark.line + 1
                raise Problem(f"{path}: line {line}: aliases (*name) are not allowed here; write the value out")
            self.nodes += 1
            if self.nodes > MAX_NODES:
                raise Problem(f"{path}: holds more than {MAX_NODES} values, which no file of this kind needs")
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Problem(f"{path}: is nested more than {MAX_DEPTH} levels deep")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, str):
                    line = key_node.start_mark.line + 1
                    raise Problem(f"{path}: line {line}: a name must be text, got {key!r} (put it in quotes)")
                if key in seen:
                    raise Problem(f"{path}: line {key_node.start_mark.line + 1}: {key}: is written twice")
                seen.add(key)
            return super().construct_mapping(node, deep)

    # YAML 1.1 reads 2e5 as text and yes/no/on/off as booleans; people mean a number and a word.
    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag
            not in (
                "tag:yaml.org,2002:bool",
                "tag:yaml.org,2002:timestamp",
                "tag:yaml.org,2002:float",
                "tag:yaml.org,2002:int",
                "tag:yaml.org,2002:merge",
            )
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    import re

    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|false|False)$"), list("tTfF"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(
            r"^(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    )

    def number(loader: Any, node: Any) -> int | float:
        value = loader.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan")
        try:
            return int(value) if node.tag.endswith("int") else float(value)
        except ValueError:  # Python refuses integers of thousands of digits
            raise Problem(f"{path}: line {node.start_mark.line + 1}: number too long") from None

    Loader.add_constructor("tag:yaml.org,2002:int", number)
    Loader.add_constructor("tag:yaml.org,2002:float", number)
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise Problem(f"{path}: {line}not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise Problem(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise Problem(f"{path}: is nested more than {MAX_DEPTH} levels deep") from None


def write_document(path: str | Path, document: Any) -> None:
    """Write plain data as YAML that a person can edit, or as JSON if the name says so."""
    with writing(path) as temporary:
        temporary.write_text(format_document(document, as_json=str(path).endswith(".json")), encoding="utf-8")


def format_document(document: Any, *, as_json: bool = False) -> str:
    if as_json:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    import yaml

    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file beside `path` to write to; it takes that name only when the block succeeds.

    Whatever goes wrong, an error, Ctrl-C or a kill, nothing half-written ever stands under `path`. The
    temporary keeps the extension, which some encoders insist on.
    """
    path = Path(path)
    if path.is_dir():
        raise Problem(f"{path}: is a directory, expected a file name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=f".part{path.suffix}", dir=path.parent)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {_reason(error)}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {_reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
