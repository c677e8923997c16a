"""Machine code that comes with the package: a plain shared library, which knows nothing of Python and numba.

`shipping.py` writes it, next to a list of what is in it. It is used where it fits this machine and these sources; what
it does not hold is compiled as ever.
"""

import ctypes
import functools
import hashlib
import json
import os
import platform
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PACKAGE = Path(__file__).parents[1]
DIRECTORY = Path(__file__).with_name("shipped")
CONTENTS = "contents.json"


class Entry(NamedTuple):
    """A kernel for some kinds of arguments, and the shape of its result: "int", "float", "bool", None, or a list."""

    function: Any
    result: Any


def platform_name() -> str:
    return f"{sys.platform}-{platform.machine()}".lower()


def digest_of_sources(names: Sequence[str]) -> str:
    """Of files of this package."""
    whole = hashlib.sha256()
    for name in sorted(names):
        whole.update(name.encode() + (PACKAGE / name).read_bytes().replace(b"\r\n", b"\n"))
    return whole.hexdigest()


@functools.cache
def entries() -> dict[str, dict[tuple[str, ...], Entry]]:
    """What the library holds, by kernel and by the kinds of its arguments; nothing if it does not fit."""
    try:
        told = json.loads((DIRECTORY / CONTENTS).read_text(encoding="utf-8"))
        if not fits(told):
            return {}
        library = ctypes.CDLL(str(DIRECTORY / told["library"]))
        found: dict[str, dict[tuple[str, ...], Entry]] = {}
        for name, kinds, symbol, result in told["entries"]:
            function = getattr(library, symbol)
            function.argtypes = (ctypes.c_void_p,) * 3
            found.setdefault(name, {})[tuple(kinds)] = Entry(function, result)
        return found
    except (OSError, ValueError, KeyError, AttributeError):
        return {}


def fits(told: dict[str, Any]) -> bool:
    """Was the library made for this machine, from these sources, and is nothing else asked for?"""
    if os.environ.get("IMPEL_PLAIN_NUMBA") or os.environ.get("NUMBA_BOUNDSCHECK"):
        return False
    if told["platform"] != platform_name() or digest_of_sources(told["sources"]) != told["digest"]:
        return False
    from llvmlite.binding import get_host_cpu_features

    here = get_host_cpu_features()
    return all(here.get(feature) for feature in told["features"])


def caller(name: str, compiled: Callable[..., Any]) -> Callable[..., Any]:
    """What Python calls for a kernel of this name: the library where it holds it, else the compiled one."""
    held = entries().get(name)
    if held is None:
        return compiled

    def call(*arguments: Any) -> Any:
        laid_out = lay_out(arguments)
        entry = None if laid_out is None else held.get(laid_out[0])
        if laid_out is None or entry is None:
            return compiled(*arguments)
        return _call(entry, laid_out[1], laid_out[2])

    return call


def _call(entry: Entry, codes: list[str], words: list[Any]) -> Any:
    result = np.zeros(max(1, count(entry.result)), np.int64)
    pointer = (result.ctypes.data, len(result))
    given = struct.pack("=" + "".join(codes) + "QqQq", *words, *pointer, *pointer)
    unused = (ctypes.c_void_p * 2)()
    if entry.function(ctypes.addressof(unused), ctypes.addressof(unused) + 8, given) != 0:
        raise RuntimeError("a kernel failed")
    return _unpack(entry.result, iter(result.tolist()), iter(result.view(np.float64).tolist()))


def count(result: Any) -> int:
    """How many numbers a result has."""
    return sum(map(count, result)) if isinstance(result, list) else int(result is not None)


def _unpack(result: Any, integers: Any, floats: Any) -> Any:
    if isinstance(result, list):
        return tuple(_unpack(each, integers, floats) for each in result)
    if result is None:
        return None
    integer, number = next(integers), next(floats)
    return number if result == "float" else bool(integer) if result == "bool" else integer


def lay_out(arguments: Sequence[Any]) -> tuple[tuple[str, ...], list[str], list[Any]] | None:
    """The kinds of arguments, and their words in memory as in a struct; None if there are others."""
    kinds: list[str] = []
    codes: list[str] = []
    words: list[Any] = []
    fine = all(_lay_out(argument, kinds, codes, words) for argument in arguments)
    return (tuple(kinds), codes, words) if fine else None


def _lay_out(argument: Any, kinds: list[str], codes: list[str], words: list[Any]) -> bool:
    of = type(argument)
    if of is np.ndarray:
        flags, dtype = argument.flags, argument.dtype
        kinds.append(f"{dtype.descr if dtype.names else dtype.str} {argument.ndim}")
        codes.append("Q" + "q" * argument.ndim)
        words += [argument.ctypes.data, *argument.shape]
        return bool(flags.c_contiguous and flags.writeable and flags.aligned)
    if getattr(of, "_is_struct", False):
        kinds.append(argument._numba_type_.name)
        codes.append("Q")
        words.append(argument._address)
    elif of is float or of is np.float64:
        kinds.append("float")
        codes.append("d")
        words.append(argument)
    elif of in (int, bool, np.int64, np.bool_):
        kinds.append("bool" if of in (bool, np.bool_) else "int")
        codes.append("q")
        words.append(argument)
    elif isinstance(argument, tuple):
        kinds.append(f"{of.__name__} {len(argument)}")
        return all(_lay_out(each, kinds, codes, words) for each in argument)
    else:
        kinds.append("None")
        return argument is None
    return True
