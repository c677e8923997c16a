"""Property-based tests try the same examples on every run; `IMPEL_EXPLORE=1` looks for new ones."""

import os
import signal

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image

# A shell that runs the tests in the background has Ctrl-C ignored, and every program started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("IMPEL_EXPLORE") else "steady")


@pytest.fixture(scope="session")
def pixels_of():
    """How many pixels of a picture have (about) a colour: what a blank plot does not show."""

    def count(path, ink):
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        return int((np.abs(pixels - [int(ink[i : i + 2], 16) for i in (1, 3, 5)]).max(axis=2) < 24).sum())

    return count
