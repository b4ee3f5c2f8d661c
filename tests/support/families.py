"""A family of two sorts, expressions and statements: trees of both, and algebras and coalgebras without symmetry."""

from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Algebra, Base, choose, Many


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


class Block(Base[Expr, tuple[E, S]], Generic[E, S]):
    body: tuple[S, ...]
    value: E


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
BLOCKS = (Union[Lit, Neg[E], Block[E, S]], Union[Return[E], Then[E, S]])  # no `Many`: its layers can be proposed

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


class GrowExpr(eqx.Module):
    """From a vector of three numbers, and how deep it is. `many`: of `FAMILY`, else of `BLOCKS`."""

    scores: jax.Array
    w: jax.Array
    many: bool = eqx.field(static=True)

    def __call__(self, seed: Pair) -> Any:
        h, depth = seed
        expr = lambda i: (jnp.tanh(self.w[i] @ h), depth + 1)
        stmt = lambda i: (jnp.sin(self.w[i, :2] @ h), depth + 1)
        if self.many:
            some = [Lam(Many([stmt(2), stmt(3)])), Lam(Many())]
        else:
            some = [Block((stmt(2), stmt(3)), expr(1)), Block((), expr(4))]
        grows = depth.astype(h.dtype) * jnp.array([0, 2, 4, 2], h.dtype)
        return choose(self.scores @ h - grows, Lit(jnp.sin(h[0])), Neg(expr(0)), *some)


class GrowStmt(eqx.Module):
    """From a vector of two numbers, and how deep it is."""

    scores: jax.Array
    w: jax.Array
    many: bool = eqx.field(static=True)

    def __call__(self, seed: Pair) -> Any:
        v, depth = seed
        expr = lambda i: (jnp.tanh(self.w[i] @ v), depth + 1)
        stmt = lambda i: (jnp.cos(self.w[i, :2] @ v), depth + 1)
        some = [While(expr(2), Many([stmt(2)]))] if self.many else []
        grows = depth.astype(v.dtype) * jnp.arange(2 + len(some), dtype=v.dtype)
        return choose(self.scores[: len(grows)] @ v - grows, Return(expr(0)), Then(stmt(1), expr(1)), *some)


def coalgebras(dtype: Any, *, many: bool) -> tuple[GrowExpr, GrowStmt]:
    def of(grow: Any, key: int, scores: tuple[int, int], w: tuple[int, int, int]) -> Any:
        a, b = jr.split(jr.key(key))
        return grow(2 * jr.normal(a, scores, dtype), jr.normal(b, w, dtype), many)

    return of(GrowExpr, 2, (4, 3), (5, 3, 3)), of(GrowStmt, 3, (3, 2), (3, 3, 2))


def seeds(dtype: Any, exprs: int, stmts: int) -> tuple[Pair, Pair]:
    """So many of each sort."""
    a, b = jr.split(jr.key(4))
    zeros = lambda n: jnp.zeros(n, jnp.int32)
    return (jr.normal(a, (exprs, 3), dtype), zeros(exprs)), (jr.normal(b, (stmts, 2), dtype), zeros(stmts))
