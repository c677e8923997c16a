"""The compiled simulator of a figure. Its source is left where kernels are kept, for whoever wants to read it."""

import contextlib
import sys
import threading
from pathlib import Path
from types import ModuleType

from impel.files import Problem, writing
from impel.kernel import shelf
from impel.toys.figure import Figure
from impel.toys.generate import module_name, source_of

_lock = threading.Lock()
_known: dict[str, ModuleType] = {}  # by all that a figure says: writing its text takes as long as running 8 trials


def simulator_of(figure: Figure) -> ModuleType:
    """The figure's own module, with `steps` and `trials`; compiled on the first call of either."""
    said = figure.model_dump_json()
    if said not in _known:
        _known[said] = _module(source_of(figure))
    return _known[said]


def _module(source: str) -> ModuleType:
    name = module_name(source)
    with _lock:
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        directory = shelf.place().directory
        module.__file__ = f"{name}.py" if directory is None else str(directory / f"{name}.py")
        if directory is not None and not Path(module.__file__).exists():
            with contextlib.suppress(Problem), writing(Path(module.__file__)) as temporary:
                temporary.write_text(source, encoding="utf-8")
        sys.modules[name] = module  # numba looks the module up by name when it loads cached code
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        return module
