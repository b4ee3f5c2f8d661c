"""`refold` is `hylo` at every seed, in value and gradient: over call trees that shapes decide, and over chosen ones."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close
from any_algebra import any_algebra
from any_coalgebra import any_coalgebra, seeds_of
from random_signatures import random_signature

import cdl
from cdl import algebra, choose, Fork, hylo, Leaf, refold, TreeF
from cdl.functors import Branch, LabelledTreeF, Tip


def halves(x: jax.Array) -> TreeF[jax.Array, jax.Array]:
    """The numbers at even places, and those at odd ones."""
    return Leaf(x) if x.shape[0] == 1 else Fork(x[::2], x[1::2])


@algebra
def butterfly(layer: TreeF[jax.Array, jax.Array]) -> jax.Array:
    match layer:
        case Leaf(x):
            return x.astype(jnp.complex64)
        case Fork(even, odd):
            n = even.shape[0]
            angle = -jnp.pi / n * jnp.arange(n, dtype=jnp.float32)
            odd = odd * jax.lax.complex(jnp.cos(angle), jnp.sin(angle))
            return jnp.concatenate([even + odd, even - odd])


def test_the_fast_fourier_transform_is_a_refold():
    x = jr.normal(jr.key(0), (3, 64))
    close(refold(butterfly, halves, x), jnp.fft.fft(x), 1e-5)
    close(refold(butterfly, halves, x)[1], hylo(butterfly, halves)(x[1]), 1e-5)


class Scaled(cdl.Algebra[TreeF[jax.Array, jax.Array], jax.Array]):
    """A sum that is not the same read from the other side."""

    weight: jax.Array

    def __call__(self, layer: TreeF[jax.Array, jax.Array]) -> jax.Array:
        match layer:
            case Leaf(x):
                return jnp.sin(x[0] * self.weight)
            case Fork(left, right):
                return jnp.tanh(left - self.weight * right)


def in_two(x: jax.Array) -> TreeF[jax.Array, jax.Array]:
    n = x.shape[0]
    return Leaf(x) if n == 1 else Fork(x[: n // 2], x[n // 2 :])


def test_refold_by_shapes_is_hylo_with_gradients():
    with jax.enable_x64(True):
        x, alg = jr.normal(jr.key(1), (2, 11)), Scaled(jnp.array(0.7))
        slow = lambda both: sum(hylo(both[0], in_two)(row) for row in both[1])
        fast = lambda both: jnp.sum(refold(both[0], in_two, both[1]))
        grad: Any = eqx.filter_value_and_grad
        close(grad(fast)((alg, x)), grad(slow)((alg, x)), 1e-10)


def test_what_is_no_array_in_a_seed_decides_too():
    def down(seed: tuple[int, jax.Array]) -> Any:
        n, x = seed
        return Leaf(x) if n == 0 else Fork((n - 1, x + 1), (n - 1, x + 2))

    total = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else layer.left + 10 * layer.right)
    found = refold(total, down, (3, jnp.arange(2.0)))
    assert found.tolist() == [hylo(total, down)((3, x)) for x in (0.0, 1.0)]


# Chosen call trees.
SIZE = 12


def partition(seed: tuple[jax.Array, jax.Array]) -> LabelledTreeF[Any, Any]:
    """Quicksort's calls: some numbers, of which those that are marked are to be sorted."""
    numbers, here = seed
    at = jnp.argmax(here)
    pivot = numbers[at]
    rest = here & (jnp.arange(SIZE) != at)
    empty = jnp.where(jnp.any(here), -1.0, 1.0)
    smaller, others = (numbers, rest & (numbers < pivot)), (numbers, rest & (numbers >= pivot))
    return choose(jnp.array([1.0, -1.0]) * empty, Tip(), Branch(pivot, smaller, others))


@algebra
def laid_out(layer: LabelledTreeF[Any, Any]) -> Any:
    """The sorted numbers, and how many."""
    match layer:
        case Tip():
            return jnp.zeros(SIZE), 0
        case Branch(pivot, (left, m), (right, n)):
            at = jnp.arange(SIZE)
            after = jnp.roll(right, m + 1)
            return jnp.where(at < m, left, jnp.where(at == m, pivot, after)), m + n + 1


def test_quicksort_is_a_refold_within_a_budget():
    numbers = jr.normal(jr.key(2), (5, SIZE))
    (found, count), waiting = refold(laid_out, partition, (numbers, jnp.ones((5, SIZE), bool)), 2 * SIZE + 1, lanes=2)
    assert waiting.tolist() == [0] * 5
    assert count.tolist() == [SIZE] * 5
    np.testing.assert_array_equal(found, jnp.sort(numbers))


