"""The yardstick: what each form is to give, by plain recursion over the fields of a tree. It uses no code of cdl's.

`SORT` is a program's table from a constructor to its sort. An algebra sees a `Bag` where the tree has a `Many`.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import cdl


class Bag:
    """Children in order, and each reduction of them as the page on `Many` defines it."""

    def __init__(self, items: Any) -> None:
        self.items = tuple(items)

    @property
    def count(self) -> int:
        return len(self.items)

    def map(self, f: Any) -> "Bag":
        return Bag(f(x) for x in self.items)

    def _reduce(self, join: Any, zero: Any) -> Any:
        return functools.reduce(lambda x, y: jax.tree.map(join, x, y), self.items) if self.items else zero

    def sum(self, zero: Any = None) -> Any:
        return self._reduce(lambda x, y: x + y, zero)

    def max(self, zero: Any = None) -> Any:
        return self._reduce(jnp.maximum, zero)

    def min(self, zero: Any = None) -> Any:
        return self._reduce(jnp.minimum, zero)

    def prod(self, zero: Any = None) -> Any:
        return self._reduce(lambda x, y: x * y, zero)

    def var(self, zero: Any = None) -> Any:
        mean = self.mean(zero)
        return Bag(jax.tree.map(lambda x, m: (x - m) ** 2, x, mean) for x in self.items).mean(zero)

    def mean(self, zero: Any = None) -> Any:
        total = self.sum(zero)
        return jax.tree.map(lambda x: x / len(self.items), total) if self.items else zero

    def attend(self, score: Any, zero: Any = None) -> Any:
        if not self.items:
            return zero
        scores = jnp.stack([jnp.asarray(score(x)) for x in self.items])
        parts = jnp.exp(scores - jax.lax.stop_gradient(jnp.max(scores)))
        each = [
            jax.tree.map(lambda a, p=p: a * (p / jnp.sum(parts)), x) for x, p in zip(self.items, parts, strict=True)
        ]
        return functools.reduce(lambda x, y: jax.tree.map(jnp.add, x, y), each)

    def fold(self, algebra: Any) -> Any:
        value = algebra(cdl.Nil())
        for x in reversed(self.items):
            value = algebra(cdl.Cons(x, value))
        return value


def seen(value: Any, f: Any) -> Any:
    """A field's value with `f` of each tree in it."""
    if isinstance(value, cdl.Base | cdl.monads.Cofree):
        return f(value)
    if isinstance(value, cdl.Many | Bag):
        return Bag(seen(x, f) for x in value.items)
    return tuple(seen(x, f) for x in value) if type(value) is tuple else value


def layer(tree: Any, f: Any) -> Any:
    """The outermost layer of a tree, with `f` of each child at its place."""
    return type(tree)(*(seen(getattr(tree, name), f) for name in type(tree).__match_args__))


def children(tree: Any) -> list[Any]:
    """The trees below a node, in the order of its fields."""
    found: list[Any] = []
    layer(tree, found.append)
    return found


def every(tree: Any) -> list[Any]:
    """The nodes of a tree in pre-order."""
    return [tree, *(node for child in children(tree) for node in every(child))]


def values(algs: Any, tree: Any, sort: Any, key: Any = None) -> list[Any]:
    """The value at each node, in pre-order; the first is that of the tree."""
    found: list[Any] = []

    def read(node: Any) -> Any:
        number = len(found)
        found.append(None)
        below = layer(node, read)
        alg = algs[sort[type(node)]]
        found[number] = alg(below) if key is None else alg(below, key=jax.random.fold_in(key, number))
        return found[number]

    read(tree)
    return found


def inside(given: Any, tree: Any) -> list[Any]:
    """What stands in a layer where a tree has its children, in their order."""
    if isinstance(tree, cdl.Base):
        return [given]
    if isinstance(tree, cdl.Many | tuple):
        items = tree.items if isinstance(tree, cdl.Many) else tree
        below = given.items if isinstance(given, cdl.Many | Bag) else given
        return (
            [x for g, t in zip(below, items, strict=True) for x in inside(g, t)] if any(map(children_of, items)) else []
        )
    return []


def children_of(value: Any) -> bool:
    """Whether there is a tree in a field's value."""
    found: list[Any] = []
    seen(value, found.append)
    return bool(found)


