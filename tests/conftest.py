"""Property-based tests try the same examples on every run; `IMPEL_EXPLORE=1` looks for new ones."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image

# A shell that runs the tests in the background has Ctrl-C ignored, or hanging up; every program started here would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("IMPEL_EXPLORE") else "steady")


PROCESSOR = Path("/proc/cpuinfo")
WIDE = PROCESSOR.exists() and "avx512f" in PROCESSOR.read_text()
# What evolves takes another way where last digits differ, as between kinds of processors.
EVOLVED = "test_with_the_periodicity_term_most_seeds"


def pytest_collection_modifyitems(items):
    for item in items:
        if not WIDE and item.name.startswith(EVOLVED):
            item.add_marker(pytest.mark.skip(reason="its figures are of a processor with AVX-512"))


@pytest.fixture(scope="session")
def pixels_of():
    """How many pixels of a picture have (about) a colour: what a blank plot does not show."""

    def count(path, ink):
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        return int((np.abs(pixels - [int(ink[i : i + 2], 16) for i in (1, 3, 5)]).max(axis=2) < 24).sum())

    return count
