"""Indices that count from the front.

Numba lets every index count from the end when it is negative, and so compares and corrects each before each access.
Kernels do not need that: without it the joints' step is a sixth faster. A written-out `a[-1]` still means the last one;
an index that becomes negative while running is an error, which `make audit` would find.
"""

from typing import Any

from numba import types

from impel.kernel.inner import FunctionPass, ir, register_pass


@register_pass(mutates_CFG=False, analysis_only=False)
class CountFromFront(FunctionPass):
    """Makes the indices of arrays unsigned."""

    _name = "count_from_front"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            accesses: list[Any] = [*block.find_exprs(op="getitem"), *block.find_insts(ir.SetItem)]
            for access in accesses:
                signature = state.calltypes.pop(access)
                array, _, *value = signature.args
                if isinstance(array, types.Array):
                    index = _unsigned(state.typemap[access.index.name])
                    signature = signature.replace(args=(array, index, *value))
                state.calltypes[access] = signature
        return True


def _unsigned(index: types.Type) -> types.Type:
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(each) for each in index.types])  # type: ignore[attr-defined]
    if isinstance(index, types.IntegerLiteral) and index.literal_value < 0:
        return types.intp
    return types.uintp if isinstance(index, types.Integer) else index
