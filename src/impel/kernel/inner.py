"""Numba's inner classes, which change from one version to the next, all in one place.

Where one of them is missing, numba's public ways do as well, with the same results but for the last digit (other
multiply-adds may be fused): `PLAIN` then says why. What is compiled in that way takes longer and is not kept.
"""

import os

PLAIN = "IMPEL_PLAIN_NUMBA is set" if os.environ.get("IMPEL_PLAIN_NUMBA") else ""

if not PLAIN:
    try:
        from numba import _dynfunc  # type: ignore[attr-defined]
        from numba.core import base, dispatcher, event, interpreter, ir, ssa, transforms, typeinfer
        from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
        from numba.core.bytecode import ByteCode
        from numba.core.byteflow import Flow
        from numba.core.codegen import CodeLibrary, JITCodeLibrary
        from numba.core.compiler import Compiler, CompileResult, _LowerResult, compile_result
        from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
        from numba.core.errors import NumbaError, TypingError
        from numba.core.funcdesc import PythonFunctionDescriptor
        from numba.core.lowering import Lower
        from numba.core.postproc import PostProcessor, VariableLifetime
        from numba.core.registry import CPUDispatcher
        from numba.core.serialize import dumps
        from numba.core.targetconfig import TargetConfig
        from numba.core.typed_passes import NativeLowering, NoPythonSupportedFeatureValidation
        from numba.core.typeinfer import ConstraintNetwork
        from numba.core.types.functions import BaseFunction
        from numba.core.typing.templates import AttributeTemplate
        from numba.cpython.builtins import do_minmax
    except ImportError as missing:
        PLAIN = f"this numba is not known well enough: {missing}"

__all__ = [
    "PLAIN",
    "AttributeTemplate",
    "BaseFunction",
    "ByteCode",
    "CPUDispatcher",
    "CodeLibrary",
    "CompileResult",
    "Compiler",
    "ConstraintNetwork",
    "Flow",
    "FunctionPass",
    "JITCodeLibrary",
    "Lower",
    "LoweringPass",
    "NativeLowering",
    "NoPythonSupportedFeatureValidation",
    "NumbaError",
    "PostProcessor",
    "PythonFunctionDescriptor",
    "TargetConfig",
    "TypingError",
    "VariableLifetime",
    "_LowerResult",
    "_dynfunc",
    "base",
    "compile_result",
    "compute_cfg_from_blocks",
    "compute_use_defs",
    "dispatcher",
    "do_minmax",
    "dumps",
    "event",
    "interpreter",
    "ir",
    "register_pass",
    "ssa",
    "transforms",
    "typeinfer",
]
