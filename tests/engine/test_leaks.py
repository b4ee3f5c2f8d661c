"""No compiled form keeps a tracer after its trace has ended: JAX's own check finds none, in value and in gradient.

JAX raises where a tracer is still alive when the trace ends that made it. Algebras hold their weights, as modules do;
the cache of a `jit` keeps a function, and so what it closes over, as that of `eqx.filter_jit`.
"""

import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from families import algebras, BLOCKS, coalgebras, FAMILY, Lit, Neg, Return, seeds, TREES as STATEMENTS
from few import few

import cdl
from cdl.functors import Branch, Cons, LabelledTreeF, ListF, Nil, Node, RoseF, Tip


WRITTEN = np.linspace(0.5, 1.5, 3, dtype=np.float32)  # a constant of the programs


class Cell(eqx.Module):
    """The weights of every form here."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, *xs: jax.Array) -> jax.Array:
        return jnp.tanh(self.weight @ sum(xs, self.bias * WRITTEN))


class Held(eqx.Module):
    """A function of a cell and of one more argument, as a module."""

    f: Callable[..., Any] = eqx.field(static=True)
    cell: Cell

    def __call__(self, *args: Any) -> Any:
        return self.f(self.cell, *args)


def held(f: Callable[..., Any], cell: Cell) -> Callable[..., Any]:
    return Held(f, cell)


CELL = Cell(0.3 * jnp.eye(3), jnp.arange(3.0))
SEEDS = jnp.linspace(0.1, 1.0, 6).reshape(2, 3)


def tree(cell: Cell, layer: Any) -> Any:
    match layer:
        case Tip():
            return cell.bias
        case Branch(label, left, right):
            return cell(label * left, right)


def rose(cell: Cell, layer: Any) -> Any:
    match layer:
        case Node(label, kids):
            return cell(label * cell.bias, kids.map(cell).sum(cell.bias))


def looping(cell: Cell, layer: Any) -> Any:
    """An algebra whose cases are computed by constructor."""
    match layer:
        case Tip():
            return cell.bias
        case Branch(label, left, right):
            return jax.lax.scan(lambda x, _: (cell(x, label * right), None), left, None, length=2)[0]


def printing(cell: Cell, layer: Any) -> Any:
    jax.debug.print("{}", cell.bias[0])
    return tree(cell, layer)


def deeper(cell: Cell, inherited: Any, layer: Any) -> Any:
    return cdl.fmap(lambda _: cell(inherited), layer)


def growing(cell: Cell, seed: Any) -> Any:
    hidden = cell(seed)
    return cdl.choose(jnp.stack([hidden.sum(), seed[0]]), Tip(), Branch(hidden[0], hidden, 0.5 * seed))


def listing(cell: Cell, layer: Any) -> Any:
    return cell.bias if isinstance(layer, Nil) else cell(layer.head, layer.tail)


def writing(cell: Cell, seed: Any) -> Any:
    hidden = cell(seed)
    return cdl.choose(jnp.stack([hidden.sum(), seed[0]]), Nil(), Cons(hidden[0], hidden))


def streaming(cell: Cell, seed: Any) -> Any:
    return cdl.functors.StreamF(seed[0], lambda: cell(seed))


def answering(cell: Cell, state: Any) -> Any:
    return cdl.machines.MealyF(lambda x: (state[0], cell(state, x)))


def showing(cell: Cell, state: Any) -> Any:
    return cdl.machines.MooreF(state[0], lambda x: cell(state, x))


class Listing(cdl.Algebra[ListF[jax.Array, jax.Array], jax.Array]):
    """An algebra of lists, which says what it reads."""

    cell: Cell

    def __call__(self, layer: ListF[jax.Array, jax.Array]) -> jax.Array:
        return listing(self.cell, layer)


def of_lists(way: Any, cell: Cell) -> Any:
    if way is held:
        return Listing(cell)

    @cdl.algebra
    def alg(layer: ListF[jax.Array, jax.Array]) -> jax.Array:
        return listing(cell, layer)

    return alg


class Drawing(eqx.Module):
    """A coalgebra that takes a key."""

    cell: Cell

    def __call__(self, seed: Any, *, key: Any) -> Any:
        return growing(self.cell, seed + jax.random.normal(key, (3,)))


def drawing(way: Any, cell: Cell) -> Any:
    return Drawing(cell) if way is held else lambda seed, *, key: Drawing(cell)(seed, key=key)


def summing(way: Any, cell: Cell) -> Any:
    if way is held:
        return cdl.monads.Monoid(0 * cell.bias, jnp.add)
    return cdl.monads.Monoid(jnp.zeros(3), lambda x, y: x + y + 0 * cell.bias)


TREES = [Branch(1.0, Tip(), Branch(2.0, Tip(), Tip())), Tip()]
FOREST = cdl.pack(LabelledTreeF, TREES)
ROSES = cdl.pack(RoseF, [Node(1.0, cdl.Many([Node(2.0, cdl.Many([])), Node(0.5, cdl.Many([]))]))])
SEQ = cdl.Seq(jnp.linspace(0.1, 2.4, 24).reshape(2, 4, 3), jnp.array([4, 2]))
KEY = jax.random.key(0)
BLOCKED = cdl.pack(BLOCKS, [Neg(Lit(0.5)), Return(Lit(1.0))])


def real(found: Any) -> jax.Array:
    """The sum of all numbers that have a derivative."""
    leaves = jax.tree.leaves(eqx.filter(found, eqx.is_inexact_array))
    return sum((jnp.nan_to_num(x).sum() for x in leaves), jnp.zeros(()))


def stepped(way: Any, cell: Cell, seeds: Any, data: Any) -> Any:
    out, machine = cdl.machines.start(way(answering, cell), seeds[0]).step(data.values[0, 0])
    return out, machine.step(data.values[0, 1])[0]


FORMS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "fold": (FOREST, lambda way, cell, seeds, data: cdl.fold(way(tree, cell), data)),
    "fold by constructor": (FOREST, lambda way, cell, seeds, data: cdl.fold(way(looping, cell), data)),
    "fold of a `Many`": (ROSES, lambda way, cell, seeds, data: cdl.fold(way(rose, cell), data)),
    "fold that prints": (FOREST, lambda way, cell, seeds, data: cdl.fold(way(printing, cell), data)),
    "annotate": (FOREST, lambda way, cell, seeds, data: cdl.annotate(way(tree, cell), data)),
    "inherit": (FOREST, lambda way, cell, seeds, data: cdl.inherit(way(deeper, cell), data, seeds)),
    "follow": (FOREST, lambda way, cell, seeds, data: cdl.follow(way(growing, cell), data, seeds)),
    "unfold": (FOREST, lambda way, cell, seeds, data: cdl.unfold(way(growing, cell), seeds, 7)),
    "unfold with a key": (FOREST, lambda way, cell, seeds, data: cdl.unfold(drawing(way, cell), seeds, 7, key=KEY)),
    "unfold of lists": (FOREST, lambda way, cell, seeds, data: cdl.unfold(way(writing, cell), seeds, 7)),
    "unfold of streams": (FOREST, lambda way, cell, seeds, data: cdl.unfold(way(streaming, cell), seeds, 7)),
    "refold": (FOREST, lambda way, cell, seeds, data: cdl.refold(way(tree, cell), way(growing, cell), seeds, 7)),
    "fold of lists": (SEQ, lambda way, cell, seeds, data: cdl.fold(of_lists(way, cell), data)),
    "annotate of lists": (SEQ, lambda way, cell, seeds, data: cdl.annotate(of_lists(way, cell), data)),
    "run of a Mealy machine": (SEQ, lambda way, cell, seeds, data: cdl.run(way(answering, cell), seeds, data)),
    "run of a Moore machine": (SEQ, lambda way, cell, seeds, data: cdl.run(way(showing, cell), seeds, data)),
    "steps of a machine": (SEQ, stepped),
    "fold by a monoid": (SEQ, lambda way, cell, seeds, data: cdl.fold(summing(way, cell), data)),
}
FAMILIES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "fold": ((algebras(jnp.float32), cdl.pack(FAMILY, STATEMENTS)), lambda algs, forest: cdl.fold(algs, forest)),
    "unfold": (
        (coalgebras(jnp.float32, many=False), seeds(jnp.float32, 2, 1)),
        lambda coalgs, given: cdl.unfold(coalgs, given, 9, key=KEY),
    ),
    "follow": (
        (coalgebras(jnp.float32, many=False), seeds(jnp.float32, 1, 1)),
        lambda coalgs, given: cdl.follow(coalgs, BLOCKED, given),
    ),
}


@pytest.fixture(autouse=True)
def without_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out `eqx.error_if`, by which `unfold` and `refold` tell that a score is NaN. It reads the locals of all
    frames on the stack, and CPython before 3.13 keeps copies of these in the frames: JAX finds its own tracers there.
    """
    monkeypatch.setattr(eqx, "error_if", lambda x, *_: x)


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> Iterator[None]:
    """JAX looks for tracers among all objects that the garbage collector knows. Those of earlier tests are left out:
    there are millions."""
    gc.freeze()
    yield
    gc.unfreeze()


