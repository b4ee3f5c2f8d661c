"""Constructors with weights of their own are computed together, and each gets its own: any cell, in value and gradient.

The signature has two constructors of two slots and two of a `Many`, so that chunks are of several constructors.
"""

import dataclasses
import random
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees

from cdl import Algebra, Base, cata, fold, ForeignLayer, Forest, Many, pack, Stacked, stacked
from cdl.functor import constructors, holes
from cdl.run.folds._case import read, Reading
from cdl.run.forests._bucket import Size


X = TypeVar("X", covariant=True)
H = 3


class Kinds:
    """The name of the functor `1 + R × Z + X² + X² + List X + List X`."""


class Bare(Base[Kinds, Never]):
    pass


class Word(Base[Kinds, Never]):
    weight: float
    number: int


class This(Base[Kinds, X], Generic[X]):
    left: X
    right: X


class That(Base[Kinds, X], Generic[X]):
    left: X
    right: X


class Some(Base[Kinds, X], Generic[X]):
    items: Many[X]


class More(Base[Kinds, X], Generic[X]):
    items: Many[X]


KindsF = Union[Bare, Word, This[X], That[X], Some[X], More[X]]
KINDS = constructors(KindsF)


def tree(rng: random.Random, nodes: int) -> Any:
    """A random tree of about so many nodes, no two of whose numbers are equal."""
    if nodes < 2:
        return Bare() if rng.random() < 0.4 else Word(rng.gauss(0, 1), rng.randrange(4))
    kind = rng.choice(KINDS[2:])
    if kind in (Some, More):
        return kind(Many([tree(rng, (nodes - 1) // 3) for _ in range(rng.randrange(5))]))
    return kind(tree(rng, nodes // 2), tree(rng, nodes // 3))


TREES = [tree(random.Random(seed), size) for seed, size in enumerate((30, 1, 40))]
TREES.append(This(More(Many()), Some(Many([Word(0.3, 1), Some(Many())]))))


def forest_of(trees: list[Any]) -> Forest:
    """The trees, in chunks of one size: fewer programs to compile."""
    bucket, sizes = pack(KindsF, trees).bucket, (Size(4, 16),)
    return pack(KindsF, trees, bucket=dataclasses.replace(bucket, sizes=sizes, pieces=sizes))


class Cell(eqx.Module):
    """The weights of one constructor, and what is done with them to two vectors."""

    w: jax.Array
    v: jax.Array
    b: jax.Array
    table: jax.Array
    way: str = eqx.field(static=True)

    def __init__(self, key: jax.Array, way: str, size: int = H) -> None:
        keys = jr.split(key, 4)
        self.w, self.v = jr.normal(keys[0], (H, size)), jr.normal(keys[1], (H, H))
        self.b, self.table, self.way = jr.normal(keys[2], (H,)), jr.normal(keys[3], (4, H)), way

    def __call__(self, x: Any, y: Any) -> Any:
        return jnp.tanh(WAYS[self.way](self, x, y))


@jax.custom_jvp
def doubled(w: Any, x: Any) -> Any:
    return 2 * w * x


doubled.defjvp(lambda given, tangents: (doubled(*given), 3 * given[0] * tangents[1] + 2 * given[1] * tangents[0]))


@jax.custom_vjp
def tripled(w: Any, x: Any) -> Any:
    return 3 * w @ x


tripled.defvjp(
    lambda w, x: (3 * w @ x, (w, x)), lambda kept, given: (2 * jnp.outer(given, kept[1]), 5 * kept[0].T @ given)
)


def scanned(cell: Cell, x: Any, y: Any) -> Any:
    return jax.lax.scan(lambda s, b: (jnp.tanh(cell.w @ s + b), s), x, jnp.stack([y, x]))[0]


WAYS: dict[str, Any] = {
    "product": lambda c, x, y: c.w @ x + c.b + y,
    "layers": lambda c, x, y: c.v @ jax.nn.relu(c.w @ x + c.b) + c.v @ y,
    "from the right": lambda c, x, y: x @ c.w + y @ c.w.T,
    "of a matrix": lambda c, x, y: (jnp.outer(x, y) @ c.w + c.v @ jnp.outer(y, x))[0],
    "bilinear": lambda c, x, y: jnp.einsum("i,ij,j->", x, c.w, y) * x,
    "norm": lambda c, x, y: c.b * (x - x.mean()) / jnp.sqrt(x.var() + 0.1) + y,
    "of weights": lambda c, x, y: (c.w @ c.v + jnp.outer(c.b, c.b)) @ x / jnp.linalg.norm(c.w) + y,
    "no row": lambda c, x, y: c.w @ c.b + 0 * x,
    "cond": lambda c, x, y: jax.lax.cond(x[0] > 0, lambda: c.w @ x, lambda: c.v @ y * c.b),
    "jit": lambda c, x, y: jax.jit(lambda w, x: w @ x)(c.w, x) + jax.checkpoint(lambda x: c.v @ x)(y),
    "scan": scanned,
    "custom jvp": lambda c, x, y: doubled(c.b, x) + y,
    "custom vjp": lambda c, x, y: tripled(c.w, x) + y,
    "lookup": lambda c, x, y: c.table[jnp.argmax(x)] + y,
    "stopped": lambda c, x, y: jax.lax.stop_gradient(c.w @ x) * y + c.v @ x,
    "twice": lambda c, x, y: c.w @ (c.w @ x + c.b) + c.w @ y,
    "inner map": lambda c, x, y: jax.vmap(lambda r: r @ x + y[0])(c.w),
}


class Reader(Algebra[Any, jax.Array]):
    """A cell for each constructor: in a stack or a `dict`. The table of words is for all."""

    cells: Any
    words: jax.Array
    bare: jax.Array
    within: bool = eqx.field(static=True, default=False)

    def __call__(self, layer: Any) -> jax.Array:
        cell = self.cells[type(layer)] if isinstance(self.cells, Stacked) else self.cells[type(layer).__name__]
        match layer:
            case Bare():
                return self.bare * cell.b
            case Word(weight, number):
                return jnp.tanh(self.words[number] * weight + cell.b)
            case This(left, right) | That(left, right):
                return cell(left, right)
            case Some(items) | More(items):
                total = items.map(lambda x: cell(x, self.bare)).sum(jnp.zeros(H))
                first = items.map(lambda x: x * cell.b).max(jnp.zeros(H))
                return cell(total, first) + items.attend(lambda x: jnp.dot(cell.b, x), jnp.zeros(H))
        raise AssertionError(layer)


def reader(key: jax.Array, way: str, *, of: Any = dict, **options: Any) -> Reader:
    a, b, c = jr.split(key, 3)
    make = lambda key: Cell(key, way)
    cells: Any = stacked(KindsF, make, key=a) if of is Stacked else {
        kind.__name__: make(k) for kind, k in zip(KINDS, jr.split(a, len(KINDS)), strict=True)
    }  # fmt: skip
    return Reader(cells, jr.normal(b, (4, H)), jr.normal(c, (H,)), **options)


@pytest.mark.parametrize("way", WAYS)
def test_any_cell_of_many_constructors_is_the_definition_s(way):
    with jax.enable_x64(True):
        agrees(forest_of(TREES), TREES, reader(jr.key(0), way), 1e-10)


@pytest.mark.parametrize("way", ["layers", "scan", "lookup"])
def test_cells_of_a_stack_are_those_of_a_dict(way):
    with jax.enable_x64(True):
        alg = reader(jr.key(1), way, of=Stacked)
        agrees(forest_of(TREES), TREES, alg, 1e-10)
        by_name = {kind.__name__: alg.cells[kind] for kind in KINDS}
        again = eqx.tree_at(lambda a: a.cells, alg, by_name)
        np.testing.assert_array_equal([cata(alg)(t) for t in TREES], [cata(again)(t) for t in TREES])


def programs_of(alg: Any) -> int:
    return len(read(Reading((alg,), pack(KindsF, TREES).bucket, None))[1])


def test_cells_of_a_stack_are_in_as_few_programs_as_those_of_a_dict():
    # of none, of a word, of two slots, of a `Many`, and of one without children
    assert programs_of(reader(jr.key(0), "layers")) == programs_of(reader(jr.key(0), "layers", of=Stacked)) == 5


class Both(Algebra[Any, jax.Array]):
    """A cell from a stack beside weights that are held by name."""

    cells: Stacked[Cell]
    scales: dict[str, jax.Array]

    def __call__(self, layer: Any) -> jax.Array:
        cell, scale = self.cells[type(layer)], self.scales[type(layer).__name__]
        match layer:
            case This(left, right) | That(left, right):
                return scale * cell(left, right)
            case Some(items) | More(items):
                return items.map(lambda x: self.cells[type(layer)](x, x)).sum(jnp.zeros(H)) * scale
            case _:
                return scale + cell.b


def test_a_stack_stands_beside_weights_that_are_held_by_name():
    with jax.enable_x64(True):
        scales = {kind.__name__: jr.normal(jr.key(i), (H,)) for i, kind in enumerate(KINDS)}
        alg = Both(stacked(KindsF, lambda key: Cell(key, "layers"), key=jr.key(1)), scales)
        agrees(forest_of(TREES), TREES, alg, 1e-10)


def test_a_stack_may_be_of_some_constructors_and_refuses_the_others():
    cells = stacked((This, That), lambda key: Cell(key, "product"), key=jr.key(0))
    assert cells[That].w.shape == (H, H)
    assert not jnp.array_equal(cells[This].w, cells[That].w)
    with pytest.raises(ForeignLayer, match="a cell for each of `This`, `That`, and that of `Word` was asked for"):
        cells[Word]


def test_constructors_that_no_tree_has_get_a_gradient_of_zero():
    alg = reader(jr.key(0), "layers", of=Stacked)
    forest = forest_of([This(Word(1.0, 0), Word(2.0, 1))])
    gradient = eqx.filter_grad(lambda alg: jnp.sum(fold(alg, forest)))(alg)
    met = [bool(jnp.any(gradient.cells.cells.w[i])) for i in range(len(KINDS))]
    assert met == [kind is This for kind in KINDS]


@pytest.mark.parametrize("way", ["layers", "norm"])
def test_forward_mode_and_products_with_the_hessian_go_through_cells_by_index(way):
    with jax.enable_x64(True):
        forest = forest_of(TREES[:2])
        arrays, rest = eqx.partition(reader(jr.key(0), way), eqx.is_array)
        total = lambda fold: lambda arrays: jnp.sum(jnp.sin(fold(eqx.combine(arrays, rest))))
        fast = lambda **how: total(lambda alg: fold(alg, forest, **how))
        slow = total(lambda alg: jnp.stack([cata(alg)(t) for t in TREES[:2]]))
        along = jax.tree.map(lambda x: jnp.cos(3 * x), arrays)
        np.testing.assert_allclose(
            jax.jvp(fast(forward=True), (arrays,), (along,))[1], jax.jvp(slow, (arrays,), (along,))[1], rtol=1e-10
        )
        second = lambda f: jax.jit(lambda arrays: jax.jvp(jax.grad(f), (arrays,), (along,))[1])(arrays)
        for x, y in zip(jax.tree.leaves(second(fast())), jax.tree.leaves(second(slow)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9)


class Rooted(Algebra[Any, jax.Array]):
    """Roots of weights, whose slope is infinite at 0: of one for all, and of one for each constructor."""

    own: dict[str, jax.Array]
    shared: jax.Array

    def __call__(self, layer: Any) -> jax.Array:
        own = jnp.sqrt(self.own[type(layer).__name__])
        match layer:
            case Bare():
                return own * self.shared
            case Word(weight, _):
                return weight * jnp.sqrt(self.shared) + own
            case This(left, right) | That(left, right):
                return own / self.shared * left + right
            case Some(items) | More(items):
                return items.map(lambda x: jnp.sqrt(self.shared) * own * x).sum(jnp.zeros(H))
        raise AssertionError(layer)


@pytest.mark.parametrize("trees", [[This(Word(1.0, 0), Bare())], [Bare()], [Some(Many([Word(1.0, 0), Word(0.5, 1)]))]])
def test_weights_of_constructors_that_are_not_there_may_have_an_infinite_slope(trees):
    with jax.enable_x64(True):
        names = {type(node).__name__ for t in trees for node in [t, *holes(t)]}
        own = {kind.__name__: jnp.ones(H) if kind.__name__ in names else jnp.zeros(H) for kind in KINDS}
        bucket = forest_of(TREES).bucket
        agrees(pack(KindsF, trees, bucket=bucket), trees, Rooted(own, jnp.full(H, 2.0)), 1e-10)
        if names == {"Bare"}:  # no word is there, whose case alone has the root of what all share
            agrees(pack(KindsF, trees, bucket=bucket), trees, Rooted(own, jnp.zeros(H)), 1e-10)
