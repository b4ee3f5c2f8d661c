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
from jax.lax import stop_gradient

from cdl import algebra, choose, hylo, unfold
from cdl.compiled import refold
from cdl.functors import Fork, Leaf


Way = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def beside(steep: Callable[[jax.Array, jax.Array], jax.Array]) -> Way:
    """What is made of a weight and zeros, beside something else."""
    return lambda w, main, zero: (jnp.sin(w * main), steep(w, zero))


def both(w: Any, main: Any, zero: Any) -> Any:
    return jnp.sin(w * main), jnp.sqrt(w * zero)


def looped(w: Any, main: Any, zero: Any) -> Any:
    return jax.lax.scan(lambda x, _: ((jnp.sin(w * x[0]), jnp.sqrt(w * x[1])), None), (main, zero), None, length=2)[0]


def vectors(w: Any, main: Any, zero: Any) -> Any:
    values, sides = jnp.linalg.eigh(jnp.eye(2) * w[0] + jnp.diag(zero))
    return main * values, sides @ w


WAYS: dict[str, Way] = {  # where a slope is infinite or no number: of something unread, and of one of two outputs
    "root": beside(lambda w, zero: jnp.sqrt(w * zero)),
    "power": beside(lambda w, zero: (w * zero) ** 0.3),
    "norm": beside(lambda w, zero: jnp.linalg.norm(w * zero)[None] * w),
    "weights alone": beside(lambda w, zero: jnp.sqrt(w * 0.0) + zero),
    "quotient": beside(lambda w, zero: zero / (w * 0.0)),
    "logarithm": beside(lambda w, zero: jnp.log(w * zero)),
    "of infinity": beside(lambda w, zero: jnp.log(stop_gradient(zero)) * w),
    "product": beside(lambda w, zero: jnp.outer(w, jnp.log(stop_gradient(zero))) @ w),
    "matrix": beside(lambda w, zero: jnp.outer(w, w + 1) @ jnp.log(stop_gradient(zero))),
    "maximum": beside(lambda w, zero: jnp.max(jnp.log(w * zero))[None] + zero),
    "constant": beside(lambda w, zero: (zero + jnp.array([-jnp.inf, 0.0])) * w),
    "overflow": beside(lambda w, zero: (zero + 1e30) * 1e30 * w),
    "not a number": beside(lambda w, zero: jnp.tanh(0.0 * jnp.log(zero) + w)),
    "loop": beside(lambda w, zero: jax.lax.scan(lambda x, _: (jnp.sqrt(x * w), None), zero, None, length=2)[0]),
    "branch": beside(lambda w, zero: jax.lax.cond(zero[0] < 1, jnp.sqrt, jnp.sin, w * zero)),
    "checkpoint": beside(lambda w, zero: jax.checkpoint(lambda x: jnp.sqrt(x * w))(zero)),
    "loop of two": looped,
    "branch of two": lambda w, main, zero: jax.lax.cond(zero[0] < 1, both, lambda w, x, y: (x, y), w, main, zero),
    "checkpoint of two": lambda w, main, zero: jax.checkpoint(lambda x, y: (jnp.sin(w * x), jnp.sqrt(w * y)))(
        main, zero
    ),
    "vectors": vectors,
}


def every(w: jax.Array, main: jax.Array, zero: jax.Array) -> tuple[jax.Array, jax.Array]:
    """All of them in one program."""
    found = [way(w, main, zero) for way in WAYS.values()]
    return sum((x for x, _ in found), main) / len(WAYS), sum((y for _, y in found), zero)


each_way = pytest.mark.parametrize("way", few([every, *WAYS.values()], 0), ids=["every", *WAYS])

W = jnp.array([0.7, 1.3])
NUMBERS = jnp.array([3.0, 1.0, 2.0])
SEEDS = {"number": NUMBERS, "main": jr.normal(jr.key(0), (3, 2)), "side": jnp.zeros((3, 2))}


def grower(w: jax.Array, way: Way) -> Callable[[Any], Any]:
    """Halves a number. The side of a seed goes to the right child, and that of the left child is steep, as is the side
    of a leaf."""

    def layer(seed: Any) -> Any:
        n, main, side = seed["number"], seed["main"], seed["side"]
        here, there = way(w, main, side * 0)
        left = {"number": n - jnp.floor(n / 2), "main": here, "side": there}
        right = {"number": jnp.floor(n / 2), "main": w * main, "side": side * w}
        return choose(jnp.stack([1.5 - n, n - 1.5]) * jnp.sum(w), Leaf((here * w, there)), Fork(left, right))

    return layer


def mains(w: jax.Array, layer: Callable[[Any], Any], seed: Any, nodes: int) -> tuple[jax.Array, jax.Array]:
    """The sum of what the first leaves have as main part, and of the logarithms of the chances, node by node."""
    total, chance, queue = jnp.zeros(()), jnp.zeros(()), [seed]
    for number in range(nodes):
        if number == len(queue):
            break
        choice = layer(queue[number])
        best = int(jnp.argmax(stop_gradient(choice.scores)))
        chance += jax.nn.log_softmax(choice.scores)[best]
        match choice.layers[best]:
            case Leaf((main, _)):
                total += jnp.sum(main**2)
            case Fork(left, right):
                queue += [left, right]
    return total, chance


def each(seeds: Any) -> list[Any]:
    return [jax.tree.map(lambda x: x[t], seeds) for t in range(len(NUMBERS))]  # noqa: B023


