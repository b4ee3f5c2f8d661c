"""The reverse pass of growing and reading writes cotangents over seeds and values: it is right, and has no more tables.

What goes through a curve at last has its cotangent under the curve, where there is one for all; so each coalgebra here
has other curves, and so has each algebra.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from hlo import copies_in_loops

from cdl import algebra, choose, Fork, hylo, Leaf, refold, TreeF, unfold


Curve = Callable[[jax.Array], jax.Array]
CURVES: dict[str, Curve] = {
    "tanh": jnp.tanh,
    "logistic": jax.nn.sigmoid,
    "exp": lambda x: jnp.exp(x / 4 - 1),
    "none": lambda x: x,
}
LEAVES = jnp.array([5, 1, 6])


class Grower(eqx.Module):
    """Trees of so many leaves. `first`: whether a fork is the first to choose from."""

    weights: jax.Array
    left: Curve = eqx.field(static=True)
    right: Curve = eqx.field(static=True)
    first: bool = eqx.field(static=True, default=False)
    scored: bool = eqx.field(static=True, default=False)

    def __call__(self, seed: Any) -> Any:
        h, n = seed
        p, q, label = self.weights
        below = (self.left(p @ h), n // 3 + 1), (self.right(q @ h), n - n // 3 - 1)
        leaf, fork = Leaf(label @ h), Fork(*below)
        more = n.astype(h.dtype) - 1.5
        scores = jnp.stack([-more, more + 1e-3 * jnp.sum(below[0][0]) if self.scored else more])
        return choose(scores[::-1], fork, leaf) if self.first else choose(scores, leaf, fork)


def reader(curve: Curve, ends: Curve, *, both: bool = True) -> Any:
    """`both`: whether a fork reads both places."""

    def of(weights: jax.Array) -> Any:
        @algebra
        def read(layer: TreeF[jax.Array, jax.Array]) -> Any:
            if isinstance(layer, Leaf):
                return ends(layer.label)
            return curve(weights @ (layer.left * layer.right if both else layer.right))

        return read

    return of


def wide(width: int, dtype: Any, count: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Weights of a grower and of a reader, and the seeds of so many trees."""
    keys = jr.split(jr.key(3), 3)
    grows = jr.normal(keys[0], (3, width, width), dtype) / width**0.5
    reads = jr.normal(keys[1], (width, width), dtype) / width**0.5
    return grows, reads, jr.normal(keys[2], (count, width), dtype)


GROWERS = {
    "two curves": {"left": jnp.tanh, "right": jnp.exp},
    "one place with a curve": {"left": jnp.tanh, "right": lambda x: x},
    "exp, scored by what is under": {"left": CURVES["exp"], "right": CURVES["exp"], "scored": True},
    "logistic, forks first": {"left": jax.nn.sigmoid, "right": jax.nn.sigmoid, "first": True},
}


@pytest.mark.parametrize("name", GROWERS)
def test_unfold_of_seeds_under_a_curve_has_their_gradients(name):
    with jax.enable_x64(True):
        grows, _, h = wide(4, jnp.float64, 3)
        total = algebra(lambda x: jnp.sin(x.label).sum() if isinstance(x, Leaf) else x.left + x.right)

        def slow(grows: jax.Array, h: jax.Array) -> Any:
            grow = Grower(grows, **GROWERS[name])
            return sum((t + 1) * hylo(total, grow)((h[t], LEAVES[t])) for t in range(3))

        def fast(grows: jax.Array, h: jax.Array) -> Any:
            grown = unfold(Grower(grows, **GROWERS[name]), (h, LEAVES), 11, lanes=3)
            return jnp.arange(1.0, 4.0) @ jnp.sin(grown.payload[0]).sum((1, 2))

        close(jax.value_and_grad(fast, (0, 1))(grows, h), jax.value_and_grad(slow, (0, 1))(grows, h), 1e-10)


@pytest.mark.parametrize(
    ("curve", "ends", "both"),
    [("tanh", "exp", True), ("none", "tanh", True), ("tanh", "tanh", False)],
)
def test_refold_of_values_under_a_curve_has_their_gradients(curve, ends, both):
    with jax.enable_x64(True):
        inputs = wide(4, jnp.float64, 3)
        alg = reader(CURVES[curve], CURVES[ends], both=both)
        grower = lambda grows: Grower(grows, jnp.tanh, jnp.tanh)

        def slow(grows: jax.Array, reads: jax.Array, h: jax.Array) -> Any:
            found = [hylo(alg(reads), grower(grows))((h[t], LEAVES[t])) for t in range(3)]
            return sum((t + 1) * jnp.sin(x).sum() for t, x in enumerate(found))

        def fast(grows: jax.Array, reads: jax.Array, h: jax.Array) -> Any:
            values, _ = refold(alg(reads), grower(grows), (h, LEAVES), 11, lanes=3)
            return jnp.arange(1.0, 4.0) @ jnp.sin(values).sum(1)

        close(jax.value_and_grad(fast, (0, 1, 2))(*inputs), jax.value_and_grad(slow, (0, 1, 2))(*inputs), 1e-10)


TREES, NODES, WIDTH, WIDE = 16, 257, 32, 64


def both_passes(name: str) -> Any:
    """The compiled gradient of trees of so many nodes."""
    grows, reads, h = wide(WIDTH, jnp.float32, TREES)
    leaves = jnp.full(TREES, NODES // 2 + 1)

    def total(grows: jax.Array, reads: jax.Array, h: jax.Array) -> Any:
        grow = Grower(grows, jnp.tanh, jnp.tanh)
        if name == "unfold":
            return (unfold(grow, (h, leaves), NODES, lanes=WIDE).payload[0] ** 2).sum()
        alg = reader(jnp.tanh, lambda x: x)
        return (refold(alg(reads), grow, (h, leaves), NODES, lanes=WIDE)[0] ** 2).sum()

    return jax.jit(jax.value_and_grad(total, (0, 1))).lower(grows, reads, h).compile()


@pytest.mark.parametrize("name", ["unfold", "refold"])
def test_growth_keeps_two_tables_of_nodes_and_one_of_ends(name):  # and some bits of each node
    program, rows = both_passes(name), TREES * NODES
    tables = program.memory_analysis().temp_size_in_bytes / (4 * WIDTH * rows)
    assert tables < 3.4
    assert copies_in_loops(program.as_text(), {rows, rows + WIDE, (rows + TREES) // 2, TREES}) == []
