"""Numba's cache of a function, on our shelf.

Numba's own does not notice edits of what a function calls and would silently run old code; it also counts the files of
a function, so that two programs that compile at the same time take the same number for different things.
"""

import contextlib
import hashlib
import pickle
from typing import Any

from impel.kernel import shelf
from impel.kernel.digest import digest
from impel.kernel.inner import CompileResult, dumps
from impel.kernel.notice import announce


class KernelCache:
    """What numba asks for compiled kernels, and gives them to: one file for each combination of argument types."""

    suffix = ".kernel"
    cache_path = None

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def _name(self, signature: Any, machine: Any) -> str:
        whole = repr((digest(self._kernel), signature, machine.magic_tuple()))
        return f"{self._kernel.__name__}.{hashlib.sha256(whole.encode()).hexdigest()[:32]}{self.suffix}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What was compiled for these types, or None."""
        context.refresh()
        data = shelf.read(self._name(signature, context.codegen()))
        if data is not None:
            with contextlib.suppress(AttributeError, ImportError):  # a class that it names has moved to another module
                return self.rebuild(context, pickle.loads(data))
        announce()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if not result.library.has_dynamic_globals:  # addresses of this process
            shelf.write(self._name(signature, result.codegen), dumps(self.reduce(result)))

    def reduce(self, result: Any) -> Any:
        return result._reduce()

    def rebuild(self, context: Any, payload: Any) -> Any:
        return CompileResult._rebuild(context, *payload)

    def flush(self) -> None:
        """Nothing to do: what has changed has another name."""
