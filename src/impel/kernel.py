"""The one place that knows numba: how impel's hot functions are compiled, cached and announced.

A module with kernels says `from impel.kernel import kernel` and decorates its functions. Numba's own cache
does not notice edits in imported modules and would silently run old code, so the cache lives in a
directory named after a hash of all sources of the package.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

KEPT_CACHES = 4  # directories of older versions that survive, so that switching branches stays cheap


def _source_hash() -> str:
    digest = hashlib.sha256(f"numba {numba.__version__} python {sys.version_info[:2]}".encode())
    package = Path(__file__).parent
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
numba.config.CACHE_DIR = str(CACHE_DIRECTORY)

# Fused multiply-add is welcome. The flags `nnan` and `ninf` are not: they delete the checks for NaN.
_FASTMATH = {"contract"}


def kernel(
    function: F | None = None, *, parallel: bool = False, inline: bool = False, inner: bool = False
) -> Any:
    """Compile a function on its first call and keep the machine code for later runs.

    `inline=True` is for small vector helpers: they are pasted into their callers, cost nothing there and
    are compiled with them. `inner=True` is for functions that only other kernels call: without the code that
    unpacks Python objects, which for a function of many arrays is most of it, they compile in a third of the time.
    """

    def decorate(f: F) -> Any:
        return numba.njit(
            cache=not inline,
            error_model="numpy",
            fastmath=_FASTMATH,
            parallel=parallel,
            nogil=True,
            forceinline=inline,
            no_cpython_wrapper=inline or inner,
            no_cfunc_wrapper=True,
        )(f)

    return decorate if function is None else decorate(function)


class _Notice(event.Listener):
    """Tells the user, once, why the first run takes a while."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, _event: event.Event) -> None:
        if not self.told:
            self.told = True
            print("impel: compiling for this machine (only the first time; later runs start at once) ...",
                  file=sys.stderr, flush=True)

    def on_end(self, _event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
