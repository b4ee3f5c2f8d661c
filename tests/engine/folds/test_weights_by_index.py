"""Constructors with weights of their own are computed together: any cell is the definition's, in value and gradient."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees
from few import few
from indexed_cells import (
    Bare,
    Cell,
    forest_of,
    H,
    KINDS,
    KindsF,
    More,
    reader,
    Some,
    some_at_once,
    That,
    This,
    TREES,
    Word,
)

from cdl import Algebra, algebra, cata, fold, Fork, Leaf, Many, pack, stacked, TreeF
from cdl._engine.folds._node import Inputs
from cdl._engine.folds._sites import all_indexed
from cdl._engine.folds.case import read, Reading
from cdl._engine.forests._bucket import Size
from cdl._schemes.stacks import number_of
from cdl.compiled import Levels
from cdl.errors import ForeignLayer, SignatureError
from cdl.functors import holes
from cdl.schemes import Stacked


@pytest.mark.parametrize(
    "way",
    some_at_once("of a matrix", "lookup", "custom vjp"),
)
def test_any_cell_of_many_constructors_is_the_definition_s(way):
    with jax.enable_x64(True):
        agrees(forest_of(TREES), TREES, reader(jr.key(0), way), 1e-10)


@pytest.mark.parametrize("way", few(["layers", "scan", "lookup"], 2))
def test_cells_of_a_stack_are_those_of_a_dict(way):
    with jax.enable_x64(True):
        alg = reader(jr.key(1), way, of=Stacked)
        agrees(forest_of(TREES), TREES, alg, 1e-10)
        by_name = {kind.__name__: alg.cells[kind] for kind in KINDS}
        again = eqx.tree_at(lambda a: a.cells, alg, by_name)
        np.testing.assert_array_equal([cata(alg)(t) for t in TREES], [cata(again)(t) for t in TREES])


def programs_of(alg: Any) -> int:
    return len(read(Reading((alg,), pack(KindsF, TREES).bucket, None))[1])


def test_a_plan_is_kept_for_all_that_it_depends_on():
    storage, programs, _ = read(Reading((reader(jr.key(0), "layers"),), pack(KindsF, TREES).bucket, None))
    program = next(x for x in programs if x.variant.slots)
    one = all_indexed([program], 0)[0]
    slots = [[storage.leaves[c] for c in columns] for columns in program.wiring.slots]
    plan = lambda rows, held: one.plan(program.weights, Inputs([], slots, [], [], []), Size(rows, 5, 4), True, held)
    assert plan(3, []) is plan(3, [])
    assert plan(3, []) is not plan(3, [0])
    assert plan(3, []) is not plan(4, [])


def test_cells_of_a_stack_are_in_as_few_programs_as_those_of_a_dict():
    # of none, of a word, of two slots, of a `Many`, and of one without children
    assert programs_of(reader(jr.key(0), "layers")) == programs_of(reader(jr.key(0), "layers", of=Stacked)) == 5


class Both(Algebra[Any, jax.Array]):
    """A cell from a stack beside weights that are held by name."""

    cells: Stacked[Cell]
    scales: dict[str, jax.Array]

    def __call__(self, layer: Any) -> jax.Array:
        cell, scale = self.cells[type(layer)], self.scales[type(layer).__name__]
        match layer:
            case This(left, right) | That(left, right):
                return scale * cell(left, right)
            case Some(items) | More(items):
                return items.map(lambda x: self.cells[type(layer)](x, x)).sum(jnp.zeros(H)) * scale
            case _:
                return scale + cell.b


def test_a_stack_stands_beside_weights_that_are_held_by_name():
    with jax.enable_x64(True):
        scales = {kind.__name__: jr.normal(jr.key(i), (H,)) for i, kind in enumerate(KINDS)}
        alg = Both(stacked(KindsF, lambda key: Cell(key, "layers"), key=jr.key(1)), scales)
        agrees(forest_of(TREES), TREES, alg, 1e-10)


def test_a_stack_may_be_of_some_constructors_and_refuses_the_others():
    cells = stacked((This, That), lambda key: Cell(key, "product"), key=jr.key(0))
    assert cells[That].w.shape == (H, H)
    assert not jnp.array_equal(cells[This].w, cells[That].w)
    with pytest.raises(ForeignLayer, match="the cell of 'This', which is no constructor: write `stack"):
        number_of("This", cells.constructors)
    with pytest.raises(ForeignLayer, match="a cell for each of `This`, `That`, and that of `Word` was asked for"):
        cells[Word]


@pytest.mark.parametrize("kinds", [(), ("This", "That"), (This, This)])
def test_a_stack_is_of_constructors_each_once(kinds):
    with pytest.raises(SignatureError, match=r"`stacked` makes a cell for each of .* of its constructors, each once"):
        stacked(kinds, lambda key: Cell(key, "product"), key=jr.key(0))


def test_a_stack_is_made_by_a_function_that_makes_a_cell():
    cell: Any = eqx.nn.Linear(2, 3, key=jr.key(0))
    with pytest.raises(SignatureError, match="was given a `Linear`: give a function of a key"):
        stacked(KindsF, cell, key=jr.key(0))


def test_constructors_that_no_tree_has_get_a_gradient_of_zero():
    alg = reader(jr.key(0), "layers", of=Stacked)
    forest = forest_of([This(Word(1.0, 0), Word(2.0, 1))])
    gradient = eqx.filter_grad(lambda alg: jnp.sum(fold(alg, forest)))(alg)
    met = [bool(jnp.any(gradient.cells.cells.w[i])) for i in range(len(KINDS))]
    assert met == [kind is This for kind in KINDS]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["layers", "norm"])
def test_forward_mode_and_products_with_the_hessian_go_through_cells_by_index(way):
    with jax.enable_x64(True):
        trees = [This(That(Word(0.3, 1), Bare()), Some(Many([Word(0.2, 2)]))), That(Bare(), More(Many([Bare()])))]
        forest = forest_of(trees)
        arrays, rest = eqx.partition(reader(jr.key(0), way), eqx.is_array)
        total = lambda fold: lambda arrays: jnp.sum(jnp.sin(fold(eqx.combine(arrays, rest))))
        fast = lambda **how: total(lambda alg: fold(alg, forest, **how))
        slow = total(lambda alg: jnp.stack([cata(alg)(t) for t in trees]))
        along = jax.tree.map(lambda x: jnp.cos(3 * x), arrays)
        np.testing.assert_allclose(
            jax.jvp(fast(how=Levels(forward=True)), (arrays,), (along,))[1],
            jax.jvp(slow, (arrays,), (along,))[1],
            rtol=1e-10,
        )
        second = lambda f: jax.jit(lambda arrays: jax.jvp(jax.grad(f), (arrays,), (along,))[1])(arrays)
        for x, y in zip(jax.tree.leaves(second(fast())), jax.tree.leaves(second(slow)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9)


class Rooted(Algebra[Any, jax.Array]):
    """Roots of weights, whose slope is infinite at 0: of one for all, and of one for each constructor."""

    own: dict[str, jax.Array]
    shared: jax.Array

    def __call__(self, layer: Any) -> jax.Array:
        own = jnp.sqrt(self.own[type(layer).__name__])
        match layer:
            case Bare():
                return own * self.shared
            case Word(weight, _):
                return weight * jnp.sqrt(self.shared) + own
            case This(left, right) | That(left, right):
                return own / self.shared * left + right
            case Some(items) | More(items):
                return items.map(lambda x: jnp.sqrt(self.shared) * own * x).sum(jnp.zeros(H))
        raise AssertionError(layer)


@pytest.mark.parametrize("trees", [[This(Word(1.0, 0), Bare())], [Bare()], [Some(Many([Word(1.0, 0), Word(0.5, 1)]))]])
def test_weights_of_constructors_that_are_not_there_may_have_an_infinite_slope(trees):
    with jax.enable_x64(True):
        names = {type(node).__name__ for t in trees for node in [t, *holes(t)]}
        own = {kind.__name__: jnp.ones(H) if kind.__name__ in names else jnp.zeros(H) for kind in KINDS}
        bucket = forest_of(TREES).bucket
        agrees(pack(KindsF, trees, bucket=bucket), trees, Rooted(own, jnp.full(H, 2.0)), 1e-10)
        if names == {"Bare"}:  # no word is there, whose case alone has the root of what all share
            agrees(pack(KindsF, trees, bucket=bucket), trees, Rooted(own, jnp.zeros(H)), 1e-10)


class Made(Algebra[Any, jax.Array]):
    """What a function makes of a constructor's own weights, and of a weight that all share."""

    own: dict[str, jax.Array]
    shared: jax.Array
    made: Any = eqx.field(static=True)

    def __call__(self, layer: Any) -> jax.Array:
        own = self.made(self.own[type(layer).__name__], self.shared)
        match layer:
            case Bare() | Word():
                return own
            case This(left, right) | That(left, right):
                return own * left + right
            case Some(items) | More(items):
                return items.map(lambda x: own * x).sum(jnp.zeros(H))
        raise AssertionError(layer)


