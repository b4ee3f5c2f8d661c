"""Mutants of a module: its source with one small change, such as an author makes by mistake.

| what is changed               | to                                                            |
| ----------------------------- | ------------------------------------------------------------- |
| a call alone, as of a check   | nothing; so is `raise`, `break` and `continue`                |
| `<`, `==`, `in`, `is`, …      | `<=`, `!=`, `not in`, `is not`, …                             |
| `+`, `*`, `//`, `&`, `<<`, …  | `-`, `+`, `*`, `|`, `>>`, …                                   |
| a number, `True`              | one more, `False`                                             |
| a condition, `and`, `not`     | its negation, `or`, nothing                                   |
| `if`, `x if c else y`         | the one branch or the other                                   |
| `case`, `if` after a `for`    | nothing                                                       |

Types, decorators, docstrings and assertions stay as they are, and so does `strict=True`. A change is named by the
function that it is in, by what stood there and by what stands there now: it keeps its name when other lines move.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


LEFT_ALONE = {"annotation", "returns", "bases", "decorator_list"}  # fields of a syntax tree
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A changed module: the name of the change, its line in the module as it is, and the changed source."""

    name: str
    line: int
    source: str


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, in reading order. Changes of one name are numbered from the second on."""
    tree = ast.parse(source)
    found: dict[str, Mutant] = {}
    names: dict[str, int] = {}
    for where, node, put in _nodes(tree, ""):
        for what, new in _changes(node):
            put(ast.copy_location(new, node))
            text = ast.unparse(ast.fix_missing_locations(tree))
            put(node)
            if text not in found:
                name = f"{where}: {what}"
                names[name] = count = names.get(name, 0) + 1
                found[text] = Mutant(f"{name} ({count})" if count > 1 else name, getattr(node, "lineno", 0), text)
    return list(found.values())


def _nodes(parent: ast.AST, where: str) -> Iterator[tuple[str, ast.AST, Callable[[ast.AST], None]]]:
    """Every node below one: the function that it is in, itself, and how another is put in its place."""
    if isinstance(parent, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{parent.name}".lstrip(".")
    for field, value in ast.iter_fields(parent):
        each = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for i, node in each if field not in LEFT_ALONE else ():
            if isinstance(node, ast.AST) and not _stays(parent, node):
                yield where or "the module", node, _putter(parent, field, i)
                yield from _nodes(node, where)


def _stays(parent: ast.AST, node: ast.AST) -> bool:
    """Whether a node is an assertion, or a type that a value is compared with."""
    asked = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "isinstance" and node is parent.args[1]
    return asked or isinstance(node, ast.Assert) or (isinstance(node, ast.keyword) and node.arg == "strict")


def _putter(parent: ast.AST, field: str, i: int | None) -> Callable[[ast.AST], None]:
    if i is None:
        return lambda node: setattr(parent, field, node)
    return lambda node: getattr(parent, field).__setitem__(i, node)


def _changes(node: Any) -> Iterator[tuple[str, ast.AST]]:
    """What may stand in the place of a node, each with a description."""
    text = " ".join(ast.unparse(node).split()) if isinstance(node, ast.expr | ast.Expr | ast.AugAssign) else ""
    became: Callable[[ast.AST], tuple[str, ast.AST]] = lambda new: (f"`{text}` is `{ast.unparse(new)}`", new)
    match node:
        case ast.Expr(ast.Call()):
            yield f"`{text}` is left out", ast.Pass()
        case ast.Raise() | ast.Break() | ast.Continue():
            yield f"`{ast.unparse(node)}` is left out", ast.Pass()
        case ast.Compare(left, ops, right):
            for i, op in enumerate(ops):
                yield became(ast.Compare(left, [*ops[:i], SWAPPED[type(op)](), *ops[i + 1 :]], right))  # type: ignore[list-item]
        case ast.BinOp(left, op, right):
            yield became(ast.BinOp(left, SWAPPED[type(op)](), right))  # type: ignore[arg-type]
        case ast.AugAssign(target, op, value):
            yield became(ast.AugAssign(target, SWAPPED[type(op)](), value))  # type: ignore[arg-type]
        case ast.BoolOp(op, values):
            yield became(ast.BoolOp(SWAPPED[type(op)](), values))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            yield became(operand)
        case ast.Constant(bool(value)):
            yield became(ast.Constant(not value))
        case ast.Constant(int(value) | float(value)):
            yield became(ast.Constant(value + 1))
        case ast.If(test, body, orelse):
            condition = f"`if {ast.unparse(test)}`"
            yield f"{condition} is negated", ast.If(_negated(test), body, orelse)
            yield f"{condition} never holds", ast.If(ast.Constant(False), body, orelse)
            yield f"{condition} always holds", ast.If(ast.Constant(True), body, orelse)
        case ast.While(test, body, orelse):
            yield f"`while {ast.unparse(test)}` never holds", ast.While(ast.Constant(False), body, orelse)
        case ast.IfExp(test, body, orelse):
            yield became(ast.IfExp(_negated(test), body, orelse))
            yield became(body)
            yield became(orelse)
        case ast.Match(subject, cases) if len(cases) > 1:
            for i, case in enumerate(cases):
                yield f"`case {ast.unparse(case.pattern)}` is left out", ast.Match(subject, cases[:i] + cases[i + 1 :])
        case ast.ListComp(elt, generators) | ast.SetComp(elt, generators) | ast.GeneratorExp(elt, generators):
            yield from (became(type(node)(elt, fewer)) for fewer in _unconditional(generators))
        case ast.DictComp(key, value, generators):
            yield from (became(ast.DictComp(key, value, fewer)) for fewer in _unconditional(generators))


def _negated(test: ast.expr) -> ast.expr:
    """The negation, which is written as a change of the condition is where that is the same."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Compare(left, [ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In() | ast.NotIn() as op], right):
            return ast.Compare(left, [SWAPPED[type(op)]()], right)  # type: ignore[list-item]
        case _:
            return ast.UnaryOp(ast.Not(), test)


def _unconditional(generators: list[ast.comprehension]) -> Iterator[list[ast.comprehension]]:
    for i, g in enumerate(generators):
        for k in range(len(g.ifs)):
            rest = ast.comprehension(g.target, g.iter, g.ifs[:k] + g.ifs[k + 1 :], g.is_async)
            yield [*generators[:i], rest, *generators[i + 1 :]]
