"""How many things can be done at once."""

import os


def available_cores() -> int:
    """The cores this process may use, where the system tells (Linux), else all that the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
