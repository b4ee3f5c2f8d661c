"""What is grown and not read has no gradient, also where its slope is infinite: zero times infinity would be NaN.

By the definition a part of a seed, a payload, a value or a chance that no one reads is not differentiated. The compiled
form differentiates all rows of a block at once.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close, QUICKLY
from few import few

from cdl import algebra, choose, hylo, unfold
from cdl.compiled import refold
from cdl.functors import Fork, Leaf


WAYS: dict[
    str, Callable[[jax.Array, jax.Array], jax.Array]
] = {  # from a weight and zeros, to where a slope is infinite
    "root": lambda w, zero: jnp.sqrt(w * zero),
    "power": lambda w, zero: (w * zero) ** 0.3,
    "norm": lambda w, zero: jnp.linalg.norm(w * zero)[None] * w,
    "weights alone": lambda w, zero: jnp.sqrt(w * 0.0) + zero,
    "quotient": lambda w, zero: zero / (w * 0.0),
    "logarithm": lambda w, zero: jnp.log(w * zero),
    "of infinity": lambda w, zero: jnp.log(jax.lax.stop_gradient(zero)) * w,
    "product": lambda w, zero: jnp.outer(w, jnp.log(jax.lax.stop_gradient(zero))) @ w,
    "maximum": lambda w, zero: jnp.max(jnp.log(w * zero))[None] + zero,
    "loop": lambda w, zero: jax.lax.scan(lambda x, _: (jnp.sqrt(x * w), None), zero, None, length=2)[0],
    "branch": lambda w, zero: jax.lax.cond(zero[0] < 1, jnp.sqrt, jnp.sin, w * zero),
    "checkpoint": lambda w, zero: jax.checkpoint(lambda x: jnp.sqrt(x * w))(zero),
}
W = jnp.array([0.7, 1.3])
NUMBERS = jnp.array([3.0, 1.0, 2.0])
SEEDS = {"number": NUMBERS, "main": jr.normal(jr.key(0), (3, 2)), "side": jnp.zeros((3, 2))}


def grower(w: jax.Array, steep: Callable[[jax.Array, jax.Array], jax.Array]) -> Callable[[Any], Any]:
    """Halves a number. The side of a seed goes to the right child, and that of the left child is steep, as is the side
    of a leaf."""

    def layer(seed: Any) -> Any:
        n, main, side = seed["number"], seed["main"], seed["side"]
        left = {"number": n - jnp.floor(n / 2), "main": jnp.sin(w * main), "side": steep(w, side * 0)}
        right = {"number": jnp.floor(n / 2), "main": w * main, "side": side * w}
        scores = jnp.stack([1.5 - n, n - 1.5]) * jnp.sum(w)
        return choose(scores, Leaf((main * w, steep(w, side * 0))), Fork(left, right))

    return layer


def mains(w: jax.Array, layer: Callable[[Any], Any], seed: Any, nodes: int) -> tuple[jax.Array, jax.Array]:
    """The sum of what the first leaves have as main part, and of the logarithms of the chances, node by node."""
    total, chance, queue = jnp.zeros(()), jnp.zeros(()), [seed]
    for number in range(nodes):
        if number == len(queue):
            break
        choice = layer(queue[number])
        best = int(jnp.argmax(jax.lax.stop_gradient(choice.scores)))
        chance += jax.nn.log_softmax(choice.scores)[best]
        match choice.layers[best]:
            case Leaf((main, _)):
                total += jnp.sum(main**2)
            case Fork(left, right):
                queue += [left, right]
    return total, chance


def each(seeds: Any) -> list[Any]:
    return [jax.tree.map(lambda x: x[t], seeds) for t in range(len(NUMBERS))]  # noqa: B023


@pytest.mark.parametrize("way", few(WAYS, 0, 3, 5, 7, 9))
@pytest.mark.parametrize("nodes", [7, 2])
def test_what_no_loss_reads_of_grown_trees_is_not_differentiated(way, nodes):
    def defined(w: jax.Array, seeds: Any, read: int) -> jax.Array:
        return sum((mains(w, grower(w, WAYS[way]), seed, nodes)[read] for seed in each(seeds)), jnp.zeros(()))

    def compiled(w: jax.Array, seeds: Any, read: int) -> jax.Array:
        grown = unfold(grower(w, WAYS[way]), seeds, nodes)
        return jnp.sum(grown.payload[0] ** 2) if read == 0 else grown.log_prob.sum()

    for read in (0, 1) if nodes == 7 else (0,):
        fast = eqx.filter_jit(jax.grad(compiled, (0, 1)), compiler_options=QUICKLY)(W, SEEDS, read)
        close(fast, jax.grad(defined, (0, 1))(W, SEEDS, read), 1e-6)


def reads(w: jax.Array, steep: Callable[[jax.Array, jax.Array], jax.Array]) -> Any:
    """Of a leaf its main part, and of the values below theirs; beside that, something steep that no one reads."""

    @algebra
    def value(layer: Any) -> Any:
        match layer:
            case Leaf((main, _)):
                return {"main": main * w, "side": main * 0}
            case Fork(left, right):
                return {"main": left["main"] * w + right["main"], "side": steep(w, left["side"] * 0)}

    return value


@pytest.mark.parametrize("way", few(WAYS, 0, 3, 5, 7, 9))
def test_what_no_algebra_or_loss_reads_is_not_differentiated(way):
    def defined(w: jax.Array, seeds: Any) -> jax.Array:
        values = [hylo(reads(w, WAYS[way]), grower(w, WAYS[way]))(seed) for seed in each(seeds)]
        return sum((jnp.sum(v["main"] ** 2) for v in values), jnp.zeros(()))

    def compiled(w: jax.Array, seeds: Any) -> jax.Array:
        return jnp.sum(refold(reads(w, WAYS[way]), grower(w, WAYS[way]), seeds, 7)[0]["main"] ** 2)

    fast = eqx.filter_jit(jax.grad(compiled, (0, 1)), compiler_options=QUICKLY)(W, SEEDS)
    close(fast, jax.grad(defined, (0, 1))(W, SEEDS), 1e-6)
