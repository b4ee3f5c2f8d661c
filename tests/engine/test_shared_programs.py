"""Constructors, steps and candidates that differ in their weights alone are one program (`test_fuzz.py` compares them
with their definitions), and what the functions that make and read their weights refuse."""

import dataclasses
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees
from indexed_cells import Bare, Cell, forest_of, H, KINDS, KindsF, More, reader, Some, That, This, TREES, Word
from inherited_cells import cells_of, Handing, tops
from programs import equations, primitives

from cdl import Algebra, algebra, Base, cata, choose, fmap, fold, inherit, Many, pack, stacked, unfold
from cdl._engine.descents._inherit import _storage
from cdl._engine.descents._step import Plain, Steps
from cdl._engine.folds._node import Inputs
from cdl._engine.folds._sites import all_indexed
from cdl._engine.folds._together import side_by_side, together
from cdl._engine.folds.case import read, Reading
from cdl._engine.forests._bucket import Size
from cdl._engine.forests._variant import describe
from cdl._schemes.stacks import number_of
from cdl.compiled import refold
from cdl.errors import CarrierMismatch, ForeignLayer, SignatureError
from cdl.schemes import Stacked


X = TypeVar("X", covariant=True)


def programs_of(alg: Any) -> Any:
    return read(Reading((alg,), pack(KindsF, TREES).bucket, None))[:2]


def test_cells_of_a_stack_are_in_as_few_programs_as_those_of_a_dict():
    # of none, of a word, of two slots, of a `Many`, and of one without children
    of_dict, of_stack = (programs_of(reader(jr.key(0), "layers", of=of))[1] for of in (dict, Stacked))
    assert len(of_dict) == len(of_stack) == 5


def test_a_plan_is_kept_for_all_that_it_depends_on():
    storage, programs = programs_of(reader(jr.key(0), "layers"))
    program = next(x for x in programs if x.variant.slots)
    one = all_indexed([program], 0)[0]
    slots = [[storage.leaves[c] for c in columns] for columns in program.wiring.slots]
    plan = lambda rows, held: one.plan(program.weights, Inputs([], slots, [], [], []), Size(rows, 5, 4), True, held)
    assert plan(3, []) is plan(3, [])
    assert plan(3, []) is not plan(3, [0])
    assert plan(3, []) is not plan(4, [])


def test_steps_whose_cells_differ_in_weights_alone_are_one_program():
    handing = Handing(cells_of(jr.key(3), "layers"), jnp.ones((H, 2 * H)))
    step = Plain(lambda inherited, layer: handing(inherited, fmap(lambda _: jnp.ones(H), layer)))
    bucket, nothing = pack(KindsF, TREES).bucket, _storage(((),))
    steps = Steps((step,), ("step",), bucket, nothing, _storage((tops(1),)), nothing, False)
    programs, _ = steps.settled().programs()
    found = [{bucket.variants[i].constructor for i in x.members} for x in programs]
    assert found == [{This, That}, {Some, More}]
    assert list(all_indexed(programs, 0)) == [0, 1]


def test_sums_that_do_not_wait_for_each_other_stand_side_by_side():
    @algebra
    def several(layer: Any) -> Any:
        if not isinstance(layer, Some | More):
            return jnp.ones(H), jnp.int32(1)
        h = layer.items.map(lambda x: jnp.sin(x[0])).sum(jnp.zeros(H))
        again = layer.items.map(lambda x: x[0] * h).sum(jnp.zeros(H))
        return again, layer.items.map(lambda x: x[1]).sum(jnp.int32(0))

    (program,) = (p for p in programs_of(several)[1] if p.variant.manys)
    sums = lambda some: hasattr(getattr(some[0].params.get("rule"), "rule", None), "step")
    found = [some for some in side_by_side(together(program.case.jaxpr).eqns) if sums(some)]
    assert sorted(map(len, found)) == [1, 2]


EVERY = tuple(KINDS[:4])


class Grower(eqx.Module):
    """A layer of each constructor without a `Many`, made by a cell of its own."""

    cells: Any

    def __call__(self, seed: jax.Array) -> Any:
        some = {x.__name__: x for x in EVERY} if isinstance(self.cells, Stacked) else dict.fromkeys(self.cells)
        below = lambda kind: jnp.tanh(self.cells[some[kind.__name__] or kind.__name__].v @ seed)
        forks = [kind(below(kind), seed) for kind in (This, That) if kind.__name__ in some]
        return choose(jnp.arange(2.0 + len(forks)) * seed[0], Bare(), Word(seed[0], 0), *forks)


