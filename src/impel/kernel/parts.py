"""Kernels as parts of other kernels.

Numba makes a callable function of every kernel: a wrapper for Python, optimisation and machine code, once for the
kernel itself and again in each of its callers. Deeply nested kernels that nobody calls from Python pay for that many
times over. A part stops halfway, at LLVM's intermediate code. Only the kernel that Python calls is linked with all its
parts, and theirs, optimised and turned into machine code, once: the first simulation compiles a third faster, and runs
as fast.
"""

import functools
import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any
from weakref import WeakSet

import llvmlite.binding as llvm
import numba
from llvmlite.ir import Constant
from numba import types

from impel.kernel import shelf
from impel.kernel.caching import KernelCache
from impel.kernel.digest import digest
from impel.kernel.indices import CountFromFront
from impel.kernel.inner import (
    CodeLibrary,
    Compiler,
    CPUDispatcher,
    JITCodeLibrary,
    Lower,
    LoweringPass,
    NativeLowering,
    NoPythonSupportedFeatureValidation,
    PythonFunctionDescriptor,
    _dynfunc,
    _LowerResult,
    compile_result,
    register_pass,
)
from impel.kernel.lowering import ShortLower
from impel.kernel.shortcuts import refreshed_once, undisturbed

BUNDLE = 25  # parts


class Whole(CPUDispatcher):
    """What Python calls."""

    def __init__(self, kernel: Any) -> None:
        options = {"nopython": True, **kernel.options}
        super().__init__(kernel.py_func, targetoptions=options, pipeline_class=WholeCompiler)
        self._cache = KernelCache(kernel)

    def compile(self, sig: Any) -> Any:
        """Where parts from the shelf do not fit together, all are compiled anew, and take their places."""
        with undisturbed():
            try:
                return super().compile(sig)
            except DoesNotLink:
                with _forgetting_parts():
                    return super().compile(sig)


class DoesNotLink(Exception):
    """A part is missing that another one calls."""


class Part(CPUDispatcher):
    """What stands for a function where another kernel calls it. It cannot be called from Python."""

    def __init__(self, kernel: Any) -> None:
        kernel.py_func.kernel = kernel
        options = {"nopython": True, **kernel.options}
        super().__init__(kernel.py_func, targetoptions=options, pipeline_class=_PartCompiler)
        self._cache = _PartCache(kernel)
        _all_parts.add(self)
        self._templates: dict[Any, Any] = {}  # what callers were told, which takes numba a while to put together

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile once for all integers, not again for every number that a caller writes out."""
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        asked = (tuple(map(types.unliteral, args)), tuple(plain.items()))
        if asked not in self._templates:
            self._templates[asked] = super().get_call_template(asked[0], plain)
        return self._templates[asked]


class _Code(JITCodeLibrary):
    """Intermediate code of one part, to be linked into what Python calls."""

    kept_as: str | None = None  # its name on the shelf
    fails = False  # whether callers must ask if it did

    def __init__(self, codegen: Any, name: str) -> None:
        CodeLibrary.__init__(self, codegen, name)  # without numba's empty module, to link everything into
        self._linking_libraries: list[Any] = []
        self._shared_module = None

    def add_ir_module(self, module: Any) -> None:
        """Verified with the kernel that it becomes a part of."""
        self._final_module = llvm.parse_assembly(str(module))
        self._final_module.name = module.name
        self._optimize_functions(self._final_module)

    @property
    def parts(self) -> list["_Code"]:
        return [each for each in dict.fromkeys(self._linking_libraries) if isinstance(each, _Code)]

    def _optimize_functions(self, module: Any) -> None:
        """Only tidied up: it will be optimised with the kernel that it becomes a part of."""
        module.data_layout = self._codegen._data_layout
        manager, builder = _tidy(self._codegen)
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

    def _get_module_for_linking(self) -> Any:
        """As numba does it, but without a copy that nobody needs: it is only ever linked into others."""
        self._ensure_finalized()
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "weak_odr"  # which bundles keep
            self._shared_module = self._final_module
        return self._shared_module

    def finalize(self) -> None:
        """Link in what numba itself has compiled for this part; other parts are linked only once, at the end."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if not isinstance(library, _Code):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _WholeCode(JITCodeLibrary):
    """Intermediate code of what Python calls."""

    counts = False  # references to arrays
    vectors = False  # has loops with many wide vectors

    def _optimize_final_module(self) -> None:
        """At once, where there are no references whose counts numba would leave out in between."""
        if self.counts:
            super()._optimize_final_module()
            return
        manager, builder = _optimizing(self._codegen, self.vectors)
        manager.run(self._final_module, builder)

    def finalize(self) -> None:
        """Link parts to bundles and these to the whole: linking goes through all of what it links into, each time."""
        ordered: dict[Any, None] = {}

        def visit(library: Any) -> None:
            if library not in ordered:
                for part in library.parts if isinstance(library, _Code) else ():
                    visit(part)
                ordered[library] = None

        for library in self._linking_libraries:
            visit(library)
        libraries = list(reversed(ordered))  # callers first
        modules = [each._get_module_for_linking() for each in libraries if isinstance(each, _Code)]
        for first in range(0, len(modules), BUNDLE):
            bundle = modules[first].clone()
            for module in modules[first + 1 : first + BUNDLE]:
                bundle.link_in(module, preserve=True)
            self._final_module.link_in(bundle)
        for library in libraries:
            if not isinstance(library, _Code):  # numba's own, of which only what was mentioned is wanted
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.weak_odr:
                function.linkage = "linkonce_odr"
        self._reload_init.update(*(each._reload_init for each in libraries))
        self._linking_libraries = []
        super().finalize()

    def _verify_declare_only_symbols(self) -> None:
        """All parts must be there: what is not would be called all the same."""
        missing = [f.name for f in self._final_module.functions if f.is_declaration and f.name.startswith("_ZN")]
        if missing:
            raise DoesNotLink(missing)


