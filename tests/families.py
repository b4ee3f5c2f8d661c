"""A family of two sorts, expressions and statements, with trees of both and two algebras that do not commute."""

from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Algebra, Base, Many


E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr:
    """Expressions."""


class Stmt:
    """Statements."""


class Lit(Base[Expr, Never]):
    value: float


class Neg(Base[Expr, tuple[E, Never]], Generic[E]):
    arg: E


class Lam(Base[Expr, tuple[E, S]], Generic[E, S]):
    body: Many[S]


class Return(Base[Stmt, tuple[E, Never]], Generic[E]):
    value: E


class While(Base[Stmt, tuple[E, S]], Generic[E, S]):
    test: E
    body: Many[S]


class Then(Base[Stmt, tuple[E, S]], Generic[E, S]):
    first: S
    last: E


ExprF: TypeAlias = Union[Lit, Neg[E], Lam[E, S]]
StmtF: TypeAlias = Union[Return[E], While[E, S], Then[E, S]]
FAMILY = (ExprF, StmtF)

LAM = Lam(
    Many([Return(Neg(Lit(0.5))), While(Lit(0.2), Many([Return(Lit(1.0)), Then(Return(Lit(3.0)), Neg(Lit(2.0)))]))])
)
TREES: list[Any] = [LAM, While(LAM, Many([])), Then(Return(Lit(-1.0)), LAM), Lit(3.0)]
ROOTS = ([0, 3], [1, 2])  # which of them are expressions, and which statements

Vector = jax.Array
Pair = tuple[jax.Array, jax.Array]


class OfExpr(Algebra[ExprF[Vector, Pair], Vector]):
    """To vectors of three numbers."""

    w: jax.Array

    def __call__(self, layer: ExprF[Vector, Pair]) -> Vector:
        match layer:
            case Lit(value):
                return jnp.tanh(self.w[0] * value)
            case Neg(arg):
                return jnp.sin(self.w @ arg)
            case Lam(body):
                joined = body.map(lambda s: jnp.concatenate([s[1], s[0][:1]]))
                return joined.sum(jnp.full(3, 0.3, self.w.dtype)) * self.w[1]


class OfStmt(Algebra[StmtF[Vector, Pair], Pair]):
    """To a vector of three numbers and one of two."""

    u: jax.Array

    def __call__(self, layer: StmtF[Vector, Pair]) -> Pair:
        match layer:
            case Return(value):
                return self.u @ value, value[:2]
            case While(test, body):
                none = jnp.zeros(3, self.u.dtype), jnp.ones(2, self.u.dtype)
                h, c = body.map(lambda s: (jnp.tanh(s[0] + test), s[1] * test[:2])).mean(none)
                return h - self.u @ test, c
            case Then(first, last):
                return jnp.cos(first[0]) * last, first[1] + self.u[0, :2]


def algebras(dtype: Any) -> tuple[OfExpr, OfStmt]:
    return OfExpr(jr.normal(jr.key(0), (3, 3), dtype)), OfStmt(jr.normal(jr.key(1), (3, 3), dtype))
