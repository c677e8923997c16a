"""The one place that reads and writes: plain errors, bounded input, and nothing half-written.

Everything an animator can get wrong ends in a `Problem`: one line per mistake, naming the file, the field
and what would be right. The command line prints those lines and leaves with exit code 2.
"""

import contextlib
import difflib
import json
import os
import tempfile
import types
import typing
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
        first: [(tag, pattern) for tag, pattern in resolvers
                if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:float",
                               "tag:yaml.org,2002:int", "tag:yaml.org,2002:merge")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    import re

    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|false|False)$"), list("tTfF"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"),
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
        return yaml.load(text, Loader)  # noqa: S506 - a SafeLoader with limits
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


def say(value: Any) -> str:
    """A value as it can stand in an error line: short, and on one line."""
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    text = repr(value) if isinstance(value, str | int | float | bool | list | tuple) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def field(*parts: str | int) -> str:
    """The name of a field in an error line, such as `bodies.ball.mass`."""
    words = (str(part) for part in parts)
    return ".".join(word if word.isprintable() and len(word) <= 80 else say(word) for word in words)


def empty_fields(document: Any, *where: str | int) -> list[str]:
    """One line for each field without a value: in YAML usually a forgotten value or an unquoted color."""
    if document is None:
        hint = ' (in YAML a color needs quotes: "#e4572e")' if where[-1:] == ("color",) else ""
        return [f"{field(*where)}: is empty: give it a value or remove it{hint}"]
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [line for key, value in items for line in empty_fields(value, *where, key)]


def plain_lines(error: Any, model: Any) -> list[str]:
    """What a pydantic `ValidationError` of `model` means, one plain line per mistake, naming field and cure."""
    return [f"{field(*_place(one['loc']))}: {_complaint(one, model)}" for one in error.errors(include_url=False)]


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return location[:-1] if location[-1:] == ("[key]",) else location


def _complaint(error: dict[str, Any], model: Any) -> str:
    kind, value, context, location = error["type"], error["input"], error.get("ctx", {}), error["loc"]
    got = f", got {say(value)}"
    if kind == "value_error":
        return str(context["error"]) + ("" if isinstance(value, dict) else got)
    if kind == "missing":
        owner = _model_at(model, location[:-1])
        described = owner and next((f for n, f in owner.model_fields.items() if (f.alias or n) == location[-1]), None)
        return f"is missing: {described.description}" if described else "is missing"
    if kind == "extra_forbidden":
        owner = _model_at(model, location[:-1])
        known = [f.alias or name for name, f in owner.model_fields.items()] if owner else []
        close = difflib.get_close_matches(str(location[-1]), known, 1)
        return "is not a known field; " + (f"did you mean {close[0]}?" if close else f"known here: {', '.join(known)}")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        owner = _model_at(model, location)
        return f"must be written like {getattr(owner, 'example', '{name: ...}')}{got}"
    if kind == "literal_error":
        return f"must be {context['expected']}{got}"
    if kind in ("too_short", "too_long"):
        bound = "at least " + str(context["min_length"]) if kind == "too_short" else f"at most {context['max_length']}"
        return f"must have {bound} entries, got {context['actual_length']}"
    if kind == "greater_than_equal" and context["ge"] > 0 >= value:
        return f"must be greater than 0{got}"
    if kind in _COMPLAINTS:
        return _COMPLAINTS[kind].format(**context) + got
    return error["msg"][0].lower() + error["msg"][1:] + got


_COMPLAINTS = {
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
}


def _model_at(model: Any, location: tuple[str | int, ...]) -> Any:
    """The pydantic model that stands at a place of a document, or None."""
    here = model
    for part in location:
        if hasattr(here, "model_fields"):
            here = next((f.annotation for n, f in here.model_fields.items() if (f.alias or n) == part), None)
        else:  # a dict's value or a list's entry
            here = typing.get_args(here)[-1] if typing.get_args(here) else None
        here = _without_none(here)
    return here if hasattr(here, "model_fields") else None


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next((_without_none(a) for a in typing.get_args(annotation) if a is not type(None)), None)
    return annotation


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
