"""What the fields of structs are annotated with.

A kernel is compiled for the types of its arguments, and these must not depend on what a scene happens to have. So the
annotation of an array tells all that numba wants to know of it; a plain `NDArray[np.float64]` is a list of numbers.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

Floats2 = Annotated[Floats, 2]  # a table; Annotated[Floats2, 3] has three columns, and places in it cost less to find
Integers2 = Annotated[Integers, 2]
Shorts2 = Annotated[NDArray[np.int32], 2]  # for long lists
Singles2 = Annotated[NDArray[np.float32], 2]
Booleans2 = Annotated[Booleans, 2]
Floats3 = Annotated[Floats, 3]
