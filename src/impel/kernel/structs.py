"""Groups of arrays that kernels take by reference.

Their types in kernels follow from their annotations, so that one compilation serves every scene. A struct or an array
that a scene does not have is None in Python and a pointer to nothing in kernels, where `is None` asks for that.
"""

import functools
import hashlib
import itertools
import operator
import types as python_types
from typing import Annotated, Any, NamedTuple, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    models,
    overload_attribute,
    register_model,
    unbox,
)

from impel.kernel.inner import PLAIN

S = TypeVar("S")


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=False)
def struct(cls: type[S]) -> type[S]:
    """Make a class of annotated fields a group of arrays that kernels take by reference.

    In Python it is a plain immutable record: construct it with its fields, read them, `replace` some. In a kernel
    its fields are read the same way, but only a pointer is passed. (A NamedTuple would be passed as one value: with
    forty arrays that made compilation six and calls ten times slower.) Fields may be C-contiguous arrays (see
    arrays.py), other structs, numbers, and tuples of floats; all but tuples may be None. Of a number that is None
    kernels are compiled once more, without what is done only if it is there.
    """
    names = tuple(cls.__annotations__)
    of: Any = cls

    def __init__(self: Any, *values: Any, **fields: Any) -> None:
        given = {**dict(zip(names, values)), **fields}
        if given.keys() != set(names) or len(values) + len(fields) > len(names):
            raise TypeError(f"{cls.__name__} takes exactly the fields {', '.join(names)}")
        words: list[int] = []
        missing = []
        for name, field in _fields(of).items():
            if given[name] is None and field.is_number:
                missing.append(name)
            words += _words(of, name, given[name])
        memory = np.array(words, np.uint64)
        self.__dict__.update(
            given,
            _numba_type_=_type_of(of, tuple(missing)),
            _memory=memory,
            _address=memory.ctypes.data,
        )

    cls.__init__ = __init__  # type: ignore[method-assign]
    cls.__reduce__ = lambda self: (cls, tuple(fields_of(self).values()))  # type: ignore[method-assign]
    cls.__setattr__ = _refuse  # type: ignore[method-assign]
    cls._is_struct = True  # type: ignore[attr-defined]
    if PLAIN:
        for name in names:
            _let_read(name)
    return cls


def fields_of(group: Any) -> dict[str, Any]:
    """The fields of a struct, by name."""
    return {name: getattr(group, name) for name in type(group).__annotations__}


def structs_in(group: Any) -> dict[str, Any]:
    """The structs within one, by name; None for those that are not there."""
    of: Any = type(group)
    return {name: getattr(group, name) for name in _names_of_structs(of)}


@functools.cache
def _names_of_structs(cls: Any) -> tuple[str, ...]:
    return tuple(name for name, field in _fields(cls).items() if field.struct is not None)


def replace(group: S, **changes: Any) -> S:
    """A copy of a struct with some fields changed."""
    of: Any = type(group)
    known = _fields(of)
    if not changes.keys() <= known.keys() or any(known[name].is_number for name in changes):
        return of(**{**fields_of(group), **changes})
    memory, place = group._memory.copy(), group._numba_type_.offsets  # type: ignore[attr-defined]
    for name, value in changes.items():
        words = _words(of, name, value)
        memory[place[name] : place[name] + len(words)] = np.array(words, np.uint64)
    other = object.__new__(of)
    other.__dict__.update({**group.__dict__, **changes, "_memory": memory, "_address": memory.ctypes.data})
    return other


def _refuse(self: Any, name: str, value: Any) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be set; use replace")


class StructType(types.Type):
    """The type of a struct in kernels: the names and types of its fields."""

    def __init__(self, title: str, fields: dict[str, types.Type], columns: dict[str, int]) -> None:
        self.fields, self.columns = fields, columns
        before = itertools.accumulate(map(_size, fields.values()), initial=0)
        self.offsets = dict(zip(fields, before))  # words
        digest = hashlib.sha256(repr((list(fields.items()), columns)).encode()).hexdigest()[:12]
        super().__init__(name=f"{title}.{digest}")  # short, because it becomes part of every symbol's name


