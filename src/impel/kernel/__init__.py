"""The one place that knows numba: how hot functions are compiled, cached and announced, and how data reaches them.

A module with kernels says `from impel.kernel import kernel` and decorates its functions; what travels together is a
`struct`.
"""

from impel.kernel.arrays import Booleans, Booleans2, Floats, Floats2, Floats3, Integers, Integers2, Shorts2, Singles2
from impel.kernel.compiling import kernel
from impel.kernel.structs import fields_of, replace, struct, structs_in

__all__ = [
    "Booleans",
    "Booleans2",
    "Floats",
    "Floats2",
    "Floats3",
    "Integers",
    "Integers2",
    "Shorts2",
    "Singles2",
    "fields_of",
    "kernel",
    "replace",
    "struct",
    "structs_in",
]
