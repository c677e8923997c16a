"""Kernels as parts of other kernels.

Numba makes a callable function of every kernel: a wrapper for Python, optimisation and machine code, once for the
kernel itself and again in each of its callers. Deeply nested kernels that nobody calls from Python pay for that many
times over. A part stops halfway, at LLVM's intermediate code with its own parts linked in. Only the kernel that Python
calls is optimised and turned into machine code, once, together with all its parts: the first simulation compiles a
third faster, and runs as fast.
"""

import functools
from contextlib import nullcontext
from types import CodeType, SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
import numba
from numba import types

from impel.kernel.caching import KernelCache
from impel.kernel.digest import digest
from impel.kernel.indices import CountFromFront
from impel.kernel.inner import (
    BaseFunction,
    Compiler,
    CPUDispatcher,
    JITCodeLibrary,
    Lower,
    LoweringPass,
    NativeLowering,
    NoPythonSupportedFeatureValidation,
    PythonFunctionDescriptor,
    TargetConfig,
    _dynfunc,
    _LowerResult,
    compile_result,
    dispatcher,
    event,
    ir,
    register_pass,
)


def whole(kernel: Any) -> Any:
    """What Python calls."""
    made = numba.njit(pipeline_class=WholeCompiler, **kernel.options)(kernel.py_func)
    made._cache = KernelCache(kernel)
    return made


class Part(CPUDispatcher):
    """What stands for a function where another kernel calls it. It cannot be called from Python."""

    def __init__(self, kernel: Any) -> None:
        kernel.py_func.kernel = kernel
        options = {"nopython": True, **kernel.options}
        super().__init__(kernel.py_func, targetoptions=options, pipeline_class=_PartCompiler)
        self._cache = _PartCache(kernel)
        self._templates: dict[Any, Any] = {}  # what callers were told, which takes numba a while to put together

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile once for all integers, not again for every number that a caller writes out."""
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        asked = (tuple(map(types.unliteral, args)), tuple(plain.items()))
        if asked not in self._templates:
            self._templates[asked] = super().get_call_template(asked[0], plain)
        return self._templates[asked]


class _Code(JITCodeLibrary):
    """Intermediate code, to be linked into callers."""

    def _optimize_functions(self, module: Any) -> None:
        """Only tidied up: it will be optimised with the kernel that it becomes a part of."""
        module.data_layout = self._codegen._data_layout
        manager, builder = _tidy(self._codegen)
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@functools.cache
def _tidy(codegen: Any) -> tuple[Any, Any]:
    """Passes that put variables into registers and fold what is constant."""
    builder = codegen._pass_builder(opt=1, loop_vectorize=False, slp_vectorize=False)
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    return manager, builder


def _key(library: _Code, descriptor: Any, environment: Any) -> Any:
    """The key by which callers find a part: numba wants a function here, with or without code."""
    name = descriptor.qualname.split(".")[-1]
    return _dynfunc.make_function(descriptor.lookup_module(), name, "part of kernels", 0, environment, (library,))


class _Aligned(Lower):
    """A function whose stack begins at a cache line."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.function.attributes.alignstack = 64
        self.function.attributes.add("nounwind")  # or the first would not be written down: it has no name


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
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            # Parts from earlier runs must not be taken for others of the same name.
            abi_tags=[flags.get_mangle_string(), digest(state.func_id.func.kernel)[:16]],
        )
        with context.push_code_library(state.library):
            kind = _Aligned if state.func_id.func.kernel.vectors else Lower
            lower = kind(context, state.library, descriptor, state.func_ir, metadata=state.metadata)
            lower.lower()
        key = _key(state.library, descriptor, lower.env)
        context.insert_user_function(key, descriptor, [state.library])
        state["cr"] = _LowerResult(descriptor, lower.call_helper, cfunc=key, env=lower.env)
        return True


# Passes that look for what kernels do not contain: closures, functions that numba would paste in, lists of literals,
# exceptions with arguments, expressions of whole arrays. A second look for dead branches finds none, either.
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
}


def _compare_quickly() -> None:
    """Numba compares its settings at every call that it types, and builds two dictionaries with all of them for that:
    a tenth of all the time. Most are the same ones."""
    compare: Any = TargetConfig.__eq__
    digits = functools.cache(lambda kind: hash(tuple(sorted(kind.options))))

    def same(self: Any, other: object) -> Any:
        return (type(self) is type(other) and self._values == other._values) or compare(self, other)  # type: ignore[attr-defined]

    TargetConfig.__eq__ = same  # type: ignore[method-assign]
    TargetConfig.__hash__ = lambda self: digits(type(self))  # type: ignore[method-assign]


_compare_quickly()


def _resolve_once() -> None:
    """Numba tries all that an operator could mean, with the same result, wherever it stands between numbers: a tenth of
    all the time."""
    resolve: Any = BaseFunction.get_call_type

    def remembered(self: Any, context: Any, args: Any, kws: Any) -> Any:
        known = self.__dict__.setdefault("_known", {})
        asked = (args, tuple(kws.items()), len(self.templates))
        if asked not in known:
            known[asked] = resolve(self, context, args, kws)
        return known[asked]

    BaseFunction.get_call_type = remembered  # type: ignore[method-assign]


_resolve_once()


def _list_quickly() -> None:
    """Numba lists the variables of each instruction again and again, by a search through all that it consists of."""

    def listed(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is ir.Var:
            return [value]
        if kind in _PLAIN:
            return []
        if kind is dict:
            value = value.values()
        elif kind is not list and kind is not tuple:
            return value.list_vars() if isinstance(value, ir.Inst) else []
        found: list[Any] = []
        for each in value:
            kind = type(each)
            if kind is ir.Var:
                found.append(each)
            elif kind not in _PLAIN:
                found += listed(self, each)
        return found

    ir.Inst._rec_list_vars = listed  # type: ignore[method-assign]


_PLAIN = {str, int, float, bool, type(None), ir.Loc}

_list_quickly()


def _tell_nobody() -> None:
    """Numba makes an event of every call of LLVM, even if nobody listens; and each kernel listens while it is compiled,
    for a table of times that nobody reads, to all events of all its parts: a tenth of all the time."""

    def only_if_heard(tell: Any) -> Any:
        return lambda kind, *more, **named: tell(kind, *more, **named) if event._registered[kind] else None

    event.start_event, event.end_event = only_if_heard(event.start_event), only_if_heard(event.end_event)
    deaf = lambda kind, callback: nullcontext()  # noqa: E731
    dispatcher.ev = SimpleNamespace(trigger_event=event.trigger_event, install_timer=deaf)  # type: ignore[attr-defined]


_tell_nobody()


class WholeCompiler(Compiler):
    """Numba's compiler for kernels that Python calls."""

    lowering: type[LoweringPass] = NativeLowering

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
    """How parts are written and read: as LLVM's bitcode, which callers in other runs link in."""

    suffix = ".part.kernel"

    def reduce(self, part: Any) -> tuple[Any, ...]:
        part.library._ensure_finalized()
        part.fndesc.typemap = part.fndesc.calltypes = None
        code = part.library._get_module_for_linking().as_bitcode()
        return part.library.name, code, part.fndesc, part.environment, part.signature

    def rebuild(self, context: Any, payload: tuple[Any, ...]) -> Any:
        name, code, descriptor, environment, signature = payload
        library = _Code(context.codegen(), name)
        library._final_module = llvm.parse_bitcode(code)
        library.finalize()
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
