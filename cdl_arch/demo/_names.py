"""Which names a piece of syntax binds in the scope it stands in, and which it unsettles.

A statement *binds* the names it stores to, imports and defines. It *unsettles* those that it deletes or declares
global or nonlocal, those that an `except … as` binds and takes back, and those that an assignment expression binds
where the functor of statements has no place to say so: nobody can ask about such a name.

Functions, classes, lambdas and comprehensions inside are other scopes, and are not entered.
"""

import ast
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias


Compound: TypeAlias = (
    ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match
)
COMPOUND = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPE = (*_DEFINITION, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Names(NamedTuple):
    """What a piece of syntax does to names."""

    bound: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()

    @staticmethod
    def union(of: Iterable["Names"]) -> "Names":
        """The names of several pieces."""
        parts = list(of)
        return Names(frozenset().union(*(p.bound for p in parts)), frozenset().union(*(p.unsettled for p in parts)))


def of_simple(statement: ast.stmt) -> Names:
    """The names of a statement that has no statements inside, or whose statements are another scope."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return Names(frozenset([name]))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return Names(frozenset(alias.asname or alias.name.partition(".")[0] for alias in names) - {"*"})
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return Names(unsettled=frozenset(names))
        case ast.AnnAssign(value=None):
            return Names()
        case _:
            return of_expressions(statement)


def of_expressions(*roots: ast.AST | None) -> Names:
    """The names that are stored to, captured and deleted in some expressions or patterns."""
    bound: set[str] = set()
    deleted: set[str] = set()
    stack = [root for root in roots if root is not None]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(id=name, ctx=use):
                if not isinstance(use, ast.Load):
                    (bound if isinstance(use, ast.Store) else deleted).add(name)
                continue
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
        if not isinstance(node, _SCOPE):
            stack.extend(ast.iter_child_nodes(node))
    return Names(frozenset(bound), frozenset(deleted))


def headers(statement: Compound) -> dict[ast.AST, Names]:
    """The names bound where a compound statement has a `Bind` or an `Expr`, by the syntax that stands there."""
    match statement:
        case ast.If(test=place) | ast.While(test=place) | ast.For(target=place) | ast.AsyncFor(target=place):
            return {place: of_expressions(place)}
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return {items[0]: of_expressions(*items)}
        case ast.Match(cases=cases):
            return {case: of_expressions(case.pattern, case.guard) for case in cases}
        case _:
            return {}


def unsettled_by(statement: Compound) -> frozenset[str]:
    """The names that a compound statement unsettles itself, whatever its blocks do."""
    match statement:
        case ast.For(iter=hidden) | ast.AsyncFor(iter=hidden) | ast.Match(subject=hidden):
            return of_expressions(hidden).bound
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            caught = frozenset(h.name for h in handlers if h.name is not None)
            return caught | of_expressions(*(h.type for h in handlers)).bound
        case _:
            return frozenset()


def blocks(statement: Compound) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in the order they are written."""
    match statement:
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case ast.Try(body, handlers, orelse, finalbody) | ast.TryStar(body, handlers, orelse, finalbody):
            return [body, *(handler.body for handler in handlers), orelse, finalbody]
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return [body]
        case _:
            return [statement.body, statement.orelse]


def constant(expression: ast.expr) -> bool | None:
    """The truth of an expression that is a constant; `None` for any other."""
    return bool(expression.value) if isinstance(expression, ast.Constant) else None


def irrefutable(case: ast.match_case) -> bool:
    """Whether a case matches whatever is left: it captures or ignores it, without a guard."""
    pattern: ast.pattern | None = case.pattern
    while isinstance(pattern, ast.MatchOr):
        pattern = pattern.patterns[-1]
    return case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None
