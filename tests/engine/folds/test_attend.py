"""`attend` where the softmax is saturated and where children share a big offset: as exact as the type allows."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

from cdl import algebra, cata, fold, Many, Node, pack, RoseF


class Attends(eqx.Module):
    """Children with a state `(heads, 3)`; a score for each head, or one for all."""

    scale: jax.Array
    query: jax.Array
    heads: bool = eqx.field(static=True)

    def __call__(self, layer: Node[Any, Any]) -> Any:
        score = lambda x: jnp.sum(x * self.query / 100, axis=1 if self.heads else None)
        return self.scale * layer.label + layer.kids.attend(score, jnp.zeros_like(self.scale))


def bush(rng: np.random.Generator, depth: int, offset: float, spread: float, dtype: Any) -> Any:
    kids = [bush(rng, depth - 1, offset, spread, dtype) for _ in range(rng.integers(1, 5))] if depth else []
    return Node(dtype(np.float32(offset + spread * rng.normal())), Many(kids))


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize(
    ("offset", "spread"), few([(0, 1e4), (1e4, 1e3), (1e4, 1)], 1), ids=["saturated", "both", "offset"]
)
def test_the_gradient_of_a_score_is_of_differences(heads: bool, offset: float, spread: float) -> None:
    drawn = np.random.default_rng(0).normal(size=(2, 2, 3)).astype(np.float32)

    def slopes(run: Any, dtype: Any) -> Any:
        rng = np.random.default_rng(1)
        trees = [bush(rng, 2, offset, spread, dtype) for _ in range(3)]
        net = Attends(*jnp.asarray(drawn, dtype), heads)
        return eqx.filter_jit(eqx.filter_grad(lambda net: run(algebra(net.__call__), trees)))(net)

    compiled: Any = lambda net, trees: fold(net, pack(RoseF[Any, Any], trees)).sum() / 1e4
    defined: Any = lambda net, trees: sum(cata(net)(tree).sum() for tree in trees) / 1e4
    with jax.enable_x64(True):
        exact = slopes(defined, np.float64)
        for run in (defined, compiled):
            for found, wanted in zip(*map(jax.tree.leaves, (slopes(run, np.float32), exact)), strict=True):
                assert found.dtype == jnp.float32
                assert np.abs(np.asarray(found) - np.asarray(wanted)).max() < 2e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("labels", [(40000, -40000), (30000,) * 9, (1, 65504, 65504), (-np.inf, 1)], ids=str)
def test_half_precision_overflows_in_no_difference_and_no_sum(labels: tuple[float, ...]) -> None:
    net = algebra(lambda layer: layer.label + layer.kids.attend(lambda x: jnp.float16(0), np.float16(0)))
    tree = Node(np.float16(0), Many(Node(np.float16(x), Many()) for x in labels))
    wanted = np.float16(np.mean(np.float64(labels)))
    found = cata(net)(tree), fold(net, pack(RoseF, [tree]))[0]
    assert all(np.allclose(x, wanted, rtol=2e-3, atol=16) and x.dtype == np.float16 for x in found)


NARROW = [jnp.bfloat16, jnp.float16]


@pytest.mark.parametrize("dtype", few(NARROW, 0))
def test_the_weights_of_many_children_in_half_precision_sum_to_one(dtype: Any) -> None:
    """A sum of weights in `bfloat16` stops at 256."""
    kids = [Node(1.0 if i % 2 else 3.0, Many()) for i in range(3000)]
    tree = Node(0.0, Many(kids))

    def mean(layer: Node[Any, Any]) -> Any:
        own = jnp.asarray(layer.label).astype(dtype)
        return own + layer.kids.attend(lambda x: 0 * x, jnp.zeros((), dtype))

    found, defined = fold(algebra(mean), pack(RoseF[Any, Any], [tree]))[0], cata(algebra(mean))(tree)
    assert found.dtype == defined.dtype == dtype
    assert abs(found - 2.0) < 0.02
    assert abs(defined - 2.0) < 0.02


@pytest.mark.parametrize("dtype", few(NARROW, 0))
@pytest.mark.parametrize("how", ["max", "min"])
def test_many_children_that_are_equal_in_half_precision_share_one_gradient(dtype: Any, how: str) -> None:
    tree = Node(0.0, Many([Node(1.0, Many()) for _ in range(3000)]))
    forest = pack(RoseF[Any, Any], [tree])

    def greatest(weight: Any) -> Any:
        def read(layer: Node[Any, Any]) -> Any:
            own = jnp.asarray(layer.label, jnp.float32) * weight  # of 32 bits, which add 3,000 gradients
            return own.astype(dtype) + getattr(layer.kids, how)(jnp.zeros((), dtype))

        return fold(algebra(read), forest)[0].astype(jnp.float32)

    assert abs(jax.grad(greatest)(jnp.float32(1.0)) - 1.0) < 0.01
