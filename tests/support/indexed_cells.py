"""Cells of many kinds in constructors that are computed together, each with weights of its own.

The signature has two constructors of two slots and two of a `Many`, so that chunks are of several constructors.
"""

import dataclasses
import random
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Algebra, Base, Forest, Many, pack, stacked
from cdl._engine.forests._bucket import Size
from cdl.functors import constructors
from cdl.schemes import Stacked


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
    "no numbers": lambda c, x, y: x * c.b + (c.w[:0] @ y).sum() + c.w[:, :0] @ (c.v[:0] @ y),
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
