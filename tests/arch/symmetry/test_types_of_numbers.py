"""Layers take numbers of any type, and give what they give of the same numbers in single precision."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl_arch.symmetry import Convolution, DeepSet, GraphLayer, GroupConvolution, Tensors


KEY = jr.key(0)
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "convolution": (Convolution((6, 6), 1, 2, (3, 3), key=KEY), (1, 6, 6)),
    "causal": (Convolution((6,), 1, 2, (3,), causal=True, key=KEY), (1, 6)),
    "group convolution": (GroupConvolution(6, 1, 2, 3, lifting=True, key=KEY), (1, 6, 6)),
    "set": (DeepSet(1, 2, key=KEY), (1, 300)),
    "mean": (Tensors(1, 0, 1, 1, key=KEY), (1, 300)),
    "matrices to nodes": (Tensors(2, 1, 1, 1, key=KEY), (1, 40, 40)),
}


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, jnp.bfloat16])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_the_same_of_the_same_numbers(name, dtype):
    layer, shape = LAYERS[name]
    x = np.random.default_rng(0).integers(0, 2 if dtype == np.bool_ else 100, shape).astype(dtype)
    given = np.asarray(x).astype(np.float32)
    found = layer(x)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, layer(given), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8])
def test_a_graph_layer_adds_neighbours_and_not_in_their_type(dtype):
    layer, n = GraphLayer(1, 1, key=KEY), 300
    draw = np.random.default_rng(0)
    adjacency, x = draw.integers(0, 2, (n, n)), draw.integers(0, 2 if dtype == np.bool_ else 100, (1, n))
    expected = layer(adjacency.astype(np.float32), x.astype(np.float32))
    np.testing.assert_allclose(layer(adjacency.astype(dtype), x.astype(dtype)), expected, rtol=1e-5)


def test_of_two_types_the_one_that_holds_both_comes_out():
    half = Convolution((6,), 1, 2, (3,), dtype=jnp.bfloat16, key=KEY)
    assert half(jnp.ones((1, 6))).dtype == jnp.float32
    assert half(jnp.ones((1, 6), jnp.bfloat16)).dtype == jnp.bfloat16
    with jax.enable_x64(True):
        assert Convolution((6,), 1, 2, (3,), dtype=jnp.float32, key=KEY)(np.ones((1, 6))).dtype == jnp.float64


def test_a_mean_fits_where_its_sum_does_not():
    layer = Tensors(2, 1, 1, 1, dtype=jnp.float16, key=KEY)
    found = layer(jnp.ones((1, 300, 300), jnp.float16))
    assert found.dtype == jnp.float16
    wide = Tensors(2, 1, 1, 1, key=KEY)(jnp.ones((1, 300, 300)))
    assert jnp.isfinite(found).all()
    np.testing.assert_allclose(found.astype(np.float32).std(), 0, atol=1e-2)
    assert wide.shape == found.shape
