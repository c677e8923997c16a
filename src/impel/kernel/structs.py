"""Groups of arrays that kernels take by reference."""

import hashlib
import itertools
from typing import Any, TypeVar, dataclass_transform

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.np import arrayobj

S = TypeVar("S")


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=False)
def struct(cls: type[S]) -> type[S]:
    """Make a class of annotated fields a group of arrays that kernels take by reference.

    In Python it is a plain immutable record: construct it with its fields, read them, `replace` some. In a kernel
    its fields are read the same way, but only a pointer is passed. (A NamedTuple would be passed as one value: with
    forty arrays that made compilation six and calls ten times slower.) Fields may be C-contiguous arrays, numbers,
    tuples of floats, other structs, or None.
    """
    names = tuple(cls.__annotations__)

    def __init__(self: Any, *values: Any, **fields: Any) -> None:
        given = {**dict(zip(names, values)), **fields}
        if given.keys() != set(names) or len(values) + len(fields) > len(names):
            raise TypeError(f"{cls.__name__} takes exactly the fields {', '.join(names)}")
        self.__dict__.update(given)
        types, words, kept = [], [], []
        for name in names:
            type_, its_words, keep = _lay_out(cls.__name__, name, given[name])
            types.append(type_)
            words += its_words
            kept.append(keep)
        memory = np.array(words, np.uint64)
        self.__dict__.update(
            _numba_type_=StructType(cls.__name__, tuple(zip(names, types))),
            _memory=(memory, kept),
            _address=memory.ctypes.data,
        )

    cls.__init__ = __init__  # type: ignore[method-assign]
    cls.__reduce__ = lambda self: (cls, tuple(fields_of(self).values()))  # type: ignore[method-assign]
    cls.__setattr__ = _refuse  # type: ignore[method-assign]
    return cls


def fields_of(group: Any) -> dict[str, Any]:
    """The fields of a struct, by name."""
    return {name: getattr(group, name) for name in type(group).__annotations__}


def replace(group: S, **changes: Any) -> S:
    """A copy of a struct with some fields changed."""
    return type(group)(**{**fields_of(group), **changes})


def _refuse(self: Any, name: str, value: Any) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be set; use replace")


class StructType(types.Type):
    """The type of a struct in kernels: the names and types of its fields."""

    def __init__(self, title: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields = dict(fields)
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:12]
        super().__init__(name=f"{title}.{digest}")  # short, because it becomes part of every symbol's name


def _lay_out(title: str, name: str, value: Any) -> tuple[types.Type, list[int], Any]:
    """A field's type, its 64-bit words in memory, and what must be kept alive for them."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError(f"{title}.{name} must be C-contiguous")
        return numba.typeof(value), [value.ctypes.data, *value.shape], value
    if isinstance(value, tuple):
        return types.UniTuple(types.float64, len(value)), _bits(np.array(value, np.float64)), None
    if value is None:
        return types.none, [], None
    if isinstance(value, int | np.integer):
        return types.int64, _bits(np.array([value], np.int64)), None
    if isinstance(value, float):
        return types.float64, _bits(np.array([value], np.float64)), None
    if isinstance(getattr(value, "_numba_type_", None), StructType):
        return value._numba_type_, [value._address], value
    raise TypeError(f"{title}.{name} cannot be passed to kernels: {type(value).__name__}")


def _bits(numbers: Any) -> list[int]:
    return [int(word) for word in numbers.view(np.uint64)]


def _size(field: types.Type) -> int:
    """How many words a field takes; see `_lay_out`."""
    if isinstance(field, types.Array):
        return 1 + field.ndim
    if isinstance(field, types.UniTuple):
        return int(field.count)
    return 0 if field is types.none else 1


register_model(StructType)(models.OpaqueModel)


@infer_getattr
class _StructAttribute(AttributeTemplate):
    key = StructType

    def generic_resolve(  # type: ignore[override]
        self, struct_type: StructType, name: str
    ) -> types.Type | None:
        return struct_type.fields.get(name)


@unbox(StructType)
def _unbox_struct(typ: StructType, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(obj, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer)


@lower_getattr_generic(StructType)
def _read_field(context: Any, builder: Any, typ: StructType, pointer: Any, name: str) -> Any:
    """Load a field. The words never change while a kernel runs, so that loads may be moved out of loops."""
    field = typ.fields[name]
    before = itertools.takewhile(lambda item: item[0] != name, typ.fields.items())
    offset = sum(_size(other) for _, other in before)
    word = ir.IntType(64)
    words = builder.bitcast(pointer, word.as_pointer())

    def load(index: int, as_type: Any = word) -> Any:
        place = builder.gep(words, [context.get_constant(types.intp, offset + index)])
        value = builder.load(place)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        if as_type is word:
            return value
        is_pointer = isinstance(as_type, ir.PointerType)
        return builder.inttoptr(value, as_type) if is_pointer else builder.bitcast(value, as_type)

    if isinstance(field, types.Array):
        array = arrayobj.make_array(field)(context, builder)
        shape = [load(1 + k) for k in range(field.ndim)]
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(field.dtype)))
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(length, strides[0], flags=["nsw"]))
        data = load(0, context.get_data_type(field.dtype).as_pointer())
        # No owner: Python keeps the arrays alive, and nothing has to be counted.
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()
    if isinstance(field, types.UniTuple):
        double = ir.DoubleType()
        return context.make_tuple(builder, field, [load(k, double) for k in range(field.count)])
    if field is types.none:
        return context.get_dummy_value()
    if field is types.float64:
        return load(0, ir.DoubleType())
    if field is types.int64:
        return load(0)
    return load(0, context.get_value_type(field))  # another struct
