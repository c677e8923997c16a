"""Tells the user, once, why the first run takes a while."""

import functools
import sys

from impel.kernel import shelf


@functools.cache
def announce(unkept: str = "") -> None:
    """Something is about to be compiled; `unkept` says why it will not be kept, unless the shelf is to blame."""
    problem = unkept or shelf.place().problem
    kept = "once on this machine; it is kept for later (impel warmup does it ahead for scenes)"
    lost = f"and cannot keep it for later ({problem})"
    print(f"impel: compiling, {lost if problem else kept} ...", file=sys.stderr, flush=True)
