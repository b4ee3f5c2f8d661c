"""Layers on scalars and vectors: what they commute with, and what they are made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import trained
from few import few

from cdl.symmetry import flow, groups, hom
from cdl_arch.symmetry import inner, VectorLayer


class Joined(eqx.Module):
    """A layer whose scalars and vectors come out as one array, to be trained."""

    layer: VectorLayer

    def __call__(self, scalars, vectors):
        still, moved = self.layer(scalars, vectors)
        return jnp.concatenate([still, moved.ravel()])


GROUPS = [groups.so(2), groups.so(3), groups.signed_permutations(3)]


@pytest.mark.parametrize("X", few(GROUPS, 2), ids=str)
def test_a_layer_commutes_with_its_group_before_and_after_training(X, getkey):
    layer = VectorLayer(X, (3, 2), (4, 5), 6, key=getkey())
    inputs = jr.normal(getkey(), (3,)), jr.normal(getkey(), (2, *X.shape))
    learnt = trained(Joined(layer), inputs, 8).layer
    assert not jnp.allclose(learnt(*inputs)[1], layer(*inputs)[1], atol=0.1)
    elements, (scalars, vectors) = flow(X, 0.9), inputs
    for now in (layer, learnt):
        still, moved = now(scalars, vectors)
        assert still.shape == (4,)
        assert moved.shape == (5, *X.shape)
        for name in elements.names:
            same, turned = now(scalars, elements(name, vectors))
            assert jnp.max(jnp.abs(same - still)) <= 1e-6 * max(1.0, float(jnp.max(jnp.abs(still))))
            wanted = elements(name, moved)
            assert jnp.max(jnp.abs(turned - wanted)) <= 1e-6 * max(1.0, float(jnp.max(jnp.abs(wanted))))


def test_products_of_vectors_are_inner_and_cross_products_and_no_others():
    V, P = groups.so(3), groups.so(2)
    assert [hom(V @ V, V.trivial()).dimension, hom(V @ V, V).dimension, hom(V, V).dimension] == [1, 1, 1]
    assert [hom(P @ P, P.trivial()).dimension, hom(P @ P, P).dimension, hom(P, P).dimension] == [2, 0, 2]
    x, y = np.array([1.0, 2.0, -1.0]), np.array([0.5, 0.0, 3.0])
    found = np.einsum("kij,i,j->k", hom(V @ V, V).basis.reshape(3, 3, 3), x, y)
    assert np.array_equal(abs(found), abs(np.cross(x, y)))
    products = jnp.asarray(np.outer(x, y)[None], jnp.float32)
    assert inner(V, products) == x @ y
    plane = inner(P, products[:, :2, :2])
    assert plane[0] == x[:2] @ y[:2]
    assert abs(plane[1]) == abs(x[0] * y[1] - x[1] * y[0])


def test_a_linear_layer_of_vectors_mixes_channels_and_of_the_plane_turns_them(getkey):
    layer = VectorLayer(groups.so(3), (1, 2), (1, 2), 3, key=getkey())
    vectors = jr.normal(getkey(), (2, 3))
    assert jnp.allclose(layer.into(vectors), layer.into.theta[..., 0] @ vectors, atol=1e-6)
    assert layer.cross is not None
    assert VectorLayer(groups.so(2), (1, 2), (1, 2), 3, key=getkey()).cross is None


def test_gradients_at_the_zero_vector_are_numbers(getkey):
    layer = VectorLayer(groups.so(3), (1, 2), (1, 2), 3, key=getkey())
    slope = jax.grad(lambda v: jnp.sum(layer(jnp.ones(1), v)[0]))(jnp.zeros((2, 3)))
    assert jnp.all(jnp.isfinite(slope))
