"""The decorator of hot functions."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types

from impel.kernel.inner import PLAIN
from impel.kernel.notice import announce
from impel.kernel.shipped import caller

if not PLAIN:
    from impel.kernel.parts import Part, Whole

F = TypeVar("F", bound=Callable[..., Any])

# Fused multiply-add is welcome. The flags `nnan` and `ninf` are not: they delete the checks for NaN.
_FASTMATH = {"contract"}


def kernel(function: F | None = None, *, inline: bool = False, allocates: bool = False, vectors: bool = False) -> Any:
    """Compile a function on its first call and keep the machine code for later runs.

    `inline=True` is for small vector helpers: they are pasted into their callers, cost nothing there and
    are compiled with them. A kernel that makes arrays says `allocates=True`: all others are compiled
    without counting references to arrays, which made contact and drift 3 to 7 times faster. `vectors=True` is for
    loops with more wide vectors than registers: what is put aside then never lies across two cache lines, as it
    otherwise does in three of four runs, which cost toys up to a quarter of their speed.
    """
    options = {
        "error_model": "numpy",
        "fastmath": _FASTMATH,
        "nogil": True,
        "forceinline": inline,
        "no_cfunc_wrapper": True,
        "_nrt": allocates,
    }

    def decorate(f: F) -> Kernel:
        return Kernel(f, options, vectors)

    return decorate if function is None else decorate(function)


class Kernel:
    """A compiled function. Python calls it whole; other kernels take it as a part of theirs."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], vectors: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options, self.vectors = options, vectors
        self.name = f"{function.__module__}.{function.__qualname__}"
        if PLAIN:
            self._whole = self._part = _plain(function, options)
        else:
            self._whole, self._part = Whole(self), Part(self)
        self._numba_type_ = types.Dispatcher(self._part)  # what kernels see that call it

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)

    @functools.cached_property
    def _call(self) -> Callable[..., Any]:
        compiled = self._compile_plainly if PLAIN else self._whole
        return caller(self.name, compiled)

    def _compile_plainly(self, *arguments: Any) -> Any:
        if not self._whole.signatures:
            announce(PLAIN)
        return self._whole(*arguments)


def _plain(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """With numba as everybody knows it. What is compiled is not kept: numba's cache overlooks edits of parts."""
    documented = {name: value for name, value in options.items() if not name.startswith("_")}
    return numba.njit(**documented)(function)
