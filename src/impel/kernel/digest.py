"""Names kernels after what they do.

A compiled kernel can be used again until something that it consists of has changed: its bytecode, the constants that it
mentions, the kernels that it calls, and how this room compiles them. Edits elsewhere, and of comments, change nothing.
"""

import contextlib
import functools
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np

# Modules of this room that decide on machine code, and how it is written down.
ROOM = ("caching", "compiling", "digest", "indices", "inner", "lowering", "parts", "shortcuts", "structs")

# Settings of numba that make other machine code.
SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT")


@functools.cache
def _compiler() -> str:
    """What compiles kernels."""
    settings = [getattr(numba.config, name, None) for name in SETTINGS]
    room = [Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in ROOM]
    return repr((numba.__version__, llvmlite.__version__, sys.version_info[:2], settings, room))


_known: dict[int, str] | None = None  # names that were found since nothing changes


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    """Nothing that kernels consist of changes meanwhile: each is looked through only once."""
    global _known
    before, _known = _known, {} if _known is None else _known
    try:
        yield
    finally:
        _known = before


def digest(kernel: Any) -> str:
    """The name of a kernel."""
    if _known is None:
        return _digest(kernel)
    if id(kernel) not in _known:
        _known[id(kernel)] = _digest(kernel)
    return _known[id(kernel)]


def _digest(kernel: Any) -> str:
    lines = (_compiler(), *_content(kernel, set()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _content(kernel: Any, told: set[int]) -> Iterator[str]:
    """All that a kernel consists of; what was told before is not told again."""
    yield f"kernel {kernel.name}"
    if id(kernel) in told:
        return
    told.add(id(kernel))
    function = kernel.py_func
    yield repr((sorted(kernel.options.items(), key=repr), kernel.vectors, function.__defaults__))
    yield from _code(function.__code__, function.__doc__)
    names = sorted(set(_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            yield f"global {name}"
            yield from _value(function.__globals__[name], names, told)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield f"from outside {name}"
        yield from _value(cell.cell_contents, names, told)


def _code(code: CodeType, text: str | None = None) -> Iterator[str]:
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield "docstring" if text is not None and constant == text else repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value(value: Any, names: list[str], told: set[int]) -> Iterator[str]:
    """What a name stands for; of a module, what the names that are mentioned stand for."""
    if hasattr(value, "py_func"):
        yield from _content(value, told)
    elif isinstance(value, ModuleType):
        yield value.__name__
        if value.__name__.partition(".")[0] not in ("numpy", "math"):
            for name in names:
                if hasattr(value, name):
                    yield name
                    yield from _value(getattr(value, name), names, told)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__name__} of {len(value)}"
        for each in value:
            yield from _value(each, names, told)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.descr} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, np.dtype):
        yield repr(value.descr)
    elif isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        yield f"{type(value).__name__} {value!r}"
    else:  # nothing may be left out, and a text that tells an address would be another one in each run
        raise TypeError(f"kernels cannot be named after a {type(value).__name__}")