class _Field(NamedTuple):
    """What an annotation says."""

    kind: types.Type
    optional: bool
    dtype: np.dtype[Any] | None = None  # of an array
    columns: int | None = None  # of a table, where kernels may know how many
    struct: Any = None

    @property
    def is_number(self) -> bool:
        return self.kind in (types.float64, types.int64)


@functools.cache
def _fields(cls: Any) -> dict[str, _Field]:
    hints = get_type_hints(cls, include_extras=True)
    return {name: _field(f"{cls.__name__}.{name}", hint) for name, hint in hints.items()}


@functools.cache
def _type_of(cls: Any, missing: tuple[str, ...]) -> StructType:
    fields = {name: types.none if name in missing else field.kind for name, field in _fields(cls).items()}
    columns = {name: field.columns for name, field in _fields(cls).items() if field.columns is not None}
    return StructType(cls.__name__, fields, columns)


def _field(title: str, hint: Any) -> _Field:
    if get_origin(hint) in (Union, python_types.UnionType):
        (inner,) = (each for each in get_args(hint) if each is not type(None))
        return _field(title, inner)._replace(optional=True)
    ndim, columns, dtype = 1, None, None
    if get_origin(hint) is Annotated:
        hint, *told = get_args(hint)
        if isinstance(told[0], int):
            ndim, columns = told[0], told[1] if len(told) > 1 else None
        else:
            dtype = told[0]
    if get_origin(hint) is np.ndarray:
        dtype = np.dtype(dtype or get_args(get_args(hint)[1])[0])
        return _Field(types.Array(numba.from_dtype(dtype), ndim, "C"), False, dtype=dtype, columns=columns)
    if get_origin(hint) is tuple and set(get_args(hint)) == {float}:
        return _Field(types.UniTuple(types.float64, len(get_args(hint))), False)
    if hint in (int, bool, float):
        return _Field(types.float64 if hint is float else types.int64, False)
    if getattr(hint, "_is_struct", False):
        return _Field(_type_of(hint, ()), False, struct=hint)
    raise TypeError(f"{title} cannot be passed to kernels: {hint}")


def _words(of: Any, name: str, value: Any) -> list[int]:
    """The 64-bit words of a field in memory."""
    try:
        return _words_of(_fields(of)[name], value)
    except TypeError as wrong:
        raise TypeError(f"{of.__name__}.{name} {wrong}") from None


def _words_of(field: _Field, value: Any) -> list[int]:
    if value is None:
        if not field.optional:
            raise TypeError("must not be None")
        return [0] * _size(field.kind)
    if field.dtype is not None:
        return _words_of_array(field, value)
    if field.struct is not None:
        if type(value) is not field.struct or value._numba_type_ != field.kind:
            raise TypeError(f"must be a {field.struct.__name__}")
        return [value._address]
    numbers = np.array(value, np.int64 if field.kind is types.int64 else np.float64).ravel()
    if len(numbers) != _size(field.kind):
        raise TypeError(f"must have {_size(field.kind)} numbers")
    return [int(word) for word in numbers.view(np.uint64)]


def _words_of_array(field: _Field, value: Any) -> list[int]:
    array = field.kind
    assert isinstance(array, types.Array)
    if not isinstance(value, np.ndarray) or value.dtype != field.dtype or value.ndim != array.ndim:
        found = f"{value.dtype} in {value.ndim}" if isinstance(value, np.ndarray) else type(value).__name__
        raise TypeError(f"must be an array of {field.dtype} in {array.ndim} dimensions, as annotated, not {found}")
    if not (value.flags.c_contiguous and value.flags.writeable):
        raise TypeError("must be C-contiguous and writable")
    if field.columns is not None and value.shape[1] != field.columns:
        raise TypeError(f"must have {field.columns} columns, as annotated, not {value.shape[1]}")
    return [value.__array_interface__["data"][0], *value.shape]


