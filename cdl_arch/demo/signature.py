"""Statements, reduced to what they do to one name: a functor with one sort.

| the syntax                | the summands                                                                        |
| ------------------------- | ----------------------------------------------------------------------------------- |
| a block                   | `1 + X²`: `Done`, or `Then(statement, rest)`                                        |
| `if`                      | `X³`: `If(test, then, orelse)`                                                      |
| `while`, `while True`     | `X³ + X³`: `While(test, body, orelse)`, `WhileTrue(test, body, orelse)`             |
| `for`                     | `X³`: `For(target, body, orelse)`                                                   |
| `with`                    | `X²`: `With(items, body)`                                                           |
| `try`                     | `X⁴`: `Try(body, handlers, orelse, finalbody)`                                      |
| its handlers              | `1 + X²`: `NoMore`, or `Except(body, rest)`                                         |
| `match`                   | `X`: `Match(cases)`                                                                 |
| its cases                 | `1 + X³ + X³`: `NoMatch`, `Case(pattern, body, rest)`, `CaseAny(pattern, body, rest)` |
| what binds the name       | `1`: `Bind`                                                                         |
| what leaves a block       | `1 + 1 + 1 + 1`: `Return`, `Raise`, `Break`, `Continue`                             |
| all else                  | `1` for each kind: it does nothing to the name                                      |

A test, a target, the items of a `with` and a pattern are `Bind` where they bind the name, and otherwise `Expr`. So is
a statement that is an expression. Names and literals are left out: which name is watched is part of the question.
"""

from typing import Generic, Never, TypeAlias, TypeVar, Union

from cdl import Base


X = TypeVar("X", covariant=True)  # a recursive place


class Definite:
    """The name of the functor; its initial algebra is statements, blocks and their parts, for one watched name."""


class Done(Base[Definite, Never]):
    """The end of a block."""


class Then(Base[Definite, X], Generic[X]):
    """A statement, and the rest of its block."""

    statement: X
    rest: X


class If(Base[Definite, X], Generic[X]):
    """`if test: then`, `else: orelse`; an `elif` is an `If` in the `orelse`."""

    test: X
    then: X
    orelse: X


class While(Base[Definite, X], Generic[X]):
    """`while test: body`, `else: orelse`."""

    test: X
    body: X
    orelse: X


class WhileTrue(Base[Definite, X], Generic[X]):
    """A `while` whose test is a truthy constant."""

    test: X
    body: X
    orelse: X


class For(Base[Definite, X], Generic[X]):
    """`for target in …: body`, `else: orelse`."""

    target: X
    body: X
    orelse: X


class With(Base[Definite, X], Generic[X]):
    """`with items: body`."""

    items: X
    body: X


class Try(Base[Definite, X], Generic[X]):
    """`try: body`, handlers, `else: orelse`, `finally: finalbody`."""

    body: X
    handlers: X
    orelse: X
    finalbody: X


class NoMore(Base[Definite, Never]):
    """No handler is left."""


class Except(Base[Definite, X], Generic[X]):
    """A handler, and the handlers after it."""

    body: X
    rest: X


class Match(Base[Definite, X], Generic[X]):
    """`match …: cases`."""

    cases: X


class NoMatch(Base[Definite, Never]):
    """No case is left."""


class Case(Base[Definite, X], Generic[X]):
    """A case that may fail to match, and the cases after it."""

    pattern: X
    body: X
    rest: X


class CaseAny(Base[Definite, X], Generic[X]):
    """A case that matches anything: irrefutable, without a guard."""

    pattern: X
    body: X
    rest: X


class Bind(Base[Definite, Never]):
    """A statement or an expression that binds the name."""


class Return(Base[Definite, Never]):
    """Leaves the function."""


class Raise(Base[Definite, Never]):
    """Raises: also an `assert` of a falsy constant."""


class Break(Base[Definite, Never]):
    """Leaves the loop."""


class Continue(Base[Definite, Never]):
    """Goes on to the loop's next round."""


class Expr(Base[Definite, Never]):
    """An expression that does not bind the name: a test, a target, a pattern, or a whole statement."""


class Assign(Base[Definite, Never]):
    """An assignment to something else."""


class AugAssign(Base[Definite, Never]):
    """`+=` and its like, to something else."""


class AnnAssign(Base[Definite, Never]):
    """An annotation, with or without an assignment to something else."""


class Delete(Base[Definite, Never]):
    """`del` of something else."""


class Assert(Base[Definite, Never]):
    """An `assert` that may pass."""


class Import(Base[Definite, Never]):
    """An `import` of something else."""


class ImportFrom(Base[Definite, Never]):
    """A `from … import` of something else."""


class Global(Base[Definite, Never]):
    """`global` for another name."""


class Nonlocal(Base[Definite, Never]):
    """`nonlocal` for another name."""


class Pass(Base[Definite, Never]):
    """`pass`."""


class FunctionDef(Base[Definite, Never]):
    """A nested function of another name; what it binds inside is its own."""


class ClassDef(Base[Definite, Never]):
    """A nested class of another name."""


Ignored: TypeAlias = Union[
    Expr,
    Assign,
    AugAssign,
    AnnAssign,
    Delete,
    Assert,
    Import,
    ImportFrom,
    Global,
    Nonlocal,
    Pass,
    FunctionDef,
    ClassDef,
]
Leaves: TypeAlias = Union[Bind, Return, Raise, Break, Continue, Ignored]
Lists: TypeAlias = Union[Done, Then[X], NoMore, Except[X], NoMatch, Case[X], CaseAny[X]]
DefiniteF: TypeAlias = Union[Lists[X], If[X], While[X], WhileTrue[X], For[X], With[X], Try[X], Match[X], Leaves]

SPINES = (Then, Except, Case, CaseAny)  # the constructors whose last place is the rest of a list
