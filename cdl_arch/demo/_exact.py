"""The exact algebra: definite assignment as a catamorphism, in finite tables.

A statement turns the state before it into the states after it, at a `break` and at a `continue`. There are three
states, so what it denotes is a 3 × 3 table of integers, and that is the whole carrier.

| the mathematics                           | here                                                                 |
| ----------------------------------------- | -------------------------------------------------------------------- |
| the chain `0 < 1 < 2`                     | `UNREACHABLE`, `BOUND`, `MAYBE` (unbound)                            |
| join, with unit `0`                       | `jnp.maximum`: bound only where each way that gets here has bound it |
| `f : 3 → 3³`                              | `Table`: `f[exit, before]`, for the exits `AFTER`, `BREAK`, `CONTINUE` |
| `g ∘ f` on normal exits, join on the others | `_then(f, g)`: a monoid, with unit `_SKIP`                          |

Every `f` has `f(s) ≤ s`: nothing here unbinds a name. So a loop's first round is its worst; and an exception, which
may come at any moment, comes in the worst case before anything was done.
"""

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from cdl import algebra


# isort: off
from .signature import (
    AnnAssign, Assert, Assign, AugAssign, Bind, Break, Case, CaseAny, ClassDef, Continue, DefiniteF, Delete, Done,
    Except, Expr, For, FunctionDef, Global, If, Import, ImportFrom, Match, NoMatch, NoMore, Nonlocal, Pass, Raise,
    Return, Then, Try, While, WhileTrue, With,
)  # fmt: skip


UNREACHABLE, BOUND, MAYBE = 0, 1, 2
AFTER, BREAK, CONTINUE = 0, 1, 2

Table: TypeAlias = Int[Array, "3 3"]

_IS_AFTER = np.array([[1], [0], [0]], np.int32)
_NOWHERE = np.zeros((3, 3), np.int32)
_SKIP = np.array([[0, 1, 2], [0, 0, 0], [0, 0, 0]], np.int32)
_BIND = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], np.int32)


@algebra
def exact(layer: DefiniteF[Table]) -> Table:
    """What a layer does to the state of the watched name, from what its parts do."""
    match layer:
        case Bind():
            return jnp.asarray(_BIND)
        case Return() | Raise() | NoMore():
            return jnp.asarray(_NOWHERE)
        case Break():
            return jnp.asarray(np.roll(_SKIP, BREAK, axis=0))
        case Continue():
            return jnp.asarray(np.roll(_SKIP, CONTINUE, axis=0))
        case Then(first, second) | With(first, second):
            return _then(first, second)
        case If(test, then, orelse):
            return _then(test, jnp.maximum(then, orelse))
        case While(test, body, orelse):
            return _then(test, jnp.maximum(orelse, _broken(body)))
        case WhileTrue(test, body, _):
            return _then(test, _broken(body))
        case For(target, body, orelse):
            return jnp.maximum(orelse, _broken(_then(target, body)))
        case Try(body, handlers, orelse, finalbody):
            inner = jnp.maximum(_then(body, orelse), handlers)
            return jnp.maximum(finalbody[AFTER][inner], _abrupt(finalbody))
        case Except(body, rest):
            return jnp.maximum(body, rest)
        case Match(cases):
            return cases
        case Case(pattern, body, rest):
            return jnp.maximum(_then(pattern, body), rest)
        case CaseAny(pattern, body, _):
            return _then(pattern, body)
        case Done() | NoMatch() | Expr() | Assign() | AugAssign() | AnnAssign() | Delete() | Assert() | Import():
            return jnp.asarray(_SKIP)
        case ImportFrom() | Global() | Nonlocal() | Pass() | FunctionDef() | ClassDef():
            return jnp.asarray(_SKIP)


def _then(first: Table, second: Table) -> Table:
    """`second` from where `first` gets to, and the other exits of both."""
    return jnp.maximum(second[:, first[AFTER]], _abrupt(first))


def _broken(body: Table) -> Table:
    """A loop that is left by its `break`: to come after it is to have come there."""
    return body[BREAK][None, :] * _IS_AFTER


def _abrupt(table: Table) -> Table:
    """The exits by `break` and `continue` alone."""
    return table * (1 - _IS_AFTER)


def state_of(table: Int[Array, "*trees 3 3"]) -> Int[Array, "*trees"]:
    """The state after a statement before which the name may be unbound, from its table `(…, exit, before)`."""
    return table[..., AFTER, MAYBE]
