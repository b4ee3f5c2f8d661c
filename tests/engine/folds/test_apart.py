"""Large weights of constructors that came one by one are multiplied where they are, and no stack of them is made."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees
from few import few
from indexed_cells import forest_of, More, reader, Some, That, This, TREES

from cdl import Algebra, fold
from cdl._engine.arrays import _platform
from cdl.compiled import Levels
from cdl.schemes import Stacked


@pytest.fixture
def all_apart():
    """Weights of any size are taken for large ones."""
    jax.clear_caches()
    with _platform.taken_for(dataclasses.replace(_platform.CPU, apart=0)):
        yield
    jax.clear_caches()


@pytest.mark.parametrize(("way", "of"), few([("layers", dict), ("scan", dict), ("layers", Stacked)], 0))
def test_the_values_and_gradients_are_the_definition_s(all_apart, way, of):
    with jax.enable_x64(True):
        agrees(forest_of(TREES), TREES, reader(jr.key(0), way, of=of), 1e-10)


class Wide(Algebra[Any, jax.Array]):
    """A matrix of 32 by 32 for each constructor of two children."""

    matrices: dict[str, jax.Array]

    def __call__(self, layer: Any) -> jax.Array:
        match layer:
            case This(left, right) | That(left, right):
                return jnp.tanh(self.matrices[type(layer).__name__] @ left + right)
            case Some(items) | More(items):
                return items.sum(jnp.ones(32))
            case _:
                return jnp.ones(32)


def stacks_in(alg: Any) -> bool:
    text = eqx.filter_jit(fold).lower(alg, forest_of(TREES)).compile().compiled.as_text()
    return "f32[2,32,32]" in text


def test_no_stack_is_made_of_large_weights_and_one_is_made_of_small_ones(all_apart):
    alg = Wide({name: jr.normal(jr.key(i), (32, 32)) for i, name in enumerate(("This", "That"))})
    assert not stacks_in(alg)
    jax.clear_caches()
    with _platform.taken_for(_platform.CPU):
        assert stacks_in(alg)


def test_each_example_of_a_batch_may_have_weights_or_trees_that_are_its_own(all_apart):
    alg, forest = reader(jr.key(0), "product"), forest_of(TREES)
    algs = jax.tree.map(lambda x: jnp.stack([x, 2 * x]) if eqx.is_array(x) else x, alg)
    double = jax.tree.map(lambda x: 2 * x if eqx.is_array(x) else x, alg)
    found = eqx.filter_vmap(fold, in_axes=(eqx.if_array(0), None))(algs, forest)
    np.testing.assert_allclose(found, jnp.stack([fold(alg, forest), fold(double, forest)]), rtol=1e-5)

    other = forest_of([*TREES[1:], TREES[0]])
    forests = jax.tree.map(lambda x, y: jnp.stack([x, y]) if eqx.is_array(x) else x, forest, other)
    found = eqx.filter_vmap(fold, in_axes=(None, eqx.if_array(0)))(alg, forests)
    np.testing.assert_allclose(found, jnp.stack([fold(alg, forest), fold(alg, other)]), rtol=1e-5)


@pytest.mark.slow
def test_forward_mode_and_products_with_the_hessian_go_through(all_apart):
    forest, (arrays, rest) = forest_of(TREES), eqx.partition(reader(jr.key(0), "layers"), eqx.is_array)

    def derivatives(**how: Any) -> Any:
        total = lambda arrays: jnp.sum(jnp.sin(fold(eqx.combine(arrays, rest), forest, **how)))
        return jax.jit(lambda arrays: jax.jvp(total if how else jax.grad(total), (arrays,), (arrays,))[1])(arrays)

    found = [derivatives(how=Levels(forward=True)), derivatives()]
    jax.clear_caches()
    with _platform.taken_for(_platform.CPU):
        jax.tree.map(
            lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5),
            found,
            [derivatives(how=Levels(forward=True)), derivatives()],
        )
