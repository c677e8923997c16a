"""The compiled simulator of a figure: written once as a readable file in the kernel cache, then only loaded."""

import importlib.util
import sys
import threading
from types import ModuleType

from impel.files import writing
from impel.kernel import CACHE_DIRECTORY
from impel.toys.figure import Figure
from impel.toys.generate import module_name, source_of

_lock = threading.Lock()


def simulator_of(figure: Figure) -> ModuleType:
    """The figure's own module, with `steps` and `trials`; compiled on the first call of either."""
    source = source_of(figure)
    name = module_name(source)
    with _lock:
        if name in sys.modules:
            return sys.modules[name]
        path = CACHE_DIRECTORY / f"{name}.py"
        # Numba trusts its cache while the file's time stands, so an existing file must not be touched.
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            with writing(path) as temporary:
                temporary.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # numba looks the module up by name when it loads cached code
        spec.loader.exec_module(module)
        return module