def at_places(given: Any, tree: Any) -> list[Any]:
    """What a layer has at the places of the children of a tree of the same constructor."""
    names = type(tree).__match_args__
    return [x for n in names for x in inside(getattr(given, n), getattr(tree, n))]


def handed(steps: Any, tree: Any, value: Any, sort: Any, above: Any) -> list[Any]:
    """What each node inherits, in pre-order. `above`: what a step sees of a child."""
    given = steps[sort[type(tree)]](value, layer(tree, above))
    below = zip(at_places(given, tree), children(tree), strict=True)
    return [value, *(x for v, child in below for x in handed(steps, child, v, sort, above))]


@eqx.filter_jit
def called(coalg: Any, seed: Any) -> Any:
    """The scores and the layers that a coalgebra chooses among."""
    given = coalg(seed)
    return given.scores, given.layers


def grow(coalgs: Any, tree_sort: int, seed: Any, sorts: Any, key: Any = None) -> tuple[Any, list[Any]]:
    """The tree that coalgebras grow, and the logarithm of the chance of each choice, level by level."""
    chances: list[Any] = []

    def from_seed(sort: int, seed: Any, path: Any, depth: int) -> Any:
        scores, layers = called(coalgs[sort], seed)
        own = None if path is None else jax.random.fold_in(jax.random.fold_in(path, 0), np.uint32(2**32 - 1))
        chosen = jnp.argmax(scores) if own is None else jax.random.categorical(own, scores)
        chances.append((depth, jax.nn.log_softmax(scores)[int(chosen)]))
        return filled(layers[int(chosen)], ((below, depth + 1) for below in places_below(path)))

    def filled(proposed: Any, paths: Any) -> Any:
        terms = sorts[type(proposed)]
        parts = [put(getattr(proposed, n), t, paths) for n, t in zip(type(proposed).__match_args__, terms, strict=True)]
        return type(proposed)(*parts)

    def put(value: Any, term: Any, paths: Any) -> Any:
        kind, of = term
        if kind == "x":
            return from_seed(of, value, *next(paths))
        if kind == "many":
            return cdl.Many([from_seed(of, x, *next(paths)) for x in value.items])
        if kind == "maybe":
            return None if value is None else put(value, of, paths)
        if kind == "list":
            return tuple(put(x, of, paths) for x in value)
        return tuple(put(x, t, paths) for x, t in zip(value, of, strict=True)) if kind == "pair" else value

    tree = from_seed(tree_sort, seed, key, 0)
    return tree, [chance for _, chance in sorted(chances, key=lambda found: found[0])]


def places_below(path: Any) -> Any:
    """The paths of a node's children, one after the other."""
    place = 0
    while True:
        place += 1
        yield None if path is None else jax.random.fold_in(path, place)


def form(value: Any, term: Any) -> Any:
    """Which places of a field are filled."""
    kind, of = term
    if kind in ("maybe", "list"):
        return None if value is None else [form(x, of) for x in ((value,) if kind == "maybe" else value)]
    return [form(x, t) for x, t in zip(value, of, strict=True)] if kind == "pair" else True


def likely(coalgs: Any, tree: Any, seed: Any, sort: Any, sorts: Any, payload: Any) -> Any:
    """The log-probability that coalgebras grow a tree."""
    scores, layers = called(coalgs[sort[type(tree)]], seed)
    names, terms = type(tree).__match_args__, sorts[type(tree)]
    forms = [
        type(x) is type(tree) and [form(getattr(x, n), t) for n, t in zip(names, terms, strict=True)]
        for x in (*layers, tree)
    ]
    number = forms.index(forms[-1])
    proposed = layers[number]
    total = jax.nn.log_softmax(scores)[number] + payload(proposed, tree)
    below = zip(under(proposed, terms), children(tree), strict=True)
    return total + sum(likely(coalgs, child, s, sort, sorts, payload) for s, child in below)


def under(proposed: Any, terms: Any) -> list[Any]:
    """The seeds at the places of a layer, in order."""

    def of(value: Any, term: Any) -> list[Any]:
        kind, inner = term
        if kind == "x":
            return [value]
        if kind == "pair":
            return [s for x, t in zip(value, inner, strict=True) for s in of(x, t)]
        if kind == "data" or value is None:
            return []
        return [s for x in ((value,) if kind == "maybe" else value) for s in of(x, inner)]

    names = type(proposed).__match_args__
    return [s for n, t in zip(names, terms, strict=True) for s in of(getattr(proposed, n), t)]