def _optimizing(codegen: Any, unrolled: bool) -> tuple[Any, Any]:
    """Numba's passes, which write out no loop for more than one vector, unless they are to. Most kernels go round three
    times, or thirty: what is written out for more takes a fifth of the time to compile `play`, and is hardly ever run.
    """
    settings: Any = numba.config
    options = llvm.create_pipeline_tuning_options(int(settings.OPT))
    options.loop_vectorization = bool(settings.LOOP_VECTORIZE)
    options.slp_vectorization = bool(settings.SLP_VECTORIZE)
    options.loop_interleaving = options.loop_unrolling = unrolled
    builder = llvm.create_pass_builder(codegen._tm, options)
    return builder.getModulePassManager(), builder


@functools.cache
def _tidy(codegen: Any) -> tuple[Any, Any]:
    """Passes that put variables into registers and fold what is constant."""
    builder = codegen._pass_builder(opt=1, loop_vectorize=False, slp_vectorize=False)
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    return manager, builder


def _may_fail(function: Any) -> bool:
    """Whether a function ever returns anything but numba's code for success."""
    ends = (block.terminator for block in function.blocks)
    codes = (end.operands[0] for end in ends if end.opname == "ret")
    return not all(isinstance(code, Constant) and code.constant == 0 for code in codes)


def _key(library: _Code, descriptor: Any, environment: Any) -> Any:
    """The key by which callers find a part: numba wants a function here, with or without code."""
    name = descriptor.qualname.split(".")[-1]
    return _dynfunc.make_function(descriptor.lookup_module(), name, "part of kernels", 0, environment, (library,))


def _name_of(kinds: Any) -> str:
    """A name for types of arguments, which is the same in every run."""
    return hashlib.sha256(repr(kinds).encode()).hexdigest()[:16]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(LoweringPass):
    """Takes the place of numba's `NativeLowering`, and leaves out what only Python needs."""

    _name = "lower_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        context, flags = state.targetctx, state.flags
        state.library = _Code(context.codegen(), state.func_id.func_qualname)
        descriptor = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            # Named by content alone, without numba's counts of functions and of types: parts from other runs, or of
            # programs that compile at the same time, are the same if they have the same name.
            mangler=lambda name, kinds, *, abi_tags=(), uid=None: context.mangler(name, (), abi_tags=abi_tags),
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string(), digest(state.func_id.func.kernel)[:16], _name_of(state.args)],
        )
        with context.push_code_library(state.library):
            lower = _lowering(state)(context, state.library, descriptor, state.func_ir, metadata=state.metadata)
            lower.lower()
        state.library.fails = _may_fail(lower.function)
        key = _key(state.library, descriptor, lower.env)
        context.insert_user_function(key, descriptor, [state.library])
        state["cr"] = _LowerResult(descriptor, lower.call_helper, cfunc=key, env=lower.env)
        return True


