"""Constructors of a family whose cases are alike, and whose children are of other sorts: each inherits its own."""

from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import pytest
from agreement import close

from cdl import Base, choose, follow, inherit, likelihood, Many, pack


E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr: ...


class Stmt: ...


class Num(Base[Expr, Never]): ...


class Left(Base[Expr, tuple[E, S]], Generic[E, S]):
    one: E
    other: S


class Right(Base[Expr, tuple[E, S]], Generic[E, S]):
    one: S
    other: E


class Some(Base[Expr, tuple[E, S]], Generic[E, S]):
    one: Many[E]
    other: Many[S]


class More(Base[Expr, tuple[E, S]], Generic[E, S]):
    one: Many[S]
    other: Many[E]


class Stop(Base[Stmt, Never]): ...


FAMILY = (Union[Num, Left[E, S], Right[E, S], Some[E, S], More[E, S]], Stop)
SLOTS = [Left(Right(Stop(), Num()), Stop()), Right(Stop(), Left(Num(), Stop()))]
MANYS = [
    Some(Many([More(Many([Stop()]), Many([Num(), Num()]))]), Many([Stop(), Stop()])),
    More(Many([Stop()]), Many([Some(Many([Num()]), Many())])),
]


def three(seed: Any, w: Any) -> tuple[Any, Any, Any]:
    """What is handed on, in order: two numbers to an expression, and one to a statement."""
    h = jnp.tanh(seed[0] + w * seed[1])
    return 2 * h, 3 * h, 5 * h


def steps(w: Any) -> Any:
    def expr(seed: Any, layer: Any) -> Any:
        a, b, c = three(seed, w)
        match layer:
            case Left(_, _):
                return Left((a, b), (c,))
            case Right(_, _):
                return Right((a,), (b, c))
            case Some(one, other):
                return Some(one.map(lambda _: (a, b)), other.map(lambda _: (c,)))
            case More(one, other):
                return More(one.map(lambda _: (a,)), other.map(lambda _: (b, c)))
        return layer

    return expr, lambda _, layer: layer


def handed(w: Any, seed: Any, tree: Any) -> list[Any]:
    """What each expression of a tree inherits, in pre-order."""
    if isinstance(tree, Stop):
        return []
    if isinstance(tree, Num):
        return [jnp.stack(seed)]
    one, other = (x.items if isinstance(x, Many) else [x] for x in (tree.one, tree.other))
    a, b, c = three(seed, w)
    first, second = ((a, b), (c,)) if isinstance(tree, Left | Some) else ((a,), (b, c))
    below = [(first, x) for x in one] + [(second, x) for x in other]
    return [jnp.stack(seed), *(x for given, child in below for x in handed(w, given, child))]


@pytest.mark.parametrize("trees", [SLOTS, MANYS], ids=["slots", "manys"])
def test_alike_steps_of_children_of_other_sorts(trees: list[Any]):
    forest = pack(FAMILY, trees)
    tops = jnp.array([0.3, 0.5]), jnp.array([0.2, 0.7])

    every = jnp.stack(inherit(steps(0.8), forest, (tops, (jnp.zeros(0),)))[0], 1)
    mine = [r for i in range(len(trees)) for r in range(*forest.nodes(i).indices(len(every))) if every[r].any()]

    def fast(w: Any, tops: Any) -> Any:
        return jnp.stack(inherit(steps(w), forest, (tops, (jnp.zeros(0),)))[0], 1)[jnp.array(mine)]

    def slow(w: Any, tops: Any) -> Any:
        return jnp.stack([x for i, tree in enumerate(trees) for x in handed(w, tuple(t[i] for t in tops), tree)])

    assert jnp.allclose(fast(0.8, tops), slow(0.8, tops), atol=1e-6)
    weigh = lambda x: jnp.sum(jnp.sin(x) * jnp.arange(1.0, len(x) + 1)[:, None])
    new, old = (jax.grad(lambda *x, f=f: weigh(f(*x)), (0, 1))(0.8, tops) for f in (fast, slow))
    close(new, old, 1e-5)


def coalgebras(w: Any) -> Any:
    def expr(seed: Any) -> Any:
        a, b, c = three(seed, w)
        scores = jnp.stack([seed[0], w * seed[1], seed[1]])
        return choose(scores, Num(), Left((a, b), (c,)), Right((a,), (b, c)))

    return expr, lambda _: Stop()


def test_how_likely_trees_are_whose_children_are_of_other_sorts():
    forest, tops = pack(FAMILY, SLOTS), (jnp.array([0.3, 0.5]), jnp.array([0.2, 0.7]))
    first = jnp.zeros(0)
    fast = lambda w, tops: follow(coalgebras(w), forest, (tops, (first,)))
    slow = lambda w, tops: jnp.stack(
        [likelihood(coalgebras(w), (tuple(t[i] for t in tops), (0.0,)))[0](tree) for i, tree in enumerate(SLOTS)]
    )
    assert jnp.allclose(fast(0.8, tops), slow(0.8, tops), atol=1e-6)
    new, old = (jax.grad(lambda *x, f=f: f(*x).sum(), (0, 1))(0.8, tops) for f in (fast, slow))
    close(new, old, 1e-5)