def grown(cells: Any) -> Any:
    arrays, rest = eqx.partition((cells, reader(jr.key(1), "layers")), eqx.is_inexact_array)

    def loss(arrays: Any) -> Any:
        cells, alg = eqx.combine(arrays, rest)
        some = jnp.ones((2, H))
        return unfold(Grower(cells), some, 9).log_prob.sum() + refold(alg, Grower(cells), some, 9)[0].sum()

    return jax.make_jaxpr(jax.grad(loss))(arrays)


def test_the_program_does_not_grow_with_the_candidates():
    found = [
        primitives(grown({k.__name__: Cell(jr.key(i), "layers") for i, k in enumerate(EVERY[:n])})) for n in (3, 4)
    ]
    assert found[0]["while"] + found[0]["tanh"] == found[1]["while"] + found[1]["tanh"]


def test_a_stack_is_taken_as_it_is():
    stack = stacked(EVERY, lambda key: Cell(key, "layers"), key=jr.key(0))
    apart = {kind.__name__: jax.tree.map(jnp.array, stack[kind]) for kind in EVERY}
    made = lambda cells: sum(e.primitive.name == "stack" for e in equations(grown(cells)))
    assert made(apart) > made(stack)


class Numbers:
    """Numbers that a seed goes through."""


class Stop(Base[Numbers, Never]):
    number: float


class Step(Base[Numbers, X], Generic[X]):
    after: X


def test_a_payload_and_a_seed_that_are_computed_alike_go_to_their_own_places():
    class Doubled(eqx.Module):
        first: jax.Array
        second: jax.Array

        def __call__(self, seed: jax.Array) -> Any:
            return choose(jnp.stack([seed - 20.0, 20.0 - seed]), Stop(self.first * seed), Step(self.second * seed))

    total = lambda coalg: jnp.sum(unfold(coalg, jnp.array([3.0, 30.0]), 9).payload[0])
    value, slope = eqx.filter_value_and_grad(total)(Doubled(jnp.array(5.0), jnp.array(2.0)))
    assert float(value) == 5 * 24 + 5 * 30
    assert (float(slope.first), float(slope.second)) == (24 + 30, 5 * 3 * 3 * 2**2)


class Made(Algebra[Any, jax.Array]):
    """The root of a constructor's own weights, times a weight that all share."""

    own: dict[str, jax.Array]
    shared: jax.Array

    def __call__(self, layer: Any) -> jax.Array:
        own = jnp.sqrt(self.own[type(layer).__name__]) / self.shared
        match layer:
            case Bare() | Word():
                return own
            case This(left, right) | That(left, right):
                return own * left + right
            case Some(items) | More(items):
                return items.map(lambda x: own * x).sum(jnp.zeros(H))
        raise AssertionError(layer)


@pytest.mark.parametrize("weight", [jnp.nan, 0.0])
def test_weights_of_a_constructor_that_is_not_there_may_be_anything(weight):
    there = [This(Word(1.0, 0), Bare()), Some(Many([Word(1.0, 0), Bare()]))]
    with jax.enable_x64(True):
        own = {kind.__name__: jnp.full(H, weight if kind in (That, More) else 0.5) for kind in KINDS}
        agrees(pack(KindsF, there, bucket=forest_of(TREES).bucket), there, Made(own, jnp.ones(H)), 1e-10)


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


class Mixed:
    """The name of a functor with each kind of field in one constructor."""


class End(Base[Mixed, Never]):
    value: int


class Each(Base[Mixed, X], Generic[X]):
    maybe: X | None
    ordered: tuple[X, ...]
    many: Many[X]
    weight: float
    pair: tuple[int, int]


FULL = Each(End(1), (End(2), End(3)), Many([End(4)]), 0.5, (1, 2))


def test_a_variant_is_written_as_its_constructor_and_what_a_layer_of_it_has():
    variants = [describe(kind, layer)[0] for kind, layer in ((Each, FULL), (End, End(1)))]
    assert list(map(str, variants)) == ["Each(True, 2, (*, *), some)", "End"]


@pytest.mark.parametrize(
    "changed", [{"maybe": None}, {"ordered": ()}, {"many": Many()}, {"many": Many([1.0])}], ids=str
)
def test_a_step_that_gives_to_other_places_than_there_are_is_refused(changed):
    def down(value: Any, layer: Any) -> Any:
        return dataclasses.replace(fmap(lambda _: value, layer), **(changed if isinstance(layer, Each) else {}))

    forest = pack(Union[End, Each], [FULL])
    with pytest.raises(CarrierMismatch, match=r"at `Each\(.*`, `.*down` gives a layer with other places"):
        inherit(down, forest, jnp.zeros(1))
