"""Compiled forms beside their definitions, in values and gradients.

`agrees` is that of `fold`, with gradients in the algebra's arrays and in the payloads; `inherits` of `inherit`,
`follows` of `follow`, and `as_defined` of any two functions.

A tree is differentiated as a pytree, and a forest as one, so that a payload's two gradients are in different places:
`payload_places` finds a tree's payload leaves among a forest's rows.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from cdl import annotate, cata, decorate, fold, follow, Forest, inherit, inherited, likelihood
from cdl._engine.forests._variant import describe
from cdl.functors import holes
from cdl.monads import Cofree


# The code of these programs runs once: it need not be fast, and is to be made quickly.
QUICKLY = {"xla_backend_optimization_level": 0}


def agrees(
    forest: Forest,
    trees: list[Any],
    arrays: Any,
    tolerance: float,
    *,
    make: Callable[[Any], Any] = lambda alg: alg,
    key: Any = None,
    as_one: bool = False,
    **how: Any,
) -> None:
    """`fold` of a forest is `cata` at each of its trees, and so are the gradients of a random linear function of it.

    **Arguments:** `make`: from `arrays` to the algebra, which may hold them or close over them. `as_one`: of
    `close`, for the gradients in the arrays. `how`: options of `fold`.
    """
    leaves, structure = jax.tree.flatten(trees)
    leaves = [jnp.asarray(x) if _is_float(x) else x for x in leaves]

    def defined(arrays: Any, leaves: list[Any]) -> Any:
        keys = [None if key is None else jax.random.fold_in(key, i) for i in range(len(trees))]
        each = zip(jax.tree.unflatten(structure, leaves), keys, strict=True)
        found = [cata(make(arrays), key=k)(tree) for tree, k in each]
        return jax.tree.map(lambda *xs: jnp.stack(xs), *found)

    compiled = lambda arrays, forest: fold(make(arrays), forest, key=key, **how)
    slow, (slow_arrays, slow_leaves) = differentiated(defined)(arrays, leaves)
    fast, (fast_arrays, fast_forest) = eqx.filter_jit(differentiated(compiled), compiler_options=QUICKLY)(
        arrays, forest
    )
    close(fast, slow, tolerance)
    close(fast_arrays, slow_arrays, tolerance, as_one=as_one)
    places = {i: at for i, at in payload_places(forest, trees).items() if _is_float(leaves[i])}
    for column in {column for column, _ in places.values()}:
        here = {i: row for i, (c, row) in places.items() if c == column}
        rows = jnp.array(list(here.values()))
        close(fast_forest.payload[column][rows], jnp.stack([slow_leaves[i] for i in here]), tolerance)


def inherits(forest: Forest, trees: list[Any], models: Any, tops: Any) -> Any:
    """`inherit` is `inherited` at each tree; gives the gradients in the models and in what the roots inherit.

    **Arguments:** `models`: the algebra that goes up, and the step that goes down and sees its values.
    """

    size = forest.size

    def defined(models: Any, tops: Any) -> Any:
        alg, step = models
        each = [jax.tree.map(lambda x, i=i: x[i], tops) for i in range(len(trees))]
        down = [inherited(step, top)(decorate(alg)(t)) for t, top in zip(trees, each, strict=True)]
        return jax.tree.map(lambda *xs: jnp.stack(xs), *[head for tree in down for head in heads(tree)])

    def compiled(models: Any, tops: Any) -> Any:
        alg, step = models
        found = inherit(step, forest, tops, values=annotate(alg, forest))
        return jax.tree.map(lambda x: x[:size], found)

    return as_defined(defined, compiled, models, tops)


def follows(forest: Forest, trees: list[Any], grow: Any, seeds: jax.Array, payload: Any) -> None:
    """`follow` is `likelihood` at each tree."""

    def defined(grow: Any, seeds: jax.Array) -> jax.Array:
        each = zip(seeds, trees, strict=True)
        return jnp.stack([likelihood(grow, seed, payload=payload)(tree) for seed, tree in each])

    as_defined(defined, lambda grow, seeds: follow(grow, forest, seeds, payload=payload), grow, seeds)


def as_defined(defined: Callable[..., Any], compiled: Callable[..., Any], *inputs: Any) -> Any:
    """Two functions of two arguments are equal in value and in their gradients, which are given."""
    slow, slow_gradients = differentiated(defined)(*inputs)
    fast, fast_gradients = eqx.filter_jit(differentiated(compiled), compiler_options=QUICKLY)(*inputs)
    close(fast, slow, 1e-10)
    close(fast_gradients, slow_gradients, 1e-9)
    return fast_gradients


def differentiated(f: Callable[..., Any]) -> Callable[..., Any]:
    """The value of a function of two arguments, and the gradients in both of a random linear function of it."""

    def total(inputs: Any) -> Any:
        value, rng = f(*inputs), np.random.default_rng(0)
        parts = [
            jnp.sum(x * jnp.asarray(rng.normal(size=x.shape), x.dtype)) for x in jax.tree.leaves(value) if _is_float(x)
        ]
        return sum(parts), value

    def both(*inputs: Any) -> Any:
        (_, value), gradients = eqx.filter_value_and_grad(total, has_aux=True)(inputs)
        return value, gradients

    return both


def payload_places(forest: Forest, trees: list[Any]) -> dict[int, tuple[int, int]]:
    """For each leaf of the trees as one pytree, the column and the row that it has in the forest's payload."""
    row = forest.row.tolist()
    leaves, structure = jax.tree.flatten(trees)
    places: dict[int, tuple[int, int]] = {}
    for t, tree in enumerate(jax.tree.unflatten(structure, range(len(leaves)))):
        for i, node in enumerate(pre_order(tree)):
            variant, payload, _ = describe(type(node), node)
            columns = forest.bucket.columns(forest.bucket.variants.index(variant))
            places |= {
                leaf: (column, row[forest.nodes(t).start + i]) for leaf, column in zip(payload, columns, strict=True)
            }
    return places


def pre_order(tree: Any) -> list[Any]:
    """The nodes of a tree, decorated or not, each before its children."""
    todo, nodes = [tree], []
    while todo:
        nodes.append(todo.pop())
        layer = nodes[-1].tail if isinstance(nodes[-1], Cofree) else nodes[-1]
        todo.extend(reversed(holes(layer)))
    return nodes


def heads(cofree: Any) -> list[Any]:
    """The values of a decorated tree in pre-order."""
    return [node.head for node in pre_order(cofree)]


def close(a: Any, b: Any, tolerance: float, *, as_one: bool = False) -> None:
    """Equal structures, and leaves equal up to a part of each leaf's greatest number.

    `as_one`: of the greatest of all leaves, as for one vector of them. In single precision a small gradient is the
    difference of large numbers, and has their rounding.
    """
    assert jax.tree.structure(a) == jax.tree.structure(b)
    most = [float(np.max(np.abs(y), initial=0, where=np.isfinite(y))) for y in jax.tree.leaves(b)]
    for x, y, own in zip(jax.tree.leaves(a), jax.tree.leaves(b), most, strict=True):
        assert x.shape == y.shape
        assert x.dtype == y.dtype
        scale = max(max(most) if as_one else own, 1e-3)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * scale)


def _is_float(x: Any) -> bool:
    return isinstance(x, float) or (hasattr(x, "dtype") and bool(jnp.issubdtype(x.dtype, jnp.inexact)))
