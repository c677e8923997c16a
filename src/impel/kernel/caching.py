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
        name = self._name(signature, context.codegen())
        data = shelf.read(name)
        if data is not None:
            context.refresh()
            with contextlib.suppress(AttributeError, ImportError):  # a class that it names has moved to another module
                rebuilt = self.rebuild(context, name, data)
                if rebuilt is not None:
                    return rebuilt
        announce()
        return None

    def save_overload(self, signature: Any, result: Any) -> str | None:
        """Returns the name under which it was kept, if it was."""
        if result.library.has_dynamic_globals:  # addresses of this process
            return None
        name = self._name(signature, result.codegen)
        shelf.write(name, dumps(self.reduce(result)))
        return name

    def reduce(self, result: Any) -> Any:
        return result._reduce()

    def rebuild(self, context: Any, name: str, data: bytes) -> Any:
        return CompileResult._rebuild(context, *pickle.loads(data))

    def flush(self) -> None:
        """Nothing to do: what has changed has another name."""