def _size(field: types.Type) -> int:
    """How many words a field takes."""
    if isinstance(field, types.Array):
        return 1 + field.ndim
    return int(field.count) if isinstance(field, types.UniTuple) else 1


register_model(StructType)(models.OpaqueModel)


@lower_builtin(operator.is_, StructType, types.NoneType)
def _struct_is_none(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _is_null(builder, arguments[0])


@lower_builtin(operator.is_, types.Array, types.NoneType)
def _array_is_none(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _is_null(builder, context.make_array(signature.args[0])(context, builder, arguments[0]).data)


def _is_null(builder: Any, pointer: Any) -> Any:
    return builder.icmp_unsigned("==", pointer, pointer.type(None))


if not PLAIN:
    from impel.kernel.inner import AttributeTemplate

    @infer_getattr
    class _StructAttribute(AttributeTemplate):
        key = StructType

        def generic_resolve(  # type: ignore[override]
            self, struct_type: StructType, name: str
        ) -> types.Type | None:
            return struct_type.fields.get(name)


@functools.cache
def _let_read(name: str) -> None:
    """Make fields of this name known to numba in its public way, which has to compile a function for each."""

    @intrinsic
    def read(typing_context: Any, group: Any) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return read_field(context, builder, group, arguments[0], name)

        return group.fields[name](group), lower

    @overload_attribute(StructType, name)
    def attribute(group):  # numba wants both signatures to look alike
        return (lambda group: read(group)) if name in group.fields else None  # type: ignore[call-arg]


@unbox(StructType)
def _unbox_struct(typ: StructType, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(obj, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer)


@lower_getattr_generic(StructType)
def read_field(context: Any, builder: Any, typ: StructType, pointer: Any, name: str) -> Any:
    """Load a field. The words never change while a kernel runs, so that loads may be moved out of loops."""
    field = typ.fields[name]
    load = _loader(context, builder, typ, pointer, name)
    if isinstance(field, types.Array):
        return _array(context, builder, field, *read_array(context, builder, typ, pointer, name))
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


def read_array(context: Any, builder: Any, typ: StructType, pointer: Any, name: str) -> tuple[Any, list[Any]]:
    """Where the data of an array begins, and its shape."""
    kind = typ.fields[name]
    assert isinstance(kind, types.Array)
    load = _loader(context, builder, typ, pointer, name)
    columns = typ.columns.get(name)
    known = {} if columns is None else {1: context.get_constant(types.intp, columns)}
    shape = [known[k] if k in known else load(1 + k) for k in range(kind.ndim)]
    return load(0, context.get_data_type(kind.dtype).as_pointer()), shape


def _loader(context: Any, builder: Any, typ: StructType, pointer: Any, name: str) -> Any:
    """What loads the words of a field."""
    word = ir.IntType(64)
    words = builder.bitcast(pointer, word.as_pointer())

    def load(index: int, as_type: Any = word) -> Any:
        place = builder.gep(words, [word(typ.offsets[name] + index)])
        value = builder.load(place)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        if as_type is word:
            return value
        is_pointer = isinstance(as_type, ir.PointerType)
        return builder.inttoptr(value, as_type) if is_pointer else builder.bitcast(value, as_type)

    return load


def _array(context: Any, builder: Any, kind: types.Array, data: Any, shape: list[Any]) -> Any:
    """An array as numba knows it, from its words."""
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides, count = [size], shape[0]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0], flags=["nsw"]))
    for length in shape[1:]:
        count = builder.mul(count, length, flags=["nsw"])
    array = context.make_array(kind)(context, builder)
    sizes = types.UniTuple(types.intp, kind.ndim)
    array.data = data
    array.shape = context.make_tuple(builder, sizes, shape)
    array.strides = context.make_tuple(builder, sizes, strides)
    array.itemsize, array.nitems = size, count
    # No owner: Python keeps the arrays alive, and nothing has to be counted.
    array.meminfo = context.get_constant_null(types.voidptr)
    array.parent = context.get_constant_null(types.pyobject)
    return array._getvalue()