def expect_none(of: Callable[..., Any], *inputs: Any, gradient: bool) -> None:
    """Traces and lowers a function, or its gradient. JAX raises where a tracer is left."""
    smooth, rest = eqx.partition(inputs, eqx.is_inexact_array)

    def both(smooth: Any, rest: Any) -> Any:
        return real(of(*eqx.combine(smooth, rest)))

    with jax.checking_leaks():
        eqx.filter_jit(eqx.filter_value_and_grad(both) if gradient else both).lower(smooth, rest)


@pytest.mark.parametrize("gradient", few([False, True], 1), ids=["value", "gradient"])
@pytest.mark.parametrize("form", FORMS)
def test_no_tracer_outlives_the_trace_of_a_form(form, gradient):
    data, run = FORMS[form]
    expect_none(functools.partial(run, held), CELL, SEEDS, data, gradient=gradient)


@pytest.mark.parametrize("gradient", few([False, True], 1), ids=["value", "gradient"])
@pytest.mark.parametrize("form", few(FAMILIES, 1))
def test_no_tracer_outlives_the_trace_of_a_form_of_several_sorts(form, gradient):
    inputs, run = FAMILIES[form]
    expect_none(run, *inputs, gradient=gradient)


def test_no_tracer_outlives_the_trace_of_a_fold_in_forward_mode():
    def pushed(cell: Cell, forest: cdl.Forest) -> Any:
        fold = lambda cell: cdl.fold(held(tree, cell), forest, how=cdl.compiled.Levels(forward=True))
        return jax.jvp(fold, (cell,), (cell,))

    expect_none(pushed, CELL, FOREST, gradient=False)


@pytest.mark.slow
def test_no_tracer_outlives_the_trace_of_a_batch_or_a_hessian():
    def bent(cell: Cell, forest: cdl.Forest) -> Any:
        of = lambda cell: jax.grad(lambda c: cdl.fold(held(tree, c), forest).sum())(cell)
        return jax.jvp(of, (cell,), (cell,)), jax.vmap(lambda x: cdl.fold(held(tree, Cell(x, CELL.bias)), forest))(
            jnp.stack([cell.weight, 2 * cell.weight])
        )

    expect_none(bent, CELL, FOREST, gradient=False)
