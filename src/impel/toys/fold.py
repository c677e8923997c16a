"""Drops what is multiplied by zero from generated code, so that writing it stays simple and running it cheap.

A compiler may not do this by itself: 0·x is not 0 when x is infinite.
"""

import ast
from collections.abc import Iterable, Iterator


def without_zeros(lines: Iterable[str]) -> Iterator[str]:
    """Simplify straight-line assignments, remembering which names are zero at each line."""
    zero: set[str] = set()
    for line in lines:
        for statement in _single(ast.parse(line).body[0]):
            yield from _simplified(statement, zero)


def _single(statement: ast.stmt) -> Iterator[ast.stmt]:
    """`a, b = x, y` as two assignments; sound here because generated code never swaps."""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            for name, value in zip(target.elts, statement.value.elts):
                yield ast.Assign([name], value, lineno=0)
            return
    yield statement


def _simplified(statement: ast.stmt, zero: set[str]) -> Iterator[str]:
    if isinstance(statement, ast.AugAssign):
        value = _fold(statement.value, zero)
        name = statement.target.id if isinstance(statement.target, ast.Name) else None
        if _is_zero(value):
            return
        if name in zero:
            statement = ast.Assign([statement.target], value if isinstance(statement.op, ast.Add) else _negative(value))
        else:
            statement.value = value
    assert isinstance(statement, ast.Assign | ast.AugAssign)
    if isinstance(statement, ast.Assign):
        statement.value = _fold(statement.value, zero)
        for part in ast.walk(statement.targets[0]):
            if isinstance(part, ast.Name):
                zero.discard(part.id)
        if isinstance(statement.targets[0], ast.Name) and _is_zero(statement.value):
            zero.add(statement.targets[0].id)
    statement.lineno = 0
    yield ast.unparse(statement)


def _fold(node: ast.expr, zero: set[str]) -> ast.expr:
    if isinstance(node, ast.Name) and node.id in zero:
        return ast.Constant(0.0)
    if isinstance(node, ast.UnaryOp):
        inner = _fold(node.operand, zero)
        return inner if _is_zero(inner) else ast.UnaryOp(node.op, inner)
    if isinstance(node, ast.BinOp):
        left, right = _fold(node.left, zero), _fold(node.right, zero)
        match node.op:
            case ast.Mult() if _is_zero(left) or _is_zero(right):
                return ast.Constant(0.0)
            case ast.Add() if _is_zero(left):
                return right
            case ast.Sub() if _is_zero(left):
                return _negative(right)
            case ast.Add() | ast.Sub() if _is_zero(right):
                return left
        return ast.BinOp(left, node.op, right)
    if isinstance(node, ast.Call):
        return ast.Call(node.func, [_fold(argument, zero) for argument in node.args], [])
    return node


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0.0


def _negative(node: ast.expr) -> ast.expr:
    return node if _is_zero(node) else ast.UnaryOp(ast.USub(), node)
