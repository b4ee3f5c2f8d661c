"""A tied layer gives what its dense matrix gives, however it multiplies: in value, gradient and tangent."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import cdl
from cdl.symmetry import Action, Equivariant
from cdl.symmetry._lowering import lowered
from cdl.symmetry._tying import Orbits
from cdl.symmetry.groups import cyclic, dihedral, permutations, translations, truncated_translations


def turned(n: int) -> Action:
    """Shifts of a circle, and its reflection."""
    return cyclic(n).perm((-np.arange(n)) % n, "mirror")


def signed(n: int) -> Action:
    """A shift round a circle, where the number that passes the end changes its sign."""
    return Action(n).signed(np.roll(np.arange(n), -1), np.where(np.arange(n) == n - 1, -1.0, 1.0), "shift")


LAYERS = {
    "a circle with a mirror": (turned(128), (None, None), "Circulant"),
    "channels": (cyclic(64), (2, 3), "Circulant"),
    "a torus with channels": (translations(4, 3, 5), (3, 2), "Circulant"),
    "four axes": (translations(4, 3, 4, 3), (None, None), "Circulant"),
    "all permutations": (permutations(129), (None, None), "Uniform"),
    "all permutations, with channels": (permutations(60), (3, 2), "Uniform"),
    "few weights": (cyclic(100), (None, None), "Gathered"),
    "no circle": (truncated_translations(130), (None, None), "Gathered"),
    "signs": (signed(130), (None, None), "Gathered"),
    "pictures": (dihedral(12), (None, None), "Gathered"),
}


def made(kind: str, *, mean: bool = False, dtype: Any = None) -> tuple[Equivariant, jax.Array]:
    X, (inner, out), _ = LAYERS[kind]
    layer = Equivariant(X, X, inner, out, mean=mean, dtype=dtype, key=jr.key(0))
    if layer.beta is not None:
        layer = eqx.tree_at(lambda l: l.beta, layer, jr.normal(jr.key(1), layer.beta.shape, layer.beta.dtype))
    return layer, jr.normal(jr.key(2), (*(() if inner is None else (inner,)), *X.shape), layer.theta.dtype)


@eqx.filter_jit
def both(layer: Equivariant, x: jax.Array) -> list[list[Any]]:
    """Values, gradients and tangents of the layer, and of the definition: its dense layer."""
    arrays, rest = eqx.partition(layer, eqx.is_inexact_array)
    found = []
    for read in (lambda l, x: l(x), lambda l, x: l.dense()(x)):
        of = lambda arrays, x, read=read: read(eqx.combine(arrays, rest), x)
        size = lambda arrays, x, of=of: jnp.sum(jnp.sin(jnp.abs(of(arrays, x))))
        moved = jax.tree.map(lambda a: jnp.cos(a * 5), (arrays, x))
        found.append([of(arrays, x), jax.grad(size, (0, 1))(arrays, x), jax.jvp(of, (arrays, x), moved)[1]])
    return found


def close(found: Any, wanted: Any, tolerance: float) -> bool:
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True)
    return all(jnp.max(jnp.abs(x - y)) <= tolerance * jnp.max(jnp.abs(y)) and x.dtype == y.dtype for x, y in pairs)


MEANS = ("channels", "all permutations, with channels", "pictures")


@pytest.mark.parametrize("kind", LAYERS)
def test_a_layer_is_its_dense_layer(kind):
    layer, x = made(kind, mean=kind in MEANS)
    assert type(layer._product).__name__ == LAYERS[kind][2]
    found, wanted = both(layer, x)
    assert close(found, wanted, 5e-6)


@pytest.mark.parametrize("dtype", [jnp.complex64, jnp.bfloat16, jnp.float16], ids=str)
@pytest.mark.parametrize("kind", ["a torus with channels", "all permutations, with channels"])
def test_of_other_types_as_well(kind, dtype):
    layer, x = made(kind, dtype=dtype)
    value, definition = layer(x), layer.dense()(x)
    assert value.dtype == definition.dtype == dtype
    assert close(value, definition, 1e-5 if dtype == jnp.complex64 else 4e-2)


@pytest.mark.parametrize("kind", ["a circle with a mirror", "all permutations"])
@pytest.mark.parametrize("lost", [jnp.inf, -jnp.inf, jnp.nan], ids=str)
def test_where_an_input_is_not_finite_no_output_is(kind, lost):
    layer, x = made(kind)
    x = x.at[3].set(lost)
    assert not jnp.any(jnp.isfinite(layer(x)))
    assert not jnp.any(jnp.isfinite(layer.dense()(x)))


@pytest.mark.parametrize("shape", [(90, 200), (300, 60)], ids=str)
@pytest.mark.parametrize("width", [0, 1, 4, 5])
def test_a_few_weights_that_differ_from_the_rest_are_found_wherever_they_are(shape, width):
    rng = np.random.default_rng(width)
    labels = np.full(shape, 2, np.int32)
    for i in range(len(labels)):
        labels[i, rng.permutation(shape[1])[: rng.integers(width + 1)]] = rng.integers(0, 5)
    labels[7] = 2
    labels[7, :width] = (0, 1, 3, 4, 0)[:width]
    tying = Orbits(shape, 5, "orbits", None, labels, None)
    product = lowered(tying, (shape[1],), (shape[0],), 1)
    assert type(product).__name__ == ("Uniform" if width <= 4 else "Gathered")
    theta, x = jr.normal(jr.key(width), (5,)), jr.normal(jr.key(9), (shape[1],))
    assert close(product(theta, x, "", ""), tying.weight(theta) @ x, 5e-6)


def test_one_weight_out_of_place_makes_no_circle():
    tying = cdl.symmetry.hom(cyclic(130), cyclic(130))
    assert type(lowered(tying, (130,), (130,), 1)).__name__ == "Circulant"
    assert isinstance(tying, Orbits)
    labels = tying.labels.copy()
    labels[70, 5] = (labels[70, 5] + 1) % 130
    other = Orbits(tying.shape, tying.dimension, "orbits", None, labels, None)
    product = lowered(other, (130,), (130,), 1)
    assert type(product).__name__ == "Gathered"
    assert type(lowered(tying, (10, 13), (10, 13), 1)).__name__ == "Gathered"  # no circle of a grid of other axes


def test_many_layers_at_once_and_many_inputs():
    keys, xs = jr.split(jr.key(0), 3), jr.normal(jr.key(1), (3, 4, 130))
    for X in (cyclic(130), permutations(130)):
        layers = eqx.filter_vmap(lambda key, X=X: Equivariant(X, X, key=key))(keys)
        found = eqx.filter_vmap(lambda l, x: jax.vmap(l)(x))(layers, xs)
        wanted = jnp.einsum("lmn,lbn->lbm", eqx.filter_vmap(lambda l: l.weight)(layers), xs)
        assert close(found, wanted, 5e-6)
