"""Writes the library that comes with the package (see shipped.py), from kernels that were called while it watched.

Every one gets an entry that takes all arguments as one struct and leaves its result in another, so that only a pointer
has to be passed. It is optimised with all its parts by the same compiler, and linked against a libm and libc that
exist in name only: what they promise was there in 2012, so that the library asks for no newer ones.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba import types

from impel.kernel.compiling import Kernel
from impel.kernel.shipped import CONTENTS, PACKAGE, digest_of_sources, lay_out, platform_name
from impel.kernel.structs import StructType


class Target(NamedTuple):
    cpu: str  # what LLVM calls it
    features: tuple[str, ...]  # what it must have
    glibc: str  # the oldest version of the C library that there is for it
    tag: str  # of wheels


TARGETS = {
    "linux-x86_64": Target(
        "x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"), "GLIBC_2.2.5", "manylinux_2_17_x86_64"
    ),
    "linux-aarch64": Target("generic", (), "GLIBC_2.17", "manylinux_2_17_aarch64"),  # never run by the authors
}

MATHEMATICS = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "fabs", "floor", "fmax", "fmin", "fmod", "hypot", "log", "log10", "log1p", "log2", "pow",
    "rint", "round", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "trunc", "nearbyint", "fma",
}  # fmt: skip
MEMORY = {"memcpy", "memmove", "memset", "memcmp"}

Seen = dict[tuple[Kernel, tuple[str, ...]], tuple[types.Type, ...]]


@contextmanager
def watching() -> Iterator[Seen]:
    """Which kernels Python calls meanwhile, and with what."""
    seen: Seen = {}
    ordinary = Kernel.__call__

    def call(self: Kernel, *arguments: Any) -> Any:
        laid_out = lay_out(arguments)
        if laid_out is not None and not self.options["_nrt"]:
            seen[self, laid_out[0]] = tuple(map(numba.typeof, arguments))
        return ordinary(self, *arguments)

    Kernel.__call__ = call  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        Kernel.__call__ = ordinary  # type: ignore[method-assign]


def ship(seen: Seen, directory: Path) -> list[str]:
    """Write the library and its contents; returns the names of what could not be put in."""
    target = TARGETS[platform_name()]
    directory.mkdir(exist_ok=True)
    left_out, listed = [], []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        objects = []
        for number, ((kernel, kinds), signature) in enumerate(seen.items()):
            result = kernel._whole.overloads[signature].signature.return_type
            code = _object(kernel, signature, result, f"kernel_{number}", target.cpu)
            if code is None:
                left_out.append(kernel.name)
                continue
            objects.append(place / f"{number}.o")
            objects[-1].write_bytes(code)
            listed.append((kernel.name, kinds, f"kernel_{number}", _shape(result)))
        stubs = [_stub(place, "libm.so.6", MATHEMATICS, target.glibc), _stub(place, "libc.so.6", MEMORY, target.glibc)]
        _link(*objects, *stubs, "-Wl,-z,defs,--as-needed", "-s", "-o", directory / "kernels.so")
    names = sorted({*_modules(kernel for kernel, _ in seen), *_room()})
    contents = {
        "platform": platform_name(),
        "tag": target.tag,
        "features": target.features,
        "library": "kernels.so",
        "digest": digest_of_sources(names),
        "sources": names,
        "entries": listed,
    }
    (directory / CONTENTS).write_text(json.dumps(contents, indent=1), encoding="utf-8")
    return left_out


def _object(kernel: Kernel, signature: tuple[types.Type, ...], result: types.Type, symbol: str, cpu: str) -> Any:
    """Machine code of a kernel, or None if it needs what is not there without numba."""
    shape = _shape(result)
    if shape == "other":
        return None
    fields: dict[str, types.Type] = {}
    function = _entry(kernel, signature, shape, fields)
    fields |= {"floats": types.Array(types.float64, 1, "C"), "integers": types.Array(types.int64, 1, "C")}
    entry = Kernel(function, {**kernel.options, "no_cpython_wrapper": True})
    entry._whole._cache = _Unkept()  # from there it would come without its intermediate code
    entry._whole.compile((StructType(symbol, fields, {}),))
    (overload,) = entry._whole.overloads.values()
    library = overload.library
    if library.has_dynamic_globals:
        return None
    module = llvm.parse_bitcode(library._final_module.as_bitcode())
    for function in module.functions:
        if function.name == overload.fndesc.llvm_func_name:
            function.name, function.linkage, function.visibility = symbol, "external", "default"
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if variable.linkage != llvm.Linkage.external or not variable.is_declaration:
            variable.linkage = "internal"
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features="", opt=3, reloc="pic", codemodel="default"
    )
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, passes)
    missing = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    missing |= {variable.name for variable in module.global_variables if variable.is_declaration}
    return None if missing - MATHEMATICS - MEMORY else machine.emit_object(module)


class _Unkept:
    def load_overload(self, *_: Any) -> None:
        pass

    def save_overload(self, *_: Any) -> None:
        pass


def _entry(
    kernel: Kernel, signature: tuple[types.Type, ...], shape: Any, fields: dict[str, types.Type]
) -> Callable[..., Any]:
    """A function that takes all arguments, and room for the result, as one struct; tells the fields of the former."""
    space: dict[str, Any] = {"kernel": kernel, "__name__": __name__}

    def argument(kind: Any) -> str:
        if kind is types.none:
            return "None"
        if isinstance(kind, types.BaseTuple):
            parts = "".join(f"{argument(each)}, " for each in kind.types)  # type: ignore[attr-defined]
            made = getattr(kind, "instance_class", None)
            if made is not None:
                space[made.__name__] = made
            return f"{made.__name__ if made else ''}({parts})"
        name = f"a{len(fields)}"
        fields[name] = types.int64 if isinstance(kind, types.Boolean) else kind
        return f"given.{name} != 0" if isinstance(kind, types.Boolean) else f"given.{name}"

    given = ", ".join(map(argument, signature))
    lines = ["def entry(given):", f"    result = kernel({given})"]
    for number, (place, kind) in enumerate(_leaves(shape)):
        lines.append(f"    given.{'floats' if kind == 'float' else 'integers'}[{number}] = result{place}")
    exec("\n".join(lines), space)
    return space["entry"]


def _shape(result: Any) -> Any:
    """What `shipped.Entry` says of a result."""
    if isinstance(result, types.BaseTuple):
        shapes = [_shape(each) for each in result.types]  # type: ignore[attr-defined]
        return "other" if "other" in shapes else shapes
    plain = {types.none: None, types.float64: "float", types.int64: "int", types.boolean: "bool"}
    return plain.get(types.unliteral(result), "other")


def _leaves(shape: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(shape, list):
        for i, each in enumerate(shape):
            yield from _leaves(each, f"{place}[{i}]")
    elif shape is not None:
        yield place, shape


def _modules(kernels: Iterator[Kernel]) -> set[str]:
    """The files of the package that hold these kernels, and all that they import of it."""
    found: set[str] = set()
    waiting = [sys.modules[kernel.__module__] for kernel in kernels]
    while waiting:
        module = waiting.pop()
        path = Path(str(module.__file__))
        if PACKAGE in path.parents and str(path.relative_to(PACKAGE).as_posix()) not in found:
            found.add(path.relative_to(PACKAGE).as_posix())
            for value in vars(module).values():
                name = str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))
                waiting += [sys.modules[name]] if name.startswith("impel.") else []
    return found


def _room() -> set[str]:
    return {path.relative_to(PACKAGE).as_posix() for path in Path(__file__).parent.glob("*.py")}


def _stub(place: Path, name: str, functions: set[str], version: str) -> Path:
    """A library that has these functions in name only, in an old version."""
    source, versions, library = place / f"{name}.c", place / f"{name}.map", place / name
    source.write_text("".join(f"void {function}(void) {{}}\n" for function in sorted(functions)))
    versions.write_text(f"{version} {{ {' '.join(f'{function};' for function in sorted(functions))} }};\n")
    _link("-w", "-fno-builtin", source, f"-Wl,-soname,{name},--version-script,{versions}", "-o", library)
    return library


def _link(*arguments: object) -> None:
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", *map(str, arguments)], check=True)
