"""From numba's instructions to LLVM's, by shorter ways for what kernels consist of.

Numba puts every variable that is used in more than one place into memory, and every array, tuple, loop and call into
structs there, field by field, for LLVM to take out again: four instructions out of five. Here what is set once stays a
value; arrays, tuples and ranges are kept as what they consist of, and become whole only where somebody asks for that.
The machine code is the same, but there is much less to write, to parse and to tidy up on the way. Whatever is not
known here goes numba's own way.
"""

import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from llvmlite import ir as llvm
from numba import types

from impel.kernel.inner import Lower, compute_cfg_from_blocks, compute_use_defs, do_minmax, ir
from impel.kernel.structs import StructType, read_array, read_field

_WORD = llvm.IntType(64)
_TWO_FLOATS = (types.float64, types.float64)


class ArrayValue:
    """An array: where its data begins, and how many there are in each dimension."""

    def __init__(self, kind: Any, data: Any, shape: list[Any], made: Any = None) -> None:
        self.kind, self.data, self.shape, self.made = kind, data, shape, made

    def whole(self, lower: Any) -> Any:
        if self.made is not None:
            return self.made
        value = lower.context.get_constant_undef(self.kind)
        for place, each in enumerate(self._members(lower)):
            for k, number in enumerate(each if isinstance(each, list) else ()):
                value = lower.builder.insert_value(value, number, [place, k])
            if not isinstance(each, list):
                value = lower.builder.insert_value(value, each, place)
        return value

    def flat(self, lower: Any) -> list[Any]:
        """As functions take it."""
        members = self._members(lower)
        return [number for each in members for number in (each if isinstance(each, list) else [each])]

    def _members(self, lower: Any) -> list[Any]:
        """What numba knows of an array, in its order."""
        context, builder = lower.context, lower.builder
        size = _WORD(lower.size_of(self.kind.dtype))
        strides, count = [size], self.shape[0]
        for length in reversed(self.shape[1:]):
            strides.insert(0, builder.mul(length, strides[0], flags=["nsw"]))
        for length in self.shape[1:]:
            count = builder.mul(count, length, flags=["nsw"])
        # No owner: Python keeps the arrays alive, and nothing has to be counted.
        known = {
            "meminfo": context.get_constant_null(types.MemInfoPointer(self.kind.dtype)),
            "parent": context.get_constant_null(types.pyobject),
            "nitems": count,
            "itemsize": size,
            "data": self.data,
            "shape": self.shape,
            "strides": strides,
        }
        return [known[name] for name in context.data_model_manager[self.kind]._fields]


class TupleValue:
    """A tuple of values."""

    def __init__(self, kind: Any, values: list[Any]) -> None:
        self.kind, self.values = kind, values

    def whole(self, lower: Any) -> Any:
        return lower.context.make_tuple(lower.builder, self.kind, self.values)


class RangeValue:
    """range(start, stop, step), with a step that is written out."""

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step

    def whole(self, lower: Any) -> Any:
        value = lower.context.get_constant_undef(types.range_state64_type)
        for place, each in enumerate((self.start, self.stop, _WORD(self.step))):
            value = lower.builder.insert_value(value, each, place)
        return value


class StepsValue(NamedTuple):
    """What goes through a range: where it stands, in memory, and where it ends. It is never asked for as a whole."""

    slot: Any
    stop: Any
    step: int


class NextValue(NamedTuple):
    """What comes next in a range, and whether anything does."""

    value: Any
    valid: Any


