"""Property-based tests try the same examples on every run; `IMPEL_EXPLORE=1` looks for new ones."""

import os

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("IMPEL_EXPLORE") else "steady")