def test_refold_within_too_small_a_budget_gives_nan():
    numbers = jnp.array([[3.0, 1.0, 2.0] + [0.0] * 9, [5.0] + [0.0] * 11])
    here = jnp.arange(SIZE)[None] < jnp.array([3, 1])[:, None]
    (found, count), waiting = refold(laid_out, partition, (numbers, here), 4)
    assert waiting[0] > 0
    assert waiting[1] == 0
    assert np.isnan(found[0]).all()
    assert count.tolist() == [np.iinfo(np.int32).min, 1]
    assert found[1, 0] == 5.0


@pytest.mark.parametrize("seed", [55, *(pytest.param(s, marks=pytest.mark.slow) for s in (3, 14, *range(300, 310)))])
def test_refold_of_a_random_signature_is_hylo_with_gradients(seed):
    signature, _ = random_signature(seed)
    with jax.enable_x64(True):
        alg = any_algebra(signature, jr.key(seed), jnp.float64, ways=("sum",))
        coalg = any_coalgebra(signature, jr.key(seed + 1), jnp.float64)
        seeds = seeds_of(4, jr.key(seed), jnp.float64)
        one = lambda seeds, t: jax.tree.map(lambda x: x[t], seeds)

        def slow(inputs: Any) -> Any:
            alg, coalg, seeds = inputs
            return sum(jnp.sum(jnp.sin((t + 1) * hylo(alg, coalg)(one(seeds, t)))) for t in range(4))

        def fast(inputs: Any) -> Any:
            values, waiting = refold(*inputs, 60, lanes=3)
            return jnp.sum(jnp.sin((jnp.arange(4.0)[:, None] + 1) * values)), waiting

        (value, waiting), slope = eqx.filter_value_and_grad(fast, has_aux=True)((alg, coalg, seeds))
        assert not waiting.any()
        close((value, slope), eqx.filter_value_and_grad(slow)((alg, coalg, seeds)), 1e-10)


def test_a_case_that_divides_does_no_harm_where_it_is_not_chosen():
    def coalg(seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
        return choose(jnp.stack([1.0 - seed, seed - 1.0]), Leaf(seed + 2.0), Fork(seed - 2.0, seed - 3.0))

    def ratio(weight: jax.Array) -> Any:
        return algebra(lambda layer: layer.label if isinstance(layer, Leaf) else weight * layer.left / layer.right)

    def value(weight: jax.Array) -> Any:
        return jnp.sum(refold(ratio(weight), coalg, jnp.array([0.0, 3.0, 30.0]), 5)[0][:2])

    slow = lambda weight: hylo(ratio(weight), coalg)(jnp.array(0.0)) + hylo(ratio(weight), coalg)(jnp.array(3.0))
    close(jax.value_and_grad(value)(jnp.array(2.0)), jax.value_and_grad(slow)(jnp.array(2.0)), 1e-6)


def test_refold_gives_what_nothing_reads_a_gradient_of_zero():
    def grow(w: jax.Array) -> Any:
        def layer(seed: tuple[jax.Array, ...]) -> Any:
            n, read, unread = seed
            below = n - 1, jnp.tanh(w[0] * read), jnp.tanh(w[1] * unread)
            return choose(jnp.stack([0.5 - n, n - 0.5]), Leaf((read, unread)), Fork(below, below))

        return layer

    def value(w: jax.Array) -> Any:
        both = lambda x: (x.left[0] + w[0] * x.right[0], jnp.tanh(w[1] * x.left[1]))
        return algebra(lambda layer: layer.label if isinstance(layer, Leaf) else both(layer))

    w, seeds = jnp.array([0.7, 1.3]), (jnp.ones(1),) * 3
    grown = lambda w: cdl.unfold(grow(w), seeds, 3).payload[0].sum()
    folded = lambda w: refold(value(w), grow(w), seeds, 3)[0][0].sum()
    slope, defined = jax.grad(folded)(w), jax.grad(lambda w: hylo(value(w), grow(w))((jnp.ones(()),) * 3)[0])(w)
    close(slope, defined, 1e-6)
    assert jax.grad(grown)(w)[1] == slope[1] == 0


def test_no_seeds_have_no_values():
    grow = lambda w: lambda x: choose(jnp.stack([1.5 - x, x - 1.5]), Leaf(w * x), Fork(x / 2, x / 2))
    total = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else layer.left + layer.right)
    assert cdl.follow(grow(1.0), cdl.pack(TreeF, []), jnp.zeros(0)).shape == (0,)
    values, undone = refold(total, grow(1.0), jnp.zeros(0), 5)
    assert values.shape == undone.shape == (0,)
    assert jax.grad(lambda w: refold(total, grow(w), jnp.zeros(0), 5)[0].sum())(2.0) == 0
