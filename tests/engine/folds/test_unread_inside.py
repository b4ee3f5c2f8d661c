"""What nothing reads has no gradient inside of what an equation calls: functions under `jit`, branches, and the steps
of reductions. One of the two numbers of a value is read, and the slope of the other is infinite."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import close, QUICKLY
from few import few
from indexed_cells import Bare, forest_of, KindsF, More, Some, That, This, Word
from made import anew, by_constructor

from cdl import Algebra, cata, Cons, fold, Many, pack


pytestmark = pytest.mark.slow


root = jax.jit(lambda x, w: jnp.sqrt(x * x * w))
both = jax.jit(lambda x, w: (jnp.tanh(x * w), jnp.sqrt(x * 0 * w)))
again = jax.checkpoint(lambda x, w: (jnp.tanh(x * w), jnp.sqrt(x * 0 * w)))


class Along(Algebra[Any, Any]):
    w: Any

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Cons(head, tail):
                return jnp.tanh(head[0] * self.w[0] + tail[0]), jnp.sqrt(0 * self.w[1] * tail[0])
        return jnp.zeros(()), jnp.zeros(())


def branches(x: Any, w: Any) -> Any:
    return jax.lax.cond(x > 0.1, lambda x, w: jnp.sqrt(x * w * 0), lambda x, w: x / (w * 0), x, w)


def carried(x: Any, w: Any) -> Any:
    step = lambda s, _: ((s[0] * w[0], jnp.sqrt(s[0] * 0 * w[1])), None)
    return jax.lax.scan(step, (x, x), None, length=2)[0]


def sum_of_roots(xs: Any) -> Any:
    """The same jaxpr for what is read and for what is not, with a reduction in it."""
    return jax.jit(lambda w: xs.map(lambda x: jnp.sqrt((x[0] + 1) * w)).sum(0.0))


def twice(xs: Any, w: Any) -> Any:
    total = sum_of_roots(xs)
    return total(w[0]), total(w[1] * 0)


OF_TWO: dict[str, Any] = {
    "a scan": lambda x, y, w: carried(x[0] + y[0], w),
    "a function that is called twice": lambda x, y, w: (root(x[0], w[0]) * y[0], root(x[0] * 0, w[1])),
    "where": lambda x, y, w: (jnp.where(x[0] > 0, y[0], w[0]) * x[0], jnp.where(x[0] > 0, x[0], w[1]) / (w[0] * 0)),
    "a function of both": lambda x, y, w: both(x[0] + y[0], w[0]),
    "checkpoint": lambda x, y, w: again(x[0] + y[0], w[0]),
    "branches": lambda x, y, w: (x[0] * y[0] * w[0], branches(x[0], w[1])),
}
OF_MANY: dict[str, Any] = {
    "one function in two sums": lambda xs, w: (
        xs.map(lambda x: root(x[0], w[0])).sum(0.0),
        xs.map(lambda x: root(x[0] * 0, w[1])).sum(0.0),
    ),
    "a sum in a function that is called twice": twice,
    "one sum": lambda xs, w: xs.map(lambda x: (x[0] * w[0], jnp.sqrt(x[0] * 0 * w[1]))).sum((0.0, 0.0)),
    "two sums": lambda xs, w: (
        xs.map(lambda x: x[0] * w[0]).sum(0.0),
        xs.map(lambda x: jnp.sqrt(x[0] * 0 * w[1])).sum(0.0),
    ),
    "a function at each child": lambda xs, w: xs.map(lambda x: both(x[0], w[0])).sum((0.0, 0.0)),
    "attention": lambda xs, w: (
        xs.map(lambda x: x[0]).attend(lambda x: x * w[0], 0.0),
        xs.map(lambda x: jnp.sqrt(0 * x[0])).attend(lambda x: x * w[1], 0.0),
    ),
    "a list": lambda xs, w: xs.fold(Along(w)),
}
TREES = [This(That(Word(0.9, 0), Word(0.5, 1)), This(Word(0.3, 1), Word(0.7, 2))), That(Word(0.4, 0), Bare())]
BUSHES = [
    Some(Many([Word(0.5, 0), Word(0.3, 1), More(Many([Word(0.2, 1), Bare()]))])),
    More(Many([Word(0.5, 2), Some(Many([Word(0.4, 0), Word(0.2, 1)]))])),
]


class Two(Algebra[Any, Any]):
    cells: dict[str, Any]
    way: str = eqx.field(static=True)

    def __call__(self, layer: Any) -> Any:
        w = self.cells[type(layer).__name__]
        match layer:
            case Word(weight, _):
                return weight * w[0], weight * w[1]
            case This(left, right) | That(left, right):
                return OF_TWO[self.way](left, right, w)
            case Some(items) | More(items):
                return OF_MANY[self.way](items, w)
        return w[0], w[1]


CASES = itertools.product([*OF_TWO, *OF_MANY], ["by index", "by constructor"])


@pytest.mark.parametrize(("way", "how"), few(CASES, 0, 2, 10, 12, 14, 17, 23, 24))
def test_what_is_called_has_no_gradient_of_what_no_one_reads(way: str, how: str):
    with anew() if how == "by index" else by_constructor(), jax.enable_x64(True):
        trees = TREES if way in OF_TWO else BUSHES
        kinds = (Bare, Word, This, That, Some, More)
        cells = {kind.__name__: jnp.array([0.5 + 0.1 * i, 0.9 - 0.1 * i]) for i, kind in enumerate(kinds)}
        forest = forest_of(trees)
        slow = jax.grad(lambda cells: sum(jnp.sin(cata(Two(cells, way))(tree)[0]) for tree in trees))(cells)
        compiled = jax.grad(lambda cells: jnp.sin(fold(Two(cells, way), forest)[0]).sum())
        assert all(jnp.isfinite(x).all() for x in slow.values())
        close(eqx.filter_jit(compiled, compiler_options=QUICKLY)(cells), slow, 1e-10)


# A matrix that all constructors share, larger than what it makes of a vector of each.
OF_WEIGHTS: dict[str, Any] = {
    "product": lambda w, b: w @ jnp.log(b),
    "solution": lambda w, b: jnp.linalg.solve(w, jnp.log(b)),
    "scan": lambda w, b: jax.lax.scan(lambda c, row: (c + row * jnp.log(b), None), b, w)[0],
    "scan of two": lambda w, b: jax.lax.scan(lambda c, row: ((row * b[0], jnp.log(c[0] * b)), None), (b, b), w)[0][0],
    "too large": lambda w, b: w @ (b * b),
}


class Wide(Algebra[Any, Any]):
    shared: Any
    cells: dict[str, Any]
    way: str = eqx.field(static=True)

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Word(weight, _):
                return weight * jnp.ones(2), jnp.zeros(2)
            case This(left, _) | That(left, _):
                b = self.cells[type(layer).__name__]
                return 2 * left[0], OF_WEIGHTS[self.way](self.shared, b)
            case Some(items):
                return items.map(lambda x: x[1]).sum(jnp.zeros(2)), jnp.zeros(2)
            case More(items):
                return items.map(lambda x: x[0]).sum(jnp.zeros(2)), jnp.zeros(2)
        return jnp.zeros(2), jnp.zeros(2)


READ, UNREAD = Some(Many([This(Word(0.5, 0), Bare())])), More(Many([That(Word(0.3, 1), Bare())]))


@pytest.mark.parametrize(("way", "absent"), few(itertools.product(OF_WEIGHTS, [False, True]), 0, 5, 9))
def test_a_shared_weight_larger_than_what_is_made_of_it(way: str, absent: bool):
    """The weights of `That` have infinite slopes, or are infinite when they are squared, and nothing reads them."""
    with jax.enable_x64(True):
        cells = {"This": jnp.array([1.0, 2.0]), "That": jnp.array([1e200, 1.0] if way == "too large" else [0.0, 1.0])}
        trees, bucket = ([READ] if absent else [READ, UNREAD]), forest_of([READ, UNREAD]).bucket
        forest, given = pack(KindsF, trees, bucket=bucket), (jnp.array([[1.0, 2.0], [3.0, 0.5]]), cells)
        slow = jax.grad(lambda given: sum(cata(Wide(*given, way))(tree)[0].sum() for tree in trees))(given)
        fast = eqx.filter_jit(
            jax.grad(lambda given: fold(Wide(*given, way), forest)[0].sum()), compiler_options=QUICKLY
        )
        assert all(jnp.isfinite(x).all() for x in jax.tree.leaves(slow))
        close(fast(given), slow, 1e-10)
