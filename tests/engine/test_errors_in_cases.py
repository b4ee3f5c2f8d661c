"""`eqx.error_if` in a case raises where what it asks is so at some node, and nowhere else."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import agrees
from indexed_cells import Bare, forest_of, More, Some, That, This, Word

from cdl import Algebra, annotate, fmap, fold, inherit, Many


TREES = [This(That(Word(0.3, 1), Bare()), Some(Many([Word(0.2, 2), Bare()]))), More(Many([Word(-0.5, 0)]))]


class Watched(Algebra[Any, jax.Array]):
    """A sum, of which no node's may be above the bound."""

    scale: jax.Array
    bound: jax.Array
    inside: bool = eqx.field(static=True)

    def __call__(self, layer: Any) -> jax.Array:
        watch = lambda x: eqx.error_if(x, jnp.any(x > self.bound), "above the bound")
        match layer:
            case Word(weight, _):
                return watch(self.scale * weight)
            case Some(items) | More(items):
                return items.map(watch if self.inside else jnp.sin).sum(jnp.zeros(3)) * self.scale
            case This(left, right) | That(left, right):
                return watch(left * self.scale + right)
            case _:
                return self.scale


@pytest.mark.parametrize("inside", [False, True])
def test_an_error_of_a_case_is_raised_where_it_is_one(inside):
    with jax.enable_x64(True):
        alg, forest = Watched(jnp.array([0.5, 1.0, 1.5]), jnp.array(9.0), inside), forest_of(TREES)
        agrees(forest, TREES, alg, 1e-10)
        for door in (fold, annotate):
            with pytest.raises(Exception, match="above the bound"):
                jax.block_until_ready(door(eqx.tree_at(lambda a: a.bound, alg, jnp.array(0.1)), forest))


def test_so_does_a_step_down_the_trees():
    def depths(bound: int) -> jax.Array:
        def step(depth: jax.Array, layer: Any) -> Any:
            below = eqx.error_if(depth + 1, depth >= bound, "too deep")
            return fmap(lambda _: below, layer)

        forest = forest_of(TREES)
        return inherit(step, forest, jnp.zeros(len(TREES)))[: forest.size]

    assert depths(3).max() == 2
    with pytest.raises(Exception, match="too deep"):
        jax.block_until_ready(depths(1))


class WatchedWeights(Algebra[Any, jax.Array]):
    """A sum with weights for each constructor, none of which may be below 0."""

    weights: dict[str, jax.Array]

    def __call__(self, layer: Any) -> jax.Array:
        weight = self.weights[type(layer).__name__]
        watch = lambda w: eqx.error_if(w, jnp.any(w < 0), "a weight below 0")
        weight = jax.lax.cond(weight[0] > 1, watch, lambda w: w, weight)
        match layer:
            case Word(word, _):
                return word * weight
            case Some(items) | More(items):
                return items.map(lambda x: x * weight).sum(jnp.zeros(3))
            case This(left, right) | That(left, right):
                return weight * left + right
            case _:
                return weight


def test_error_if_of_weights_in_a_branch_is_raised_where_taken():
    """Constructors whose weights are in one stack are one program."""
    with jax.enable_x64(True):
        names = [kind.__name__ for kind in (Word, Some, More, This, That, Bare)]
        alg = WatchedWeights({name: jnp.full(3, 0.5 + i / 4) for i, name in enumerate(names)})
        unasked = eqx.tree_at(lambda a: a.weights["Some"], alg, jnp.array([0.5, -1.0, 1.0]))
        forest = forest_of(TREES)
        agrees(forest, TREES, unasked, 1e-10)
        wrong = eqx.tree_at(lambda a: a.weights["That"], alg, jnp.array([2.0, -1.0, 1.0]))
        with pytest.raises(Exception, match="a weight below 0"):
            jax.block_until_ready(fold(wrong, forest))
