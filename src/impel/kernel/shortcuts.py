"""Shorter ways through numba's own compiler, for what kernels consist of.

Numba prepares for all that Python may contain, and asks again where the answer cannot have changed. What is told here
takes the same steps to the same code, but asks once. Where it could matter to other users of numba in the same program,
the short way is taken only while kernels are compiled.
"""

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

from impel.kernel.digest import unchanged
from impel.kernel.inner import (
    BaseFunction,
    ByteCode,
    ConstraintNetwork,
    Flow,
    NumbaError,
    PostProcessor,
    TargetConfig,
    TypingError,
    VariableLifetime,
    base,
    dispatcher,
    event,
    interpreter,
    ir,
    ssa,
    transforms,
    typeinfer,
)

_ours = False  # what is compiled now is a kernel


@contextmanager
def undisturbed() -> Iterator[None]:
    """While kernels are compiled, objects come by the million and stay until their kernel is done: looking for garbage
    again and again was a quarter of all the time, and never looking doubled the memory."""
    global _ours
    looks, before = gc.get_threshold(), _ours
    gc.set_threshold(100_000, 1_000_000, 1_000_000)
    _ours = True
    if not before:
        _fresh.clear()
    try:
        with unchanged():
            yield
    finally:
        _ours = before
        gc.set_threshold(*looks)


_fresh: set[Any] = set()  # what has looked for news since these kernels are compiled


@contextmanager
def refreshed_once(*contexts: Any) -> Iterator[None]:
    """Numba goes through all that it knows before it compiles a function, in case that something is new."""
    known = [each for each in contexts if each in _fresh]
    for each in known:
        each.refresh = _nothing  # instead of its class's
    try:
        yield
    finally:
        for each in known:
            del each.refresh
        _fresh.update(contexts)


def _nothing() -> None:
    pass


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


def _ask_once() -> None:
    """Numba inspects the signature of what implements an operator wherever that is used."""
    base._has_loc = functools.cache(base._has_loc)


_ask_once()


def _forget_lifetimes() -> None:
    """After each pass numba finds out anew where each variable is alive: only generators and references need that."""
    find: Any = PostProcessor.run

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if not _ours or emit_dels or self.func_ir.is_generator:
            find(self, emit_dels, extend_lifetimes)
        else:
            self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.variable_lifetime = VariableLifetime(self.func_ir.blocks)
            self.func_ir.generator_info = None

    PostProcessor.run = run  # type: ignore[method-assign]


_forget_lifetimes()


def _infer_what_is_new() -> None:
    """Numba infers the types of all variables again until none changes, each time from every instruction. Those whose
    variables have the same types as last time have nothing to add."""
    propagate: Any = ConstraintNetwork.propagate

    def propagate_news(self: Any, inferer: Any) -> list[Any]:
        if not _ours:
            return list(propagate(self, inferer))
        failures = []
        known = self.__dict__.setdefault("_known", {})
        for constraint in self.constraints:
            last = known.get(constraint)
            if last is not None and all(variable.type is kind for variable, kind in last):
                continue
            try:
                constraint(inferer)
            except TypingError:
                alone = ConstraintNetwork()
                alone.append(constraint)
                failures += propagate(alone, inferer)
                continue
            names = set(_variables(constraint.__dict__.values()))
            variables = [inferer.typevars[name] for name in names if name in inferer.typevars]
            known[constraint] = [(variable, variable.type) for variable in variables]
        return failures

    ConstraintNetwork.propagate = propagate_news  # type: ignore[method-assign]


def _variables(values: Any) -> Iterator[str]:
    """The names, of variables among others, in what constraints consist of."""
    for value in values:
        if type(value) is ir.Var:
            yield value.name
        elif type(value) is str:
            yield value
        elif isinstance(value, list | tuple):
            yield from _variables(value)


_infer_what_is_new()


class _Doing:
    """What numba is about to do, which it tells if that fails: without a generator for each time it does not."""

    def __init__(self, message: str, *values: Any, **named: Any) -> None:
        self.told = message, values, named

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, NumbaError):
            message, values, named = self.told
            error.add_context(message.format(*values, **named) if values or named else message)


typeinfer.new_error_context = _Doing


def _rename_where_mentioned() -> None:
    """Numba goes through a whole function for each variable that is set more than once, to give it a name each time;
    most blocks do not mention it."""
    run: Any = ssa._run_ssa
    rewrite: Any = ssa._run_block_rewrite
    mentioned: dict[int, set[str]] = {}

    def run_noting(blocks: Any) -> Any:
        mentioned.clear()
        for label, block in blocks.items():
            mentioned[label] = {each.name for inst in block.body for each in inst.list_vars()}
        return run(blocks)

    def rewrite_some(blocks: Any, states: Any, handler: Any) -> Any:
        name = states["varname"]
        rewritten = rewrite({k: block for k, block in blocks.items() if name in mentioned[k]}, states, handler)
        return {label: rewritten.get(label, block) for label, block in blocks.items()}

    ssa._run_ssa, ssa._run_block_rewrite = run_noting, rewrite_some


_rename_where_mentioned()


def _pass_over_caches() -> None:
    """Python 3.11 and 3.12 leave room behind most instructions, for what their interpreter learns, and numba takes it
    for instructions: half of all that it goes through."""
    decode: Any = ByteCode.__init__

    def decode_some(self: Any, function: Any) -> None:
        decode(self, function)
        before: Any = None
        for each in list(self.table.values()) if _ours else ():
            if each.opname == "CACHE" and not before.is_jump:  # whose targets are counted from there
                before.next = each.next
                del self.table[each.offset]
            else:
                before = each

    ByteCode.__init__ = decode_some  # type: ignore[method-assign]


_pass_over_caches()


def _expect_no_exceptions() -> None:
    """After each instruction numba looks for the `try` that it stands in; most functions have none."""
    look: Any = Flow._run_handle_exception

    def look_where_there_are(self: Any, runner: Any, state: Any) -> Any:
        if not _ours or self._bytecode.exception_entries:
            return look(self, runner, state)
        return state.advance_pc()

    Flow._run_handle_exception = look_where_there_are  # type: ignore[method-assign]


_expect_no_exceptions()


def _expect_no_with() -> None:
    """Numba looks for what remains of `with` blocks, which kernels do not contain, twice in every instruction."""
    look: Any = interpreter.peep_hole_delete_with_exit
    interpreter.peep_hole_delete_with_exit = lambda function: function if _ours else look(function)


_expect_no_with()
