"""From Python's syntax to trees: one for each compound statement and each name that it binds.

The trees of a statement are made from the trees of its parts, so the statements of a file are taken from the inside
out; no part is read twice and no depth of nesting is too deep. A part that does not bind the name looks the same for
every such name, and equal trees are one object: to ask whether two are equal is to ask whether they are the same.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from cdl import Fix

from . import _names as names, signature as sig
from ._names import COMPOUND, Compound, Names


Tree: TypeAlias = Fix[sig.Definite]

MAX_SIZE = 150

_KINDS: dict[type[ast.stmt], Callable[[], Tree]] = {
    ast.Return: sig.Return, ast.Raise: sig.Raise, ast.Break: sig.Break, ast.Continue: sig.Continue,
    ast.Expr: sig.Expr, ast.Assign: sig.Assign, ast.AugAssign: sig.AugAssign, ast.AnnAssign: sig.AnnAssign,
    ast.Delete: sig.Delete, ast.Assert: sig.Assert, ast.Import: sig.Import, ast.ImportFrom: sig.ImportFrom,
    ast.Global: sig.Global, ast.Nonlocal: sig.Nonlocal, ast.Pass: sig.Pass, ast.FunctionDef: sig.FunctionDef,
    ast.AsyncFunctionDef: sig.FunctionDef, ast.ClassDef: sig.ClassDef,
}  # fmt: skip
_EXITS = (sig.Return, sig.Raise, sig.Break, sig.Continue)


class Pair(NamedTuple):
    """A question: after this statement, is this name certainly bound?

    `size` counts the flat form: a block, a list of handlers and a case is one node and its members. `line` and `end`
    are the first and the last line of the statement, from 1.
    """

    tree: Tree
    size: int
    name: str
    line: int
    end: int


class _Seen(NamedTuple):
    """A piece of syntax that has been read. `trees[None]` is how it looks to every name it does not bind."""

    names: Names
    size: int
    trees: dict[str | None, Tree]

    def to(self, name: str | None) -> Tree:
        return self.trees.get(name) or self.trees[None]


class Reader:
    """Reads syntax, and makes equal trees once, whichever files they are from."""

    def __init__(self, max_size: int | None = MAX_SIZE) -> None:
        self.max_size = max_size
        self._made: dict[tuple[Any, ...], Tree] = {}
        self._seen: dict[ast.AST, _Seen] = {}  # of what is being read

    def read(self, root: ast.AST) -> list[Pair]:
        """The pairs of the compound statements anywhere in `root`, itself among them, in the order of the text."""
        pairs = []
        for statement in self._see(root):
            (bound, unsettled), size, trees = self._seen[statement]
            place = statement.lineno, statement.end_lineno or statement.lineno
            pairs += [Pair(trees[x], size, x, *place) for x in sorted(bound - unsettled) if x in trees]
        return pairs

    def tree(self, statement: Compound, name: str) -> Tree:
        """How one statement, no larger than `max_size`, looks to one name."""
        self._see(statement)
        return self._seen[statement].to(name)

    def _see(self, root: ast.AST) -> list[Compound]:
        """Reads the compound statements in `root`, which come back in the order of the text."""
        found, self._seen = list(_compounds(root)), {}
        for statement in reversed(found):
            self._compound(statement)
        return found

    def _make(self, constructor: Callable[..., Any], *parts: Tree) -> Tree:
        key = (constructor, *map(id, parts))  # the table keeps the parts alive, so that no number is used again
        if key not in self._made:
            self._made[key] = constructor(*parts)
        return self._made[key]

    def _compound(self, statement: Compound) -> None:
        """Reads a statement whose blocks' compound statements have been seen."""
        places, within, seen = names.headers(statement), names.blocks(statement), self._seen
        for place, there in places.items():
            seen[place] = self._leaf(sig.Expr, there)
        for member in (member for block in within for member in block if member not in seen):
            seen[member] = self._leaf(_kind(member), names.of_simple(member))
        parts = [*(seen[place] for place in places), *(seen[member] for block in within for member in block)]
        bound, unsettled = Names.union(part.names for part in parts)
        unsettled |= names.unsettled_by(statement)
        lists = len(within) + isinstance(statement, ast.Try | ast.TryStar)
        lists += 1 + len(within) if isinstance(statement, ast.Match) else 0
        size = 1 + lists + sum(part.size for part in parts)
        fits = self.max_size is None or size <= self.max_size
        asked: set[str | None] = {None, *(bound - unsettled)} if fits else set()
        seen[statement] = _Seen(Names(bound, unsettled), size, {x: self._layer(statement, x) for x in asked})

    def _leaf(self, kind: Callable[[], Tree], found: Names) -> _Seen:
        bind = self._make(kind if kind in _EXITS else sig.Bind)
        return _Seen(found, 1, {None: self._make(kind), **dict.fromkeys(found.bound, bind)})

    def _layer(self, statement: Compound, name: str | None) -> Tree:
        """A compound statement as it looks to a name, around its parts."""
        make = self._make
        at: Callable[[ast.AST], Tree] = lambda place: self._seen[place].to(name)
        block: Callable[[list[ast.stmt]], Tree] = lambda members: self._block(members, name)
        match statement:
            case ast.If(test, body, orelse):
                return make(sig.If, at(test), block(body), block(orelse))
            case ast.While(test, body, orelse):
                loop = sig.WhileTrue if names.constant(test) else sig.While
                return make(loop, at(test), block(body), block(orelse))
            case ast.For(target, _, body, orelse) | ast.AsyncFor(target, _, body, orelse):
                return make(sig.For, at(target), block(body), block(orelse))
            case ast.With(items, body) | ast.AsyncWith(items, body):
                return make(sig.With, at(items[0]), block(body))
            case ast.Try(body, handlers, orelse, finalbody) | ast.TryStar(body, handlers, orelse, finalbody):
                rest = make(sig.NoMore)
                for handler in reversed(handlers):
                    rest = make(sig.Except, block(handler.body), rest)
                return make(sig.Try, block(body), rest, block(orelse), block(finalbody))
            case ast.Match(_, cases):
                rest = make(sig.NoMatch)
                for case in reversed(cases):
                    kind = sig.CaseAny if names.irrefutable(case) else sig.Case
                    rest = make(kind, at(case), block(case.body), rest)
                return make(sig.Match, rest)

    def _block(self, members: list[ast.stmt], name: str | None) -> Tree:
        rest = self._make(sig.Done)
        for member in reversed(members):
            rest = self._make(sig.Then, self._seen[member].to(name), rest)
        return rest


def tree_of(statement: Compound, name: str) -> Tree:
    """How one statement, of any size, looks to one name."""
    return Reader(None).tree(statement, name)


def _kind(statement: ast.stmt) -> Callable[[], Tree]:
    """The leaf that a simple statement is to a name it does not bind."""
    if isinstance(statement, ast.Assert) and names.constant(statement.test) is False:
        return sig.Raise
    return _KINDS.get(type(statement), sig.Assign)  # a `type` statement, in later Pythons, assigns


def _compounds(root: ast.AST) -> Iterator[Compound]:
    """The compound statements in `root`, in the order of the text, those of nested functions and classes too."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, COMPOUND):
            yield node
        inner = [getattr(node, field, ()) for field in ("body", "handlers", "cases", "orelse", "finalbody")]
        stack.extend(member for block in reversed(inner) for member in reversed(block))