class ShortLower(Lower):
    """Numba's lowering of one function, which counts no references and tells debuggers nothing."""

    _implementations: ClassVar[dict[Any, Any]] = {}  # of operators, for the types of their operands
    _sizes: ClassVar[dict[Any, int]] = {}

    def _find_singly_assigned_variable(self) -> None:
        """Which variables need no memory: those that are set in one place, which comes before all others."""
        blocks = self.func_ir.blocks
        times: Counter[str] = Counter()
        home: dict[str, int] = {}
        self._copies: dict[str, list[str]] = {}
        for offset, block in blocks.items():
            for inst in block.body:
                if type(inst) is ir.Assign:
                    name = inst.target.name
                    times[name] += 1
                    home[name] = offset
                    if type(inst.value) is ir.Var:
                        self._copies.setdefault(inst.value.name, []).append(name)
        users: dict[str, list[int]] = {}
        for offset, names in compute_use_defs(blocks).usemap.items():
            for name in names:
                users.setdefault(name, []).append(offset)
        above = compute_cfg_from_blocks(blocks).dominators()
        self._singly_assigned_vars = {
            name
            for name, count in times.items()
            if count == 1 and all(home[name] < use and home[name] in above[use] for use in users.get(name, ()))
        }
        self._blk_local_varmap: dict[str, Any] = {}
        self._functions: dict[str, Any] = {}

    def _stays(self, name: str) -> bool:
        """Whether a variable and all its copies need no memory."""
        return name in self._singly_assigned_vars and all(map(self._stays, self._copies.get(name, ())))

    def size_of(self, kind: Any) -> int:
        """Bytes in memory."""
        if kind not in self._sizes:
            self._sizes[kind] = int(self.context.get_abi_sizeof(self.context.get_data_type(kind)))
        return self._sizes[kind]

    def lower_block(self, block: Any) -> None:
        for inst in block.body:
            self.loc = inst.loc
            try:
                self.lower_inst(inst)
            except Exception as error:
                error.add_note(f"while lowering {inst} at {inst.loc}")
                raise

    def lower_inst(self, inst: Any) -> Any:
        if type(inst) is ir.Assign:
            name = inst.target.name
            self.storevar(self._assign(self.fndesc.typemap[name], inst), name)
        elif type(inst) in (ir.SetItem, ir.StaticSetItem) and self._set_item(inst):
            pass
        elif type(inst) is not ir.Del:
            super().lower_inst(inst)

    def alloca(self, name: str, type: Any) -> Any:
        return self._slot(self.context.get_value_type(type), name)

    def _slot(self, kind: Any, name: str = "") -> Any:
        with self.builder.goto_entry_block():
            slot = self.builder.alloca(kind, name=name)
            self.builder.store(kind(None), slot)
        return slot

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(self._whole(value), self.getvar(name))

    def loadvar(self, name: str) -> Any:
        return self._whole(self._short(name))

    def _short(self, name: str) -> Any:
        value = self._blk_local_varmap.get(name)
        return self.builder.load(self.getvar(name)) if value is None else value

    def _whole(self, value: Any) -> Any:
        return value.whole(self) if isinstance(value, ArrayValue | TupleValue | RangeValue) else value

    def _assign(self, kind: Any, inst: Any) -> Any:
        value = inst.value
        if isinstance(kind, types.Dispatcher):  # which one it is, its type tells
            return self.context.get_value_type(kind)(None)
        if type(value) is ir.Expr:
            way = _WAYS.get(value.op)
            result = way(self, kind, value, inst.target.name) if way else None
            return self.lower_expr(kind, value) if result is None else result
        if type(value) is ir.Var and self.typeof(value.name) == kind:
            return self._short(value.name)
        if type(value) is ir.Arg and self.typeof(f"arg.{value.name}") == kind:
            given = self.fnargs[value.index]
            return self._array(given, kind) if self._plain_array(kind) else given
        return self.lower_assign(kind, inst)

    def _plain_array(self, kind: Any) -> bool:
        return isinstance(kind, types.Array) and kind.layout == "C" and not self.context.enable_boundscheck

    def _array(self, value: Any, kind: Any) -> ArrayValue:
        """What an array consists of."""
        if isinstance(value, ArrayValue):
            return value
        names, take = self.context.data_model_manager[kind]._fields, self.builder.extract_value
        data = take(value, names.index("data"))
        return ArrayValue(kind, data, [take(value, [names.index("shape"), k]) for k in range(kind.ndim)], value)

    def _element(self, target: Any, index: Any) -> Any:
        """Where an element of an array is; None if it is not one element that is asked for."""
        kind = self.typeof(target.name)
        if not self._plain_array(kind):
            return None
        numbers = self._numbers(index)
        if numbers is None or len(numbers) != kind.ndim:
            return None
        array, builder = self._array(self._short(target.name), kind), self.builder
        return builder.gep(array.data, [self._place(numbers, array.shape[1:])])

    def _row(self, kind: Any, target: Any, index: Any) -> ArrayValue | None:
        """What is left of an array where only its first indices are given."""
        of = self.typeof(target.name)
        if not (self._plain_array(of) and self._plain_array(kind)):
            return None
        numbers = self._numbers(index)
        if numbers is None or len(numbers) + kind.ndim != of.ndim or kind.dtype != of.dtype:
            return None
        array, builder = self._array(self._short(target.name), of), self.builder
        place = self._place(numbers, array.shape[1:])
        return ArrayValue(kind, builder.gep(array.data, [place]), array.shape[len(numbers) :])

    def _numbers(self, index: Any) -> list[Any] | None:
        """The indices for the dimensions of an array, if each counts from the front."""
        which = self.typeof(index.name)
        kinds = which.types if isinstance(which, types.BaseTuple) else (which,)  # type: ignore[attr-defined]
        if not all(map(_counts_from_front, kinds)):
            return None
        value = self._short(index.name)
        if not isinstance(which, types.BaseTuple):
            return [value]
        return value.values if isinstance(value, TupleValue) else self._items(value, len(kinds))

    def _place(self, numbers: list[Any], lengths: list[Any]) -> Any:
        """How many elements stand before the one, or the row, with these indices."""
        place = numbers[0]
        for k, length in enumerate(lengths):
            place = self.builder.mul(place, length)
            if k + 1 < len(numbers):
                place = self.builder.add(place, numbers[k + 1])
        return place

    def _items(self, value: Any, count: int) -> list[Any]:
        return [self.builder.extract_value(value, k) for k in range(count)]

    def _get_item(self, kind: Any, expr: Any, name: str, index: Any = None) -> Any:
        array = self.typeof(expr.value.name)
        if isinstance(kind, types.Array) and isinstance(array, types.Array):
            return self._row(kind, expr.value, index or expr.index)
        if not isinstance(array, types.Array) or array.dtype != kind:
            return None
        place = self._element(expr.value, index or expr.index)
        align = None if array.aligned else 1
        return None if place is None else self.context.unpack_value(self.builder, array.dtype, place, align=align)

    def _get_static_item(self, kind: Any, expr: Any, name: str) -> Any:
        of = self.typeof(expr.value.name)
        if isinstance(of, types.BaseTuple) and type(expr.index) is int and of[expr.index] == kind:  # type: ignore[index]
            value = self._short(expr.value.name)
            if isinstance(value, TupleValue):
                return value.values[expr.index]
            return self.builder.extract_value(value, expr.index % len(of))
        return self._get_item(kind, expr, name, expr.index_var) if expr.index_var is not None else None

    def _set_item(self, inst: Any) -> bool:
        index = inst.index if type(inst) is ir.SetItem else inst.index_var
        array, kind = self.typeof(inst.target.name), self.typeof(inst.value.name)
        if index is None or not isinstance(array, types.Array):
            return False
        if not isinstance(array.dtype, types.Number | types.Boolean):
            return False
        if not isinstance(kind, types.Number | types.Boolean):
            return False
        place = self._element(inst.target, index)
        if place is None:
            return False
        value = self.context.cast(self.builder, self.loadvar(inst.value.name), kind, array.dtype)
        align = None if array.aligned else 1
        self.context.pack_value(self.builder, array.dtype, value, place, align=align)
        return True

    def _get_attribute(self, kind: Any, expr: Any, name: str) -> Any:
        of = self.typeof(expr.value.name)
        if not isinstance(of, StructType):
            return None
        pointer = self.loadvar(expr.value.name)
        if self._plain_array(kind):
            return ArrayValue(kind, *read_array(self.context, self.builder, of, pointer, expr.attr))
        return read_field(self.context, self.builder, of, pointer, expr.attr)

    def _build_tuple(self, kind: Any, expr: Any, name: str) -> Any:
        cast = self.context.cast
        items = [(self.loadvar(each.name), self.typeof(each.name)) for each in expr.items]
        return TupleValue(kind, [cast(self.builder, value, had, has) for (value, had), has in zip(items, kind)])

    def _begin_loop(self, kind: Any, expr: Any, name: str) -> Any:
        through = self._short(expr.value.name)
        if not isinstance(through, RangeValue) or not self._stays(name):
            return None
        slot = self._slot(_WORD)
        self.builder.store(through.start, slot)
        return StepsValue(slot, through.stop, through.step)

    def _next(self, kind: Any, expr: Any, name: str) -> Any:
        steps = self._short(expr.value.name)
        if not isinstance(steps, StepsValue):
            return None
        value = self.builder.load(steps.slot)
        self.builder.store(self.builder.add(value, _WORD(steps.step), flags=["nsw"]), steps.slot)
        return NextValue(value, self.builder.icmp_signed("<" if steps.step > 0 else ">", value, steps.stop))

    def _first_of_pair(self, kind: Any, expr: Any, name: str) -> Any:
        pair = self._short(expr.value.name)
        return pair.value if isinstance(pair, NextValue) else None

    def _second_of_pair(self, kind: Any, expr: Any, name: str) -> Any:
        pair = self._short(expr.value.name)
        return pair.valid if isinstance(pair, NextValue) else None

    def _operate(self, kind: Any, expr: Any, name: str) -> Any:
        function = expr.fn if expr.op == "binop" else expr.immutable_fn
        signature = self.fndesc.calltypes[expr]
        if not all(isinstance(each, types.Number) for each in signature.args):
            return None
        if function is operator.pow:
            return self._power(kind, expr, signature)
        key = (function, signature.args)  # all kernels want the same of divisions by nothing
        if key not in self._implementations:
            operation = self.context.typing_context.resolve_value_type(function)
            called = operation.get_call_type(self.context.typing_context, signature.args, {})
            self._implementations[key] = self.context.get_function(operation, called)
        operands = [self._cast_var(each, has) for each, has in zip((expr.lhs, expr.rhs), signature.args)]
        if function is operator.truediv and signature.args == _TWO_FLOATS:  # what it is by zero, nobody asks
            result = self.builder.fdiv(*operands)
        else:
            result = self._implementations[key](self.builder, operands)
        return self.context.cast(self.builder, result, signature.return_type, kind)

    def _power(self, kind: Any, expr: Any, signature: Any) -> Any:
        """A written-out power, as numba multiplies it up."""
        exponent = self.typeof(expr.rhs.name)
        if signature.args[0] != types.float64 or not isinstance(exponent, types.IntegerLiteral):
            return None
        left: int = exponent.literal_value
        if not 0 < left < 9:
            return None
        result, square = None, self._cast_var(expr.lhs, types.float64)
        while True:
            if left & 1:
                result = square if result is None else self.builder.fmul(result, square)
            left >>= 1
            if not left:
                return self.context.cast(self.builder, result, signature.return_type, kind)
            square = self.builder.fmul(square, square)

    def _exhaust(self, kind: Any, expr: Any, name: str) -> Any:
        of = self.typeof(expr.value.name)
        return self._short(expr.value.name) if of == kind and isinstance(of, types.BaseTuple) else None

    def _cast(self, kind: Any, expr: Any, name: str) -> Any:
        return self._short(expr.value.name) if self.typeof(expr.value.name) == kind else None

    def _extreme(self, key: Any, of: list[Any], kind: Any, expr: Any, signature: Any) -> Any:
        """max and min, of numbers."""
        if expr.kws or expr.vararg or not all(isinstance(each, types.Number) for each in of):
            return None
        values = [self.loadvar(each.name) for each in expr.args]
        plain = list(map(types.unliteral, of))
        compare = operator.gt if key is max else operator.lt
        result = do_minmax(self.context, self.builder, plain, values, compare)
        return self.context.cast(self.builder, result, signature.return_type, kind)

    def _call(self, kind: Any, expr: Any, name: str) -> Any:
        function, signature = self.typeof(expr.func.name), self.fndesc.calltypes[expr]
        if isinstance(function, types.Function) and function.typing_key in (max, min):
            of = [self.typeof(each.name) for each in expr.args]
            return self._extreme(function.typing_key, of, kind, expr, signature)
        if expr.kws or expr.vararg or len(expr.args) != len(signature.args):
            return None
        if isinstance(function, types.Dispatcher):
            return self._call_part(function.dispatcher, signature, kind, expr.args)
        if not isinstance(function, types.Function):
            return None
        key, of = function.typing_key, [self.typeof(each.name) for each in expr.args]
        if key is bool and of == [types.boolean]:
            return self.loadvar(expr.args[0].name)
        if key is int and of == [types.float64]:
            return self.context.cast(self.builder, self.loadvar(expr.args[0].name), types.float64, kind)
        if key is len and self._plain_array(of[0]):
            return self._array(self._short(expr.args[0].name), of[0]).shape[0]
        if key is range and kind == types.range_state64_type:
            step = 1
            if len(of) == 3:
                if not isinstance(of[2], types.IntegerLiteral) or not of[2].literal_value:
                    return None
                step = of[2].literal_value
            bounds = [self._cast_var(each, types.int64) for each in expr.args[:2]]
            return RangeValue(bounds[0] if bounds[1:] else _WORD(0), bounds[-1], step)
        return None

    def _call_part(self, part: Any, signature: Any, kind: Any, arguments: Any) -> Any:
        """A call of another kernel. Who may fail tells its callers at once: nothing is caught on the way."""
        compiled = part.overloads.get(tuple(signature.args))
        returned = signature.return_type
        if compiled is None or isinstance(returned, types.Optional) or returned != kind:
            return None
        descriptor, builder = compiled.fndesc, self.builder
        if descriptor.restype != returned or tuple(descriptor.argtypes) != tuple(signature.args):
            return None
        if descriptor.llvm_func_name not in self._functions:
            self.context.add_linking_libs([compiled.library])
            self._functions[descriptor.llvm_func_name] = self.context.declare_function(self.module, descriptor)
        given = [each for v, has in zip(arguments, signature.args) for each in self._flat(v, has)]
        slot = self._slot(self.call_conv.get_return_type(returned).pointee)
        failure = self.call_conv._get_excinfo_argument(self.function)
        code = builder.call(self._functions[descriptor.llvm_func_name], [slot, failure, *given])
        if compiled.library.fails:
            with builder.if_then(builder.icmp_signed("!=", code, code.type(0)), likely=False):
                builder.ret(code)
        if returned == types.none:
            return self.context.get_dummy_value()
        return self.context.get_returned_value(builder, returned, builder.load(slot))

    def _flat(self, variable: Any, has: Any) -> Iterator[Any]:
        """An argument as functions take it."""
        had = self.typeof(variable.name)
        value = self._short(variable.name)
        if had != has:
            value = self.context.cast(self.builder, self._whole(value), had, has)
        elif self._plain_array(has):
            yield from self._array(value, has).flat(self)
            return
        elif isinstance(value, TupleValue):
            for each, of in zip(value.values, has):
                yield from _flatten(self.context.data_model_manager[of].as_argument(self.builder, each))
            return
        value = self._whole(value)
        yield from _flatten(self.context.data_model_manager[has].as_argument(self.builder, value))


_WAYS = {
    "binop": ShortLower._operate,
    "inplace_binop": ShortLower._operate,
    "build_tuple": ShortLower._build_tuple,
    "call": ShortLower._call,
    "cast": ShortLower._cast,
    "exhaust_iter": ShortLower._exhaust,
    "getattr": ShortLower._get_attribute,
    "getitem": ShortLower._get_item,
    "getiter": ShortLower._begin_loop,
    "iternext": ShortLower._next,
    "pair_first": ShortLower._first_of_pair,
    "pair_second": ShortLower._second_of_pair,
    "static_getitem": ShortLower._get_static_item,
}


def _counts_from_front(kind: Any) -> bool:
    """Is it an index that is never counted from the end (see indices.py)?"""
    if isinstance(kind, types.IntegerLiteral):
        return bool(kind.literal_value >= 0)
    return kind in (types.int64, types.uint64)


def _flatten(values: Any) -> Iterator[Any]:
    if isinstance(values, tuple | list):
        for each in values:
            yield from _flatten(each)
    else:
        yield values
