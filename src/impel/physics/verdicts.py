"""Verdicts on a step, from good to hopeless; of several the worst counts."""

GOOD, TOO_STIFF, TOO_DEEP, DIVERGED, TOO_FAR, NOT_A_NUMBER = range(6)
REASONS = ("", "contact too stiff", "contact too deep", "joints too far off", "moved too far", "not a number")
