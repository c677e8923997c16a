"""Verdicts on a step, from good to hopeless; of several the worst counts."""

# An imprecise step is taken back if it can be shorter, and is good enough if not.
GOOD, IMPRECISE, TOO_STIFF, TOO_DEEP, DIVERGED, TOO_FAR, NOT_A_NUMBER = range(7)
REASONS = (
    "",
    "joints turn too far",
    "contact too stiff",
    "contact too deep",
    "joints too far off",
    "moved too far",
    "not a number",
)