THERE = [This(Word(1.0, 0), Bare()), Some(Many([Word(1.0, 0), Bare()]))]


@pytest.mark.parametrize("weight", [jnp.inf, jnp.nan, 0.0])
@pytest.mark.parametrize(
    "made",
    [
        lambda own, _: own * own,
        lambda own, _: jnp.tanh(own),
        lambda own, shared: jnp.abs(own) + shared,
        lambda own, shared: own * shared,
        lambda own, shared: jnp.sqrt(own) / shared,
    ],
    ids=["square", "tanh", "abs", "shared", "root"],
)
def test_weights_of_a_constructor_that_is_not_there_may_be_anything(made, weight):
    with jax.enable_x64(True):
        own = {kind.__name__: jnp.full(H, weight if kind in (That, More) else 0.5) for kind in KINDS}
        agrees(pack(KindsF, THERE, bucket=forest_of(TREES).bucket), THERE, Made(own, jnp.ones(H), made), 1e-10)


@pytest.mark.parametrize("kind", [This, Some])
def test_a_slope_that_is_infinite_is_so_beside_constructors_that_are_not_there(kind):
    tree = This(Word(1.0, 0), Bare()) if kind is This else Some(Many([Word(1.0, 0)]))
    own = {k.__name__: jnp.full(H, 0.0 if k is kind else 0.5) for k in KINDS}
    forest = pack(KindsF, [tree], bucket=forest_of(TREES).bucket)
    at = lambda own: Made(own, jnp.ones(H), lambda own, shared: jnp.sqrt(own) * shared)
    fast = jax.grad(lambda own: fold(at(own), forest).sum())(own)
    slow = jax.grad(lambda own: cata(at(own))(tree).sum())(own)
    assert jnp.isinf(slow[kind.__name__]).all()
    for name, x in fast.items():
        np.testing.assert_allclose(x, slow[name], rtol=1e-6)