class _Aligned(ShortLower):
    """A function whose stack begins at a cache line."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.function.attributes.alignstack = 64
        self.function.attributes.add("nounwind")  # or the first would not be written down: it has no name


def _lowering(state: Any) -> type[Lower]:
    if state.flags.nrt:
        return Lower
    return _Aligned if state.func_id.func.kernel.vectors else ShortLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(NativeLowering):
    """Numba's own, with all parts linked in."""

    _name = "lower_whole"

    def run_pass(self, state: Any) -> bool:
        state.library = _WholeCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.counts = state.flags.nrt
        state.library.vectors = state.func_id.func.kernel.vectors
        state.library.enable_object_caching()
        self._lower = _lowering(state)
        return bool(super().run_pass(state))

    @property
    def lowering_class(self) -> type[Lower]:
        return self._lower


# Passes that look for what kernels do not contain: closures, functions that numba would paste in, lists of literals,
# exceptions with arguments, expressions of whole arrays. A second look for dead branches finds none, either. And one
# that tells when a variable is used for the last time, to count references.
IDLE = {
    "WithLifting",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
    "IRLegalization",
}


class WholeCompiler(Compiler):
    """Numba's compiler for kernels that Python calls."""

    lowering: type[LoweringPass] = _LowerWhole

    def __init__(self, typing_context: Any, target_context: Any, *more: Any) -> None:
        with refreshed_once(typing_context, target_context):
            super().__init__(typing_context, target_context, *more)

    def define_pipelines(self) -> list[Any]:
        (pipeline,) = super().define_pipelines()
        passes = dict(pipeline.passes)  # each once
        if not self.state.flags.nrt:  # it makes no arrays
            constants = self.state.func_id.func.__code__.co_consts
            idle = IDLE if any(isinstance(each, CodeType) for each in constants) else {*IDLE, "InlineClosureLikes"}
            passes = {p: why for p, why in passes.items() if p.__name__ not in idle}
        pipeline.passes = [(self.lowering if p is NativeLowering else p, why) for p, why in passes.items()]
        pipeline._finalized = False
        pipeline.add_pass_after(CountFromFront, NoPythonSupportedFeatureValidation)
        pipeline.finalize()
        return [pipeline]


class _PartCompiler(WholeCompiler):
    lowering = _LowerPart


class _PartCache(KernelCache):
    """How parts are written and read: as LLVM's bitcode, and the names of their own parts."""

    suffix = ".part.kernel"

    def load_overload(self, signature: Any, context: Any) -> Any:
        return super().load_overload(signature, context) if _reading else None

    def save_overload(self, signature: Any, result: Any) -> None:
        if all(part.kept_as for part in result.library.parts):
            result.library.kept_as = super().save_overload(signature, result)

    def reduce(self, part: Any) -> tuple[Any, ...]:
        part.fndesc.typemap = part.fndesc.calltypes = None
        code = part.library._get_module_for_linking().as_bitcode()
        parts = [each.kept_as for each in part.library.parts]
        return part.library.name, code, part.library.fails, part.fndesc, part.environment, part.signature, parts

    def rebuild(self, context: Any, name: str, data: bytes) -> Any:
        library = _code(context, name, data)
        if library is None:
            return None
        *_, descriptor, environment, signature, _ = pickle.loads(data)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            entry_point=_key(library, descriptor, environment),
            library=library,
            environment=environment,
            fndesc=descriptor,
            signature=signature,
            objectmode=False,
        )


_known_code: dict[str, _Code] = {}  # what was read, by its name on the shelf
_all_parts: WeakSet[Part] = WeakSet()
_reading = True  # parts from the shelf


@contextmanager
def _forgetting_parts() -> Iterator[None]:
    """Neither what is known of parts counts, nor what is on the shelf."""
    global _reading
    _known_code.clear()
    for part in _all_parts:
        part._reset_overloads()  # type: ignore[attr-defined]
        part._templates.clear()
    _reading = False
    try:
        yield
    finally:
        _reading = True


def _code(context: Any, name: str, data: bytes | None = None) -> _Code | None:
    """A part from the shelf; None where it or one of its parts is not there."""
    if name not in _known_code:
        data = data or shelf.read(name)
        if data is None:
            return None
        title, code, fails, *_, names = pickle.loads(data)
        parts = [_code(context, each) for each in names]
        if None in parts:
            return None
        library = _Code(context.codegen(), title)
        library._final_module = llvm.parse_bitcode(code)
        library.fails = fails
        library._linking_libraries = parts
        library.finalize()
        library.kept_as = name
        _known_code[name] = library
    return _known_code[name]
