"""Where compiled kernels are kept between runs.

Numba's own cache does not notice edits in imported modules and would silently run old code, so ours lives in a
directory named after a hash of all sources of the package. And numba counts the files of a kernel: two programs that
compile at the same time take the same number for different things. Here every file is named after what it holds.
"""

import contextlib
import getpass
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

KEPT_CACHES = 4  # directories of older versions that survive, so that switching branches stays cheap


def _source_hash() -> str:
    setting = f"numba {numba.__version__} python {sys.version_info[:2]} checked {numba.config.BOUNDSCHECK}"  # type: ignore[attr-defined]
    digest = hashlib.sha256(setting.encode())
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
        mine = Path(tempfile.gettempdir()) / f"impel-{getpass.getuser()}" / mine.name
        mine.mkdir(parents=True, exist_ok=True)
    return mine


CACHE_DIRECTORY = _cache_directory()
numba.config.CACHE_DIR = str(CACHE_DIRECTORY)  # type: ignore[attr-defined]


class Shelf:
    """The files of one kernel: one for each combination of argument types."""

    def __init__(self, directory: str, title: str, stamp: object) -> None:
        self._begin = Path(directory) / title
        self._stamp = stamp  # of the kernel's own file, which need not belong to the package

    def _path(self, key: object) -> Path:
        digest = hashlib.sha256(repr((self._stamp, key)).encode()).hexdigest()[:24]
        return self._begin.with_name(f"{self._begin.name}.{digest}.kernel")

    def load(self, key: object) -> Any:
        """What was saved under this key, or None."""
        try:
            return pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def save(self, key: object, data: object) -> None:
        """Keep it if there is room: whoever finds nothing here compiles again."""
        path = self._path(key)
        with contextlib.suppress(OSError), tempfile.TemporaryDirectory(dir=path.parent) as directory:
            draft = Path(directory) / path.name
            draft.write_bytes(dumps(data))
            draft.replace(path)


class KernelCache(FunctionCache):
    """Numba's cache of a function, on a shelf."""

    _impl_class: Any = FunctionCache._impl_class

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = Shelf(self._cache_path, self._impl.filename_base, stamp)