@each_way
@pytest.mark.parametrize("nodes", [7, 2])
def test_what_no_loss_reads_of_grown_trees_is_not_differentiated(way, nodes):
    def defined(w: jax.Array, seeds: Any, read: int) -> jax.Array:
        return sum((mains(w, grower(w, way), seed, nodes)[read] for seed in each(seeds)), jnp.zeros(()))

    def compiled(w: jax.Array, seeds: Any, read: int) -> jax.Array:
        grown = unfold(grower(w, way), seeds, nodes)
        return jnp.sum(grown.payload[0] ** 2) if read == 0 else grown.log_prob.sum()

    for read in (0, 1) if nodes == 7 else (0,):
        fast = eqx.filter_jit(jax.grad(compiled, (0, 1)), compiler_options=QUICKLY)(W, SEEDS, read)
        close(fast, jax.grad(defined, (0, 1))(W, SEEDS, read), 1e-6)


def reads(w: jax.Array, way: Way) -> Any:
    """Of a leaf its main part, and of the values below theirs; beside that, something steep that no one reads."""

    @algebra
    def value(layer: Any) -> Any:
        match layer:
            case Leaf((main, _)):
                return {"main": main * w, "side": main * 0}
            case Fork(left, right):
                here, there = way(w, left["main"], left["side"] * 0)
                return {"main": here + right["main"], "side": there}

    return value


@each_way
def test_what_no_algebra_or_loss_reads_is_not_differentiated(way):
    def defined(w: jax.Array, seeds: Any) -> jax.Array:
        values = [hylo(reads(w, way), grower(w, way))(seed) for seed in each(seeds)]
        return sum((jnp.sum(v["main"] ** 2) for v in values), jnp.zeros(()))

    def compiled(w: jax.Array, seeds: Any) -> jax.Array:
        return jnp.sum(refold(reads(w, way), grower(w, way), seeds, 7)[0]["main"] ** 2)

    fast = eqx.filter_jit(jax.grad(compiled, (0, 1)), compiler_options=QUICKLY)(W, SEEDS)
    close(fast, jax.grad(defined, (0, 1))(W, SEEDS), 1e-6)


def test_seeds_that_are_infinite_and_not_read_spoil_nothing():
    way = beside(lambda w, zero: w * zero)
    seeds = {**SEEDS, "side": jnp.full((3, 2), jnp.inf)}
    slope = jax.grad(lambda w: jnp.sum(unfold(grower(w, way), seeds, 7).payload[0] ** 2))
    close(slope(W), jax.grad(lambda w: sum(mains(w, grower(w, way), seed, 7)[0] for seed in each(seeds)))(W), 1e-6)


def test_the_derivative_of_a_gradient_goes_through_gates():
    """Where slopes may be infinite and are not, on the way forwards all is read."""

    def way(w: jax.Array, main: jax.Array, zero: jax.Array) -> tuple[jax.Array, jax.Array]:
        here = jax.lax.cond(main[0] > 0, jnp.sin, jnp.cos, w * main) + jnp.sqrt(w * main**2 + 1)
        return here, jnp.log(main**2 * w + 1) + zero

    def defined(w: jax.Array) -> jax.Array:
        values = [hylo(reads(w, way), grower(w, way))(seed) for seed in each(SEEDS)]
        return sum((jnp.sum(v["main"] ** 2) for v in values), jnp.zeros(()))

    def compiled(w: jax.Array) -> jax.Array:
        return jnp.sum(refold(reads(w, way), grower(w, way), SEEDS, 7)[0]["main"] ** 2)

    def grown(w: jax.Array) -> jax.Array:
        return jnp.sum(unfold(grower(w, way), SEEDS, 7).payload[0] ** 2)

    leaves: Any = lambda w: sum((mains(w, grower(w, way), seed, 7)[0] for seed in each(SEEDS)), jnp.zeros(()))
    for fast, slow in ((compiled, defined), (grown, leaves)):
        twice = lambda f: jax.jit(lambda w: jax.jvp(jax.grad(f), (w,), (jnp.array([1.0, -0.5]),)))(W)
        close(twice(fast), jax.jvp(jax.grad(slow), (W,), (jnp.array([1.0, -0.5]),)), 1e-5)


def test_what_is_read_at_one_place_alone_is_differentiated_there_alone():
    """Of a refold by shapes: the halves of an array, of which the right one is made by a root and read by no one; and a
    value of two parts, of which the left one's is read."""

    def halves(w: jax.Array) -> Callable[[Any], Any]:
        steep = lambda x: jnp.sqrt(w[1] * x * 0)
        return lambda x: Leaf(x[0]) if len(x) == 1 else Fork(jnp.sin(w[0] * x[: len(x) // 2]), steep(x[len(x) // 2 :]))

    def pairs(w: jax.Array) -> Any:
        @algebra
        def value(layer: Any) -> Any:
            match layer:
                case Leaf(label):
                    return {"main": label, "side": label * 0}
                case Fork(left, _):
                    return {"main": left["main"] * w[0] + jnp.cos(left["main"]), "side": jnp.sqrt(left["side"] * w[1])}

        return value

    xs = jnp.arange(8.0).reshape(2, 4) + 1
    fast: Any = lambda w, xs: jnp.sum(refold(pairs(w), halves(w), xs)["main"] ** 2)
    slow: Any = lambda w, xs: sum(hylo(pairs(w), halves(w))(x)["main"] ** 2 for x in xs)
    close(jax.grad(fast, (0, 1))(W, xs), jax.grad(slow, (0, 1))(W, xs), 1e-6)
