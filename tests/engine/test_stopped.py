"""What is stopped by `jax.lax.stop_gradient` is not differentiated, in a compiled form as in its definition.

So a case may read it in a `while_loop`, which has no gradient in reverse mode.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import close
from jax import lax

import cdl
from cdl.functors import Branch, LabelledTreeF, ListF, Tip


class Cell(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    table: jax.Array


CELL = Cell(jnp.array([[0.3, -0.2], [0.1, 0.4]]), jnp.array([0.5, 0.2]), jnp.array([[1.0, 2.0], [3.0, 4.0]]))


def many_times(weight: jax.Array, x: Any) -> Any:
    """A product with a weight as often as the numbers say."""
    return lax.while_loop(lambda s: jnp.abs(s).sum() > 0.1, lambda s: weight @ s, lax.stop_gradient(x))


def looped(cell: Cell, x: Any) -> Any:
    """A loop that reads a weight, what is made of weights, and a product with a weight."""
    stopped = lax.stop_gradient(cell)
    return many_times(stopped.weight, x) + many_times(0.5 * jnp.tanh(stopped.weight) + 0, stopped.weight @ x)


def looked_up(cell: Cell, x: Any, label: Any) -> Any:
    rows = lax.stop_gradient(cell.table)[jnp.asarray(label > 1, int)]
    return x + many_times(lax.stop_gradient(cell.weight), rows)


@pytest.mark.parametrize("way", [looped, lambda cell, x: looked_up(cell, x, x[0])], ids=["products", "a table"])
def test_a_fold_has_the_gradient_of_its_definition(way):
    def alg(cell: Cell) -> Any:
        def case(layer: Any) -> Any:
            match layer:
                case Tip():
                    return cell.bias
                case Branch(label, left, right):
                    return jnp.tanh(cell.weight @ left * label + way(cell, right))

        return cdl.algebra(case)

    tree = Branch(1.5, Tip(), Branch(0.5, Tip(), Tip()))
    forest = cdl.pack(LabelledTreeF, [tree])
    slow = jax.grad(lambda cell: cdl.cata(alg(cell))(tree).sum())(CELL)
    close(jax.jit(jax.grad(lambda cell: cdl.fold(alg(cell), forest).sum()))(CELL), slow, 1e-5)
    close(jax.grad(lambda cell: cdl.annotate(alg(cell), forest)[0].sum())(CELL), slow, 1e-5)


def test_a_gradient_goes_around_what_is_stopped():
    """A weight that is stopped in one place and not in another, and one that is stopped in part."""

    def alg(cell: Cell) -> Any:
        def case(layer: Any) -> Any:
            if isinstance(layer, Tip):
                return cell.bias
            mixed = lax.stop_gradient(cell.weight) * cell.bias[None]
            return mixed @ layer.left + lax.stop_gradient(cell.bias) * layer.right + cell.table[0]

        return cdl.algebra(case)

    tree = Branch(1.5, Tip(), Branch(0.5, Tip(), Tip()))
    forest = cdl.pack(LabelledTreeF, [tree])
    slow = jax.grad(lambda cell: cdl.cata(alg(cell))(tree).sum())(CELL)
    close(jax.grad(lambda cell: cdl.fold(alg(cell), forest).sum())(CELL), slow, 1e-5)


def test_constructors_of_one_program_stop_their_weights():
    class Two(eqx.Module):
        left: Cell
        right: Cell

    def alg(two: Two) -> Any:
        def case(layer: Any) -> Any:
            match layer:
                case cdl.functors.Zero():
                    return two.left.bias
                case cdl.functors.Succ(n):
                    return jnp.tanh(two.left.weight @ n) + looped(two.right, n)

        return cdl.algebra(case)

    tree = cdl.functors.Succ(cdl.functors.Succ(cdl.functors.Zero()))
    forest = cdl.pack(cdl.functors.NatF, [tree])
    two = Two(CELL, jax.tree.map(lambda x: 0.7 * x, CELL))
    slow = jax.grad(lambda two: cdl.cata(alg(two))(tree).sum())(two)
    close(jax.grad(lambda two: cdl.fold(alg(two), forest).sum())(two), slow, 1e-5)


def test_going_down_has_the_gradient_of_its_definition():
    def step(cell: Cell) -> Any:
        return lambda x, layer: cdl.fmap(lambda _: jnp.tanh(cell.weight @ x) + looped(cell, x), layer)

    tree = cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(0.5)))
    forest = cdl.pack(cdl.TreeF, [tree])
    fast = lambda cell: cdl.inherit(step(cell), forest, cell.bias[None])[forest.nodes(0)].sum()

    def slow(cell: Cell) -> Any:
        once = lambda x: jnp.tanh(cell.weight @ x) + looped(cell, x)
        below = once(cell.bias)
        return (cell.bias + 2 * below + 2 * once(below)).sum()

    close(jax.grad(fast)(CELL), jax.grad(slow)(CELL), 1e-5)


def test_growing_and_reading_have_the_gradient_of_their_definition():
    def coalg(cell: Cell) -> Any:
        def grow(seed: Any) -> Any:
            hidden = jnp.tanh(cell.weight @ seed[0])
            below = hidden + looped(cell, seed[0])
            scores = jnp.stack([1.5 - seed[1], seed[1] - 1.5])
            return cdl.choose(scores, cdl.Leaf(hidden), cdl.Fork((below, seed[1] - 1), (hidden, seed[1] - 2)))

        return grow

    def alg(cell: Cell) -> Any:
        def case(layer: Any) -> Any:
            return looped(cell, layer.label) + layer.label if isinstance(layer, cdl.Leaf) else layer.left - layer.right

        return cdl.algebra(case)

    fast = lambda cell: cdl.refold(alg(cell), coalg(cell), (cell.bias[None], jnp.array([3.0])), 9)[0].sum()
    slow = lambda cell: cdl.hylo(alg(cell), coalg(cell))((cell.bias, jnp.float32(3.0))).sum()
    close(jax.grad(fast)(CELL), jax.grad(slow)(CELL), 1e-5)


def test_lists_and_machines_have_the_gradient_of_their_definition():
    def alg(cell: Cell) -> Any:
        @cdl.algebra
        def case(layer: ListF[jax.Array, jax.Array]) -> jax.Array:
            if isinstance(layer, cdl.Nil):
                return cell.bias
            return jnp.tanh(cell.weight @ layer.tail) + looped(cell, layer.head)

        return case

    def machine(cell: Cell) -> Any:
        return lambda s: cdl.MealyF(lambda x: (s, jnp.tanh(cell.weight @ s) + looped(cell, x)))

    xs = jnp.array([[1.0, 0.5], [0.2, 0.3], [0.7, 0.1]])

    def slow(cell: Cell) -> Any:
        s = cell.bias
        for x in xs:
            s = jnp.tanh(cell.weight @ s) + looped(cell, x)
        return s.sum()

    wanted = jax.grad(slow)(CELL)
    seq = cdl.Seq(xs[None, ::-1], jnp.array([3]))
    close(jax.grad(lambda cell: cdl.fold(alg(cell), seq).sum())(CELL), wanted, 1e-5)
    close(jax.grad(lambda cell: cdl.run(machine(cell), cell.bias, xs)[1].sum())(CELL), wanted, 1e-5)
