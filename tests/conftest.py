"""Property-based tests try the same examples on every run; `IMPEL_EXPLORE=1` looks for new ones."""

import os
import signal

from hypothesis import settings

# A shell that runs the tests in the background has Ctrl-C ignored, and every program started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("IMPEL_EXPLORE") else "steady")
