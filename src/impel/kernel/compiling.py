"""The decorator of hot functions, and the notice while they are compiled."""

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event, types

from impel.kernel import shelf
from impel.kernel.caching import KernelCache
from impel.kernel.parts import Part, WholeCompiler

F = TypeVar("F", bound=Callable[..., Any])

# Fused multiply-add is welcome. The flags `nnan` and `ninf` are not: they delete the checks for NaN.
_FASTMATH = {"contract"}


def kernel(function: F | None = None, *, inline: bool = False, allocates: bool = False) -> Any:
    """Compile a function on its first call and keep the machine code for later runs.

    `inline=True` is for small vector helpers: they are pasted into their callers, cost nothing there and
    are compiled with them. A kernel that makes arrays says `allocates=True`: all others are compiled
    without counting references to arrays, which made contact and drift 3 to 7 times faster.
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
        return Kernel(f, options)

    return decorate if function is None else decorate(function)


class Kernel:
    """A compiled function. Python calls it whole; other kernels take it as a part of theirs."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self._whole = numba.njit(pipeline_class=WholeCompiler, **options)(function)
        self._whole._cache = KernelCache(self)
        self._part = Part(self)
        self._numba_type_ = types.Dispatcher(self._part)  # what kernels see that call it

    def __call__(self, *arguments: Any) -> Any:
        return self._whole(*arguments)


class _Notice(event.Listener):
    """Tells the user, once, why the first run takes a while."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, _event: event.Event) -> None:
        if not self.told:
            self.told = True
            problem = shelf.place().problem
            kept = "once on this machine; it is kept for later (impel warmup does it ahead for scenes)"
            lost = f"and cannot keep it for later ({problem}; IMPEL_CACHE_DIR may name a directory of your own)"
            print(f"impel: compiling, {lost if problem else kept} ...", file=sys.stderr, flush=True)

    def on_end(self, _event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