@pytest.mark.parametrize(
    "masked",
    [
        lambda t: jnp.where(jnp.array([True, False]), 0.0, -jnp.inf) * t,
        lambda t: jnp.array([0.0, -jnp.inf]) * t,
        lambda t: jnp.array([[0.0, -jnp.inf]]).T @ t[:1],
    ],
    ids=["chosen", "held", "a matrix"],
)
def test_a_constructor_that_is_not_there_may_have_an_infinite_number_times_a_weight(masked):
    masks = lambda t: algebra(
        lambda layer: t * layer.label if isinstance(layer, Leaf) else jnp.maximum(layer.left, masked(t))
    )
    trees = [Leaf(1.0), Leaf(2.0)]
    forest = pack(TreeF, trees, bucket=pack(TreeF, [Fork(*trees), *trees]).bucket)
    slow = jax.grad(lambda t: sum(cata(masks(t))(tree).sum() for tree in trees))(jnp.ones(2))
    fast = jax.grad(lambda t: fold(masks(t), forest).sum())(jnp.ones(2))
    assert fast.tolist() == slow.tolist() == [3, 3]


@pytest.mark.parametrize(
    "read",
    [
        lambda w, x, total: w[jnp.argmax(x)] * total,
        lambda w, x, total: w[jnp.argmax(total)] + w[jnp.argmin(x)] * x,
    ],
    ids=["once", "twice"],
)
def test_what_rows_look_up_in_a_weight_of_all_gets_its_gradient_from_them_alone(read):
    """At nodes with slots, at nodes with a `Many`, and at its edges."""

    class Reads(Algebra[Any, jax.Array]):
        table: jax.Array
        own: jax.Array

        def __call__(self, layer: Any) -> jax.Array:
            match layer:
                case This(left, right) | That(left, right):
                    return jnp.tanh(read(self.table, left, right) + right)
                case Some(items) | More(items):
                    total = items.map(lambda x: read(self.table, x, self.own)).sum(jnp.zeros(H))
                    return jnp.tanh(read(self.table, total, self.own))
                case Word(weight, number):
                    return self.table[number] * weight
            return self.own

    with jax.enable_x64(True):
        agrees(forest_of(TREES), TREES, Reads(jr.normal(jr.key(0), (4, H)), jr.normal(jr.key(1), (H,))), 1e-10)


def test_rows_may_look_up_keys_and_whole_numbers():
    class Drawn(Algebra[Any, jax.Array]):
        table: jax.Array
        keys: jax.Array
        places: jax.Array

        def __call__(self, layer: Any) -> jax.Array:
            match layer:
                case This(left, right) | That(left, right):
                    which = self.places[jnp.argmax(left)]
                    return self.table[which] * left + right + jr.normal(self.keys[which], (H,), left.dtype)
                case Some(items) | More(items):
                    return items.sum(jnp.zeros(H))
            return self.table[0]

    with jax.enable_x64(True):
        alg = Drawn(jr.normal(jr.key(0), (4, H)), jr.split(jr.key(1), 4), jnp.array([3, 1, 2]))
        agrees(forest_of(TREES), TREES, alg, 1e-10, make=lambda alg: alg)


def test_a_function_that_is_named_like_one_of_ours_is_not_taken_for_it():
    @jax.jit
    def _picked(weights, number):
        return 2 * weights[number]

    weights = jr.normal(jr.key(0), (4, H))

    @algebra
    def twice(layer: KindsF[jax.Array]) -> jax.Array:
        match layer:
            case This(left, right) | That(left, right):
                return _picked(weights, 3) + left + right
            case _:
                return _picked(weights, 1)

    trees = [This(Bare(), Word(1.0, 0))]
    np.testing.assert_allclose(fold(twice, pack(KindsF, trees)), [cata(twice)(trees[0])], rtol=1e-6)
