"""The decorator of hot functions, where their machine code is kept, and the notice while it is made.

Numba's own cache does not notice edits in imported modules and would silently run old code, so the cache lives in a
directory named after a hash of all sources of the package.
"""

import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event, types

from impel.kernel.parts import Part, WholeCompiler

F = TypeVar("F", bound=Callable[..., Any])

KEPT_CACHES = 4  # directories of older versions that survive, so that switching branches stays cheap


def _source_hash() -> str:
    digest = hashlib.sha256(f"numba {numba.__version__} python {sys.version_info[:2]}".encode())
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> Path:
    root = Path(os.environ.get("IMPEL_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "impel")
    mine = root.expanduser() / "kernels" / _source_hash()
    try:
        mine.mkdir(parents=True, exist_ok=True)
        os.utime(mine)
        by_age = sorted(mine.parent.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
        for stale in by_age[KEPT_CACHES:]:
            shutil.rmtree(stale, ignore_errors=True)
    except OSError:  # a read-only home must not stop a simulation
        mine = Path(tempfile.gettempdir()) / f"impel-{os.getuid()}" / mine.name
        mine.mkdir(parents=True, exist_ok=True)
    return mine


CACHE_DIRECTORY = _cache_directory()
numba.config.CACHE_DIR = str(CACHE_DIRECTORY)  # type: ignore[attr-defined]

# Fused multiply-add is welcome. The flags `nnan` and `ninf` are not: they delete the checks for NaN.
_FASTMATH = {"contract"}


def kernel(
    function: F | None = None,
    *,
    inline: bool = False,
    allocates: bool = False,
    parallel: bool = False,
) -> Any:
    """Compile a function on its first call and keep the machine code for later runs.

    `inline=True` is for small vector helpers: they are pasted into their callers, cost nothing there and
    are compiled with them. A kernel that makes arrays says `allocates=True`: all others are compiled
    without counting references to arrays, which made contact and drift 3 to 7 times faster.
    """
    options = {
        "error_model": "numpy",
        "fastmath": _FASTMATH,
        "parallel": parallel,
        "nogil": True,
        "forceinline": inline,
        "no_cfunc_wrapper": True,
        "_nrt": allocates or parallel,
    }

    def decorate(f: F) -> Kernel:
        return Kernel(f, options)

    return decorate if function is None else decorate(function)


class Kernel:
    """A compiled function. Python calls it whole; other kernels take it as a part of theirs."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._whole = numba.njit(cache=True, pipeline_class=WholeCompiler, **options)(function)  # type: ignore[call-overload]
        self._part = Part(function, options)
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
            print(
                "impel: compiling for this machine (only the first time; later runs start at once) ...",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, _event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
